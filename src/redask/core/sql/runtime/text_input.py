"""Text to a value at run time: `pg_in_int4('12')` and the like, by the same rules as literals.

`pg_text_elements` reads an array; `pg_match_pattern` translates a regular expression for DuckDB.
"""

from collections.abc import Callable
from typing import Any

from redask.core.sql import literals
from redask.core.sql.array_input import split_array
from redask.core.sql.runtime.dates.intervals import carried
from redask.core.sql.runtime.numbers.numerics import spell
from redask.core.sql.runtime.patterns.pg_patterns import match_pattern
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name
from redask.core.sql.types import SqlType
from redask.core.sql.written.written_types import WRITTEN

_READ = (
    """bool int2 int4 int8 oid float4 float8 numeric date time timestamp timestamptz interval
uuid json jsonb xid""".split()
    + sorted(WRITTEN)
)


def _reader(kind: SqlType) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        value = literals.read(text, kind)
        if kind.name == "numeric":
            return spell(value)  # type: ignore[arg-type]
        return carried(value) if kind.name == "interval" else value  # type: ignore[arg-type]

    return read


FUNCTIONS: dict[str, RuntimeFunction] = {
    f"pg_in_{name}": RuntimeFunction(
        f"pg_in_{name}", ("VARCHAR",), SqlType(name).duckdb_type, _reader(SqlType(name))
    )
    for name in _READ
} | functions_by_name(
    RuntimeFunction("pg_text_elements", ("VARCHAR",), "VARCHAR[]", split_array),
    RuntimeFunction("pg_match_pattern", ("VARCHAR", "BOOLEAN"), "VARCHAR", match_pattern),
)
