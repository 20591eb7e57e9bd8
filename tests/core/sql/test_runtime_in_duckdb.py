"""Every runtime function of strings, arrays and JSON can be registered in DuckDB, and is called."""

import duckdb
import pytest
from duckdb.func import DEFAULT, SPECIAL

from redask.core.errors import SqlError
from redask.core.sql.runtime import pg_arrays, pg_quoting, pg_strings
from redask.core.sql.runtime.documents import pg_json, pg_jsonb
from redask.core.sql.runtime.runtime_function import RuntimeFunction

MODULES = (pg_arrays, pg_quoting, pg_strings, pg_json, pg_jsonb)
FUNCTIONS: dict[str, RuntimeFunction] = {}
for module in MODULES:
    FUNCTIONS |= module.FUNCTIONS
SAMPLES = {"INTEGER": "1", "BIGINT": "1", "BOOLEAN": "true", "VARCHAR[]": "['1']"}
OBJECTS = ("each", "object_keys")
ARRAYS = ("array_elements", "array_length", "delete_index")


def sample(row: RuntimeFunction, type_name: str) -> str:
    if row.name == "pg_jsonb_scalar" and type_name == "BOOLEAN":
        return "true"  # a number is wanted, and given
    if type_name != "VARCHAR":
        return SAMPLES[type_name]
    if any(word in row.name for word in OBJECTS):
        return """'{"1": 2}'"""
    return "'[1]'" if any(word in row.name for word in (*ARRAYS, "delete", "set")) else "'1'"


def register(connection: duckdb.DuckDBPyConnection, row: RuntimeFunction) -> None:
    handling = SPECIAL if row.null_handling else DEFAULT
    connection.create_function(
        row.name, row.call, [*row.arguments], row.result, null_handling=handling
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_duckdb_calls_it_with_values_and_with_nulls(name: str) -> None:
    row = FUNCTIONS[name]
    with duckdb.connect() as connection:
        register(connection, row)
        values = ", ".join(sample(row, each) for each in row.arguments)
        nulls = ", ".join(f"NULL::{each}" for each in row.arguments)
        found = connection.execute(f"SELECT {name}({values}), {name}({nulls})").fetchone()
    assert found is not None
    is_total = name in ("pg_quote_nullable",)
    assert (found[1] is None) is not is_total
    assert found[0] is not None or "get_" in name


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if "get_" in name])
def test_what_is_not_there_is_null(name: str) -> None:
    row = FUNCTIONS[name]
    missing = {"VARCHAR": "'x'", "INTEGER": "7", "VARCHAR[]": "['x']"}[row.arguments[1]]
    with duckdb.connect() as connection:
        register(connection, row)
        found = connection.execute(f"SELECT {name}('[1]', {missing})").fetchone()
    assert found == (None,)


def test_every_name_begins_with_pg_and_is_the_key() -> None:
    assert all(name == row.name and name.startswith("pg_") for name, row in FUNCTIONS.items())
    assert len(FUNCTIONS) == sum(len(module.FUNCTIONS) for module in MODULES)


def test_a_fault_is_an_sql_error_with_postgresql_s_state() -> None:
    with pytest.raises(SqlError, match="cannot delete from scalar") as caught:
        FUNCTIONS["pg_jsonb_delete_key"].call("1", "a")
    assert caught.value.sqlstate == "22023"
