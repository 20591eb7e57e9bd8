"""EXPLAIN: `explained(tree)` → the query's own tree, `explanation(tree, bound)` → our words.

The words are ours: which tables are read by name, and how many joins and conditions there are.
Nothing is told of data, sizes or costs, which would tell of rows that the caller may not read.
EXPLAIN ANALYZE, which runs the statement, is refused.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from redask.core.sql.binder.bound import TEXT, TreeNode, fail, quoted, unsupported
from redask.core.sql.binder.bound_statement import BoundStatement
from redask.core.sql.binder.context import TableDefinition

_HARMLESS = frozenset(("verbose", "costs", "settings", "summary", "format"))
_PARTS = {
    "groupClause": "Grouped",
    "distinctClause": "Distinct",
    "sortClause": "Sorted",
    "limitCount": "Limited",
}


def explained(tree: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The tree of the query that an EXPLAIN is about; None when the statement is no EXPLAIN."""
    statements = tree.get("stmts", [])
    node = statements[0]["stmt"].get("ExplainStmt") if len(statements) == 1 else None
    if node is None:
        return None
    for each in node.get("options", []):
        option = each["DefElem"]
        name = option["defname"]
        value = str(option.get("arg", {}).get("String", {}).get("sval", "true")).lower()
        if name not in _HARMLESS and value not in ("off", "false", "0"):
            unsupported(f"EXPLAIN {name.upper()}", option.get("location", -1))
        if name == "format" and value != "text":
            unsupported(f"EXPLAIN (FORMAT {value.upper()})", option.get("location", -1))
    if "SelectStmt" not in node["query"]:
        fail("0A000", "EXPLAIN is for SELECT only")
    return {"stmts": [{"stmt": node["query"]}]}


def explanation(tree: Mapping[str, Any], bound: BoundStatement) -> BoundStatement:
    """The statement that gives the plan of a bound one, with the same parameters."""
    lines = ", ".join(quoted(each) for each in plan_lines(tree, bound.tables))
    return BoundStatement(
        f"SELECT unnest([{lines}]) AS o1", (("QUERY PLAN", TEXT),), (None,), bound.parameters, ()
    )


def plan_lines(tree: Mapping[str, Any], tables: Sequence[TableDefinition]) -> list[str]:
    """The rows of QUERY PLAN."""
    joins = conditions = 0
    parts: set[str] = set()
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            joins += ("jointype" in node) + max(len(node.get("fromClause", [])) - 1, 0)
            conditions += sum(key in node for key in ("whereClause", "havingClause", "quals"))
            parts.update(_parts(node))
            waiting.extend(node.values())
    names = sorted({f"{each.schema}.{each.name}" for each in tables})
    return [
        "Query",
        *(f"  Table: {name}" for name in names),
        f"  Joins: {joins}",
        f"  Conditions: {conditions}",
        *(f"  {word}" for word in _PARTS.values() if word in parts),
    ]


def _parts(node: TreeNode) -> set[str]:
    return {word for key, word in _PARTS.items() if node.get(key)}
