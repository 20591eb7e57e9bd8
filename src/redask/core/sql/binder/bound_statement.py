"""One statement: `bind(tree, source, schema, facts, …)` → `BoundStatement`, to be run in DuckDB.

The tree is what PostgreSQL's parser gives as JSON. More than one statement, and anything but a
query, is refused. `render` puts the tables' names in DuckDB in the place of their markers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from redask.core.errors import SqlError
from redask.core.sql.binder.bound import TEXT, Parameters, ShownValue, fail
from redask.core.sql.binder.bound_queries import bind_query, named_objects
from redask.core.sql.binder.coercion import Coercion
from redask.core.sql.binder.context import (
    BindingContext,
    BoundQuery,
    Facts,
    Schema,
    TableDefinition,
)
from redask.core.sql.binder.namespace import Scope
from redask.core.sql.casting import shown_constants
from redask.core.sql.catalogue.registered_types import RegisteredTypes
from redask.core.sql.types import SqlType

_MARKER = re.compile("\0([0-9]+)\0")
_MOST_COLUMNS = 1664  # PostgreSQL's own limit


@dataclass(frozen=True, slots=True)
class BoundStatement:
    """A statement that was bound: its text with markers, its output, its parameters, its tables."""

    sql: str
    columns: tuple[tuple[str, SqlType], ...]
    digits: tuple[tuple[int, int] | None, ...]
    parameters: tuple[SqlType, ...]
    tables: tuple[TableDefinition, ...]
    shown: tuple[ShownValue | None, ...] = ()

    def render(self, names: Sequence[str]) -> str:
        """The text, with the tables' names in DuckDB."""
        return _MARKER.sub(lambda found: names[int(found[1])], self.sql)


def bind(
    tree: Mapping[str, Any],
    source: str,
    schema: Schema,
    facts: Facts,
    *,
    declared: Sequence[SqlType | None] = (),
    scales: Mapping[int, tuple[int, int]] | None = None,
    shown: Mapping[int, object] | None = None,
) -> BoundStatement:
    """The statement of a tree and its text; raises `SqlError` with the position in bytes.

    `shown` are the values of parameters that can only be shown.
    """
    statements = tree.get("stmts", [])
    if not statements:
        fail("42601", "syntax error at end of input")
    if len(statements) != 1:
        fail("42601", "cannot insert multiple commands into a prepared statement")
    node = statements[0]["stmt"]
    parameters = Parameters(
        {number: type for number, type in enumerate(declared, 1) if type is not None},
        scales or {},
        {number: partial(shown_constants.shown, value) for number, value in (shown or {}).items()},
    )

    def query(each: dict[str, Any], scope: Scope) -> BoundQuery:
        return bind_query(context, each, scope)

    coercion = Coercion(parameters, facts.zone, facts.interval_style)
    context = BindingContext(schema, coercion, facts, query, source.encode())
    context.coercion.registered = RegisteredTypes(context)
    try:
        found = named_objects(context, bind_query(context, node, Scope(depth=-1)))
    except RecursionError:
        raise SqlError("54001", "statement too complex: it is nested too deeply") from None
    if not parameters.numbers:  # else their values decide, which come later
        shown_constants.refuse_marks(found.sql)
    if len(found.columns) > _MOST_COLUMNS:
        fail("54011", f"target lists can have at most {_MOST_COLUMNS} entries")
    numbers = range(1, max(parameters.numbers, default=0) + 1)
    types = tuple(parameters.types.get(number, TEXT) for number in numbers)
    return BoundStatement(
        found.sql,
        tuple((column.name, column.type) for column in found.columns),
        tuple(column.digits for column in found.columns),
        types,
        tuple(context.tables),
        tuple(column.shown for column in found.columns),
    )
