"""redask: ask a question over your own data and get an answer you can check."""

from typing import TYPE_CHECKING, Any

from redask.errors import AskError
from redask.model import Caller, Mode

if TYPE_CHECKING:
    from redask.api import OpenDatabase
    from redask.api import open_async as aopen
    from redask.api import open_database as open
    from redask.async_api import AsyncDatabase
    from redask.results import CitedAnswer

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
    "AsyncDatabase": ("async_api", "AsyncDatabase"),
    "CitedAnswer": ("results", "CitedAnswer"),
    "OpenDatabase": ("api", "OpenDatabase"),
    "aopen": ("api", "open_async"),
    "open": ("api", "open_database"),
}


def __getattr__(name: str) -> Any:
    """Import what is heavy when it is first used: `redask --help` must be quick."""
    if name not in _LATE:
        raise AttributeError(f"module 'redask' has no attribute {name!r}")
    from importlib import import_module

    module, own = _LATE[name]
    return getattr(import_module(f"redask.{module}"), own)
