"""redask: ask a question over your own data and get an answer you can check."""

from typing import TYPE_CHECKING, Any

from redask.errors import AskError
from redask.model import Caller, Mode

if TYPE_CHECKING:
    from redask.api import AsyncDatabase, CitedAnswer, OpenDatabase
    from redask.api import open_async as aopen
    from redask.api import open_database as open

__version__ = "0.1.0"
__all__ = [
    "AskError",
    "AsyncDatabase",
    "Caller",
    "CitedAnswer",
    "Mode",
    "OpenDatabase",
    "__version__",
    "aopen",
    "open",
]

_LATE = {
    "AsyncDatabase": "AsyncDatabase",
    "CitedAnswer": "CitedAnswer",
    "OpenDatabase": "OpenDatabase",
    "aopen": "open_async",
    "open": "open_database",
}


def __getattr__(name: str) -> Any:
    """Import what is heavy when it is first used: `redask --help` must be quick."""
    if name not in _LATE:
        raise AttributeError(f"module 'redask' has no attribute {name!r}")
    from redask import api

    return getattr(api, _LATE[name])
