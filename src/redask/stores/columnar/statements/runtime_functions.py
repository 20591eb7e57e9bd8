"""Our Python functions in DuckDB: registered with the first statement that calls them.

They belong to a cursor that lives as long as the database: DuckDB forgets a function, without
noticing calls that are still to come, when the cursor that registered it is closed.

A function that refuses raises `SqlError`; DuckDB would turn it into its own error with its own
words, so it is kept in `Raised` of the thread, and raised again by the executor.
"""

import re
import threading
import time
import weakref
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from redask.core.errors import SqlError
from redask.core.sql.runtime.pg_strings import MAX_LENGTH
from redask.core.sql.runtime.runtime_table import RUNTIME, registered

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from redask.stores.columnar.generations.open_generation import OpenGeneration
    from redask.stores.columnar.statements.watch import Watch

_CALL = re.compile(r"\bpg_[a-z0-9_]+(?=\()")
_LOOK_SECONDS = 0.02
_lock = threading.Lock()
_known: "weakref.WeakKeyDictionary[OpenGeneration, tuple[DuckDBPyConnection, set[str]]]" = (
    weakref.WeakKeyDictionary()
)


class Raised(threading.local):
    """What a function of ours raised last, in this thread, and whether it shall go on."""

    error: SqlError | None = None
    watch: "Watch | None" = None


RAISED = Raised()


def register(opened: "OpenGeneration", text: str) -> None:
    """Register what the text calls and the database does not know yet."""
    called = {name for name in _CALL.findall(text) if name in RUNTIME}
    with _lock:
        if opened not in _known:
            _known[opened] = (opened.connection.cursor(), set())
        cursor, known = _known[opened]
        for name in sorted(called - known):
            row = RUNTIME[name]
            arguments, result = registered(row)
            cursor.create_function(  # type: ignore[call-overload]  # the stub wants enums
                name,
                _guarded(_waiting(row.call) if row.waits else row.call, len(arguments)),
                arguments,
                result,
                null_handling="special" if row.null_handling else "default",
                side_effects=row.waits,
            )
            known.add(name)


def _waiting(call: Callable[[float], Any]) -> Callable[[float], Any]:
    """The function, after its seconds are over; the statement may end before."""

    def waited(seconds: float) -> Any:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if RAISED.watch is None or RAISED.watch.stopped:
                raise SqlError("57014", "canceling statement")
            time.sleep(min(left, _LOOK_SECONDS))
        return call(seconds)

    return waited


def _guarded(call: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The function with as many parameters as DuckDB passes, which keeps what it raises.

    Nothing can interrupt a call, so what it is given is bounded. DuckDB looks for an interrupt
    after some thousand calls only, so each looks itself.
    """

    def guarded(*arguments: Any) -> Any:
        try:
            if RAISED.watch is not None and RAISED.watch.stopped:
                raise SqlError("57014", "canceling statement")
            for each in arguments:
                if (each.__class__ is str or each.__class__ is list) and len(each) > MAX_LENGTH:
                    raise SqlError("54000", "string or array is too long for this function")
            return call(*arguments)
        except SqlError as error:
            RAISED.error = error
            raise

    # DuckDB counts a function's parameters by its signature
    named = [Parameter(f"a{place}", Parameter.POSITIONAL_ONLY) for place in range(count)]
    guarded.__signature__ = Signature(named)  # type: ignore[attr-defined]
    return guarded
