"""The Python API: `redask.open` for scripts, threads and notebooks, `redask.aopen` for asyncio.

    db = redask.open("./mydata")
    db.ingest("docs/", "shop.sqlite")      files and folders; read again, only changes are written
    db.put("tickets", [{"id": 1, "title": "…"}]); db.link(a, "blocks", b); db.delete(a)
    db.ask("Why?", limit=5).to_dict()      the envelope;   db.explain("Why?")   the plan
    for event in db.stream("Why?"): …      ends in Answered, or in Failed after the first event
    db.execute("ASK $1 LIMIT 5", ["Why?"]) one row;        db.search("Why?"), db.audit()
    db.signed_in(token).ask("Why?")        the same database, as somebody else
    db.select("SELECT * FROM tickets")     rows;           execute takes a SELECT, too

Keyword arguments are the options of `clauses`. Both classes are one: the synchronous one runs
an event loop of its own in a thread, so it also works where a loop is already running.
Everything raises `redask.AskError` and its children, and nothing else on purpose.
"""

import asyncio
import os
import queue
import re
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from redask import clauses
from redask.administration import Administration, AsyncAdministration
from redask.app import App, build
from redask.errors import AskError, BadAsk
from redask.model import Answer, Ask, Caller, Event, Failed, IngestProgress, IngestReport, Notice
from redask.ports import AuditEntry, Found
from redask.rules.chain import Broken, Intact
from redask.rules.text import name_fault
from redask.wire import envelope

_T = TypeVar("_T")
Progress = Callable[[int, int], None]
LOCAL = Caller()
_SELECT = re.compile(
    r"(?:\s|--[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+(?:SELECT|WITH)\b", re.I | re.ASCII
)


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
    warnings: tuple[Notice, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about this search: buckets that were left out, and warnings."""
        left_out = (f"{each.bucket} {each.left_out}" for each in self.buckets if each.left_out)
        return (*left_out, *(f"{each.kind}: {each.detail}" for each in self.warnings))

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


@dataclass(frozen=True, slots=True)
class SignIn:
    """A token, and the tenant it must be for, if that matters."""

    token: str = field(repr=False)
    tenant: str | None = None


class IngestSummary(IngestReport):
    """What an ingest did; `ok` when no file was left out."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """Whether every file could be read."""
        return not self.problems

    def to_dict(self) -> dict[str, object]:
        """The summary as plain data."""
        return {
            "gone": self.gone,
            "ignored": self.ignored,
            "ok": self.ok,
            "problems": [asdict(problem) for problem in self.problems],
            "readers": [asdict(tally) for tally in self.tallies],
            "removed": self.removed,
            "written": self.written,
        }


class AsyncDatabase(AsyncAdministration):
    """An open database for asyncio; see the module."""

    def __init__(self, app: App, who: Caller | SignIn, *, shared: bool = False) -> None:
        self._app = app
        self._principal = who
        self._shared = shared
        self._closed = False

    async def signed_in(self, token: str, *, tenant: str | None = None) -> "AsyncDatabase":
        """The same open database as another principal; closing it closes nothing else."""
        session = AsyncDatabase(self._app, SignIn(token, tenant), shared=True)
        await session._who()
        return session

    async def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question; every clause is an option."""
        return await self._answer(clauses.from_options(question, options, ""))

    async def explain(self, question: str, **options: object) -> dict[str, Any]:
        """What `ask` would do, without asking anybody."""
        ask = clauses.from_options(question, options, "")
        return await self._app.engine.explain(ask, await self._who())

    async def stream(self, question: str, **options: object) -> AsyncGenerator[Event, None]:
        """The events of an answer while it is written."""
        ask = clauses.from_options(question, options, "")
        caller = await self._who()
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        asking = asyncio.create_task(self._app.engine.ask(ask, caller, events.put))
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
        """Run an ASK (one row: the envelope), an EXPLAIN ASK (the plan) or a SELECT (its rows)."""
        if isinstance(statement, str) and _SELECT.match(statement):
            return await self.select(statement, params)
        ask = clauses.parse(statement, params)
        if ask.stream:
            raise BadAsk("execute returns rows: for STREAM, use stream()", detail="STREAM")
        if ask.explain:
            return [{"plan": await self._app.engine.explain(ask, await self._who())}]
        return [(await self._answer(ask)).to_dict()]

    async def select(self, sql: str, params: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Run a SELECT over collections as tables; see docs/sql.md. → its rows."""
        return await self._app.in_thread(self._app.select, sql, params, await self._who())

    async def search(self, question: str, **options: object) -> SearchResult:
        """What the data holds on a question, best first, without an answer."""
        ask = clauses.from_options(question, options, "")
        found = await self._app.in_thread(self._app.retriever.find, ask, await self._who())
        hits = zip(found.fused, found.sources, strict=True)
        return SearchResult(
            tuple(SearchHit(item.urn, item.score, source.payload) for item, source in hits),
            found.buckets,
            found.warnings,
        )

    async def put(
        self,
        collection: str,
        rows: Sequence[Mapping[str, object]],
        *,
        kind: str = "row",
        wait: bool = True,
    ) -> list[str]:
        """Write rows, all or none; a row with a known id replaces it. → their URNs.

        With `wait=False` they are embedded later, by the next `put` or by `embed`.
        """
        caller = await self._who()
        return await self._app.in_thread(self._app.put, collection, rows, kind, caller, wait=wait)

    async def embed(self, *, anew: bool = False, progress: Progress | None = None) -> int:
        """Embed what waits for it; `anew`: everything, with the present embedder. → how many"""
        caller = await self._who()
        return await self._app.in_thread(self._app.embed, caller, anew=anew, progress=progress)

    async def ingest(
        self,
        *paths: str | Path,
        collection: str | None = None,
        progress: Callable[[IngestProgress], None] | None = None,
    ) -> IngestSummary:
        """Bring the database up to date with files and folders. → what was done, what was not.

        Cancelled, it stops soon; what was written is whole, and the next call goes on.
        """
        if not paths:
            raise BadAsk("name at least one file or folder to ingest", detail="paths")
        stop = threading.Event()
        caller = await self._who()
        places = [os.fspath(path) for path in paths]
        tell = progress or (lambda _: None)
        work = asyncio.ensure_future(
            self._app.in_thread(self._app.ingest, places, collection, caller, tell, stop.is_set)
        )
        try:
            report = await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([work])
            work.exception()  # seen: it is the stop that was asked for
            raise
        return IngestSummary(*(getattr(report, each.name) for each in fields(IngestReport)))

    async def link(self, source: str, label: str, target: str) -> str:
        """Connect two entities. → the edge's URN."""
        caller = await self._who()
        return await self._app.in_thread(self._app.link, source, label, target, caller)

    async def delete(self, *urns: str) -> int:
        """Remove entities and the edges that touch them. → how many entities went."""
        return await self._app.in_thread(self._app.store.delete, urns, await self._who())

    async def get(self, urn: str) -> str | None:
        """The payload of one entity, or None when there is none that the caller may see."""
        found = await self._app.in_thread(self._app.store.read, [urn], await self._who())
        return found[0].payload if found else None

    async def audit(self, limit: int = 20, before: int | None = None) -> list[AuditEntry]:
        """The newest audit rows the caller may see; `before` a number, to page on."""
        caller = await self._who()
        return await self._app.in_thread(self._app.log.entries, caller, limit=limit, before=before)

    async def verify_audit(self) -> Intact | Broken:
        """Whether the audit log is what was written."""
        return await self._app.in_thread(self._app.verify_audit, await self._who())

    async def doctor(self, *, rebuild_index: bool = False) -> dict[str, Any]:
        """What is there, what is pending, what is wrong; `problems` is empty when all is well."""
        return await self._app.in_thread(self._app.doctor, await self._who(), rebuild_index)

    async def close(self) -> None:
        """Let go of the database; what is running is finished first."""
        self._closed = True
        if not self._shared:
            await asyncio.to_thread(self._app.close)

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
        answer = await self._app.engine.ask(ask, await self._who())
        return CitedAnswer(*(getattr(answer, each.name) for each in fields(Answer)))

    async def _who(self) -> Caller:
        """Who asks; a token is looked at for every statement, so that a change holds at once."""
        if self._closed:
            raise BadAsk("the database is closed")
        if isinstance(self._principal, Caller):
            return self._principal
        app, given = self._app, self._principal
        people = app.store.people
        return await app.in_thread(people.sign_in, given.token, app.clock(), given.tenant)


class OpenDatabase(Administration):
    """An open database for everybody else; see the module."""

    _async: AsyncDatabase

    def __init__(
        self, opened: AsyncDatabase, loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        self._async = opened
        self._thread: threading.Thread | None = None  # None: the loop is somebody else's
        self._loop = loop or asyncio.new_event_loop()
        if loop is None:
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="redask", daemon=True
            )
            self._thread.start()

    def signed_in(self, token: str, *, tenant: str | None = None) -> "OpenDatabase":
        """The same open database as another principal; closing it closes nothing else."""
        return OpenDatabase(self._run(self._async.signed_in(token, tenant=tenant)), self._loop)

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
        """Run an ASK (one row: the envelope), an EXPLAIN ASK (the plan) or a SELECT (its rows)."""
        return self._run(self._async.execute(statement, params))

    def select(self, sql: str, params: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Run a SELECT over collections as tables; see docs/sql.md. → its rows."""
        return self._run(self._async.select(sql, params))

    def search(self, question: str, **options: object) -> SearchResult:
        """What the data holds on a question, best first, without an answer."""
        return self._run(self._async.search(question, **options))

    def put(
        self,
        collection: str,
        rows: Sequence[Mapping[str, object]],
        *,
        kind: str = "row",
        wait: bool = True,
    ) -> list[str]:
        """Write rows, all or none; a row with a known id replaces it. → their URNs.

        With `wait=False` they are embedded later, by the next `put` or by `embed`.
        """
        return self._run(self._async.put(collection, rows, kind=kind, wait=wait))

    def embed(self, *, anew: bool = False, progress: Progress | None = None) -> int:
        """Embed what waits for it; `anew`: everything, with the present embedder. → how many"""
        return self._run(self._async.embed(anew=anew, progress=progress))

    def ingest(
        self,
        *paths: str | Path,
        collection: str | None = None,
        progress: Callable[[IngestProgress], None] | None = None,
    ) -> IngestSummary:
        """Bring the database up to date with files and folders. → what was done, what was not.

        Ctrl-C stops it soon; what was written is whole, and the next call goes on.
        """
        return self._run(self._async.ingest(*paths, collection=collection, progress=progress))

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

    def doctor(self, *, rebuild_index: bool = False) -> dict[str, Any]:
        """What is there, what is pending, what is wrong; `problems` is empty when all is well."""
        return self._run(self._async.doctor(rebuild_index=rebuild_index))

    def close(self) -> None:
        """Let go of the database; closing twice is fine."""
        if self._loop.is_closed():
            return
        self._run(self._async.close())
        if self._thread is None:
            return
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


def open_database(
    location: str | Path, *, token: str | None = None, tenant: str | None = None, **choices: Any
) -> OpenDatabase:
    """Open a directory, making the database when there is none. `redask.open`.

    With a token, as the user it belongs to; else as the owner of a tenant, `local` by default.
    """
    who = _principal(token, tenant)
    opened = OpenDatabase(AsyncDatabase(build(location, **choices), who))
    try:
        opened._run(opened._async._who())
    except BaseException:
        opened.close()
        raise
    return opened


async def open_async(
    location: str | Path, *, token: str | None = None, tenant: str | None = None, **choices: Any
) -> AsyncDatabase:
    """The same for asyncio. `redask.aopen`."""
    who = _principal(token, tenant)
    opened = AsyncDatabase(await asyncio.to_thread(build, location, **choices), who)
    try:
        await opened._who()
    except BaseException:
        await opened.close()
        raise
    return opened


def _principal(token: str | None, tenant: str | None) -> Caller | SignIn:
    fault = None if tenant is None else name_fault(tenant)
    if fault:
        raise BadAsk(f"the name of the tenant {fault}", detail="tenant")
    if token is not None:
        return SignIn(token, tenant)
    return LOCAL if tenant is None else replace(LOCAL, tenant=tenant)
