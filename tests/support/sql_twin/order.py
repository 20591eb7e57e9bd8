"""Whether the order of a statement's rows is decided by the statement: `is_total`.

Conservative: only an ORDER BY at the top that names every column of the select list, by number, by
output name or by the same expression. A star is never covered.
"""

import json
from typing import Any

from postgast import native

Tree = dict[str, Any]


def parsed(sql: str) -> Tree | None:
    """PostgreSQL's tree of one statement, or None when it does not parse."""
    text = native.lib.pg_query_parse(sql.encode())
    tree = json.loads(text.parse_tree or b"{}")
    statements = tree.get("stmts", [])
    return statements[0]["stmt"] if len(statements) == 1 else None


def is_total(sql: str) -> bool:
    """Does ORDER BY name every output column?"""
    select = (parsed(sql) or {}).get("SelectStmt")
    if select is None or "sortClause" not in select:
        return False
    first = select
    while "larg" in first:
        first = first["larg"]
    targets = [each["ResTarget"] for each in first.get("targetList", [])]
    keys = [each["SortBy"]["node"] for each in select["sortClause"]]
    names = [target.get("name") or _column(target["val"]) for target in targets]
    return bool(targets) and all(
        any(_covers(key, number, target, names) for key in keys)
        for number, target in enumerate(targets, start=1)
    )


def _covers(key: Tree, number: int, target: Tree, names: list[str | None]) -> bool:
    """Is the target what this key sorts by? A plain name is an output column's, if there is one."""
    value = target["val"]
    if "A_Star" in json.dumps(value):
        return False
    if "A_Const" in key:
        return bool(key["A_Const"].get("ival", {}).get("ival") == number)
    if "ColumnRef" in key and len(key["ColumnRef"]["fields"]) == 1 and _column(key) in names:
        return names[number - 1] == _column(key)
    return bool(_bare(key) == _bare(value))


def _column(node: Tree) -> str | None:
    fields = node.get("ColumnRef", {}).get("fields", [])
    name = fields[-1].get("String", {}).get("sval") if fields else None
    return name if isinstance(name, str) else None


def _bare(node: Any) -> Any:
    """A tree without its places in the text."""
    if isinstance(node, dict):
        return {key: _bare(value) for key, value in node.items() if key != "location"}
    return [_bare(each) for each in node] if isinstance(node, list) else node
