"""The functions that clients call beside the catalogue, in Python: `install(connection, facts)`.

Arrays are JSON text inside SQLite. What a function of PostgreSQL would find in catalogues that
are empty here (indexes, constraints, comments, sequences) is NULL.
"""

import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from redask.server.pgwire.catalog.relations import (
    INFORMATION,
    PUBLIC,
    SYSTEM,
    SYSTEM_TABLES,
    format_type,
)
from redask.server.pgwire.session.runtime_parameters import SERVER_VERSION, RuntimeParameters
from redask.server.pgwire.types.oids import TYPES

_Value = str | int | float | bytes | None
VERSION = f"PostgreSQL {SERVER_VERSION} (redask)"
_NULLS = """obj_description col_description shobj_description pg_get_expr pg_get_indexdef
    pg_get_constraintdef pg_get_viewdef pg_get_ruledef pg_get_triggerdef pg_get_functiondef
    pg_get_function_result pg_get_function_arguments pg_get_function_identity_arguments
    pg_get_serial_sequence pg_get_partkeydef pg_get_statisticsobjdef_columns
    pg_get_partition_ancestors pg_sequence_last_value inet_client_addr inet_client_port
    inet_server_addr
    pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_last_xact_replay_timestamp pg_expanded
    pg_my_temp_schema pg_subscripts pg_unnested txid_current_if_assigned""".split()
_TRUE = """pg_table_is_visible pg_type_is_visible pg_function_is_visible pg_operator_is_visible
    pg_collation_is_visible pg_opclass_is_visible has_schema_privilege has_table_privilege
    has_column_privilege has_any_column_privilege has_database_privilege has_function_privilege
    has_sequence_privilege has_language_privilege has_type_privilege pg_has_role
    pg_try_advisory_lock pg_advisory_unlock""".split()
_FALSE = """pg_is_in_recovery pg_is_wal_replay_paused pg_is_other_temp_schema
    pg_relation_is_publishable pg_jit_available row_security_active pg_cancel_backend
    pg_terminate_backend""".split()
_VOID = """pg_advisory_unlock_all pg_advisory_lock pg_advisory_lock_shared
    pg_advisory_xact_lock pg_stat_clear_snapshot pg_notify""".split()
_ZERO = """pg_total_relation_size pg_relation_size pg_table_size pg_indexes_size pg_database_size
    pg_tablespace_size pg_stat_get_numscans""".split()
MAX_PATTERN = 1000


@dataclass(slots=True)
class CatalogueFacts:
    """What the functions know; `tables` by OID."""

    user: str
    database: str
    parameters: RuntimeParameters
    tables: Mapping[int, str] = field(default_factory=dict)

    def oid_of(self, name: str) -> int | None:
        """The OID of a table by its name, quoted or not, with or without its schema."""
        plain = re.sub(r'^"?(?:public|pg_catalog)"?\.', "", name.strip())
        if plain.startswith('"'):
            plain = plain.strip('"').replace('""', '"')
        return next(
            (oid for oid, known in self.tables.items() if known == plain), SYSTEM_TABLES.get(plain)
        )


def quote_ident(name: str) -> str:
    """A name as it must be written in SQL."""
    if re.fullmatch("[a-z_][a-z0-9_]*", name):
        return name
    return '"' + name.replace('"', '""') + '"'


def install(connection: sqlite3.Connection, facts: CatalogueFacts) -> None:
    """Give the connection PostgreSQL's functions."""
    add = connection.create_function
    for names, value in ((_NULLS, None), (_TRUE, 1), (_FALSE, 0), (_VOID, ""), (_ZERO, 0)):
        for name in names:
            add(name, -1, _constant(value))
    for name, work in _about(facts).items():
        add(name, -1, work)
    for name, count, plain in _PLAIN:
        add(name, count, plain, deterministic=True)
    connection.create_aggregate("bool_and", 1, _All)  # type: ignore[arg-type]
    connection.create_aggregate("bool_or", 1, _Any)  # type: ignore[arg-type]


def _constant(value: _Value) -> Callable[..., _Value]:
    return lambda *_: value


def _about(facts: CatalogueFacts) -> dict[str, Callable[..., _Value]]:
    """The functions that depend on who is connected."""

    def current_setting(name: _Value, _missing: _Value = None) -> _Value:
        return facts.parameters.get(str(name))

    def set_config(name: _Value, value: _Value, _local: _Value = None) -> _Value:
        facts.parameters.set(str(name), str(value or ""))
        return facts.parameters.get(str(name))

    def regclass(value: _Value) -> _Value:
        if value is None or isinstance(value, int):
            return value
        text = str(value)
        return int(text) if text.isdecimal() else facts.oid_of(text)

    def regname(value: _Value) -> _Value:
        if not isinstance(value, int):
            return value
        system = {oid: name for name, oid in SYSTEM_TABLES.items()}
        known = facts.tables.get(value) or system.get(value)
        return "-" if value == 0 else str(value) if known is None else quote_ident(known)

    return {
        "version": lambda: VERSION,
        "current_database": lambda: facts.database,
        "current_catalog": lambda: facts.database,
        "current_user": lambda: facts.user,
        "session_user": lambda: facts.user,
        "user": lambda: facts.user,
        "pg_get_userbyid": lambda _: facts.user,
        "current_schema": lambda: "public",
        "current_schemas": lambda implicit=0: (
            '["pg_catalog","public"]' if implicit else '["public"]'
        ),
        "pg_backend_pid": lambda: 1,
        "txid_current": lambda: 1,
        "pg_current_xact_id": lambda: 1,
        "current_setting": current_setting,
        "set_config": set_config,
        "pg_regclass": regclass,
        "to_regclass": regclass,
        "pg_regname": regname,
        "pg_postmaster_start_time": lambda: "2000-01-01 00:00:00+00:00",
        "pg_conf_load_time": lambda: "2000-01-01 00:00:00+00:00",
    }


def _regexp(pattern: _Value, text: _Value) -> _Value:
    if pattern is None or text is None:
        return None
    if len(str(pattern)) > MAX_PATTERN or re.search(r"[*+}]\)*[*+{]", str(pattern)):
        raise ValueError
    return int(re.search(str(pattern), str(text)[:MAX_PATTERN]) is not None)


def _like(pattern: _Value, text: _Value, escape: _Value = "\\") -> _Value:
    """LIKE as PostgreSQL has it: letters count in their case."""
    if pattern is None or text is None:
        return None
    parts, escaped = [], False
    for each in str(pattern)[:MAX_PATTERN]:
        if escaped:
            parts.append(re.escape(each))
            escaped = False
        elif each == escape:
            escaped = True
        else:
            parts.append({"%": ".*", "_": "."}.get(each) or re.escape(each))
    squeezed = re.sub(r"(?:\.\*)+", ".*", "".join(parts))
    return int(re.fullmatch(squeezed, str(text), re.S) is not None)


def _items(value: _Value) -> list[object]:
    """The items of an array, in JSON or as PostgreSQL writes it."""
    if value is None:
        return []
    text = str(value)
    if text.startswith("["):
        found = json.loads(text)
        return found if isinstance(found, list) else []
    inside = text.strip().removeprefix("{").removesuffix("}")
    return [part.strip().strip('"') for part in inside.split(",")] if inside else []


def _any(value: _Value, array: _Value) -> _Value:
    if value is None or array is None:
        return None
    return int(any(str(item) == str(value) for item in _items(array)))


def _item(array: _Value, place: _Value) -> _Value:
    found = _items(array)
    at = int(place) if isinstance(place, int) else 0
    chosen = found[at - 1] if 1 <= at <= len(found) else None
    return chosen if isinstance(chosen, str | int | float) else None


def _to_string(array: _Value, separator: _Value = ",", missing: _Value = None) -> _Value:
    if array is None:
        return None
    parts = [missing if each is None else each for each in _items(array)]
    return str(separator).join(str(part) for part in parts if part is not None)


def _series(start: _Value, stop: _Value, step: _Value = 1) -> _Value:
    low, high, by = (int(each) if each is not None else 0 for each in (start, stop, step))
    if by == 0 or abs(high - low) // abs(by) > 10_000:
        raise ValueError
    return json.dumps(list(range(low, high + (1 if by > 0 else -1), by)))


def _length(array: _Value, _: _Value = 1) -> _Value:
    return len(_items(array)) or None


def _format_type(oid: _Value, _: _Value = None) -> _Value:
    return None if oid is None else format_type(int(oid))


def _type_number(name: _Value) -> _Value:
    if name is None or isinstance(name, int):
        return name
    text = str(name).strip().removeprefix("pg_catalog.").strip('"').lower()
    if text.isdecimal():
        return int(text)
    found = (each for each in TYPES if text in (TYPES[each].name, format_type(each)))
    return next(found, None)


def _namespace_number(name: _Value) -> _Value:
    known = {"public": PUBLIC, "pg_catalog": SYSTEM, "information_schema": INFORMATION}
    return name if name is None or isinstance(name, int) else known.get(str(name).strip('"'))


def _namespace_name(oid: _Value) -> _Value:
    known = {PUBLIC: "public", SYSTEM: "pg_catalog", INFORMATION: "information_schema"}
    return known.get(oid) if isinstance(oid, int) else oid


def _bool(value: _Value) -> _Value:
    if value is None or isinstance(value, int):
        return value if value is None else int(bool(value))
    return int(str(value).strip().lower() in ("t", "true", "on", "1", "yes", "y"))


def _quoted_literal(value: _Value) -> _Value:
    return None if value is None else "'" + str(value).replace("'", "''") + "'"


def _concat(*values: _Value) -> _Value:
    return "".join(str(value) for value in values if value is not None)


def _split_part(text: _Value, mark: _Value, number: _Value) -> _Value:
    parts = str(text).split(str(mark) or " ")
    at = int(number) if isinstance(number, int) else 0
    return parts[at - 1] if 1 <= at <= len(parts) else ""


class _All:
    def __init__(self) -> None:
        self.value: int | None = None

    def step(self, value: _Value) -> None:
        if value is not None:
            self.value = int(bool(value)) if self.value is None else self.value & int(bool(value))

    def finalize(self) -> int | None:
        return self.value


class _Any(_All):
    def step(self, value: _Value) -> None:
        if value is not None:
            self.value = int(bool(value)) if self.value is None else self.value | int(bool(value))


_PLAIN: tuple[tuple[str, int, Callable[..., _Value]], ...] = (
    ("regexp", 2, _regexp),
    ("like", 2, _like),
    ("like", 3, _like),
    ("pg_any", 2, _any),
    ("pg_item", 2, _item),
    ("array_to_string", -1, _to_string),
    ("pg_series", -1, _series),
    ("array_length", -1, _length),
    ("array_upper", -1, _length),
    ("cardinality", 1, lambda array: len(_items(array))),
    ("array_lower", -1, lambda array, _: 1 if _items(array) else None),
    ("format_type", -1, _format_type),
    ("pg_regtype", 1, _type_number),
    ("to_regtype", 1, _type_number),
    ("pg_regnamespace", 1, _namespace_number),
    ("to_regnamespace", 1, _namespace_number),
    ("pg_namespace_name", 1, _namespace_name),
    ("pg_regproc", 1, lambda name: str(name).removeprefix("pg_catalog.")),
    ("pg_bool", 1, _bool),
    ("quote_ident", 1, lambda name: None if name is None else quote_ident(str(name))),
    ("quote_literal", 1, _quoted_literal),
    ("concat", -1, _concat),
    ("left", 2, lambda text, n: None if text is None else str(text)[:n]),
    ("split_part", 3, _split_part),
    ("strpos", 2, lambda text, part: str(text).find(str(part)) + 1),
    ("pg_encoding_to_char", 1, lambda _: "UTF8"),
    ("pg_char_to_encoding", 1, lambda _: 6),
    ("pg_tablespace_location", 1, lambda _: ""),
    ("pg_size_pretty", 1, lambda size: f"{size} bytes"),
)
