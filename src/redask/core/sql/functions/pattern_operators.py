"""LIKE, ILIKE, SIMILAR TO and the regular expression operators.

A pattern that is a constant is translated when the statement is bound. Another LIKE pattern goes
to DuckDB with the backslash as its escape character; another regular expression is refused.
"""

from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import BOOL, TEXT, Bound, TreeNode, made, quoted, unsupported
from redask.core.sql.functions.operator_rows import ASCII_LOWER, ASCII_UPPER
from redask.core.sql.runtime.patterns import pg_patterns

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_CASELESS = str.maketrans(ASCII_UPPER, ASCII_LOWER)


def _folded(text: str) -> str:
    return f"translate({text}, '{ASCII_UPPER}', '{ASCII_LOWER}')"


def bind_like(self: "Expressions", node: TreeNode, name: str, kind: str) -> Bound:
    """x LIKE y ESCAPE z and its kin."""
    location = node.get("location", 0)
    left, right = self.bind(node["lexpr"]), node["rexpr"]
    escape: str | None = None
    call = right.get("FuncCall")
    if call and call["funcname"][-1]["String"]["sval"] in ("like_escape", "similar_to_escape"):
        arguments = call["args"]
        right = arguments[0]
        if len(arguments) > 1:
            given = self.bind(arguments[1])
            if given.literal is None:
                unsupported("ESCAPE with anything but a literal", location)
            escape = given.literal
    pattern = self.bind(right)
    if not left.is_untyped and left.type.category != "S":
        return self.operator(name, left, pattern, location)  # which says that there is none
    value = self.coercion.coerce(left, TEXT)
    if kind == "AEXPR_SIMILAR":
        if pattern.literal is None:
            unsupported("SIMILAR TO with anything but a literal", location)
        similar = pg_patterns.similar_pattern(pattern.literal, escape)
        text = _matches(value, pg_patterns.match_pattern(similar))
        return _negated(made(text, BOOL, value, location=location), name.startswith("!"))
    if pattern.literal is not None:
        text = pg_patterns.like_pattern(pattern.literal, escape)
        if kind == "AEXPR_ILIKE":
            text = text.translate(_CASELESS)
        wanted = quoted(text)
        parts = [value]
    else:
        if escape is not None and len(escape) != 1:
            unsupported("ESCAPE '' with a pattern that is no literal", location)
        cast = self.coercion.coerce(pattern, TEXT)
        wanted = _folded(cast.sql) if kind == "AEXPR_ILIKE" else cast.sql
        parts = [value, cast]
    own = _folded(value.sql) if kind == "AEXPR_ILIKE" else value.sql
    sign = "\\" if escape is None or pattern.literal is not None else escape
    found = made(f"({own} LIKE {wanted} ESCAPE {quoted(sign)})", BOOL, *parts, location=location)
    return _negated(found, name.startswith("!"))


def bind_match(
    self: "Expressions", name: str, left: Bound, right: Bound, location: int
) -> Bound | None:
    """x ~ y and its kin; None when these are no texts."""
    for each in (left, right):
        if not each.is_untyped and each.type.category != "S":
            return None
    if right.literal is None:
        unsupported("a regular expression that is no literal", location)
    value = self.coercion.coerce(left, TEXT)
    pattern = pg_patterns.match_pattern(right.literal, name.endswith("*"))
    found = made(_matches(value, pattern), BOOL, value, location=location)
    return _negated(found, name.startswith("!"))


def _matches(value: Bound, pattern: str) -> str:
    return f"regexp_matches({value.sql}, {quoted(pattern)}, 's')"


def _negated(value: Bound, is_not: bool) -> Bound:
    return value.like(f"(NOT {value.sql})") if is_not else value
