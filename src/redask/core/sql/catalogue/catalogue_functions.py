"""Functions that clients call beside the catalogue: format_type(), pg_get_userbyid() and the like.

What a function of PostgreSQL would find in catalogues that are empty here (indexes, constraints,
comments, sequences) is NULL. Nobody can write, so of the privileges there are SELECT, USAGE and
CONNECT.
"""

from typing import TYPE_CHECKING

from redask.core.errors import SqlError
from redask.core.sql.binder.bound import BOOL, INT4, INT8, TEXT, Bound, fail, made, quoted
from redask.core.sql.binder.coercion import constant
from redask.core.sql.catalogue.object_ids import OWNER
from redask.core.sql.catalogue.registered_types import table_number
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.functions.special_functions import Special
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_NAME, _OID, _VOID = SqlType("name"), SqlType("oid"), SqlType("void")
_REGCLASS, _REGTYPE, _ZONED = SqlType("regclass"), SqlType("regtype"), SqlType("timestamptz")
_TEXT_NULLS = """obj_description col_description shobj_description pg_get_expr pg_get_indexdef
    pg_get_constraintdef pg_get_viewdef pg_get_ruledef pg_get_triggerdef pg_get_functiondef
    pg_get_function_result pg_get_function_arguments pg_get_function_identity_arguments
    pg_get_serial_sequence pg_get_partkeydef pg_get_statisticsobjdef_columns
    pg_get_partition_constraintdef inet_client_addr inet_server_addr""".split()
_NUMBER_NULLS = "pg_sequence_last_value txid_current_if_assigned".split()
_PORT_NULLS = "inet_client_port inet_server_port".split()
_TRUE = """pg_table_is_visible pg_type_is_visible pg_function_is_visible pg_operator_is_visible
    pg_collation_is_visible pg_opclass_is_visible pg_try_advisory_lock pg_advisory_unlock
    pg_has_role""".split()
_FALSE = """pg_is_in_recovery pg_is_wal_replay_paused pg_is_other_temp_schema
    pg_relation_is_publishable pg_jit_available row_security_active pg_cancel_backend
    pg_terminate_backend pg_relation_is_updatable pg_column_is_updatable""".split()
_VOIDS = """pg_advisory_unlock_all pg_advisory_lock pg_advisory_lock_shared
    pg_advisory_xact_lock pg_stat_clear_snapshot pg_notify""".split()
_SIZES = """pg_total_relation_size pg_relation_size pg_table_size pg_indexes_size
    pg_database_size pg_tablespace_size pg_stat_get_numscans""".split()
_STARTED = "2000-01-01 00:00:00"
_PRIVILEGES = ("select", "usage", "connect", "member")


def _always(text: str, kind: SqlType) -> "Special":
    """The same for all arguments."""

    def call(self: "Expressions", values: list[Bound], location: int) -> Bound:
        given = [self.coercion.coerce(each, TEXT) if each.is_untyped else each for each in values]
        return made(f"CAST({text} AS {kind.duckdb_type})", kind, *given)

    return call


def _size(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """How much room a table takes: 0, once it is known that there is one."""
    if not 1 <= len(values) <= 2:
        return None
    if values[0].literal is not None:
        values = [self.coercion.coerce(values[0], _REGCLASS), *values[1:]]
    return _always("0", INT8)(self, values, location)


def _user_by_id(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 1:
        return None
    oid = self.coercion.coerce(values[0], _OID)
    user = quoted(self.context.facts.user)
    text = (
        f"(CASE WHEN {oid.sql} = {OWNER} THEN {user} WHEN {oid.sql} IS NOT NULL THEN"
        f" 'unknown (OID=' || CAST({oid.sql} AS VARCHAR) || ')' END)"
    )
    return made(text, _NAME, oid)


def _format_type(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 2:
        return None
    oid, modifier = self.coercion.coerce(values[0], _OID), self.coercion.coerce(values[1], INT4)
    return made(f"pg_format_type({oid.sql}, {modifier.sql})", TEXT, oid, modifier)


def _schemas(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 1:
        return None
    implicit = self.coercion.coerce(values[0], BOOL)
    text = f"(CASE WHEN {implicit.sql} THEN ['pg_catalog', 'public'] ELSE ['public'] END)"
    return made(text, _NAME.array, implicit)


def _privilege(count: int, is_table: bool) -> "Special":
    """has_…_privilege([user,] object, …, privilege), `count` without the user."""

    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if len(values) not in (count, count + 1):
            return None
        if len(values) == count + 1:
            values = values[1:]
        if is_table and values[0].literal is not None:
            self.coercion.coerce(values[0], _REGCLASS)  # there must be one
        given = [self.coercion.coerce(each, TEXT) if each.is_untyped else each for each in values]
        wanted = given[-1]
        listed = ", ".join(quoted(each) for each in _PRIVILEGES)
        text = f"(lower(trim({wanted.sql}, ' ')) IN ({listed}))"
        return made(text, BOOL, *given)

    return call


def _to_regclass(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 1:
        return None
    if values[0].literal is None:
        value = self.coercion.coerce(values[0], TEXT)
        alias, classes = self.context.alias("k"), self.context.classes()
        text = (
            f"(SELECT min({alias}.c1) FROM {classes} AS {alias}"
            f" WHERE {alias}.c2 = pg_relation_name({value.sql}))"
        )
        return made(text, _REGCLASS, value)
    try:
        number = str(table_number(values[0].literal, self.context.oid))
    except SqlError as error:
        if error.sqlstate != "42P01":
            raise
        number = "NULL"
    return made(f"CAST({number} AS BIGINT)", _REGCLASS)


def _to_regtype(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 1:
        return None
    value = self.coercion.coerce(values[0], TEXT)
    return made(f"pg_find_type({value.sql})", _REGTYPE, value)


def _set_config(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """The new value; the session itself sets it."""
    if len(values) != 3:
        return None
    if values[0].literal is None or values[1].literal is None:
        fail("0A000", "set_config() of anything but constants is not supported", location)
    return constant(values[1].literal, TEXT, location)


def _size_pretty(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 1:
        return None
    size = self.coercion.coerce(values[0], INT8)
    text = (
        f"(CASE WHEN abs({size.sql}) < 10240 THEN CAST({size.sql} AS VARCHAR) || ' bytes' ELSE"
        f" error('pg:0A000:pg size pretty of this size is not supported') END)"
    )
    return made(text, TEXT, size)


FUNCTIONS: dict[str, list[Overload]] = {
    "pg_encoding_to_char": [
        Overload(
            (INT4,), _NAME, "(CASE {0} WHEN 6 THEN 'UTF8' WHEN 0 THEN 'SQL_ASCII' ELSE '' END)"
        )
    ],
    "pg_char_to_encoding": [
        Overload((_NAME,), INT4, "(CASE WHEN lower({0}) IN ('utf8', 'utf-8', 'unicode')"
                 " THEN 6 ELSE CAST(-1 AS INTEGER) END)")
    ],
}  # fmt: skip
SPECIAL: "dict[str, Special]" = {
    **dict.fromkeys(_TEXT_NULLS, _always("NULL", TEXT)),
    **dict.fromkeys(_NUMBER_NULLS, _always("NULL", INT8)),
    **dict.fromkeys(_PORT_NULLS, _always("NULL", INT4)),
    **dict.fromkeys(_TRUE, _always("true", BOOL)),
    **dict.fromkeys(_FALSE, _always("false", BOOL)),
    **dict.fromkeys(_VOIDS, _always("''", _VOID)),
    **dict.fromkeys(_SIZES, _size),
    **dict.fromkeys(("pg_database_size", "pg_tablespace_size"), _always("0", INT8)),
    **dict.fromkeys(("txid_current", "pg_current_xact_id"), _always("1", INT8)),
    **dict.fromkeys(("pg_postmaster_start_time", "pg_conf_load_time"),
                    _always(f"'{_STARTED}'", _ZONED)),
    "pg_my_temp_schema": _always("0", _OID),
    "pg_tablespace_location": _always("''", TEXT),
    "pg_get_userbyid": _user_by_id,
    "format_type": _format_type,
    "current_schemas": _schemas,
    "has_table_privilege": _privilege(2, True),
    "has_any_column_privilege": _privilege(2, True),
    "has_column_privilege": _privilege(3, True),
    **dict.fromkeys(
        ("has_schema_privilege", "has_database_privilege", "has_function_privilege",
         "has_sequence_privilege", "has_language_privilege", "has_type_privilege",
         "has_tablespace_privilege", "has_foreign_data_wrapper_privilege",
         "has_server_privilege"),
        _privilege(2, False),
    ),
    "to_regclass": _to_regclass,
    "to_regtype": _to_regtype,
    "set_config": _set_config,
    "pg_size_pretty": _size_pretty,
}  # fmt: skip
