"""DuckDB connections: one that reads and runs statements, one that builds; and their errors.

A connection that runs statements has one thread, so that sums of doubles have equal bits, no file
system besides the generation that is attached, no extensions, no Python variables as tables, a
bound on memory, no spilling to disk, and settings that nobody can change.

DuckDB's own words never reach a caller: `columnar_errors` turns its errors into those of redask.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from redask.core.errors import CorruptIndex, StoreFailed
from redask.stores.columnar.json_columns import jsonb_text, plain_text, value_fits

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_BYTES = 2 << 30
_BASIC = {
    "ieee_floating_point_ops": "false",  # dividing by zero is an error
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "memory_limit": f"{MEMORY_BYTES >> 20}MiB",
}


def open_reader(generation: Path | None) -> "DuckDBPyConnection":
    """A database in memory with a generation (or an empty one) attached as `generation`."""
    import duckdb

    connection = duckdb.connect(":memory:", config={**_BASIC, "threads": "1", "temp_directory": ""})
    try:
        if generation is None:
            connection.execute("ATTACH ':memory:' AS generation")
        else:
            connection.execute(f"ATTACH {literal(str(generation))} AS generation (READ_ONLY)")
        register_functions(connection)
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    except BaseException:
        connection.close()
        raise
    return connection


def open_builder(temporary: Path) -> "DuckDBPyConnection":
    """A database in memory that may attach files, for building a generation; nobody else's SQL."""
    import duckdb

    connection = duckdb.connect(":memory:", config={**_BASIC, "temp_directory": str(temporary)})
    register_functions(connection)
    return connection


def register_functions(connection: "DuckDBPyConnection") -> None:
    """The functions that `typed_tables` calls."""
    for function in (jsonb_text, plain_text):
        connection.create_function(f"redask_{function.__name__}", function, ["VARCHAR"], "VARCHAR")
    connection.create_function("redask_value_fits", value_fits, ["VARCHAR"] * 2, "BOOLEAN")


def literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"


@contextmanager
def columnar_errors() -> Iterator[None]:
    """Turn errors of DuckDB and of files into `CorruptIndex` if corrupt, else `StoreFailed`."""
    import duckdb

    try:
        yield
    except duckdb.InterruptException:
        raise  # the statement's time is over: `Watch` says so
    except duckdb.Error as error:
        if is_damage(error):
            raise CorruptIndex(
                "the columnar projection is damaged; it is derived, and can be deleted",
                detail=str(error),
            ) from error
        raise StoreFailed("DuckDB error in the columnar projection", detail=str(error)) from error
    except OSError as error:
        raise StoreFailed(
            "the files of the columnar projection cannot be used", detail=str(error)
        ) from error


def is_damage(error: BaseException) -> bool:
    """Whether an error of DuckDB says that a file of its own cannot be read."""
    import duckdb

    if isinstance(error, duckdb.IOException | duckdb.SerializationException):
        return True
    return isinstance(error, duckdb.Error) and "Corrupt database" in str(error)


def is_broken(error: BaseException) -> bool:
    """Whether DuckDB itself failed, so that the connection is of no further use."""
    import duckdb

    return isinstance(error, duckdb.InternalException | duckdb.FatalException)
