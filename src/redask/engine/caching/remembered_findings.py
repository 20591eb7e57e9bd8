"""Findings of the same question in the same state of the data: `RememberedFindings`, an `AskWork`.

    key      the question and the clauses that decide what is found; the principal
    state    the tenant's last write and what the principal may see, both as the store has them now:
             it is read with every ASK, so that a write of any process is seen

What is found depends on nothing else: settings and embedder are those of the open database. Not
remembered: what was found while the state changed, what waits for vectors or could not be embedded
(that may change without a write), what was computed of attached tables (as may they), and what has
the date in its prompt, as a question that is relative in time has.

The findings that were used least recently go when there are more than `MOST`, or when all are
larger than `MOST_BYTES` of sources and prompts. Nobody else's findings are ever looked up: the key
has tenant, user, role and attributes.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable

from redask.core.model import Ask, Caller, Notice
from redask.core.ports import StoreView
from redask.engine import telemetry
from redask.engine.findings import AskWork, Findings

MOST = 1024
MOST_BYTES = 64 * 2**20
_PASSING = {"embedding_pending", "embedder_denied"}  # warnings that may end without a write

_Key = tuple[object, ...]
_State = tuple[object, ...]


class RememberedFindings:
    """Finds by `work` what it does not remember; all but `find` is `work`'s."""

    def __init__(self, work: AskWork, view: Callable[[Caller], StoreView]) -> None:
        self._work = work
        self._view = view
        self._lock = threading.Lock()
        self._known: OrderedDict[_Key, tuple[_State, Findings]] = OrderedDict()
        self._bytes = 0
        self.find_with = work.find_with
        self.at = work.at  # of another moment, nothing is remembered
        self.search = work.search
        self.outline = work.outline
        self.examine = work.examine

    def find(self, ask: Ask, caller: Caller) -> Findings:
        """Compute or retrieve, drop from the tail what does not fit, and make the prompt."""
        key = _key(ask, caller)
        with telemetry.step("recall"):
            state = _state(self._view(caller))
            known = self._recall(key, state)
        if known is not None:
            return known
        found = self._work.find(ask, caller)
        lasts = _is_lasting(found.warnings) and not found.is_live and not found.today
        if lasts and _state(self._view(caller)) == state:
            self._remember(key, state, found)
        return found

    def _recall(self, key: _Key, state: _State) -> Findings | None:
        with self._lock:
            known = self._known.get(key)
            if known is None or known[0] != state:
                return None
            self._known.move_to_end(key)
            return known[1]

    def _remember(self, key: _Key, state: _State, found: Findings) -> None:
        with self._lock:
            self._drop(key)
            self._known[key] = state, found
            self._bytes += _bytes(found)
            while len(self._known) > MOST or self._bytes > MOST_BYTES:
                self._drop(next(iter(self._known)))

    def _drop(self, key: _Key) -> None:
        gone = self._known.pop(key, None)
        if gone is not None:
            self._bytes -= _bytes(gone[1])


def _key(ask: Ask, caller: Caller) -> _Key:
    return (
        *(caller.tenant, caller.user, caller.role, repr(caller.attributes)),
        *(ask.question, ask.collections, ask.limit, ask.min_score, ask.depth, ask.plan, ask.steps),
    )


def _state(view: StoreView) -> _State:
    seen = view.visibility
    return (
        *(view.watermark, view.history, view.space),
        *(seen.version, seen.projections, seen.denied, seen.closed, seen.withheld),
    )


def _is_lasting(warnings: tuple[Notice, ...]) -> bool:
    return not any(warning.kind in _PASSING for warning in warnings)


def _bytes(found: Findings) -> int:
    """Sources are held twice: as they are, and in the prompt."""
    return found.size.sources_bytes + len(found.prompt.system) + len(found.prompt.user)
