"""The result of a statement as an answer: `tell` it, cited; `read` it from its source first.

    rows, columns    answer
    none             "Nothing in the data fits. [^1]"
    one, one         "customers: 5 [^1]", and "for example [^2][^3]" where rows stand behind it
    one, several     "name: Ada, hire date: 2002-08-14 [^1][^2]", the second the row itself; a
                     table, if a value has more than one sentence
    several, one     "3 names [^1]:", then a list
    several, several "3 rows [^1]:", then a table
    more than shown  "The first 50 of 122 rows [^1]:"

A number with more than DECIMALS decimals is rounded to them, as "about 5.652"; below one, to as
many digits. The labels are the columns' names, split into words. Nothing is said that is no cell,
no count of rows and no name of a column.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from redask.core.model import Source
from redask.core.text import compiled_later
from redask.providers.extractive import quotation
from redask.providers.extractive.text_blocks import one_line

MOST_SHOWN = 50
DECIMALS = 3
_DECIMAL = re.compile(r"-?[0-9]{1,20}\.[0-9]{4,40}(?:e[+-]?[0-9]{1,3})?")
_AVERAGE = re.compile(r"-?[0-9]+\.[0-9]{16,}")  # as PostgreSQL writes what it divided
_COUNTED_IN = "counted in"  # the label of `told_results.COUNTED_IN`
_QUERY = "urn:reddb:query:"
_AGGREGATES = {"avg": "average", "max": "largest", "min": "smallest", "sum": "total"}
_MIDNIGHT = re.compile(r"(?<=\A[0-9]{4}-[0-9]{2}-[0-9]{2})[T ]00:00:00\Z")  # a date, no time
_STOP = compiled_later(r"[.!?…。！？]\s")  # more than one sentence: the marker would cover the last
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+|\d+")


@dataclass(frozen=True, slots=True)
class ToldResult:
    """What a query's source says: names of columns, the rows shown, how many there are."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    count: int


def read(source: Source) -> ToldResult | None:
    """The result in a source; None if the source is none, or was not run."""
    if not source.urn.startswith(_QUERY):
        return None
    payload: dict[str, Any] = json.loads(source.payload, parse_int=str, parse_float=str)
    if not payload["columns"]:
        return None
    return ToldResult(
        tuple(label(column["name"]) for column in payload["columns"]),
        tuple(tuple(_cell(value) for value in row) for row in payload["rows"]),
        int(payload["row_count"]),
    )


def told(sources: Sequence[Source]) -> list[str]:
    """The lines of the answer, if the first source is a result; else none.

    A result that follows, of as many rows and no fewer columns, is the same with more to tell: it
    is told instead, and both are cited.
    """
    first = read(sources[0]) if sources else None
    if first is None:
        return []
    second = read(sources[1]) if len(sources) > 1 else None
    if second and second.count == first.count and len(second.names) >= len(first.names):
        return tell(second, range(3, len(sources) + 1), (1, 2))
    return tell(first, range(2, len(sources) + 1))


def tell(result: ToldResult, examples: Sequence[int], proof: Sequence[int] = (1,)) -> list[str]:
    """The lines of the answer; `proof` are the results that it cites, `examples` rows behind it."""
    if not result.rows:
        return [quotation.cite("Nothing in the data fits.", [1])]
    result, period = _without_period(result)
    pairs = zip(result.names, result.rows[0], strict=True)
    line = ", ".join(f"{name}: {value}" for name, value in pairs) + period
    if result.count == 1 and not (len(result.names) > 1 and _STOP.search(line)):
        if len(result.names) > 1:  # the source beside it is the row itself
            return [quotation.cite(line, [*proof, *examples])]
        behind = "".join(f"[^{number}]" for number in examples)
        return [quotation.cite(line, proof) + (f", for example {behind}" if behind else "")]
    shown = result.rows[:MOST_SHOWN]
    what = "rows" if len(result.names) > 1 else _plural(result.names[0])
    what = "row" if result.count == 1 else what
    some = f"The first {len(shown)} of " if len(shown) < result.count else ""
    beside = examples if result.count == 1 else ()
    lead = quotation.cite(f"{some}{result.count} {what}{period}", [*proof, *beside]) + ":"
    if len(result.names) == 1:
        return [lead, *(quotation.escape(f"- {row[0]}") for row in shown)]
    return [lead, *_table(result.names, shown)]


def _without_period(result: ToldResult) -> tuple[ToldResult, str]:
    """The result without the column that says from when all its rows are, and ", in March 2026"."""
    if len(result.names) < 2 or result.names[-1] != _COUNTED_IN:
        return result, ""
    rows = tuple(row[:-1] for row in result.rows)
    return replace(result, names=result.names[:-1], rows=rows), f", in {result.rows[0][-1]}"


def label(name: str) -> str:
    """A column's name as words: `HireDate`, `hire_date` → hire date."""
    if name in _AGGREGATES:
        return _AGGREGATES[name]
    words = _WORDS.findall(name)
    lowered = (word if word.isupper() and len(word) > 1 else word.lower() for word in words)
    return " ".join(lowered) or name


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [names, ["---"] * len(names), *rows]
    return ["", *("| " + " | ".join(map(_in_table, line)) + " |" for line in lines)]


def _in_table(cell: str) -> str:
    return quotation.escape(cell).replace("|", "\\|")


def _plural(name: str) -> str:
    if name.endswith(("s", "x", "ch", "sh")):
        return name if name.endswith("s") else f"{name}es"
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}s"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(_cell, value))
    return one_line(_rounded(_MIDNIGHT.sub("", str(value)))) or "–"


def _rounded(text: str) -> str:
    if not _DECIMAL.fullmatch(text):
        return text
    value = Decimal(text)
    places = DECIMALS if abs(value) >= 1 else DECIMALS - value.adjusted() - 1
    rounded = value.quantize(Decimal(1).scaleb(-places))
    if rounded == value:
        return text.rstrip("0").rstrip(".") if _AVERAGE.fullmatch(text) else text
    return f"about {rounded:f}"
