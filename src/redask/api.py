"""The Python API: `redask.open` for scripts, threads and notebooks, `redask.aopen` for asyncio.

    db = redask.open("./mydata")
    db.put("tickets", [{"id": 1, "title": "…"}]); db.link(a, "blocks", b); db.delete(a)
    db.ask("Why?", limit=5).to_dict()      the envelope;   db.explain("Why?")   the plan
    for event in db.stream("Why?"): …      ends in Answered, or in Failed after the first event
    db.execute("ASK $1 LIMIT 5", ["Why?"]) one row;        db.search("Why?"), db.audit()

Keyword arguments are the options of `clauses`. Both classes are one: the synchronous one runs
an event loop of its own in a thread, so it also works where a loop is already running.
Everything raises `redask.AskError` and its children, and nothing else on purpose.
"""

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from redask import clauses
from redask.app import App, build, check_provider, load_settings, survey
from redask.errors import AskError, BadAsk
from redask.model import Answer, Ask, Caller, Event, Failed
from redask.ports import AuditEntry, Found
from redask.rules.chain import Broken, Intact
from redask.wire import envelope

_T = TypeVar("_T")
LOCAL = Caller()


class CitedAnswer(Answer):
    """An Answer that can show its envelope."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """The response envelope, as plain data."""
        return envelope.build(self)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One search result: the URN, the fused score, and the payload as the caller may see it."""

    urn: str
    score: float
    payload: str


@dataclass(frozen=True, slots=True)
class SearchResult(Sequence[SearchHit]):
    """The hits, best first, and the buckets they were fused from."""

    hits: tuple[SearchHit, ...]
    buckets: tuple[Found, ...]

    def __getitem__(self, index: Any) -> Any:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def to_dict(self) -> dict[str, object]:
        """The hits as plain data."""
        return {
            "hits": [
                {"payload": hit.payload, "score": hit.score, "urn": hit.urn} for hit in self.hits
            ]
        }


class AsyncDatabase:
    """An open database for asyncio; see the module."""

    def __init__(self, app: App, caller: Caller) -> None:
        self._app = app
        self._caller = caller

    async def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question; every clause is an option."""
        return await self._answer(clauses.from_options(question, options, ""))

    async def explain(self, question: str, **options: object) -> dict[str, Any]:
        """What `ask` would do, without asking anybody."""
        ask = clauses.from_options(question, options, "")
        return await self._app.engine.explain(ask, self._caller)

    async def stream(self, question: str, **options: object) -> AsyncGenerator[Event, None]:
        """The events of an answer while it is written."""
        ask = clauses.from_options(question, options, "")
        events: asyncio.Queue[Event | None] = asyncio.Queue()

        async def hand_over(event: Event) -> None:
            events.put_nowait(event)
            await asyncio.sleep(0)  # the reader's turn, before the next piece is parsed

        asking = asyncio.create_task(self._app.engine.ask(ask, self._caller, hand_over))
        asking.add_done_callback(lambda _: events.put_nowait(None))
        started = False
        try:
            while (event := await events.get()) is not None:
                started = True
                yield event
            error = asking.exception()
            if error is not None and not (started and isinstance(error, AskError)):
                raise error
            if isinstance(error, AskError):
                yield Failed(error)
        finally:
            asking.cancel()
            await asyncio.wait([asking])

    async def execute(self, statement: str, params: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Run an ASK or EXPLAIN ASK statement: one row, the envelope or the plan."""
        ask = clauses.parse(statement, params)
        if ask.stream:
            raise BadAsk("execute returns rows: for STREAM, use stream()", detail="STREAM")
        if ask.explain:
            return [{"plan": await self._app.engine.explain(ask, self._caller)}]
        return [(await self._answer(ask)).to_dict()]

    async def search(self, question: str, **options: object) -> SearchResult:
        """What the data holds on a question, best first, without an answer."""
        ask = clauses.from_options(question, options, "")
        found = await self._app.in_thread(self._app.retriever.find, ask, self._caller)
        hits = zip(found.fused, found.sources, strict=True)
        return SearchResult(
            tuple(SearchHit(item.urn, item.score, source.payload) for item, source in hits),
            found.buckets,
        )

    async def put(
        self, collection: str, rows: Sequence[Mapping[str, object]], *, kind: str = "row"
    ) -> list[str]:
        """Write rows, all or none; a row with a known id replaces it. → their URNs."""
        return await self._app.in_thread(self._app.put, collection, rows, kind, self._caller)

    async def link(self, source: str, label: str, target: str) -> str:
        """Connect two entities. → the edge's URN."""
        return await self._app.in_thread(self._app.link, source, label, target, self._caller)

    async def delete(self, *urns: str) -> int:
        """Remove entities and the edges that touch them. → how many entities went."""
        return await self._app.in_thread(self._app.store.delete, urns, self._caller)

    async def get(self, urn: str) -> str | None:
        """The payload of one entity, or None when there is none that the caller may see."""
        found = await self._app.in_thread(self._app.store.read, [urn], self._caller)
        return found[0].payload if found else None

    async def audit(self, limit: int = 20, before: int | None = None) -> list[AuditEntry]:
        """The newest audit rows the caller may see; `before` a number, to page on."""
        return await self._app.in_thread(
            self._app.log.entries, self._caller, limit=limit, before=before
        )

    async def verify_audit(self) -> Intact | Broken:
        """Whether the audit log is what was written."""
        return await self._app.in_thread(self._app.log.verify)

    async def spending(self, days: int = 30) -> list[dict[str, Any]]:
        """What was spent, by UTC day, tenant and provider, newest first."""
        return await self._app.in_thread(self._app.spending, self._caller, days)

    async def doctor(self, *, rebuild_index: bool = False) -> dict[str, Any]:
        """What is there, what is pending, what is wrong; `problems` is empty when all is well."""
        return await self._app.in_thread(self._app.doctor, self._caller, rebuild_index)

    async def close(self) -> None:
        """Let go of the database; what is running is finished first."""
        try:
            await asyncio.to_thread(self._app.close)
        finally:
            await self._app.opener.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _answer(self, ask: Ask) -> CitedAnswer:
        answer = await self._app.engine.ask(ask, self._caller)
        return CitedAnswer(*(getattr(answer, each.name) for each in fields(Answer)))


class OpenDatabase:
    """An open database for everybody else; see the module."""

    def __init__(self, opened: AsyncDatabase) -> None:
        self._async = opened
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="redask", daemon=True)
        self._thread.start()

    def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question; every clause is an option."""
        return self._run(self._async.ask(question, **options))

    def explain(self, question: str, **options: object) -> dict[str, Any]:
        """What `ask` would do, without asking anybody."""
        return self._run(self._async.explain(question, **options))

    def stream(self, question: str, **options: object) -> Iterator[Event]:
        """The events of an answer while it is written."""
        events: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()

        async def pump() -> None:
            try:
                async for event in self._async.stream(question, **options):
                    events.put(event)
                events.put(None)
            except BaseException as error:
                events.put(error)
                raise

        pumping = asyncio.run_coroutine_threadsafe(pump(), self._loop)
        try:
            while (event := events.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            pumping.cancel()

    def execute(self, statement: str, params: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Run an ASK or EXPLAIN ASK statement: one row, the envelope or the plan."""
        return self._run(self._async.execute(statement, params))

    def search(self, question: str, **options: object) -> SearchResult:
        """What the data holds on a question, best first, without an answer."""
        return self._run(self._async.search(question, **options))

    def put(
        self, collection: str, rows: Sequence[Mapping[str, object]], *, kind: str = "row"
    ) -> list[str]:
        """Write rows, all or none; a row with a known id replaces it. → their URNs."""
        return self._run(self._async.put(collection, rows, kind=kind))

    def link(self, source: str, label: str, target: str) -> str:
        """Connect two entities. → the edge's URN."""
        return self._run(self._async.link(source, label, target))

    def delete(self, *urns: str) -> int:
        """Remove entities and the edges that touch them. → how many entities went."""
        return self._run(self._async.delete(*urns))

    def get(self, urn: str) -> str | None:
        """The payload of one entity, or None when there is none that the caller may see."""
        return self._run(self._async.get(urn))

    def audit(self, limit: int = 20, before: int | None = None) -> list[AuditEntry]:
        """The newest audit rows the caller may see; `before` a number, to page on."""
        return self._run(self._async.audit(limit, before))

    def verify_audit(self) -> Intact | Broken:
        """Whether the audit log is what was written."""
        return self._run(self._async.verify_audit())

    def spending(self, days: int = 30) -> list[dict[str, Any]]:
        """What was spent, by UTC day, tenant and provider, newest first."""
        return self._run(self._async.spending(days))

    def doctor(self, *, rebuild_index: bool = False) -> dict[str, Any]:
        """What is there, what is pending, what is wrong; `problems` is empty when all is well."""
        return self._run(self._async.doctor(rebuild_index=rebuild_index))

    def close(self) -> None:
        """Let go of the database; closing twice is fine."""
        if self._loop.is_closed():
            return
        self._run(self._async.close())
        self._run(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run in the database's own loop; Ctrl-C here cancels there, and waits for the row."""
        if self._loop.is_closed():
            work.close()
            raise BadAsk("the database is closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise


def open_database(location: str | Path, **choices: Any) -> OpenDatabase:
    """Open a directory, making the database when there is none. `redask.open`."""
    return OpenDatabase(AsyncDatabase(build(location, **choices), LOCAL))


async def open_async(location: str | Path, **choices: Any) -> AsyncDatabase:
    """The same for asyncio. `redask.aopen`."""
    return AsyncDatabase(await asyncio.to_thread(build, location, **choices), LOCAL)


def providers_at(location: str | Path) -> list[dict[str, object]]:
    """Every provider as the configuration of a directory (which need not exist) sees it."""
    return survey(load_settings(Path(location)))


def check_providers(location: str | Path, names: Sequence[str]) -> list[dict[str, object]]:
    """One tiny call to each of these providers: `ok`, and the model, or why not."""
    settings = load_settings(Path(location))

    async def check() -> list[dict[str, object]]:
        return [await check_provider(settings, name) for name in names]

    return asyncio.run(check())
