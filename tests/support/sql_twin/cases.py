"""The corpus: `read(path)` gives the statements of a file in tests/sql/corpus.

    -- # genres by number of tracks          a name for the next statement (optional)
    -- params: [1, "Rock", null]             its parameters, as JSON (optional)
    -- types: ["int4", null]                 the types that the client declares (optional)
    -- ordered                               its ORDER BY is total, so order counts (optional)
    SELECT … ;

A statement ends with a semicolon at the end of a line. Other comment lines belong to nobody.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "sql" / "corpus"


@dataclass(frozen=True, slots=True)
class Case:
    """A statement with what a client sends along."""

    name: str
    sql: str
    params: tuple[object, ...] = ()
    declared: tuple[str | None, ...] = ()
    ordered: bool = False


def read(path: Path) -> list[Case]:
    """The statements of one file, in order."""
    return list(_cases(path.stem, path.read_text(encoding="utf-8").splitlines()))


def _cases(topic: str, lines: list[str]) -> Iterator[Case]:
    said: dict[str, str] = {}
    body: list[str] = []
    number = 0
    for line in lines:
        if not body and line.startswith("--"):
            key, _, value = line.removeprefix("--").strip().partition(" ")
            said[key] = value
        elif line.strip() or body:
            body.append(line)
            if line.rstrip().endswith(";"):
                number += 1
                yield _case(f"{topic} {number}", "\n".join(body).rstrip()[:-1], said)
                body, said = [], {}
    if body:
        raise ValueError(f"{topic}: no semicolon after {body[0]!r}")


def _case(name: str, sql: str, said: dict[str, str]) -> Case:
    return Case(
        f"{name}: {said['#']}" if "#" in said else name,
        sql,
        tuple(json.loads(said.get("params:", "[]"))),
        tuple(json.loads(said.get("types:", "[]"))),
        "ordered" in said,
    )
