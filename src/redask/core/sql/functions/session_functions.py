"""Functions that tell about the session: version(), current_setting(), pg_typeof() and the like.

`Facts.settings` are the run-time parameters; what is no parameter begins with `session:` in it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import INT4, TEXT, Bound, fail, made
from redask.core.sql.binder.coercion import constant
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.functions.special_functions import Special
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.context import Facts
    from redask.core.sql.binder.expressions import Expressions

_NAME = SqlType("name")


def _fact(type: SqlType, read: "Callable[[Facts], object]") -> "Special":
    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if values:
            return None
        return constant(read(self.context.facts), type, location)

    return call


def _current_setting(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not 1 <= len(values) <= 2:
        return None
    settings = {
        name.lower(): value
        for name, value in self.context.facts.settings.items()
        if not name.startswith("session:")
    }
    name = values[0].literal
    if name is None:
        return _looked_up(self, values, location)
    known = settings.get(name.lower())
    if known is None:
        if len(values) == 2:
            return Bound("CAST(NULL AS VARCHAR)", TEXT, is_null=True)
        fail("42704", f'unrecognized configuration parameter "{name}"', location)
    return constant(known, TEXT, location)


def _looked_up(self: "Expressions", values: list[Bound], location: int) -> Bound:
    """The parameter of a name that is no constant; NULL when there is none and that is allowed."""
    name = self.coercion.coerce(values[0], TEXT)
    alias = self.context.alias("k")
    table = self.context.schema.table("pg_catalog", "pg_settings")
    places = {own: physical for own, _, physical in table.columns} if table else {}
    missing = (
        "NULL" if len(values) == 2
        else "error('pg:42704:unrecognized configuration parameter')"
    )  # fmt: skip
    text = (
        f"(SELECT coalesce(min({alias}.{places.get('setting')}),"
        f" CASE WHEN {name.sql} IS NOT NULL THEN {missing} END)"
        f" FROM {self.context.catalogue('pg_settings')} AS {alias}"
        f" WHERE lower({alias}.{places.get('name')}) = lower({name.sql}))"
    )
    return made(text, TEXT, name)


def _typeof(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 1:
        return None
    return Bound(f"CAST({values[0].type.oid} AS BIGINT)", SqlType("regtype"), location=location)


FUNCTIONS: dict[str, list[Overload]] = {}
SPECIAL: "dict[str, Special]" = {
    "version": _fact(TEXT, lambda facts: facts.settings.get("session:version", "PostgreSQL 15.0")),
    "current_database": _fact(_NAME, lambda facts: facts.database),
    "current_schema": _fact(_NAME, lambda _: "public"),
    "current_user": _fact(_NAME, lambda facts: facts.user),
    "current_setting": _current_setting,
    "pg_typeof": _typeof,
    "pg_backend_pid": _fact(INT4, lambda facts: int(facts.settings.get("session:pid", "1"))),
}
