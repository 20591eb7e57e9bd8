"""FROM: tables, queries of WITH, subqueries, functions and joins, as text and as relations.

Every item gets an alias of ours (`r1`, `r2` …), so no name of the caller's is in the text. A
subquery sees the items before it only when it is LATERAL; a function always does.
"""

from dataclasses import replace

from redask.core.sql.binder.bound import INT8, Bound, TreeNode, fail, only, unsupported
from redask.core.sql.binder.context import BindingContext
from redask.core.sql.binder.expressions import ExpressionClause, Expressions
from redask.core.sql.binder.namespace import Relation, RelationColumn, Scope
from redask.core.sql.functions import set_functions
from redask.core.sql.types import SqlType

_JOINS = {
    "JOIN_INNER": "INNER JOIN",
    "JOIN_LEFT": "LEFT JOIN",
    "JOIN_RIGHT": "RIGHT JOIN",
    "JOIN_FULL": "FULL JOIN",
}


def bind_from(context: BindingContext, scope: Scope, items: list[TreeNode]) -> str:
    """The text after FROM; the relations are added to the scope."""
    texts = []
    for item in items:
        text, relations = _From(context, scope).item(item)
        for relation in relations:
            scope.add(relation, -1)
        texts.append(text)
    return ", ".join(texts)


class _From:
    """One item of FROM, beside those that the scope has already."""

    def __init__(self, context: BindingContext, scope: Scope) -> None:
        self._context = context
        self._scope = scope

    def item(self, node: TreeNode) -> tuple[str, list[Relation]]:
        kind, content = only(node)
        if kind == "RangeVar":
            return self._table(content)
        if kind == "RangeSubselect":
            return self._subquery(content)
        if kind == "RangeFunction":
            return self._function(content)
        if kind == "JoinExpr":
            return self._join(content)
        return unsupported(f"{kind} in FROM", content.get("location", 0))

    def _table(self, node: TreeNode) -> tuple[str, list[Relation]]:
        name, location = node["relname"], node.get("location", 0)
        schema = node.get("schemaname")
        alias = self._context.alias("r")
        common = self._scope.common_table(name) if schema is None else None
        if common is not None:
            columns = [replace(each, sql=f"{alias}.{each.sql}") for each in common.columns]
            return f"{common.alias} AS {alias}", [_named(node, name, columns, None)]
        if node.get("catalogname") not in (None, self._context.facts.database):
            fail("0A000", "cross-database references are not implemented", location)
        table = self._context.schema.table(schema, name)
        if table is None:
            shown = f"{schema}.{name}" if schema else name
            fail("42P01", f'relation "{shown}" does not exist', location)
        columns = [
            RelationColumn(
                own,
                f"{alias}.{physical}",
                type,
                (type.modifier[0], type.modifier[1])
                if type.name == "numeric" and type.modifier
                else None,
            )
            for own, type, physical in table.columns
        ]
        text = f"{self._context.marker(table)} AS {alias}"
        relation = _named(node, name, columns, table.schema)
        if table.schema == "pg_catalog":
            relation.hidden = self._system_columns(name, columns[0].sql)
        return text, [relation]

    def _system_columns(self, name: str, filled: str) -> tuple[RelationColumn, ...]:
        """What a table of the catalogue has and `*` does not show; NULL where a join fills up."""
        oid = self._context.oid("pg_catalog", name)
        return tuple(
            RelationColumn(own, f"(CASE WHEN {filled} IS NOT NULL THEN {value} END)", kind)
            for own, value, kind in (
                ("tableoid", f"CAST({oid} AS BIGINT)", SqlType("oid")),
                ("xmin", "CAST(1 AS BIGINT)", SqlType("xid")),
            )
        )

    def _sees(self, lateral: bool, also: list[Relation] | None = None) -> Scope:
        """What a subquery at this place can see."""
        own = [*self._scope.relations, *(also or [])] if lateral else []
        return Scope(self._scope.parent, self._scope.depth, own, self._scope.tables)

    def _subquery(
        self, node: TreeNode, left: list[Relation] | None = None
    ) -> tuple[str, list[Relation]]:
        lateral = bool(node.get("lateral"))
        if "alias" not in node:
            what = "VALUES" if "valuesLists" in node["subquery"]["SelectStmt"] else "subquery"
            fail("42601", f"{what} in FROM must have an alias")
        query = self._context.query(node["subquery"], self._sees(lateral, left))
        alias = self._context.alias("r")
        columns = [replace(each, sql=f"{alias}.{each.sql}") for each in query.columns]
        word = "LATERAL " if lateral else ""
        return f"{word}({query.sql}) AS {alias}", [_named(node, None, columns, None)]

    def _function(
        self, node: TreeNode, left: list[Relation] | None = None
    ) -> tuple[str, list[Relation]]:
        calls = node["functions"]
        if len(calls) != 1 or node.get("coldeflist") or node.get("is_rowsfrom"):
            unsupported("ROWS FROM", node.get("location", 0))
        call = calls[0]["List"]["items"][0]
        kind, content = only(call)
        location = content.get("location", 0)
        if kind != "FuncCall":
            unsupported(f"{kind} in FROM", location)
        name = content["funcname"][-1]["String"]["sval"]
        scope = self._sees(True, left)
        expressions = Expressions(self._context, scope, ExpressionClause("functions in FROM"))
        alias = self._context.alias("r")
        if not set_functions.is_set(name):
            value = expressions.bind(call)
            found = set_functions.SetResult(
                f"[{value.sql}]", (RelationColumn(name, "c1", value.type),)
            )
            if value.type.name == "numeric":
                unsupported(f"{name} in FROM", location)
        else:
            values = [expressions.bind(each) for each in content.get("args", [])]
            found = set_functions.as_list(expressions, name, values, location)
        query = found.table or f"SELECT unnest({found.sql}) AS c1"
        is_one = len(found.columns) == 1
        columns = [replace(each, sql=f"{alias}.{each.sql}") for each in found.columns]
        if node.get("ordinality") and found.lists:
            # side by side, as far as the longest goes
            longest = ", ".join(f"len({each})" for each in found.lists)
            numbers = f"generate_series(1, greatest({longest}))"
            query = f"{found.table}, unnest({numbers}) AS n1"
            columns.append(RelationColumn("ordinality", f"{alias}.n1", INT8))
        elif node.get("ordinality"):
            if not is_one or not found.sql:
                unsupported(f"{name} WITH ORDINALITY", location)
            # side by side: DuckDB does not keep the order of an unnest before it numbers rows
            numbers = f"generate_series(1, len({found.sql}))"
            query = f"SELECT unnest({found.sql}) AS c1, unnest({numbers}) AS n1"
            columns.append(RelationColumn("ordinality", f"{alias}.n1", INT8))
        given = node.get("alias", {})
        own = given.get("aliasname", name)
        if len(found.columns) == 1 and "aliasname" in given and columns[0].name == name:
            columns[0] = RelationColumn(
                own, columns[0].sql, columns[0].type
            )  # f(…) AS x: its column is x
        relation = _named(node, own, columns, None)
        relation.is_scalar = len(columns) == 1
        return f"LATERAL ({query}) AS {alias}", [relation]

    # --- joins -----------------------------------------------------------------------------

    def _join(self, node: TreeNode) -> tuple[str, list[Relation]]:
        left_text, left = self.item(node["larg"])
        right_text, right = self._right(node["rarg"], left)
        kind = node["jointype"]
        word = _JOINS.get(kind)
        if word is None:
            unsupported(kind)
        names = [each["String"]["sval"] for each in node.get("usingClause", [])]
        if node.get("isNatural"):
            names = [
                each.name
                for each in _open(left)
                if any(other.name == each.name for other in _open(right))
            ]
        scope = Scope(self._scope.parent, self._scope.depth, [], self._scope.tables)
        for relation in (*left, *right):
            scope.add(relation, -1)
        expressions = Expressions(self._context, scope, ExpressionClause("JOIN conditions"))
        relations = [*left, *right]
        if names:
            tests, merged = self._merged(expressions, left, right, names, kind)
            rest = [each for each in (*_open(left), *_open(right)) if each.name not in names]
            for relation in relations:
                relation.is_open = False
            relations.append(Relation(None, (*merged, *rest), is_named=False))
            condition = " AND ".join(tests)
        elif "quals" in node:
            condition = expressions.condition(node["quals"], "JOIN/ON").sql
        else:
            condition = ""
            word = "CROSS JOIN"
        if kind != "JOIN_INNER" and not condition:
            condition, word = "true", _JOINS[kind]
        text = f"({left_text} {word} {right_text}{f' ON ({condition})' if condition else ''})"
        if "alias" in node:
            columns = list(_open(relations))
            for relation in relations:
                relation.is_named = relation.is_open = False
            relations.append(_named(node, None, columns, None))
        return text, relations

    def _right(self, node: TreeNode, left: list[Relation]) -> tuple[str, list[Relation]]:
        kind, content = only(node)
        if kind == "RangeSubselect":
            return self._subquery(content, left)
        if kind == "RangeFunction":
            return self._function(content, left)
        return self.item(node)

    def _merged(
        self,
        expressions: Expressions,
        left: list[Relation],
        right: list[Relation],
        names: list[str],
        kind: str,
    ) -> tuple[list[str], list[RelationColumn]]:
        """The conditions and the merged columns of USING."""
        tests, merged = [], []
        for name in names:
            sides = [_single(side, name, word) for side, word in ((left, "left"), (right, "right"))]
            one, other = (_value(each) for each in sides)
            tests.append(expressions.operator("=", one, other, -1).sql)
            coercion = self._context.coercion
            type = coercion.common_type([one, other], "JOIN/USING")
            one, other = coercion.unify([one, other], type)
            text = one.sql
            if kind == "JOIN_RIGHT":
                text = other.sql
            elif kind == "JOIN_FULL":
                text = f"coalesce({one.sql}, {other.sql})"
            merged.append(RelationColumn(name, text, type, one.digits, one.scale))
        return tests, merged


def _open(relations: list[Relation]) -> list[RelationColumn]:
    return [each for relation in relations if relation.is_open for each in relation.columns]


def _single(relations: list[Relation], name: str, word: str) -> RelationColumn:
    found = [each for each in _open(relations) if each.name == name]
    if not found:
        fail("42703", f'column "{name}" specified in USING clause does not exist in {word} table')
    if len(found) > 1:
        fail("42702", f'common column name "{name}" appears more than once in {word} table')
    return found[0]


def _value(column: RelationColumn) -> Bound:
    return Bound(column.sql, column.type, column.digits, column.scale)


def _named(
    node: TreeNode, name: str | None, columns: list[RelationColumn], schema: str | None
) -> Relation:
    """The relation under its alias, with the columns that the alias renames."""
    alias = node.get("alias", {})
    own = alias.get("aliasname", name)
    names = [each["String"]["sval"] for each in alias.get("colnames", [])]
    if len(names) > len(columns):
        fail(
            "42P10",
            f'table "{own}" has {len(columns)} columns available but {len(names)} columns '
            "specified",
        )
    renamed = [
        replace(each, name=names[place] if place < len(names) else each.name)
        for place, each in enumerate(columns)
    ]
    return Relation(own, tuple(renamed), schema=None if alias else schema)
