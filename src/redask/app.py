"""The composition root: settings and a location become a running App.

The only file that knows every adapter. Nothing here decides anything about an answer.
"""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from redask import settings as choices
from redask.budget import Budget
from redask.embedders import make as make_embedder
from redask.engine import Engine
from redask.errors import BadAsk, Misconfigured
from redask.index import SearchIndex
from redask.index.analysis import text
from redask.ingest import pipeline
from redask.model import Caller, IngestProgress, IngestReport, Kind
from redask.ports import Load, LoadOutcome, Provider
from redask.providers import PROVIDERS
from redask.recall import Recall
from redask.retrieval import Retriever
from redask.rules.chain import Broken, Intact
from redask.stores import Truth, open_store
from redask.stores.answers import SqliteAnswers
from redask.stores.audit_log import SqliteAuditLog, open_calls
from redask.stores.database import Database
from redask.stores.ledger import SqliteLedger
from redask.stores.rows import collection_fault, entities, entity, link

_T = TypeVar("_T")
_P = ParamSpec("_P")
_THREADS = 8
PATIENCE_SECONDS = 10.0
CONFIGURATION = "redask.toml"


@dataclass(slots=True)
class App:
    """Everything that is open for one database directory."""

    store: Truth
    index: SearchIndex
    calls: Database
    log: SqliteAuditLog
    retriever: Retriever
    engine: Engine
    threads: ThreadPoolExecutor
    directory: Path

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

    def ingest(
        self,
        paths: Sequence[str],
        collection: str | None,
        caller: Caller,
        progress: Callable[[IngestProgress], None],
        stopped: Callable[[], bool],
    ) -> IngestReport:
        """Bring the database up to date with files and folders. → what was done."""
        fault = None if collection is None else collection_fault(collection)
        if fault:
            raise BadAsk(f"the collection name {collection!a} {fault}", detail="collection")
        desk = pipeline.Desk(
            manifest=self.store.manifest,
            caller=caller,
            entity=entity,
            edge=link,
            write=lambda loads: self.write_batch(loads, caller),
            avoid=frozenset({os.path.realpath(self.directory)}),
            progress=progress,
            stopped=stopped,
        )
        return pipeline.run(paths, collection, desk)

    def write_batch(self, loads: Sequence[Load], caller: Caller) -> LoadOutcome:
        """Write a batch of what files bring, all or nothing: the place to embed it on the way."""
        return self.store.manifest.load(loads, caller)

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
    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="redask")
    engine = Engine(
        retriever=retriever,
        log=log,
        recall=Recall(SqliteAnswers(calls, chosen.cache_max_entries), chosen, clock),
        budget=Budget(chosen.limits, SqliteLedger(calls), clock),
        providers=frozenset({*PROVIDERS, *providers}),
        open_provider=_opener(providers),
        settings=chosen,
        clock=clock,
        threads=threads,
    )
    return App(store, index, calls, log, retriever, engine, threads, directory)


def load_settings(directory: Path) -> choices.Settings:
    """The settings that the directory's configuration file and the environment say."""
    file = directory / CONFIGURATION
    try:
        written = file.read_text(encoding="utf-8") if file.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}") from None
    return choices.load(written, os.environ)


def _opener(given: Mapping[str, Provider]) -> Callable[[str, str | None], Provider]:
    """Providers by name and model, each opened once."""

    @cache
    def open_provider(name: str, model: str | None) -> Provider:
        return given[name] if name in given else PROVIDERS[name].open(model)

    return open_provider
