"""`RUNTIME`: every Python function that DuckDB shall know, by name, and how it is called.

    registered(row)              argument types and result type for DuckDB's create_function
    call_text(name, *arguments)  the DuckDB expression that calls it

A row may say INTERVAL. DuckDB hands an interval to Python as a timedelta, which loses months, so
it travels as VARCHAR: cast on the way in and back on the way out, both exact.
"""

from redask.core.sql.catalogue import catalogue_runtime
from redask.core.sql.runtime import pg_arrays, pg_quoting, pg_strings, spelling, text_input
from redask.core.sql.runtime.dates import (
    date_formats,
    date_reading,
    date_rounding,
    intervals,
    overlaps,
    time_zones,
    zoned_moments,
)
from redask.core.sql.runtime.documents import pg_json, pg_jsonb
from redask.core.sql.runtime.numbers import (
    aggregates,
    choices,
    number_formats,
    numerics,
    percentiles,
    transcendentals,
    width_buckets,
)
from redask.core.sql.runtime.runtime_function import RuntimeFunction
from redask.core.sql.written import written_functions

RUNTIME: dict[str, RuntimeFunction] = {
    **catalogue_runtime.FUNCTIONS,
    **choices.FUNCTIONS,
    **numerics.FUNCTIONS,
    **pg_arrays.FUNCTIONS,
    **percentiles.FUNCTIONS,
    **pg_quoting.FUNCTIONS,
    **pg_strings.FUNCTIONS,
    **text_input.FUNCTIONS,
    **transcendentals.FUNCTIONS,
    **width_buckets.FUNCTIONS,
    **aggregates.FUNCTIONS,
    **spelling.FUNCTIONS,
    **intervals.FUNCTIONS,
    **overlaps.FUNCTIONS,
    **time_zones.FUNCTIONS,
    **zoned_moments.FUNCTIONS,
    **date_rounding.FUNCTIONS,
    **date_formats.FUNCTIONS,
    **date_reading.FUNCTIONS,
    **number_formats.FUNCTIONS,
    **pg_json.FUNCTIONS,
    **pg_jsonb.FUNCTIONS,
    **written_functions.FUNCTIONS,
}


def registered(row: RuntimeFunction) -> tuple[list[str], str]:
    """The argument types and the result type to register the function with."""
    return [_carried(each) for each in row.arguments], _carried(row.result)


def call_text(name: str, *arguments: str) -> str:
    """The DuckDB expression of a call with these argument expressions."""
    row = RUNTIME[name]
    given = [
        f"CAST({text} AS {_carried(kind)})" if "INTERVAL" in kind else text
        for text, kind in zip(arguments, row.arguments, strict=True)
    ]
    call = f"{name}({', '.join(given)})"
    return f"CAST({call} AS {row.result})" if "INTERVAL" in row.result else call


def _carried(kind: str) -> str:
    return kind.replace("INTERVAL", "VARCHAR")
