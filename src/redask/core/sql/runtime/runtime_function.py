"""`RuntimeFunction`: a Python function as DuckDB shall know it.

DuckDB does not call a function with NULL unless `null_handling` is true, and a function that may
give NULL for other arguments must have it true: `nullable` then keeps the NULLs away from `call`.
Who registers a function that `waits` lets its first argument pass, in seconds, before each call,
as long as the statement may run.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple


class RuntimeFunction(NamedTuple):
    """A scalar function of DuckDB; `arguments` and `result` are DuckDB's type names."""

    name: str
    arguments: tuple[str, ...]
    result: str
    call: Callable[..., Any]
    null_handling: bool = False
    waits: bool = False


def nullable(call: Callable[..., Any]) -> Callable[..., Any]:
    """`call`, with NULL for every NULL argument; DuckDB reads the number of its parameters."""

    @wraps(call)
    def guarded(*arguments: Any) -> Any:
        return None if None in arguments else call(*arguments)

    return guarded


def functions_by_name(*rows: RuntimeFunction) -> dict[str, RuntimeFunction]:
    return {row.name: row for row in rows}
