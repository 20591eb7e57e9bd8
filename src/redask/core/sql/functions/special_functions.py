"""The signature of functions that look at their arguments themselves: `Special`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import Bound

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

# the expressions around the call, its arguments, its place; None: the call is not this function's
Special = Callable[["Expressions", list[Bound], int], Bound | None]
