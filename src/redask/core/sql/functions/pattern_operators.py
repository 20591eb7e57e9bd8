"""LIKE, ILIKE, SIMILAR TO and the regular expression operators.

A pattern that is a constant is translated when the statement is bound. Another LIKE pattern goes
to DuckDB with the backslash as its escape character; another regular expression is translated row
by row (`pg_match_pattern`), and DuckDB's RE2 runs it.
"""

import re
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import BOOL, TEXT, Bound, TreeNode, made, quoted, unsupported
from redask.core.sql.functions.operator_rows import ASCII_LOWER, ASCII_UPPER
from redask.core.sql.runtime.patterns import pattern_calls
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_COLUMN = re.compile(r"\w+\.\w+")
_CHAR = SqlType("char")


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
        text = pattern_calls.similar_text(value.sql, pattern.literal, escape)
        return _negated(made(text, BOOL, value, location=location), name.startswith("!"))
    ignore_case = kind == "AEXPR_ILIKE"
    if pattern.literal is not None:
        is_column = _COLUMN.fullmatch(value.sql) is not None
        text = pattern_calls.like_text(
            value.sql, pattern.literal, escape, ignore_case=ignore_case, simple=is_column
        )
        return _negated(made(text, BOOL, value, location=location), name.startswith("!"))
    if escape is not None and len(escape) != 1:
        unsupported("ESCAPE '' with a pattern that is no literal", location)
    cast = self.coercion.coerce(pattern, TEXT)
    own, wanted = (_folded(each.sql) if ignore_case else each.sql for each in (value, cast))
    sign = quoted("\\" if escape is None else escape)
    found = made(f"({own} LIKE {wanted} ESCAPE {sign})", BOOL, value, cast, location=location)
    return _negated(found, name.startswith("!"))


def bind_match(
    self: "Expressions", name: str, left: Bound, right: Bound, location: int
) -> Bound | None:
    """x ~ y and its kin; None when these are no texts."""
    for each in (left, right):
        if not each.is_untyped and each.type.category != "S" and each.type != _CHAR:
            return None
    value = self.coercion.coerce(left, TEXT)
    if right.literal is None:
        pattern = self.coercion.coerce(right, TEXT)
        ignore_case = "true" if name.endswith("*") else "false"
        text = f"regexp_matches({value.sql}, pg_match_pattern({pattern.sql}, {ignore_case}))"
        found = made(text, BOOL, value, pattern, location=location)
        return _negated(found, name.startswith("!"))
    text = pattern_calls.match_text(value.sql, right.literal, name.endswith("*"))
    found = made(text, BOOL, value, location=location)
    return _negated(found, name.startswith("!"))


def _negated(value: Bound, is_not: bool) -> Bound:
    return value.like(f"(NOT {value.sql})") if is_not else value
