"""A query: WITH, VALUES, UNION and the like, or a SELECT (`selects`). → `BoundQuery`

Output columns are called `o1`, `o2` … in the text; their names are kept beside it.
"""

from dataclasses import replace

from redask.core.sql.binder.bound import (
    TEXT,
    UNKNOWN,
    Bound,
    Read,
    TreeNode,
    fail,
    numeric_text,
    only,
    unsupported,
)
from redask.core.sql.binder.coercion import alike
from redask.core.sql.binder.context import BindingContext, BoundQuery
from redask.core.sql.binder.expressions import ExpressionClause, Expressions
from redask.core.sql.binder.limits import bind_limit
from redask.core.sql.binder.namespace import CommonTable, RelationColumn, Scope
from redask.core.sql.binder.selects import bind_select
from redask.core.sql.binder.windows import check_orderable, direction
from redask.core.sql.functions import numeric_rules

_WRITES = {
    "InsertStmt": "INSERT",
    "UpdateStmt": "UPDATE",
    "DeleteStmt": "DELETE",
    "MergeStmt": "MERGE",
    "CreateStmt": "CREATE TABLE",
    "CreateTableAsStmt": "CREATE TABLE AS",
    "DropStmt": "DROP",
    "TruncateStmt": "TRUNCATE",
    "CopyStmt": "COPY",
}
_SET_WORDS = {"SETOP_UNION": "UNION", "SETOP_INTERSECT": "INTERSECT", "SETOP_EXCEPT": "EXCEPT"}


def bind_query(context: BindingContext, node: TreeNode, parent: Scope) -> BoundQuery:
    """Any query, inside another or alone."""
    kind, content = only(node)
    if kind in _WRITES:
        fail("25006", f"cannot execute {_WRITES[kind]} in a read-only transaction")
    if kind != "SelectStmt":
        unsupported("a statement other than SELECT")
    return _bind(context, content, parent)


def _bind(context: BindingContext, node: TreeNode, parent: Scope) -> BoundQuery:
    if node.get("intoClause"):
        fail("0A000", "SELECT INTO is not supported")
    if node.get("lockingClause"):
        fail("25006", "cannot execute SELECT FOR UPDATE in a read-only transaction")
    scope = parent.inner()
    prefix, reads = _with(context, node, scope)
    if node.get("op", "SETOP_NONE") != "SETOP_NONE":
        query = _set_operation(context, node, scope)
    elif "valuesLists" in node:
        query = _values(context, node, scope)
    else:
        query = bind_select(context, node, scope)
    outer = tuple(each for each in (*reads, *query.outer) if each.depth < scope.depth)
    return replace(query, sql=f"{prefix}{query.sql}", outer=outer)


# --- WITH --------------------------------------------------------------------------------------


def _with(context: BindingContext, node: TreeNode, scope: Scope) -> tuple[str, list[Read]]:
    clause = node.get("withClause")
    if clause is None:
        return "", []
    texts: list[str] = []
    reads: list[Read] = []
    is_recursive = bool(clause.get("recursive"))
    seen: set[str] = set()
    for each in clause["ctes"]:
        cte = each["CommonTableExpr"]
        name = cte["ctename"]
        if name in seen:
            fail("42712", f'WITH query name "{name}" specified more than once')
        seen.add(name)
        for key in ("search_clause", "cycle_clause"):
            if key in cte:
                unsupported("SEARCH and CYCLE in WITH", cte.get("location", 0))
        if "SelectStmt" not in cte["ctequery"]:
            fail("25006", "cannot execute a data-modifying statement in a read-only transaction")
        alias = context.alias("w")
        if is_recursive and _mentions(cte["ctequery"], name):
            query = _recursive(context, cte, scope, alias)
        else:
            query = bind_query(context, cte["ctequery"], scope)
        columns = _renamed(cte, query.columns)
        scope.tables[name] = CommonTable(alias, columns)
        reads += query.outer
        word = {"CTEMaterializeAlways": "MATERIALIZED ", "CTEMaterializeNever": "NOT MATERIALIZED "}
        how = word.get(cte.get("ctematerialized", ""), "")
        outputs = ", ".join(column.sql for column in columns) or "o1"
        texts.append(f"{alias}({outputs}) AS {how}({query.sql})")
    return f"WITH {'RECURSIVE ' if is_recursive else ''}{', '.join(texts)} ", reads


def _renamed(cte: TreeNode, columns: tuple[RelationColumn, ...]) -> tuple[RelationColumn, ...]:
    names = [each["String"]["sval"] for each in cte.get("aliascolnames", [])]
    if len(names) > len(columns):
        fail(
            "42P10",
            f'WITH query "{cte["ctename"]}" has {len(columns)} columns available but '
            f"{len(names)} columns specified",
        )
    return tuple(
        replace(each, name=names[place] if place < len(names) else each.name)
        for place, each in enumerate(columns)
    )


def _mentions(node: object, name: str) -> bool:
    """Whether a table of that name is read somewhere inside."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            table = each.get("RangeVar")
            if isinstance(table, dict) and table.get("relname") == name:
                return True
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
    return False


def _recursive(context: BindingContext, cte: TreeNode, scope: Scope, alias: str) -> BoundQuery:
    node = cte["ctequery"]["SelectStmt"]
    name = cte["ctename"]
    if node.get("op") != "SETOP_UNION" or _mentions(node["larg"], name):
        fail(
            "42P19",
            f'recursive query "{name}" does not have the form non-recursive-term '
            "UNION [ALL] recursive-term",
        )
    if node.get("sortClause") or node.get("limitCount") or node.get("withClause"):
        unsupported("ORDER BY, LIMIT or WITH in a recursive query")
    inner = scope.inner()
    first = _spelt(context, _bind(context, node["larg"], inner))
    inner.tables[name] = CommonTable(alias, _renamed(cte, first.columns))
    second = _spelt(context, _bind(context, node["rarg"], inner))
    if len(first.columns) != len(second.columns):
        fail("42601", "each UNION query must have the same number of columns")
    for place, (one, other) in enumerate(zip(first.columns, second.columns, strict=True), 1):
        if one.type.bare != other.type.bare:
            fail(
                "42804",
                f'recursive query "{name}" column {place} has type {one.type.sql_name} in '
                f"non-recursive term but type {other.type.sql_name} overall",
            )
    word = "UNION ALL" if node.get("all") else "UNION"
    return BoundQuery(
        f"({first.sql}) {word} ({second.sql})", first.columns, (*first.outer, *second.outer)
    )


def _spelt(context: BindingContext, query: BoundQuery) -> BoundQuery:
    """The query with its numerics as text: their scale may change from row to row."""
    if all(each.type.name != "numeric" or each.digits is None for each in query.columns):
        return query
    values = [Bound(each.sql, each.type, each.digits, each.scale) for each in query.columns]
    texts = [numeric_text(each) for each in values]
    return _projected(context, query, texts, [replace(each, digits=None) for each in values])


def _projected(
    context: BindingContext, query: BoundQuery, texts: list[str], values: list[Bound]
) -> BoundQuery:
    """The query with other expressions over its columns."""
    alias = context.alias("q")
    items = ", ".join(
        f"{text} AS {column.sql}" for text, column in zip(texts, query.columns, strict=True)
    )
    columns = tuple(
        RelationColumn(column.name, column.sql, value.type, value.digits, value.scale)
        for column, value in zip(query.columns, values, strict=True)
    )
    return BoundQuery(f"SELECT {items} FROM ({query.sql}) AS {alias}", columns, query.outer)


def named_objects(context: BindingContext, query: BoundQuery) -> BoundQuery:
    """The query with regclass and the like as names, which is how a client shall see them."""
    if any(each.type.name == "record" for each in query.columns):
        unsupported("a row as a value")
    if not any(each.type.name.startswith("reg") for each in query.columns):
        return query
    values = [Bound(f"q.{each.sql}", each.type, each.digits) for each in query.columns]
    values = [
        context.coercion.coerce(each, TEXT, "explicit")
        if each.type.name.startswith("reg")
        else each
        for each in values
    ]
    items = ", ".join(
        f"{value.sql} AS {column.sql}" for value, column in zip(values, query.columns, strict=True)
    )
    return BoundQuery(f"SELECT {items} FROM ({query.sql}) AS q", query.columns, query.outer)


# --- VALUES ------------------------------------------------------------------------------------


def _values(context: BindingContext, node: TreeNode, scope: Scope) -> BoundQuery:
    expressions = Expressions(context, scope, ExpressionClause("VALUES"))
    rows = [
        [expressions.bind(each) for each in row["List"]["items"]] for row in node["valuesLists"]
    ]
    if len({len(row) for row in rows}) != 1:
        fail("42601", "VALUES lists must all be the same length")
    columns, unified = [], []
    for place, values in enumerate(zip(*rows, strict=True), 1):
        type = context.coercion.common_type(values, "VALUES")
        cast = context.coercion.unify(values, type)
        unified.append(cast)
        columns.append(
            RelationColumn(f"column{place}", f"o{place}", type, cast[0].digits, cast[0].scale)
        )
    texts = ", ".join(
        f"({', '.join(each.sql for each in row)})" for row in zip(*unified, strict=True)
    )
    outputs = ", ".join(each.sql for each in columns)
    alias = context.alias("q")
    query = BoundQuery(
        f"SELECT {outputs} FROM (VALUES {texts}) AS {alias}({outputs})",
        tuple(columns),
        tuple(read for row in rows for value in row for read in value.columns),
    )
    return _ordered(context, node, query, scope)


# --- UNION, INTERSECT, EXCEPT ------------------------------------------------------------------


def _set_operation(context: BindingContext, node: TreeNode, scope: Scope) -> BoundQuery:
    word = _SET_WORDS[node["op"]]
    left, right = (_bind(context, node[side], scope) for side in ("larg", "rarg"))
    if len(left.columns) != len(right.columns):
        fail("42601", f"each {word} query must have the same number of columns")
    if not left.columns:
        unsupported(f"{word} without columns")
    ones, others = [], []
    for place, (one, other) in enumerate(zip(left.columns, right.columns, strict=True)):
        values = [Bound(each.sql, each.type, each.digits, each.scale) for each in (one, other)]
        kinds = [
            replace(value, type=UNKNOWN) if query.untyped and query.untyped[place] else value
            for value, query in zip(values, (left, right), strict=True)
        ]
        type = context.coercion.common_type(kinds, word)
        cast = [
            context.coercion.coerce(value, type, "explicit" if kind.is_untyped else "implicit")
            for value, kind in zip(values, kinds, strict=True)
        ]
        cast = [replace(each, type=type) for each in cast]
        if type.name == "numeric":
            cast = alike(cast)
        if not node.get("all"):
            for each in cast:
                numeric_rules.refuse_as_key(each, f"{word} of")
        ones.append(cast[0])
        others.append(cast[1])
    first = _projected(context, left, [each.sql for each in ones], ones)
    second = _projected(context, right, [each.sql for each in others], others)
    both = f"({first.sql}) {word}{' ALL' if node.get('all') else ''} ({second.sql})"
    query = BoundQuery(both, first.columns, (*left.outer, *right.outer))
    return _ordered(context, node, query, scope)


def _ordered(
    context: BindingContext, node: TreeNode, query: BoundQuery, scope: Scope
) -> BoundQuery:
    """ORDER BY and LIMIT over the output columns."""
    sorts = []
    for each in node.get("sortClause", []):
        sort = each["SortBy"]
        column = _output(sort["node"], query)
        value = Bound(f"q.{column.sql}", column.type, column.digits, column.scale)
        check_orderable(value)
        sorts.append(f"{numeric_rules.order(value)} {direction(sort)}")
    limit, reads = bind_limit(context, node, scope)
    if not sorts and not limit:
        return query
    outputs = ", ".join(f"q.{each.sql} AS {each.sql}" for each in query.columns)
    order = f" ORDER BY {', '.join(sorts)}" if sorts else ""
    return BoundQuery(
        f"SELECT {outputs} FROM ({query.sql}) AS q{order}{limit}",
        query.columns,
        (*query.outer, *reads),
    )


def _output(node: TreeNode, query: BoundQuery) -> RelationColumn:
    kind, content = only(node)
    if kind == "A_Const" and "ival" in content:
        place = int(content["ival"].get("ival", 0))
        if not 1 <= place <= len(query.columns):
            fail("42P10", f"ORDER BY position {place} is not in select list",
                 content.get("location", 0))  # fmt: skip
        return query.columns[place - 1]
    if kind == "ColumnRef" and len(content["fields"]) == 1 and "String" in content["fields"][0]:
        name = content["fields"][0]["String"]["sval"]
        found = [each for each in query.columns if each.name == name]
        if len(found) > 1:
            fail("42702", f'ORDER BY "{name}" is ambiguous', content.get("location", 0))
        if found:
            return found[0]
        fail("42703", f'column "{name}" does not exist', content.get("location", 0))
    return fail(
        "0A000",
        "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
        content.get("location", 0) if isinstance(content, dict) else -1,
    )
