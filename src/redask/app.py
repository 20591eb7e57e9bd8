"""The composition root: settings and a location become a running App.

The only file that knows every adapter. Nothing here decides anything about an answer.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from redask import settings as choices
from redask.budget import Budget
from redask.embedders import make as make_embedder
from redask.engine import Engine
from redask.errors import AskError, BadAsk, Misconfigured
from redask.index import SearchIndex
from redask.index.analysis import text
from redask.model import Caller, Kind, Knobs, Prompt
from redask.ports import Connected, Provider
from redask.providers import PROVIDERS
from redask.recall import Recall
from redask.retrieval import Retriever
from redask.rules import capabilities, cost
from redask.rules.chain import Broken, Intact
from redask.stores import Truth, open_store
from redask.stores.answers import SqliteAnswers
from redask.stores.audit_log import SqliteAuditLog, open_calls
from redask.stores.database import Database
from redask.stores.ledger import SqliteLedger
from redask.stores.rows import entities, link

_T = TypeVar("_T")
_P = ParamSpec("_P")
_THREADS = 8
PATIENCE_SECONDS = 10.0
CONFIGURATION = "redask.toml"
_OPENED_MOST = 64  # models come from callers, who may name many
_CHECK = Prompt("Answer with one word.", "Say yes.", "Say yes.", ())
_CHECK_SECONDS = 30
_CHECK_TOKENS = 16


class Opener:
    """Providers by name and model, each opened once, with what the settings say about it."""

    def __init__(self, settings: choices.Settings, given: Mapping[str, Provider]) -> None:
        self._settings = settings
        self._given = given
        self._opened: dict[tuple[str, str | None], Provider] = {}
        self._lock = threading.Lock()

    def __call__(self, name: str, model: str | None) -> Provider:
        """The provider, which may take a moment the first time."""
        if name in self._given:
            return self._given[name]
        with self._lock:
            if (name, model) not in self._opened:
                if len(self._opened) >= _OPENED_MOST:
                    self._opened.clear()
                self._opened[name, model] = _open(self._settings, name, model)
            return self._opened[name, model]

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        for provider in self._opened.values():
            if isinstance(provider, Connected):
                await provider.aclose()


@dataclass(slots=True)
class App:
    """Everything that is open for one database directory."""

    store: Truth
    index: SearchIndex
    calls: Database
    log: SqliteAuditLog
    retriever: Retriever
    engine: Engine
    ledger: SqliteLedger
    opener: Opener
    threads: ThreadPoolExecutor

    def put(
        self, collection: str, rows: Sequence[Mapping[str, object]], kind: str, caller: Caller
    ) -> list[str]:
        """Write user rows. → their URNs."""
        try:
            chosen = Kind(kind)
        except ValueError:
            raise BadAsk(f"{kind!a} is no kind of entity", detail="kind") from None
        made = entities(collection, rows, kind=chosen)
        embedder = self.retriever.embedder
        if embedder is None:
            self.store.put(made, caller)
        else:
            vectors = embedder.embed([text(each.payload) for each in made])
            embedded = [
                replace(each, vector=vector) if any(vector) else each  # no words, no direction
                for each, vector in zip(made, vectors, strict=True)
            ]
            self.store.put(embedded, caller, model=embedder.model)
        return [each.urn for each in made]

    def link(self, source: str, label: str, target: str, caller: Caller) -> str:
        """Write one edge. → its URN."""
        edge = link(source, label, target)
        self.store.put([edge], caller)
        return edge.urn

    def spending(self, caller: Caller, days: int) -> list[dict[str, object]]:
        """US dollars by day, tenant and provider, newest first, today and the days before.

        The owner of an embedded database sees every tenant, anybody else their own.
        """
        since = cost.day_of(self.engine.clock()) - days + 1
        tenant = None if caller == Caller() else caller.tenant
        return [
            {
                "day": (date(1970, 1, 1) + timedelta(line.account.day)).isoformat(),
                "provider": line.account.provider,
                "reserved_usd": line.reserved,
                "spent_usd": line.spent,
                "tenant": line.account.tenant,
            }
            for line in self.ledger.report(since, tenant)
        ]

    def doctor(self, caller: Caller, rebuild_index: bool) -> dict[str, object]:
        """What is there, what is pending, what is wrong."""
        if rebuild_index:
            self.index.rebuild(caller.tenant)
        store, index = self.store.statistics(caller), self.index.health(caller.tenant)
        problems = self.store.check()
        verdict = self.log.verify()
        if isinstance(verdict, Broken):
            problems.append(f"audit log: {verdict.reason}")
        calls = self.calls.path
        return {
            "store": {
                "watermark": store.watermark,
                "collections": len(store.collections),
                "entities": store.entities,
                "edges": store.edges,
                "vectors": store.vectors,
            },
            "index": {
                "watermark": index.watermark,
                "pending": index.pending,
                "entities": index.entities,
            },
            "audit": {"rows": verdict.rows if isinstance(verdict, Intact) else 0},
            "files": {**store.files, "index": index.bytes, calls.name: calls.stat().st_size},
            "problems": problems,
        }

    async def in_thread(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Run synchronous work without holding up the loop."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.threads, lambda: work(*args, **kwargs))

    def close(self) -> None:
        """Finish what runs, then let go of every file."""
        self.threads.shutdown(wait=True)
        self.log.close()
        self.index.close()
        self.calls.close()
        self.store.close()


def build(
    location: str | Path,
    *,
    settings: choices.Settings | None = None,
    embedder: str = "none",
    clock: Callable[[], int] = time.time_ns,
    providers: Mapping[str, Provider] = MappingProxyType({}),
) -> App:
    """Open everything at a location.

    Settings come from `redask.toml` there and the environment, unless given. `providers` stand
    beside or in place of our rows: an application's own, or a fake in its tests.
    """
    directory = Path(location)
    chosen = settings or load_settings(directory)
    store = open_store(str(directory))
    calls = open_calls(directory, patience=PATIENCE_SECONDS)
    index = SearchIndex(directory / "index", store)
    retriever = Retriever(store, index, make_embedder(embedder), chosen)
    log = SqliteAuditLog(calls, chosen.audit_retention_days)
    ledger = SqliteLedger(calls)
    opener = Opener(chosen, providers)
    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="redask")
    engine = Engine(
        retriever=retriever,
        log=log,
        recall=Recall(SqliteAnswers(calls, chosen.cache_max_entries), chosen, clock),
        budget=Budget(chosen.limits, ledger, clock),
        providers=frozenset({*PROVIDERS, *providers}),
        installed=frozenset(
            {*(name for name, row in PROVIDERS.items() if row.installed), *providers}
        ),
        open_provider=opener,
        settings=chosen,
        clock=clock,
        threads=threads,
    )
    return App(store, index, calls, log, retriever, engine, ledger, opener, threads)


def load_settings(directory: Path) -> choices.Settings:
    """The settings that the directory's configuration file and the environment say."""
    file = directory / CONFIGURATION
    try:
        written = file.read_text(encoding="utf-8") if file.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}") from None
    return choices.load(written, os.environ)


def _open(settings: choices.Settings, name: str, model: str | None) -> Provider:
    endpoint = settings.endpoints.get(name, choices.Endpoint())
    return PROVIDERS[name].open(
        model or endpoint.model,
        api_key=endpoint.api_key,
        base_url=endpoint.base_url,
        prices=settings.prices.get(name, {}),
    )


def survey(settings: choices.Settings) -> list[dict[str, object]]:
    """Every provider: its model and key variable, whether it is ready, what it can do."""
    found: list[dict[str, object]] = []
    for name, row in PROVIDERS.items():
        endpoint = settings.endpoints.get(name, choices.Endpoint())
        has_key = endpoint.api_key is not None
        found.append(
            {
                "capabilities": asdict(capabilities.of(name, settings.capabilities)),
                "extra": row.extra,
                "installed": row.installed,
                "key": "present" if has_key else "missing" if row.needs_key else "not needed",
                "key_variable": row.key_name,
                "model": endpoint.model or row.model,
                "name": name,
            }
        )
    return found


async def check_provider(settings: choices.Settings, name: str) -> dict[str, object]:
    """One tiny call to a provider: what it answered with, or why it did not."""
    started = time.perf_counter()
    try:
        if name not in PROVIDERS:
            raise BadAsk(f"there is no provider {name!a}", detail=", ".join(sorted(PROVIDERS)))
        provider = _open(settings, name, None)
        can = capabilities.of(name, settings.capabilities)
        knobs = Knobs(
            0.0 if can.supports_temperature_zero else None, 1 if can.supports_seed else None
        )
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                completion = await provider.complete(_CHECK, knobs, max_tokens=_CHECK_TOKENS)
        finally:
            if isinstance(provider, Connected):
                await provider.aclose()
    except TimeoutError:
        return _unwell(name, "timeout", f"no answer within {_CHECK_SECONDS} seconds")
    except AskError as error:
        return _unwell(name, error.kind, error.message)
    return {
        "build": completion.build,
        "milliseconds": round((time.perf_counter() - started) * 1000),
        "model": completion.model,
        "name": name,
        "ok": True,
    }


def _unwell(name: str, kind: str, message: str) -> dict[str, object]:
    return {"kind": kind, "message": message, "name": name, "ok": False}
