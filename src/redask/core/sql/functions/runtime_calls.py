"""Calls of the runtime's functions in generated text: `ours(name, gives)` as a row's `emit`."""

from collections.abc import Callable

from redask.core.sql.binder.bound import Bound, made
from redask.core.sql.runtime.runtime_table import call_text
from redask.core.sql.types import SqlType


def ours(name: str, gives: SqlType, *places: int) -> Callable[..., Bound]:
    """The call with the arguments in order, or in the order of `places`."""

    def emit(*values: Bound) -> Bound:
        ordered = [values[place] for place in places] if places else list(values)
        return made(call_text(name, *(each.sql for each in ordered)), gives, *values)

    return emit
