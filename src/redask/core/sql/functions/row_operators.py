"""Rows: `(a, b) < (c, d)`, `(a, b) IN (SELECT …)`, `ROW(a, b) IS NULL`."""

from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import BOOL, Bound, TreeNode, fail, made, unsupported

if TYPE_CHECKING:
    from redask.core.sql.binder.context import BoundQuery
    from redask.core.sql.binder.expressions import Expressions

_STRICT = {"<": "<", "<=": "<", ">": ">", ">=": ">"}


def _items(self: "Expressions", node: TreeNode) -> list[Bound]:
    return [self.bind(each) for each in node["RowExpr"].get("args", [])]


def compared(self: "Expressions", node: TreeNode, name: str, location: int) -> Bound:
    """A comparison of two rows."""
    for side in (node["lexpr"], node["rexpr"]):
        if "RowExpr" not in side:
            unsupported("a comparison of a row with something else", location)
    left, right = (_items(self, node[side]) for side in ("lexpr", "rexpr"))
    if len(left) != len(right):
        fail("42601", "unequal number of entries in row expressions", location)
    if not left:
        fail("0A000", "cannot compare rows of zero length", location)
    pairs = list(zip(left, right, strict=True))
    if name in ("=", "<>", "!="):
        tests = [self.operator("=", one, other, location) for one, other in pairs]
        text = f"({' AND '.join(each.sql for each in tests)})"
        return made(text if name == "=" else f"(NOT {text})", BOOL, *tests, location=location)
    if name not in _STRICT:
        unsupported(f"the operator {name} for rows", location)
    found = self.operator(name, *pairs[-1], location)
    # the first pair that is not equal decides, and a NULL before it
    for one, other in reversed(pairs[:-1]):
        equal = self.operator("=", one, other, location)
        ahead = self.operator(_STRICT[name], one, other, location)
        text = (
            f"(CASE WHEN {equal.sql} THEN {found.sql}"
            f" WHEN {equal.sql} IS NULL THEN NULL ELSE {ahead.sql} END)"
        )
        found = made(text, BOOL, equal, ahead, found, location=location)
    return found


def null_test(self: "Expressions", node: TreeNode) -> Bound:
    """ROW(…) IS NULL: all of them are; IS NOT NULL: none is."""
    word = "IS NULL" if node["nulltesttype"] == "IS_NULL" else "IS NOT NULL"
    values = _items(self, node["arg"])
    text = " AND ".join(f"({each.sql} {word})" for each in values)
    return made(f"({text or 'true'})", BOOL, *values, location=node.get("location", 0))


def in_subquery(
    self: "Expressions", node: TreeNode, name: str, query: "BoundQuery", reads: Bound
) -> Bound:
    """(a, b) IN (SELECT …): NULL where a row might be equal."""
    location = node.get("location", 0)
    if name != "=" or node["subLinkType"] != "ANY_SUBLINK":
        unsupported(f"a row with {name} before a subquery", location)
    values = _items(self, node["testexpr"])
    if any(each.has_aggregate or each.has_window or each.has_set for each in values):
        unsupported("a row of aggregates before a subquery", location)
    alias = self.context.alias("q")
    tests = [
        self.operator(
            "=",
            value,
            Bound(f"{alias}.{column.sql}", column.type, column.digits, column.scale),
            location,
        )
        for value, column in zip(values, query.columns, strict=True)
    ]
    test = f"({' AND '.join(each.sql for each in tests)})"
    rows = f"SELECT 1 FROM ({query.sql}) AS {alias} WHERE"
    text = (
        f"(CASE WHEN EXISTS ({rows} {test}) THEN true"
        f" WHEN EXISTS ({rows} {test} IS NULL) THEN NULL ELSE false END)"
    )
    return made(text, BOOL, *values, reads, location=location)
