"""Values of `shown_values` in a statement: `shown(value, type)` gives the `Bound`.

Its text is a mark that no statement may hold: it is taken out where the value is an item of the
outermost select list, cast to text or compared, and what is left refuses the statement by name.
"""

import re
from dataclasses import replace

from redask.core.sql.binder.bound import BOOL, TEXT, Bound, ShownValue, unsupported
from redask.core.sql.shown_values import are_equal, shown_text
from redask.core.sql.types import SqlType

_MARK = re.compile("\2([^\2]*)\2")


def shown(value: object, kind: SqlType, location: int = -1) -> Bound:
    """A value that can only be shown."""
    what = f"a {kind.sql_name} before year 1, after year 9999 or infinite"
    if kind.name == "numeric":
        what = "numeric NaN or Infinity"
    if isinstance(value, list):
        what = f"an array of arrays ({kind.sql_name})"
    if kind.name == "bpchar":
        what = "character(n)"
    return Bound(f"\2{what}\2", kind, location=location, shown=ShownValue(value))


def as_text(value: Bound) -> Bound | None:
    """The cast to text of what is shown; None for any other value."""
    if value.shown is None or not value.is_shown:
        return None
    text = shown_text(value.shown.value, value.type)
    quoted = text.replace("'", "''")
    return Bound(f"CAST('{quoted}' AS VARCHAR)", TEXT, location=value.location)


def compared(name: str, left: Bound, right: Bound) -> Bound | None:
    """= or <> of two shown values; None for anything else."""
    if not (left.is_shown and right.is_shown and left.shown and right.shown):
        return None
    if name not in ("=", "<>") or left.type.bare != right.type.bare:
        return None
    equal = are_equal(left.shown.value, right.shown.value, left.type)
    if equal is None:
        return None
    return left.like("true" if equal == (name == "=") else "false", type=BOOL)


def output(value: Bound) -> Bound:
    """An item of the outermost select list; what is read in its place is `shown`."""
    return replace(value, sql="''") if value.is_shown else value


def refuse_marks(sql: str) -> None:
    """Refuse a statement that uses a shown value in any other way."""
    found = _MARK.search(sql)
    if found is not None:
        unsupported(f"{found[1]} in this place")
