"""Rows as users hold them in Python, as what JSON can say: `plain_rows`. Pure.

    in Python                        becomes
    date, datetime, time             ISO 8601 text: "2026-05-04", "2026-05-04T09:00:00+02:00"
    Decimal                          a number if the JSON number has the very same value (12.50
                                     is 12.5, 3 is 3, 3.00 is 3.0); else the text of its digits
    UUID                             text: "123e4567-e89b-12d3-a456-426614174000"
    a numpy value or array           its Python value, or a list of them; datetime64 is ISO text
    a pandas DataFrame               a row for each of its rows; NaN, NaT and NA become null. A
                                     named index is a column like the others, an unnamed one is
                                     only a numbering and is left out

Elsewhere NaN is refused, for there it may be a mistake. What is not listed is handed on as it is,
and `stores.entity_rows` refuses it by row and column. Neither numpy nor pandas is imported: their
values are known by what they can do.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any, Protocol, TypeGuard
from uuid import UUID

from redask.core.errors import BadAsk
from redask.core.wire.json import MAX_DEPTH

_PLAIN = frozenset({str, int, float, bool, type(None)})
_MAX_DIGITS = 4300  # of an integer; more is text, as where SQL has no such integer
_DATES, _VALUES = "M", "biufO"  # numpy's letters for kinds of values


class DataFrame(Protocol):
    """What is used of a pandas DataFrame."""

    @property
    def columns(self) -> Any: ...

    @property
    def index(self) -> Any: ...

    def reset_index(self) -> Any: ...

    def to_dict(self, orient: Any) -> Any: ...


RowsInput = Iterable[Mapping[str, object]] | DataFrame


def plain_rows(given: Any) -> list[Mapping[str, object]]:
    """`Rows`, made plain; what is no mapping is handed on, to be refused with its position."""
    if _is_frame(given):
        rows = _frame_rows(given)
        return [{name: _plain(each, True, 1) for name, each in row.items()} for row in rows]
    if not isinstance(given, Iterable):
        kind = type(given).__name__
        raise BadAsk(f"rows are a list of mappings, not {kind}", detail="rows")
    return [_plain_row(row) for row in given]


def _plain_row(row: Any) -> Any:
    if not isinstance(row, Mapping) or all(type(value) in _PLAIN for value in row.values()):
        return row
    return {name: _plain(value, False, 1) for name, value in row.items()}


def _is_frame(given: object) -> TypeGuard[DataFrame]:
    return all(hasattr(given, name) for name in ("to_dict", "columns", "index", "reset_index"))


def _frame_rows(frame: DataFrame) -> list[dict[str, object]]:
    """The rows of a DataFrame with what names them; nothing is left out without a word."""
    if any(name is not None for name in frame.index.names):
        try:
            frame = frame.reset_index()
        except ValueError as error:  # a column of that name is there already
            raise BadAsk(f"the index of the DataFrame: {error}", detail="rows") from None
    columns = list(frame.columns)
    twice = next((name for name in columns if columns.count(name) > 1), None)
    if twice is not None:  # a row could hold only one of them
        raise BadAsk(f"the DataFrame has two columns named {twice!a}", detail="rows")
    rows: list[dict[str, object]] = frame.to_dict("records")
    return rows


def _plain(value: Any, missing_is_null: bool, depth: int) -> object:
    """The value as JSON has it; itself where there is nothing to do, or no way."""
    if missing_is_null and _is_missing(value):
        return None
    if type(value) in _PLAIN or depth > MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {key: _plain(each, missing_is_null, depth + 1) for key, each in value.items()}
    kind = _kind(value)
    if isinstance(value, list | tuple) or (kind == _DATES and value.ndim):
        return [_plain(each, missing_is_null, depth + 1) for each in value]
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, date | time) or kind == _DATES:
        return value if _is_missing(value) else _iso(value)
    if kind and kind in _VALUES:
        inner = value.tolist()
        return value if type(inner) is type(value) else _plain(inner, missing_is_null, depth + 1)
    return value


def _iso(value: Any) -> str:
    return value.isoformat() if isinstance(value, date | time) else str(value)


def _number(value: Decimal) -> object:
    """A Decimal as a number of the same value, or as text, so that no digit is lost."""
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        return math.nan if value.is_nan() else float(value)  # refused like a float
    if exponent >= 0 and value.adjusted() < _MAX_DIGITS:
        return int(value)
    double = float(value)
    return double if Decimal(repr(double)) == value else str(value)


def _is_missing(value: Any) -> bool:
    """Whether it is NaN, NaT or NA: what pandas writes where a table has nothing."""
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, float):
        return math.isnan(value)
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return _kind(value) == _DATES and not value.ndim and str(value) == "NaT"


def _kind(value: object) -> str:
    """numpy's letter for what the value is; empty for all that is not numpy's."""
    return str(getattr(getattr(value, "dtype", None), "kind", ""))
