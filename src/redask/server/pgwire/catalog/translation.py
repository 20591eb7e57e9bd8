"""A catalogue query in SQLite's spelling: `translated(sql)`, with what its columns are.

PostgreSQL                                  SQLite
pg_catalog.pg_class, information_schema.x   pg_class, is_x
pg_catalog.f(x), a ~ 'b', COLLATE …         f(x), a REGEXP 'b', nothing
x::regclass, ::regtype, ::regproc           functions that give the number (or the name)
x = ANY (ARRAY[…]), x = ANY (y)             x IN (…), pg_any(x, y)
ARRAY(SELECT …), array_agg(x), a[1]         JSON arrays and pg_item
generate_series(1, n) AS s(r), unnest(a)    json_each
$1                                          ?1
"""

from collections.abc import Callable
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from redask.core.errors import BadStatement
from redask.server.pgwire.catalog.column_types import (
    REGISTERED,
    announce,
    cast_name,
    parameter_types,
)
from redask.server.pgwire.session.dialect import parsed, remembered


@dataclass(frozen=True, slots=True)
class CatalogueQuery:
    """A query that SQLite can run; `named` is None where a star stands for columns."""

    sql: str
    tables: bool
    named: tuple[tuple[str, int], ...] | None
    parameters: tuple[int, ...]


@remembered
def translated(sql: str) -> CatalogueQuery:
    """The query; `BadStatement` when it cannot be read."""
    tree = parsed(sql)
    if not isinstance(tree, exp.Select | exp.SetOperation | exp.Values | exp.Subquery):
        raise BadStatement(1, 1, repr(sql.strip()[:40]), "a SELECT that can be read")
    if isinstance(tree, exp.Values):
        tree = exp.select("*").from_(tree)
    named = announce(tree)
    parameters = parameter_types(tree)
    try:
        changed = _respelt(tree)
        text = changed.sql(dialect="sqlite", unsupported_level=sqlglot.ErrorLevel.IGNORE)
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError, KeyError):
        raise BadStatement(1, 1, repr(sql.strip()[:40]), "a simpler SELECT") from None
    named_tables = (isinstance(each.this, exp.Identifier) for each in changed.find_all(exp.Table))
    tables = "_reg" in text.lower() or any(named_tables)  # pg_regclass knows the tables, too
    return CatalogueQuery(text, tables, named, parameters)


# --- spelling --------------------------------------------------------------------------------


def _call(name: str, *arguments: exp.Expr | None) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[each for each in arguments if each is not None])


def _respelt(tree: exp.Expr) -> exp.Expr:
    """Every node in SQLite's spelling, the innermost first."""
    holder = exp.Paren(this=tree)
    for node in reversed(list(tree.walk())):
        change = _CHANGES.get(type(node))
        if change is not None:
            other = change(node)
            if other is not node:
                node.replace(other)
    for call in holder.find_all(exp.Anonymous):
        name = str(call.this).lower()
        call.set("this", _RENAMED.get(name, name))
    found: exp.Expr = holder.this
    return found


def _dot(node: exp.Expr) -> exp.Expr:
    called = node.expression
    if isinstance(called, exp.Func):
        return called
    return exp.Null()  # a field of a row: only empty catalogues are asked for one


def _table(node: exp.Expr) -> exp.Expr:
    if isinstance(node.this, exp.Identifier):
        schema = node.text("db")
        node.set("db", None)
        node.set("catalog", None)
        if schema == "information_schema":
            alias = node.args.get("alias")
            if alias is None:
                node.set("alias", exp.TableAlias(this=exp.to_identifier(node.name)))
            node.set("this", exp.to_identifier(f"is_{node.name.lower()}"))
        return node
    return _rows_of(node.this, node.args.get("alias"))


def _unnest(node: exp.Expr) -> exp.Expr:
    return _rows_of(exp.Explode(this=node.expressions[0]), node.args.get("alias"))


def _rows_of(source: exp.Expr, alias: exp.Expr | None) -> exp.Expr:
    """A function that stands for a table, as a subquery over json_each."""
    if isinstance(source, exp.ExplodingGenerateSeries | exp.GenerateSeries):
        arguments = [source.args.get(each) for each in ("start", "end", "step")]
        array = _call("pg_series", *arguments)
    elif isinstance(source, exp.Explode):
        array = source.this
    else:
        array = _call("pg_series", exp.Literal.number(1), exp.Literal.number(0))
    name = alias.name if alias is not None else "value"
    columns = alias.args.get("columns") if alias is not None else None
    column = columns[0].name if columns else name
    value = exp.alias_(exp.column("value"), column)
    inside = exp.select(value).from_(exp.Table(this=_call("json_each", array)))
    return exp.Subquery(this=inside, alias=exp.TableAlias(this=exp.to_identifier(name)))


def _column(node: exp.Expr) -> exp.Expr:
    node.set("db", None)
    node.set("catalog", None)
    if not node.text("table") and node.name.lower() == "user" and not node.this.quoted:
        return _call("current_user")
    return node


def _cast(node: exp.Expr) -> exp.Expr:
    kind = cast_name(node)
    inner = node.this
    if kind in REGISTERED:
        number, name = REGISTERED[kind]
        shown = isinstance(node.parent, exp.Select | exp.Alias) or (
            isinstance(node.parent, exp.Cast) and cast_name(node.parent) in ("text", "varchar")
        )
        return _call(name, _call(number, inner)) if shown else _call(number, inner)
    if kind in ("boolean", "bool"):
        return _call("pg_bool", inner)
    if kind in ("int", "bigint", "smallint", "oid", "int4", "int8", "int2", "xid"):
        return exp.Cast(this=inner, to=exp.DataType.build("INT"))
    if kind in ("text", "varchar", "char", "name", "bpchar"):
        return exp.Cast(this=inner, to=exp.DataType.build("TEXT"))
    return exp.Paren(this=inner)


def _comparison(node: exp.Expr) -> exp.Expr:
    """`= ANY (…)`, on whichever side."""
    array, value = node.expression, node.this
    if not isinstance(array, exp.Any):
        return node
    inner = array.this.unnest()
    negated = isinstance(node, exp.NEQ)
    if isinstance(inner, exp.Array) and len(inner.expressions) == 1:
        inner = inner.expressions[0] if isinstance(inner.expressions[0], exp.Select) else inner
    if isinstance(inner, exp.Array):
        found: exp.Expr = exp.In(this=value, expressions=inner.expressions)
    elif isinstance(inner, exp.Select | exp.Subquery):
        found = exp.In(
            this=value, query=inner if isinstance(inner, exp.Subquery) else inner.subquery()
        )
    else:
        found = _call("pg_any", value, inner)
    return exp.Not(this=found) if negated else found


def _array(node: exp.Expr) -> exp.Expr:
    items = node.expressions
    if _is_compared(node):
        return node  # which `_comparison` reads
    if len(items) == 1 and isinstance(items[0], exp.Select | exp.SetOperation):
        query = items[0]
        name = query.selects[0].alias or "item"
        if not query.selects[0].alias and isinstance(query, exp.Select):
            query.set("expressions", [exp.alias_(query.selects[0], name)])
        inside = exp.select(_call("json_group_array", exp.column(name))).from_(
            query.subquery("listed")
        )
        return exp.Subquery(this=inside)
    return _call("json_array", *items)


def _is_compared(node: exp.Expr) -> bool:
    above = node.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    return isinstance(above, exp.Any)


def _aggregate(name: str) -> Callable[[exp.Expr], exp.Expr]:
    def change(node: exp.Expr) -> exp.Expr:
        inner = node.this.this if isinstance(node.this, exp.Order) else node.this
        return _call(name, inner, node.args.get("separator"))

    return change


def _operator(node: exp.Expr) -> exp.Expr:
    sign = str(node.args.get("operator")).rpartition(".")[2]
    like = exp.RegexpLike(this=node.this, expression=node.expression)
    if sign in ("~", "~*"):
        return like
    if sign in ("!~", "!~*"):
        return exp.Not(this=like)
    made = {"=": exp.EQ, "<>": exp.NEQ, "~~": exp.Like}.get(sign)
    return made(this=node.this, expression=node.expression) if made else exp.Null()


def _bracket(node: exp.Expr) -> exp.Expr:
    place = node.expressions[0] if node.expressions else None
    if isinstance(place, exp.Literal):  # which sqlglot counts from 0
        place = exp.Literal.number(int(place.name) + 1)
    return _call("pg_item", node.this.unnest(), place)


_CHANGES: dict[type, Callable[[exp.Expr], exp.Expr]] = {
    exp.Dot: _dot,
    exp.Table: _table,
    exp.Unnest: _unnest,
    exp.Column: _column,
    exp.Cast: _cast,
    exp.EQ: _comparison,
    exp.NEQ: _comparison,
    exp.Array: _array,
    exp.ArrayAgg: _aggregate("json_group_array"),
    exp.GroupConcat: _aggregate("group_concat"),
    exp.LogicalAnd: _aggregate("bool_and"),
    exp.LogicalOr: _aggregate("bool_or"),
    exp.Operator: _operator,
    exp.Bracket: _bracket,
    exp.Collate: lambda node: node.this,
    exp.Explode: lambda node: (
        node if isinstance(node.parent, exp.Table) else _call("pg_unnested", node.this)
    ),
    exp.Parameter: lambda node: exp.Var(this=f"?{node.name}"),
    exp.CurrentVersion: lambda _: _call("version"),
    exp.CurrentSchema: lambda _: _call("current_schema"),
    exp.CurrentSchemas: lambda node: _call("current_schemas", node.this),
    exp.CurrentUser: lambda _: _call("current_user"),
    exp.SessionUser: lambda _: _call("session_user"),
    exp.CurrentCatalog: lambda _: _call("current_database"),
    exp.CurrentDatabase: lambda _: _call("current_database"),
    exp.ILike: lambda node: exp.RegexpLike(this=node.this, expression=node.expression),
    exp.Lateral: lambda node: node.this,
}
_RENAMED = {"json_build_object": "json_object", "_pg_expandarray": "pg_expanded",
            "generate_subscripts": "pg_subscripts"}  # fmt: skip
