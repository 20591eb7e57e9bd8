"""Functions of json and jsonb."""

from redask.core.sql.binder.overloads import Overload

FUNCTIONS: dict[str, list[Overload]] = {}
SPECIAL: dict[str, object] = {}
