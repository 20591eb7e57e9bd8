"""Functions that tell about the session: version(), current_setting(), pg_typeof() and the like."""

from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import INT4, TEXT, Bound, fail
from redask.core.sql.binder.coercion import constant
from redask.core.sql.binder.overloads import Overload
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_NAME = SqlType("name")


def _fact(type: SqlType, read: object) -> object:
    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if values:
            return None
        return constant(read(self.context.facts), type, location)  # type: ignore[operator]

    return call


def _current_setting(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not 1 <= len(values) <= 2 or values[0].literal is None:
        return None
    known = self.context.facts.settings.get(values[0].literal.lower())
    if known is None:
        if len(values) == 2:
            return Bound("CAST(NULL AS VARCHAR)", TEXT, is_null=True)
        fail("42704", f'unrecognized configuration parameter "{values[0].literal}"', location)
    return constant(known, TEXT, location)


def _typeof(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 1:
        return None
    return Bound(f"CAST({values[0].type.oid} AS BIGINT)", SqlType("regtype"), location=location)


FUNCTIONS: dict[str, list[Overload]] = {}
SPECIAL = {
    "version": _fact(TEXT, lambda facts: facts.settings.get("version", "PostgreSQL 15.0")),
    "current_database": _fact(_NAME, lambda facts: facts.database),
    "current_schema": _fact(_NAME, lambda facts: "public"),
    "current_user": _fact(_NAME, lambda facts: facts.user),
    "current_setting": _current_setting,
    "pg_typeof": _typeof,
    "pg_backend_pid": _fact(INT4, lambda facts: int(facts.settings.get("pid", "1"))),
}
