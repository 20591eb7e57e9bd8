"""What is signed of a chain: a `Checkpoint`, one line of JSON; `read_checkpoints` reads a file.

    {"first":0,"format":"redask checkpoint 1","identity":…,"key":…,"log":"ask","root":…,
     "signature":…,"size":1000,"tenant":"local","ts":…}

    identity, log, tenant    which chain: of which `calls.sqlite`, log and tenant
    first                    the number before the first record of the tree; 0 but for old logs
    size, root               how many records, and the root over them (`merkle`), in hex digits
    ts                       when it was made, epoch ns
    key                      the Ed25519 key that signed it, 64 hex digits
    signature                of the UTF-8 of the line without `signature`, 128 hex digits

Two checkpoints of a chain are of one log if the larger tree begins with the smaller. Whether a
signature is good is not said here (`SignatureCheck`): that needs more than the standard library.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from redask.core.rules.auditing.merkle import Nodes, root

FORMAT = "redask checkpoint 1"
SignatureCheck = Callable[["Checkpoint"], str | None]  # what is wrong with it; None: nothing
_HEX = re.compile("[0-9a-f]+")
_TEXTS = {"identity": 0, "log": 0, "tenant": 0, "root": 64, "key": 64, "signature": 128}
_NUMBERS = ("first", "size", "ts")


class UnreadableCheckpoint(Exception):
    """What is no checkpoint, and why."""


@dataclass(frozen=True, slots=True)
class TreeState:
    """The tree of a chain as it is now: see `Checkpoint`."""

    identity: str
    log: str
    tenant: str
    first: int
    size: int


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """See the module; `signature` is empty until it is signed."""

    identity: str
    log: str
    tenant: str
    first: int
    size: int
    root: str
    ts: int
    key: str
    signature: str = ""

    @property
    def chain(self) -> tuple[str, str, str, int]:
        """Which tree it is of."""
        return self.identity, self.log, self.tenant, self.first

    @property
    def last(self) -> int:
        """The number of its last record."""
        return self.first + self.size

    def signed_bytes(self) -> bytes:
        """What is signed."""
        return _text(self._plain()).encode()

    def plain(self) -> dict[str, object]:
        """The checkpoint as plain data."""
        return {**self._plain(), "signature": self.signature}

    def text(self) -> str:
        """The checkpoint as one line."""
        return _text(self.plain())

    def _plain(self) -> dict[str, object]:
        names = (*_TEXTS, *_NUMBERS)
        found = {name: getattr(self, name) for name in names if name != "signature"}
        return {**found, "format": FORMAT}


@dataclass(frozen=True, slots=True)
class CheckedSeals:
    """Checkpoints of one chain that agree with it: how many, and the largest of them."""

    count: int
    last: Checkpoint


def checked_seals(given: Iterable[Checkpoint]) -> tuple[CheckedSeals, ...]:
    """What was checked with these checkpoints, chain by chain, once all are known to agree."""
    chains: dict[tuple[str, str, str, int], list[Checkpoint]] = {}
    for each in given:
        chains.setdefault(each.chain, []).append(each)
    return tuple(
        CheckedSeals(len(found), max(found, key=lambda each: (each.size, each.ts)))
        for _, found in sorted(chains.items())
    )


def checkpoint_of(document: object) -> Checkpoint:
    """The checkpoint that plain data is, or `UnreadableCheckpoint`."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise UnreadableCheckpoint(f'it is no JSON object with the format "{FORMAT}"')
    for name, digits in _TEXTS.items():
        value = document.get(name)
        if not isinstance(value, str) or (
            digits and not (len(value) == digits and _HEX.fullmatch(value))
        ):
            raise UnreadableCheckpoint(
                f"its {name} is not {f'{digits} hex digits' if digits else 'a text'}"
            )
    for name in _NUMBERS:
        value = document.get(name)
        if type(value) is not int or value < 0:
            raise UnreadableCheckpoint(f"its {name} is no number")
    if set(document) != {*_TEXTS, *_NUMBERS, "format"}:
        raise UnreadableCheckpoint("it has keys that nobody signed")
    return Checkpoint(**{name: document[name] for name in (*_TEXTS, *_NUMBERS)})


def read_checkpoints(lines: Iterable[str]) -> list[Checkpoint]:
    """The checkpoints of a file, one a line; `UnreadableCheckpoint` names the line."""
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(checkpoint_of(json.loads(line)))
        except (ValueError, RecursionError):
            raise UnreadableCheckpoint(f"line {number}: it is no JSON") from None
        except UnreadableCheckpoint as error:
            raise UnreadableCheckpoint(f"line {number}: {error}") from None
    return found


def seal_fault(
    tree: TreeState, nodes: Nodes, checkpoints: Iterable[Checkpoint]
) -> tuple[int, str] | None:
    """The first row that is not as these checkpoints of the tree have it, and why.

    A checkpoint holds all rows up to its last: the one that differs is behind the last checkpoint
    that holds still.
    """
    good = tree.first
    for each in sorted(checkpoints, key=lambda checkpoint: checkpoint.size):
        rows = f"row {each.last}" if each.last == good + 1 else _rows(good + 1, each.last)
        if each.size > tree.size:
            end = tree.first + tree.size
            return good + 1, f"{rows} is missing: so many were sealed, and the log ends with {end}"
        if root(each.size, nodes).hex() != each.root:
            return good + 1, f"{rows} is not what was sealed"
        good = each.last
    return None


def _rows(first: int, last: int) -> str:
    return f"one of the rows {first} to {last}"


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
