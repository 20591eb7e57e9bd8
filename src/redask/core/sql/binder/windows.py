"""OVER (…): partitions, order and frame as text; ORDER BY items in general."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import INT8, TEXT, Bound, TreeNode, fail, unsupported
from redask.core.sql.casting import written_rules
from redask.core.sql.functions import numeric_rules
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

# bits of WindowDef.frameOptions
_RANGE, _ROWS, _GROUPS, _BETWEEN = 0x2, 0x4, 0x8, 0x10
_NONDEFAULT = 0x1
_STARTS = {
    0x20: "UNBOUNDED PRECEDING",
    0x80: "UNBOUNDED FOLLOWING",
    0x200: "CURRENT ROW",
    0x800: "{offset} PRECEDING",
    0x2000: "{offset} FOLLOWING",
}
_ENDS = {
    0x40: "UNBOUNDED PRECEDING",
    0x100: "UNBOUNDED FOLLOWING",
    0x400: "CURRENT ROW",
    0x1000: "{offset} PRECEDING",
    0x4000: "{offset} FOLLOWING",
}
_EXCLUDES = {
    0x8000: " EXCLUDE CURRENT ROW",
    0x10000: " EXCLUDE GROUP",
    0x20000: " EXCLUDE TIES",
}
_UNORDERED = frozenset(("json", "jsonb", "xid"))


def direction(sort: TreeNode) -> str:
    """ASC or DESC with the place of NULL, which PostgreSQL puts last when ascending."""
    is_down = sort.get("sortby_dir") == "SORTBY_DESC"
    if sort.get("sortby_dir") == "SORTBY_USING":
        sign = sort["useOp"][-1]["String"]["sval"]
        if sign not in ("<", ">"):
            fail("42809", f"operator {sign} is not a valid ordering operator",
                 sort.get("location", 0))  # fmt: skip
        is_down = sign == ">"
    nulls = sort.get("sortby_nulls")
    first = nulls == "SORTBY_NULLS_FIRST" if nulls != "SORTBY_NULLS_DEFAULT" else is_down
    return f"{'DESC' if is_down else 'ASC'} NULLS {'FIRST' if first else 'LAST'}"


def check_orderable(value: Bound) -> None:
    """Refuse to sort what has no order here."""
    if value.type.name in _UNORDERED:
        if value.type.name == "json":
            fail("42883", "could not identify an ordering operator for type json", value.location)
        unsupported(f"the order of {value.type.sql_name}", value.location)
    written_rules.refuse_order(value)
    if value.type.is_array and value.type.name == "numeric":
        unsupported("the order of numeric[]", value.location)


def sorted_by(
    expressions: "Expressions",
    sorts: list[TreeNode],
    bind: Callable[[TreeNode], Bound] | None = None,
) -> tuple[str, tuple[Bound, ...]]:
    """ORDER BY of a window or an aggregate; nothing without items."""
    texts, values = [], []
    for each in sorts:
        sort = each["SortBy"]
        value = (bind or expressions.bind)(sort["node"])
        if value.is_untyped:
            value = expressions.coercion.coerce(value, TEXT)
        check_orderable(value)
        texts.append(f"{numeric_rules.order(value)} {direction(sort)}")
        values.append(value)
    return (f"ORDER BY {', '.join(texts)}" if texts else ""), tuple(values)


def over(expressions: "Expressions", node: TreeNode) -> tuple[str, tuple[Bound, ...]]:
    """OVER (…) of a call."""
    node = _named(expressions, node)
    inner = expressions.inside(windows=False)
    values: list[Bound] = []
    parts = []
    partitions = [inner.bind(each) for each in node.get("partitionClause", [])]
    if partitions:
        for each in partitions:
            numeric_rules.refuse_as_key(each, "PARTITION BY")
        parts.append(f"PARTITION BY {', '.join(each.sql for each in partitions)}")
        values += partitions
    ordered, sorts = sorted_by(inner, node.get("orderClause", []))
    if ordered:
        parts.append(ordered)
        values += sorts
    options = int(node.get("frameOptions", 0))
    if options & _NONDEFAULT:
        parts.append(_frame(inner, node, options, sorts))
    return f" OVER ({' '.join(parts)})", tuple(values)


def _named(expressions: "Expressions", node: TreeNode) -> TreeNode:
    name = node.get("name") or node.get("refname")
    if not name:
        return node
    known = expressions.scope.windows.get(str(name))
    if known is None:
        fail("42704", f'window "{name}" does not exist', node.get("location", 0))
    merged: TreeNode = {**known}
    for part in ("orderClause", "partitionClause"):
        if node.get(part):
            if merged.get(part) or part == "partitionClause":
                fail("42P20", f'cannot override the clauses of window "{name}"')
            merged[part] = node[part]
    if node.get("refname") and int(node.get("frameOptions", 0)) & _NONDEFAULT:
        for part in ("frameOptions", "startOffset", "endOffset"):
            if part in node:
                merged[part] = node[part]
    return merged


def _frame(
    expressions: "Expressions", node: TreeNode, options: int, sorts: tuple[Bound, ...]
) -> str:
    unit = "ROWS" if options & _ROWS else "GROUPS" if options & _GROUPS else "RANGE"

    def edge(table: dict[int, str], key: str) -> str:
        text = next(words for bit, words in table.items() if options & bit)
        if "{offset}" in text:
            offset = _offset(expressions, node, key, sorts if unit == "RANGE" else None)
            if offset.integer is not None and offset.integer < 0:
                side = "starting" if key == "startOffset" else "ending"
                fail("22013", f"frame {side} offset must not be negative")
            if offset.columns:
                fail("42P10", "argument of a window frame must not contain variables")
            text = text.format(offset=offset.sql)
        return text

    excluded = next((words for bit, words in _EXCLUDES.items() if options & bit), "")
    return f"{unit} BETWEEN {edge(_STARTS, 'startOffset')} AND {edge(_ENDS, 'endOffset')}{excluded}"


def _offset(
    expressions: "Expressions", node: TreeNode, key: str, sorts: tuple[Bound, ...] | None
) -> Bound:
    """The offset of an edge; of RANGE (with `sorts`) in the unit of the column that sorts."""
    value = expressions.bind(node[key])
    if sorts is None:
        return expressions.coercion.coerce(value, INT8)
    if len(sorts) != 1:
        fail("42P20", "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column",
             node.get("location", 0))  # fmt: skip
    name = sorts[0].type.name
    if name in ("int2", "int4", "int8"):
        offset = expressions.coercion.coerce(value, INT8)
        return offset.like(f"CAST({offset.sql} AS BIGINT)")
    if name == "timestamptz" and expressions.coercion.zone != "UTC":
        unsupported(f"RANGE in the time zone {expressions.coercion.zone}", value.location)
    if name in ("timestamp", "timestamptz"):
        return expressions.coercion.coerce(value, SqlType("interval"))
    return unsupported(f"RANGE with an offset over {sorts[0].type.sql_name}", value.location)
