"""One SELECT: `bind_select(context, node, scope)`, clause by clause in PostgreSQL's order.

    FROM · WHERE · GROUP BY · the select list · HAVING · ORDER BY · DISTINCT · LIMIT

A name in ORDER BY means an output column first, in GROUP BY an input column first; an integer is
a position in both. What is neither grouped nor aggregated is 42803.
"""

from dataclasses import dataclass, replace

from redask.core.sql.binder.bound import (
    INT4,
    TEXT,
    Bound,
    Read,
    TreeNode,
    fail,
    made,
    only,
    unsupported,
)
from redask.core.sql.binder.context import BindingContext, BoundQuery
from redask.core.sql.binder.expressions import ExpressionClause, Expressions
from redask.core.sql.binder.from_clause import bind_from
from redask.core.sql.binder.limits import bind_limit, limit_constant
from redask.core.sql.binder.namespace import RelationColumn, Scope
from redask.core.sql.binder.output_names import output_name
from redask.core.sql.binder.windows import check_orderable, direction
from redask.core.sql.casting.shown_constants import output
from redask.core.sql.functions import numeric_rules

_SETS = {
    "GROUPING_SET_ROLLUP": "ROLLUP",
    "GROUPING_SET_CUBE": "CUBE",
    "GROUPING_SET_SETS": "GROUPING SETS",
}


@dataclass(frozen=True, slots=True)
class Target:
    """An item of the select list: a node to be bound, or a column that a star stands for."""

    name: str
    node: TreeNode | None
    value: Bound | None = None


def bind_select(context: BindingContext, node: TreeNode, scope: Scope) -> BoundQuery:
    """A SELECT that is no set operation."""
    return _Select(context, node, scope).bound()


class _Select:
    def __init__(self, context: BindingContext, node: TreeNode, scope: Scope) -> None:
        self._context = context
        self._node = node
        self._scope = scope
        self._reads: list[Bound] = []
        self._is_bare = False  # a SELECT without columns
        self._grouped_targets: dict[int, Bound] = {}  # by their place in the list

    def bound(self) -> BoundQuery:
        node, scope = self._node, self._scope
        source = bind_from(self._context, scope, node.get("fromClause", []))
        where = ""
        if "whereClause" in node:
            condition = self._in("WHERE").condition(node["whereClause"], "WHERE")
            self._reads.append(condition)
            where = f" WHERE {condition.sql}"
        for each in node.get("windowClause", []):
            window = each["WindowDef"]
            scope.windows[window["name"]] = window
        targets = self._targets()
        grouping, groups = self._grouping(targets)
        if node.get("groupClause"):
            scope.groups = frozenset(each.sql for each in groups)
        if len(targets) > 1664:
            fail("54011", "target lists can have at most 1664 entries")
        listed = self._in("SELECT", aggregates=True, windows=True, sets=True)
        values = [
            each.value or self._grouped_targets.get(place) or listed.bind(each.node or {})
            for place, each in enumerate(targets)
        ]
        untyped = tuple(value.is_untyped for value in values)
        values = [
            self._context.coercion.coerce(value, TEXT) if value.is_untyped else value
            for value in values
        ]
        having = ""
        havings: list[Bound] = []
        if "havingClause" in node:
            expressions = self._in("HAVING", aggregates=True)
            havings.append(expressions.condition(node["havingClause"], "HAVING"))
            having = f" HAVING {havings[0].sql}"
        sorts = self._sorts(targets, values)
        ordered = [value for value, _ in sorts]
        is_grouped = bool(node.get("groupClause")) or bool(havings) or any(
            each.has_aggregate for each in (*values, *ordered)
        )  # fmt: skip
        if is_grouped:
            self._check_grouped([*values, *havings, *ordered])
        self._reads += [*values, *havings, *ordered, *groups]
        body = f"{f' FROM {source}' if source else ''}{where}{grouping}{having}"
        sql = self._assembled(values, sorts, body)
        columns = tuple(
            RelationColumn(
                *(target.name, f"o{place}", value.type, value.digits, value.scale),
                shown=value.shown if value.is_shown and not scope.depth else None,
            )
            for place, (target, value) in enumerate(zip(targets, values, strict=True), 1)
        )
        outer = made("", TEXT, *self._reads).columns
        return BoundQuery(sql, () if self._is_bare else columns, outer, untyped)

    def _in(self, name: str, *, aggregates: bool = False, windows: bool = False,
            sets: bool = False) -> Expressions:  # fmt: skip
        clause = ExpressionClause(name, aggregates=aggregates, windows=windows, sets=sets)
        return Expressions(self._context, self._scope, clause)

    # --- the select list -------------------------------------------------------------------

    def _targets(self) -> list[Target]:
        targets: list[Target] = []
        for each in self._node.get("targetList", []):
            target = each["ResTarget"]
            value = target["val"]
            fields = value.get("ColumnRef", {}).get("fields", [])
            if fields and "A_Star" in fields[-1]:
                targets += self._star([part["String"]["sval"] for part in fields[:-1]], value)
            else:
                targets.append(Target(target.get("name") or output_name(value), value))
        if not targets:
            self._is_bare = True
            if self._node.get("sortClause") or "distinctClause" in self._node:
                unsupported("ORDER BY or DISTINCT without columns")
            return [Target("", None, Bound("1", INT4))]  # DuckDB needs one: nobody sees it
        return targets

    def _star(self, path: list[str], value: TreeNode) -> list[Target]:
        location = value["ColumnRef"].get("location", 0)
        if path:
            scope: Scope | None = self._scope
            relation = None
            while scope is not None and relation is None:
                relation = scope.relation(path, location)
                depth = scope.depth
                scope = scope.parent
            if relation is None:
                fail("42P01", f'missing FROM-clause entry for table "{path[-1]}"', location)
            return [_of_star(column, depth, location, path[-1]) for column in relation.columns]
        relations = self._scope.relations
        if not relations:
            fail("42601", "SELECT * with no tables specified is not valid", location)
        return [
            _of_star(column, self._scope.depth, location, relation.name)
            for relation in relations
            if relation.is_open
            for column in relation.columns
        ]

    # --- GROUP BY --------------------------------------------------------------------------

    def _grouping(self, targets: list[Target]) -> tuple[str, list[Bound]]:
        items = self._node.get("groupClause", [])
        if not items:
            return "", []
        if self._node.get("groupDistinct"):
            unsupported("GROUP BY DISTINCT")
        groups: list[Bound] = []
        texts = [self._group(each, targets, groups) for each in items]
        return f" GROUP BY {', '.join(texts)}", groups

    def _group(self, node: TreeNode, targets: list[Target], groups: list[Bound]) -> str:
        kind, content = only(node)
        if kind == "GroupingSet":
            if content["kind"] == "GROUPING_SET_EMPTY":
                return "()"
            inner = [self._group(each, targets, groups) for each in content.get("content", [])]
            return f"{_SETS[content['kind']]} ({', '.join(inner)})"
        if kind == "RowExpr":
            inner = [self._group(each, targets, groups) for each in content.get("args", [])]
            return f"({', '.join(inner)})"
        value = self._grouped(node, targets)
        if value.is_untyped:
            value = self._context.coercion.coerce(value, TEXT)
        if value.type.name == "json":
            fail("42883", "could not identify an equality operator for type json", value.location)
        numeric_rules.refuse_as_key(value, "GROUP BY")
        groups.append(value)
        return value.sql

    def _grouped(self, node: TreeNode, targets: list[Target]) -> Bound:
        expressions = self._in("GROUP BY")
        kind, content = only(node)
        if kind == "A_Const":
            place = targets.index(self._at(content, targets, "GROUP BY"))
            return self._of_target(targets, place, expressions)
        if kind == "ColumnRef" and len(content["fields"]) == 1:
            name = content["fields"][0].get("String", {}).get("sval")
            own = any(
                column.name == name
                for relation in self._scope.relations
                if relation.is_open
                for column in relation.columns
            )
            found = [] if own else [each for each in targets if each.name == name]
            if found:
                if len(found) > 1:
                    fail("42702", f'GROUP BY "{name}" is ambiguous', content.get("location", 0))
                return self._of_target(targets, targets.index(found[0]), expressions)
        return expressions.bind(node)

    def _of_target(self, targets: list[Target], place: int, expressions: Expressions) -> Bound:
        """An item of the select list to group by; the list has the same text then."""
        target = targets[place]
        if target.value is not None:
            return target.value
        value = expressions.bind(target.node or {})
        depth = self._scope.depth
        kept = tuple(each for each in value.columns if each.depth != depth)
        self._grouped_targets[place] = replace(value, columns=kept)
        return value

    def _at(self, constant: TreeNode, targets: list[Target], what: str) -> Target:
        location = constant.get("location", 0)
        if "ival" not in constant:
            fail("42601", f"non-integer constant in {what}", location)
        place = int(constant["ival"].get("ival", 0))
        if not 1 <= place <= len(targets):
            fail("42P10", f"{what} position {place} is not in select list", location)
        return targets[place - 1]

    def _check_grouped(self, values: list[Bound]) -> None:
        groups = self._scope.groups or frozenset()
        for value in values:
            for read in value.columns:
                # a subquery may read what is grouped
                if read.depth == self._scope.depth and read.sql not in groups:
                    fail(
                        "42803",
                        f'column "{read.name}" must appear in the GROUP BY clause or be used in '
                        "an aggregate function",
                        read.location,
                    )

    # --- ORDER BY, DISTINCT, LIMIT ---------------------------------------------------------

    def _sorts(self, targets: list[Target], values: list[Bound]) -> list[tuple[Bound, str]]:
        expressions = self._in("ORDER BY", aggregates=True, windows=True)
        sorts = []
        for each in self._node.get("sortClause", []):
            sort = each["SortBy"]
            value = self._sorted(sort["node"], targets, values, expressions)
            if value.is_untyped:
                value = self._context.coercion.coerce(value, TEXT)
            check_orderable(value)
            sorts.append((value, direction(sort)))
        return sorts

    def _sorted(
        self,
        node: TreeNode,
        targets: list[Target],
        values: list[Bound],
        expressions: Expressions,
    ) -> Bound:
        kind, content = only(node)
        if kind == "A_Const":
            return values[targets.index(self._at(content, targets, "ORDER BY"))]
        if kind == "ColumnRef" and len(content["fields"]) == 1:
            name = content["fields"][0].get("String", {}).get("sval")
            found = {
                value.sql: value
                for target, value in zip(targets, values, strict=True)
                if target.name == name
            }
            if len(found) > 1:
                fail("42702", f'ORDER BY "{name}" is ambiguous', content.get("location", 0))
            if found:
                return next(iter(found.values()))
        return expressions.bind(node)

    def _assembled(self, values: list[Bound], sorts: list[tuple[Bound, str]], body: str) -> str:
        shown = values if self._scope.depth else [output(value) for value in values]
        items = [f"{value.sql} AS o{place}" for place, value in enumerate(shown, 1)]
        if self._node.get("limitOption") == "LIMIT_OPTION_WITH_TIES":
            return self._with_ties(items, sorts, body)
        limit, reads = bind_limit(self._context, self._node, self._scope)
        self._reads.append(replace(made("", TEXT), columns=reads))
        distinct = self._node.get("distinctClause")
        by_output = {
            value.sql: f"o{place}" for place, value in reversed(list(enumerate(values, 1)))
        }
        if distinct is None:
            order = _order([(_key(value, by_output), way) for value, way in sorts])
            return f"SELECT {', '.join(items)}{body}{order}{limit}"
        if any(value.type.name == "json" for value in values):
            fail("42883", "could not identify an equality operator for type json")
        if distinct and distinct[0]:
            return self._distinct_on(distinct, values, items, sorts, body) + limit
        for value in values:
            numeric_rules.refuse_as_key(value, "DISTINCT of")
        for value, _ in sorts:
            if value.sql not in by_output:
                message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list"
                fail("42P10", message, value.location)
        order = _order(
            [
                (numeric_rules.order(replace(value, sql=f"q.{by_output[value.sql]}")), way)
                for value, way in sorts
            ]
        )
        outputs = ", ".join(f"q.o{place} AS o{place}" for place in range(1, len(values) + 1))
        return (
            f"SELECT {outputs} FROM (SELECT DISTINCT {', '.join(items)}{body}) AS q{order}{limit}"
        )

    def _with_ties(self, items: list[str], sorts: list[tuple[Bound, str]], body: str) -> str:
        """FETCH FIRST n ROWS WITH TIES: the rows whose rank is n at most."""
        if not sorts:
            fail("42601", "WITH TIES cannot be specified without ORDER BY clause")
        if self._node.get("distinctClause") is not None:
            unsupported("FETCH … WITH TIES with DISTINCT")
        count, offset = (
            limit_constant(self._context, self._node, self._scope, key)
            for key in ("limitCount", "limitOffset")
        )
        keys = [
            f"{numeric_rules.order(value)} AS k{place}" for place, (value, _) in enumerate(sorts, 1)
        ]
        order = _order([(f"q.k{place}", way) for place, (_, way) in enumerate(sorts, 1)])
        outputs = ", ".join(f"q.o{place} AS o{place}" for place in range(1, len(items) + 1))
        names = ", ".join(f"q.k{place} AS k{place}" for place in range(1, len(sorts) + 1))
        ranked = (
            f"SELECT {outputs}, {names}, rank() OVER ({order.strip()}) AS n1"
            f" FROM (SELECT {', '.join([*items, *keys])}{body}) AS q"
        )
        return (
            f"SELECT {outputs} FROM ({ranked}) AS q WHERE q.n1 <= {count + offset}{order}"
            f" OFFSET {offset}"
        )

    def _distinct_on(
        self,
        distinct: list[TreeNode],
        values: list[Bound],
        items: list[str],
        sorts: list[tuple[Bound, str]],
        body: str,
    ) -> str:
        """The first row of each group in the order of ORDER BY, by row_number()."""
        targets = self._targets()
        expressions = self._in("DISTINCT ON")
        keys = [self._sorted(each, targets, values, expressions) for each in distinct]
        for each in keys:
            numeric_rules.refuse_as_key(each, "DISTINCT ON")
        texts = {each.sql for each in keys}
        leading = [value.sql for value, _ in sorts[: len(texts)]]
        if sorts and not set(leading) <= texts:
            fail("42P10", "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
                 keys[0].location)  # fmt: skip
        self._reads += keys
        outputs = ", ".join(f"q.o{place} AS o{place}" for place in range(1, len(values) + 1))
        kept = [
            f"{numeric_rules.order(value)} AS k{place}" for place, (value, _) in enumerate(sorts, 1)
        ]
        order = _order([(numeric_rules.order(value), way) for value, way in sorts])
        number = (
            f"row_number() OVER (PARTITION BY {', '.join(each.sql for each in keys)}{order}) AS n1"
        )
        outside = _order([(f"q.k{place}", way) for place, (_, way) in enumerate(sorts, 1)])
        return (
            f"SELECT {outputs} FROM (SELECT {', '.join([*items, *kept, number])}{body}) AS q"
            f" WHERE q.n1 = 1{outside}"
        )


def _of_star(column: RelationColumn, depth: int, location: int, name: str | None) -> Target:
    shown = f"{name}.{column.name}" if name else column.name
    read = Read(depth, shown, location, column.sql)
    value = Bound(
        column.sql,
        column.type,
        column.digits,
        column.scale,
        columns=(read,),
        location=location,
        name=column.name,
    )
    return Target(column.name, None, value)


def _order(items: list[tuple[str, str]]) -> str:
    return f" ORDER BY {', '.join(f'{text} {way}' for text, way in items)}" if items else ""


def _key(value: Bound, by_output: dict[str, str]) -> str:
    """A bare name is an output's; inside a call DuckDB would take a column of FROM for it."""
    key = numeric_rules.order(value)
    return by_output.get(value.sql, key) if key == value.sql else key
