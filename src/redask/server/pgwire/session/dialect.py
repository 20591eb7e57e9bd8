"""PostgreSQL's spelling of a SELECT in SQLite's, as far as that is cheap: `respelt(sql)`.

    "public"."tickets"            "tickets"
    x::text, x::int, x::date      CAST(x AS TEXT), CAST(x AS INTEGER), CAST(x AS TEXT)
    ILIKE                         LIKE, which ignores the case of ASCII letters in SQLite
    OFFSET 5, FETCH FIRST …       LIMIT -1 OFFSET 5, LIMIT …
    E'it\\'s', U&'…', $$text$$     'it''s'

Nothing here grants anything: what comes out is read, and guarded, like any other SELECT.
`reads` says what a statement is about, by the tables in its FROM.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Literal, TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from redask.server.pgwire.session.splitting import unescaped

_T = TypeVar("_T")
_LONGEST = 4096
Subject = Literal["catalogue", "collections"]
_SYSTEM = ("pg_catalog", "information_schema")
_WHOLE = ("BOOLEAN", "INT", "BIGINT", "SMALLINT", "TINYINT")
_TEXTS = ("TEXT", "VARCHAR", "CHAR", "BPCHAR", "NAME", "DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ",
          "UUID", "JSON", "JSONB", "INTERVAL")  # fmt: skip
_REALS = ("FLOAT", "DOUBLE", "DECIMAL")
_TYPES = {
    **dict.fromkeys(_WHOLE, exp.DataType.Type.INT),
    **dict.fromkeys(_TEXTS, exp.DataType.Type.TEXT),
    **dict.fromkeys(_REALS, exp.DataType.Type.DOUBLE),
}


def remembered(work: Callable[[str], _T]) -> Callable[[str], _T]:
    """The same, which remembers what it made of short texts: drivers repeat themselves."""
    known = lru_cache(512)(work)

    @wraps(work)
    def asked(text: str) -> _T:
        return known(text) if len(text) <= _LONGEST else work(text)

    return asked


def parsed(sql: str) -> exp.Expr | None:
    """The statement as PostgreSQL would read it; None when that cannot be done."""
    try:
        found = [tree for tree in sqlglot.parse(unescaped(sql), dialect="postgres") if tree]
    except (
        SqlglotError,
        RecursionError,
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        KeyError,
    ):
        return None
    return found[0] if len(found) == 1 else None


@remembered
def reads(sql: str) -> Subject:
    """What a SELECT reads: without a table, nothing but functions of the catalogue."""
    tree = parsed(sql)
    if tree is None:
        return "collections"
    named = {cte.alias for cte in tree.find_all(exp.CTE)}
    tables = [table for table in tree.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    real = [table for table in tables if table.db or table.name not in named]
    if not real:
        return "catalogue"
    system = any(table.db in _SYSTEM or table.name.startswith("pg_") for table in real)
    return "catalogue" if system else "collections"


@remembered
def respelt(sql: str) -> str | None:
    """The same SELECT for SQLite; None when it cannot be read."""
    tree = parsed(sql)
    if not isinstance(tree, exp.Select | exp.SetOperation):
        return None
    for table in tree.find_all(exp.Table):
        if table.db in ("public", ""):
            table.set("db", None)
            table.set("catalog", None)
    for column in tree.find_all(exp.Column):
        if column.args.get("db") is not None:
            column.set("db", None)
            column.set("catalog", None)
    for cast in tree.find_all(exp.Cast):
        kind = _TYPES.get(cast.to.this.name)
        if kind is not None:
            cast.set("to", exp.DataType(this=kind))
    for like in list(tree.find_all(exp.ILike)):
        like.replace(exp.Like(this=like.this, expression=like.expression))
    for mark in list(tree.find_all(exp.Parameter)):
        mark.replace(exp.Var(this=f"${mark.name}"))
    offset, limit = tree.args.get("offset"), tree.args.get("limit")
    if offset is not None and limit is None:
        tree.set("limit", exp.Limit(expression=exp.Literal.number(-1)))
    try:
        return tree.sql(dialect="sqlite", unsupported_level=sqlglot.ErrorLevel.IGNORE)
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
        return None
