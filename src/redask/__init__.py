"""redask: ask a question over your own data and get an answer you can check."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from redask.api.asynchronous import AsyncDatabase
    from redask.api.auditing.sealing_methods import verify_export, verify_proof
    from redask.api.checking import check
    from redask.api.keeping import restore
    from redask.api.results import CitedAnswer
    from redask.api.sync import OpenDatabase
    from redask.api.sync import open_async as aopen
    from redask.api.sync import open_database as open
    from redask.core.errors import AskError
    from redask.core.model import Caller, Mode

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
    "check",
    "open",
    "restore",
    "verify_export",
    "verify_proof",
]

_LATE = {
    "AskError": ("core.errors", "AskError"),
    "AsyncDatabase": ("api.asynchronous", "AsyncDatabase"),
    "Caller": ("core.model", "Caller"),
    "CitedAnswer": ("api.results", "CitedAnswer"),
    "Mode": ("core.model", "Mode"),
    "OpenDatabase": ("api.sync", "OpenDatabase"),
    "aopen": ("api.sync", "open_async"),
    "check": ("api.checking", "check"),
    "open": ("api.sync", "open_database"),
    "restore": ("api.keeping", "restore"),
    "verify_export": ("api.auditing.sealing_methods", "verify_export"),
    "verify_proof": ("api.auditing.sealing_methods", "verify_proof"),
}


def __getattr__(name: str) -> Any:
    """Import what is heavy when it is first used: `redask --help` must be quick."""
    if name not in _LATE:
        raise AttributeError(f"module 'redask' has no attribute {name!r}")
    from importlib import import_module

    module, own = _LATE[name]
    return getattr(import_module(f"redask.{module}"), own)


def __dir__() -> list[str]:
    """What there is and what would be imported: for completion in shells and notebooks."""
    return sorted({*globals(), *_LATE})
