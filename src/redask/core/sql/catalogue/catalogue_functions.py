"""Functions that clients call beside the catalogue: format_type(), pg_get_userbyid() and the like.

What a function of PostgreSQL would find in catalogues that are empty here (views, comments,
sequences) is NULL. Nobody can write, so of the privileges there are SELECT, USAGE and
CONNECT.
"""

import re
from typing import TYPE_CHECKING

from redask.core.errors import SqlError
from redask.core.sql.binder.bound import (
    BOOL,
    FLOAT8,
    INT4,
    INT8,
    TEXT,
    Bound,
    fail,
    made,
    numeric_text,
    quoted,
)
from redask.core.sql.binder.coercion import constant
from redask.core.sql.catalogue.object_ids import OWNER
from redask.core.sql.catalogue.registered_types import table_number
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.functions.special_functions import Special
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_NAME, _OID, _VOID, _XID = SqlType("name"), SqlType("oid"), SqlType("void"), SqlType("xid")
_REGCLASS, _REGTYPE, _ZONED = SqlType("regclass"), SqlType("regtype"), SqlType("timestamptz")
_TEXT_NULLS = """
    obj_description col_description shobj_description pg_get_expr pg_get_function_sqlbody
    pg_describe_object pg_get_function_arg_default pg_get_viewdef pg_get_ruledef
    pg_get_triggerdef pg_get_functiondef pg_get_function_result pg_get_function_arguments
    pg_get_function_identity_arguments pg_get_serial_sequence pg_get_partkeydef
    pg_get_statisticsobjdef_columns pg_get_partition_constraintdef inet_client_addr
    inet_server_addr
""".split()
_NUMBER_NULLS = "pg_sequence_last_value txid_current_if_assigned".split()
_PORT_NULLS = "inet_client_port inet_server_port".split()
_TRUE = """pg_table_is_visible pg_type_is_visible pg_function_is_visible pg_operator_is_visible
    pg_collation_is_visible pg_opclass_is_visible pg_opfamily_is_visible pg_conversion_is_visible
    pg_statistics_obj_is_visible pg_ts_parser_is_visible pg_ts_dict_is_visible
    pg_ts_template_is_visible pg_ts_config_is_visible pg_try_advisory_lock pg_advisory_unlock
    pg_has_role""".split()
_FALSE = """pg_is_in_recovery pg_is_wal_replay_paused pg_is_other_temp_schema
    pg_relation_is_publishable pg_jit_available row_security_active
    pg_relation_is_updatable pg_column_is_updatable""".split()
_VOIDS = """pg_advisory_unlock_all pg_advisory_lock pg_advisory_lock_shared
    pg_advisory_xact_lock pg_stat_clear_snapshot pg_notify""".split()
_SIZES = """pg_total_relation_size pg_relation_size pg_table_size pg_indexes_size
    pg_database_size pg_tablespace_size pg_stat_get_numscans""".split()
_BTREE_YES = "asc nulls_last orderable search_array search_nulls returnable".split()
_BTREE_NO = "desc nulls_first distance_orderable".split()
_NOBODY = "(CASE WHEN {0} IS NOT NULL THEN false END)"
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


def _transaction(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """The number of the session's transaction: nothing else is known by it."""
    if values:
        return None
    number = self.context.facts.settings.get("session:transaction", "1")
    return constant(int(number), INT8, location)


_PARAMETER = re.compile(r"CAST\(\$[0-9]+ AS VARCHAR\)")


def _set_config(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """The new value; the session itself sets it."""
    if len(values) != 3:
        return None
    name, value = (self.coercion.coerce(each, TEXT) for each in values[:2])
    self.coercion.coerce(values[2], BOOL)
    for given, cast in ((values[0], name), (values[1], value)):
        if given.literal is None and not _PARAMETER.fullmatch(cast.sql):
            fail("0A000", "set_config() of anything but constants is not supported", location)
    return value


def _definition(part: str, most: int) -> "Special":
    """pg_get_indexdef(oid [, column, pretty]) and pg_get_constraintdef(oid [, pretty])."""

    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if not 1 <= len(values) <= most:
            return None
        oid = self.coercion.coerce(values[0], _OID)
        given = [oid]
        wanted = part
        if len(values) == 3:
            given.append(self.coercion.coerce(values[1], INT4))
            wanted = given[1].sql
        alias, known = self.context.alias("k"), self.context.catalogue("redask_definitions")
        text = (
            f"(SELECT min({alias}.c3) FROM {known} AS {alias}"
            f" WHERE {alias}.c1 = {oid.sql} AND {alias}.c2 = {wanted})"
        )
        return made(text, TEXT, *given)

    return call


def _column_property(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """pg_index_column_has_property(index, column, property): those of a btree's columns."""
    if len(values) != 3:
        return None
    name = self.coercion.coerce(values[2], TEXT)
    listed = ", ".join(quoted(each) for each in _BTREE_YES)
    other = ", ".join(quoted(each) for each in _BTREE_NO)
    text = (
        f"(CASE WHEN lower({name.sql}) IN ({listed}) THEN true"
        f" WHEN lower({name.sql}) IN ({other}) THEN false END)"
    )
    return made(text, BOOL, name, *values[:2])


def _size_pretty(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 1:
        return None
    is_numeric = values[0].type.name == "numeric"
    size = values[0] if is_numeric else self.coercion.coerce(values[0], INT8)
    shown = numeric_text(size) if is_numeric else f"CAST({size.sql} AS VARCHAR)"
    text = (
        f"(CASE WHEN {size.sql} IS NULL THEN NULL"
        f" WHEN abs(CAST({shown} AS DOUBLE)) < 10240 THEN {shown} || ' bytes' ELSE"
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
    # no session is reached from within a statement: own_sessions.signal_statements does that
    "pg_cancel_backend": [Overload((INT4,), BOOL, _NOBODY)],
    "pg_terminate_backend": [
        Overload((INT4,), BOOL, _NOBODY), Overload((INT4, INT8), BOOL, _NOBODY)
    ],
    "getdatabaseencoding": [Overload((), _NAME, "'UTF8'")],
    "pg_blocking_pids": [Overload((INT4,), INT4.array, "CAST([] AS INTEGER[])")],
    "parse_ident": [Overload((TEXT,), TEXT.array, "pg_parse_ident({0})")],
    "oidvectortypes": [Overload((SqlType("oidvector"),), TEXT, "pg_oidvectortypes({0})")],
    "bpchar": [Overload((SqlType("char"),), SqlType("bpchar"), "{0}")],
    "pg_sleep": [Overload((FLOAT8,), _VOID, "pg_sleep({0})")],
    "mxid_age": [Overload((_XID,), INT4, "CAST(1 AS INTEGER)")],
    "_pg_char_max_length": [Overload((_OID, INT4), INT4,
        "(CASE WHEN {1} <> -1 AND {0} IN (1042, 1043) THEN {1} - 4 END)")],
    "_pg_numeric_precision": [Overload((_OID, INT4), INT4,
        "CAST(CASE {0} WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24"
        " WHEN 701 THEN 53 WHEN 1700 THEN CASE WHEN {1} <> -1 THEN (({1} - 4) // 65536) & 65535 END"
        " END AS INTEGER)")],
    "_pg_numeric_precision_radix": [Overload((_OID, INT4), INT4,
        "CAST(CASE WHEN {0} IN (20, 21, 23, 700, 701) THEN 2 WHEN {0} = 1700 THEN 10 END"
        " AS INTEGER)")],
    "_pg_numeric_scale": [Overload((_OID, INT4), INT4,
        "CAST(CASE WHEN {0} IN (20, 21, 23) THEN 0 WHEN {0} = 1700 AND {1} <> -1"
        " THEN ({1} - 4) & 65535 END AS INTEGER)")],
    "_pg_datetime_precision": [Overload((_OID, INT4), INT4,
        "CAST(CASE WHEN {0} = 1082 THEN 0 WHEN {0} IN (1083, 1114, 1184, 1266) THEN"
        " CASE WHEN {1} < 0 THEN 6 ELSE {1} END WHEN {0} = 1186 THEN"
        " CASE WHEN {1} < 0 OR {1} & 65535 = 65535 THEN 6 ELSE {1} & 65535 END END AS INTEGER)")],
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
    **dict.fromkeys(("txid_current", "pg_current_xact_id"), _transaction),
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
    "pg_get_indexdef": _definition("0", 3),
    "pg_get_constraintdef": _definition("-1", 2),
    "pg_index_column_has_property": _column_property,
}  # fmt: skip
