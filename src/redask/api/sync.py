"""The Python API: `redask.open` for scripts, threads and notebooks, `redask.aopen` for asyncio.

    db = redask.open("./mydata")
    db.ingest("docs/", "shop.sqlite")      files and folders; read again, only changes are written
    db.put("tickets", [{"id": 1, "title": "…"}]); db.link(a, "blocks", b); db.delete(a)
    db.ask("Why?", limit=5).to_dict()      the envelope;   db.explain("Why?")   the plan
    for event in db.stream("Why?"): …      ends in Answered, or in Failed after the first event
    db.execute("ASK $1 LIMIT 5", ["Why?"]) one row;        db.search("Why?"), db.audit()
    talk = db.conversation(); talk.ask("Who leads Acme?"); talk.ask("And its address?")
    db.signed_in(token).ask("Why?")        the same database, as somebody else
    db.select("SELECT * FROM tickets")     rows;           execute takes a SELECT, too

Keyword arguments are the options of `clauses`. Both classes are one: the synchronous one runs
an event loop of its own in a thread, so it also works where a loop is already running.
Everything raises `redask.AskError` and its children, and nothing else on purpose.
"""

import asyncio
import queue
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from redask.api.admin import Administration
from redask.api.asynchronous import AsyncDatabase
from redask.api.attaching.attach_methods import SyncAttaching
from redask.api.auditing.replay_methods import SyncReplays
from redask.api.auditing.sealing_methods import SyncSealingMethods
from redask.api.contents import SyncContents
from redask.api.conversation import Conversation
from redask.api.entering.principals import TokenSignIn
from redask.api.keeping import SyncKeeping
from redask.api.loop_thread import LoopThread
from redask.api.results import CitedAnswer, IngestSummary, SearchResult
from redask.api.row_values import RowsInput
from redask.api.select_rows import SelectRows
from redask.app import build, load_settings
from redask.app.locations import is_database, shown_location
from redask.core.errors import WAS_CLOSED, BadAsk, Cancelled
from redask.core.model import Caller, Event, IngestProgress, Strictness
from redask.core.planning.plan_schema import PlanSchema, StoredValue
from redask.core.ports import AuditEntry, SelectShape, TableShape
from redask.core.text import name_fault
from redask.embedding.stage import EmbeddingProgress
from redask.providers.pool import (
    ProviderPool,
    check_provider,
    missing_package,
    survey,
    without_package,
)

_T = TypeVar("_T")
LOCAL = Caller()


class OpenDatabase(
    Administration, SyncReplays, SyncContents, SyncAttaching, SyncKeeping, SyncSealingMethods
):
    """An open database for everybody else; see the module."""

    _async: AsyncDatabase

    def __init__(self, opened: AsyncDatabase, loop: LoopThread | None = None) -> None:
        self._async = opened
        self._shared = loop is not None  # with the database that was opened, which closes it
        self._loop = loop or LoopThread()

    def signed_in(self, token: str, *, tenant: str | None = None) -> "OpenDatabase":
        """The same open database as another principal; closing it closes nothing else."""
        return OpenDatabase(self._run(self._async.signed_in(token, tenant=tenant)), self._loop)

    def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question; every clause is an option."""
        return self._run(self._async.ask(question, **options))

    def conversation(self) -> Conversation:
        """A conversation: questions that may lean on earlier ones; see `api.conversation`."""
        return Conversation(self)

    def explain(self, question: str, **options: object) -> dict[str, Any]:
        """What `ask` would do, without asking anybody."""
        return self._run(self._async.explain(question, **options))

    def query_plan(self, question: str, **options: object) -> dict[str, Any]:
        """The SELECT that would answer a question, or what is unclear; nothing is run."""
        return self._run(self._async.query_plan(question, **options))

    def strictness(self, question: str, **options: object) -> Strictness:
        """What an answer would be held to by the first provider: the word of STRICT in force."""
        return self._run(self._async.strictness(question, **options))

    def judge(self) -> str:
        """The provider and model that would judge the claims of answers; empty for nobody."""
        return self._run(self._async.judge())

    def stream(self, question: str, **options: object) -> Iterator[Event]:
        """The events of an answer while it is written."""
        events: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()

        async def pump() -> None:
            try:
                async for event in self._async.stream(question, **options):
                    events.put(event)
                events.put(None)
            except asyncio.CancelledError:
                events.put(Cancelled(WAS_CLOSED))  # or nobody reads it any more
                raise
            except BaseException as error:
                events.put(error)
                raise

        pumping = self._loop.submit(pump())
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

    def select(self, sql: str, params: Sequence[object] = ()) -> SelectRows:
        """Run a SELECT over collections as tables; see docs/sql.md. → its rows."""
        return self._run(self._async.select(sql, params))

    def describe(self, sql: str) -> SelectShape:
        """What a SELECT would give, and what its parameters are, without running it."""
        return self._run(self._async.describe(sql))

    def tables(self) -> list[TableShape]:
        """What can be named in a SELECT, with names and types of the columns."""
        return self._run(self._async.tables())

    def plan_schema(self) -> PlanSchema:
        """The tables that a SELECT can be planned with, counted in what the caller reads."""
        return self._run(self._async.plan_schema())

    def find_values(self, texts: Sequence[str]) -> Mapping[str, tuple[StoredValue, ...]]:
        """The text values that are equal to these, loosely, in what the caller reads."""
        return self._run(self._async.find_values(texts))

    def search(self, question: str, **options: object) -> SearchResult:
        """What the data holds on a question, best first, without an answer."""
        return self._run(self._async.search(question, **options))

    def put(
        self,
        collection: str,
        rows: RowsInput,
        *,
        kind: str = "row",
        wait: bool = True,
    ) -> list[str]:
        """Write rows, all or none; a row with a known id replaces it. → their URNs.

        Rows are mappings or a pandas DataFrame. Dates, Decimals, UUIDs and numpy's values are
        written as JSON has them: see `api.row_values`. Where no row has an `id`, it is made of
        the content, so that the same row put twice is one row. All bad rows are named at once.

        With `wait=False` they are embedded later, by the next `put` or by `embed`.
        """
        return self._run(self._async.put(collection, rows, kind=kind, wait=wait))

    def embed(self, *, anew: bool = False, progress: EmbeddingProgress | None = None) -> int:
        """Embed what waits for it; `anew`: everything, with the present embedder. → how many"""
        return self._run(self._async.embed(anew=anew, progress=progress))

    def ingest(
        self,
        *paths: str | Path,
        collection: str | None = None,
        progress: Callable[[IngestProgress], None] | None = None,
        wait: bool = True,
        isolated: bool = False,
        follow_symlinks: bool = False,
    ) -> IngestSummary:
        """Bring the database up to date with files and folders. → what was done, what was not.

        A path that does not exist is `BadAsk`, before anything is read. `isolated` reads documents
        in a process of their own, so that one that takes too long or too much memory is refused.
        Symlinks that lead out of a folder are read only with `follow_symlinks`.
        Waits until all is embedded; with `wait=False` that is left to `embed`. Ctrl-C stops it
        soon; what was written is whole, and the next call goes on.
        """
        return self._run(
            self._async.ingest(
                *paths,
                collection=collection,
                progress=progress,
                wait=wait,
                follow_symlinks=follow_symlinks,
                isolated=isolated,
            )
        )

    def link(self, source: str, label: str, target: str) -> str:
        """Connect two entities. → the edge's URN."""
        return self._run(self._async.link(source, label, target))

    def delete(self, *urns: str) -> int:
        """Remove entities and the edges that touch them. → how many entities went."""
        return self._run(self._async.delete(*urns))

    def get(self, urn: str) -> str | None:
        """The payload of one entity, or None when there is none that the caller may see."""
        return self._run(self._async.get(urn))

    def audit(
        self, limit: int = 20, before: int | None = None, *, log: str = "ask"
    ) -> list[AuditEntry]:
        """The newest audit rows the caller may see; `before` a number, to page on.

        `log` is "ask", or "access" for SELECTs, searches, refused sign-ins and administration.
        """
        return self._run(self._async.audit(limit, before, log=log))

    def accept_logs(self, reason: str) -> str:
        """Take the logs as they are now, on record; for owners. → what was wrong, if anything."""
        return self._run(self._async.accept_logs(reason))

    def spending(self, days: int = 30) -> list[dict[str, Any]]:
        """What was spent, by UTC day, tenant and provider, newest first."""
        return self._run(self._async.spending(days))

    def close(self) -> None:
        """Let go of the database; what runs is `Cancelled`. Closing twice is fine.

        In a progress callback it is `BadAsk`: closing would wait for the callback's own work.
        """
        if not self._loop.owner.is_this:
            return  # a fork: all of it is the parent's
        if not self._shared:
            self._async._check_may_close()
            self._loop.close(self._async.close())
        elif not self._loop.closed:
            self._run(self._async.close())

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
        return self._loop.run(work)


def open_database(
    location: str | Path, *, token: str | None = None, tenant: str | None = None, **choices: Any
) -> OpenDatabase:
    """Open a directory, making the database when there is none. `redask.open`.

    With a token, as the user it belongs to; else as the owner of a tenant, `local` by default.
    """
    who = _principal(token, tenant)
    app = build(location, **choices)
    try:
        opened = OpenDatabase(AsyncDatabase(app, who))
    except BaseException:  # its loop has no thread
        app.close()
        raise
    try:
        opened._run(opened._async._who())
    except BaseException:
        opened.close()
        raise
    return opened


def settings_for(location: str | Path, tenants: tuple[str, ...]) -> Any:
    """The settings at a location, for a server of these tenants; none: of all."""
    found = load_settings(location)
    return replace(found, serving=replace(found.serving, tenants=tenants))


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


def _principal(token: str | None, tenant: str | None) -> Caller | TokenSignIn:
    fault = None if tenant is None else name_fault(tenant)
    if fault:
        raise BadAsk(f"the name of the tenant {fault}", detail="tenant")
    if token is not None:
        return TokenSignIn(token, tenant)
    return LOCAL if tenant is None else replace(LOCAL, tenant=tenant)


def has_database(location: str | Path) -> bool:
    """Whether there is a database; nothing is made."""
    return is_database(str(location))


def shown(location: str | Path) -> str:
    """A location for messages: without a password."""
    return shown_location(str(location))


def providers_at(location: str | Path) -> list[dict[str, object]]:
    """Every provider as the configuration of a directory (which need not exist) sees it."""
    return survey(load_settings(location))


def missing_packages(location: str | Path) -> dict[str, str]:
    """The providers that have a key but not their package, with what to do about it."""
    return {name: missing_package(name) for name in without_package(load_settings(location))}


def provider_warnings(location: str | Path) -> tuple[str, ...]:
    """Who is passed over as the default provider of a directory, and what to do about it."""
    return ProviderPool(load_settings(location), {}).passed_over()


def check_providers(location: str | Path, names: Sequence[str]) -> list[dict[str, object]]:
    """One tiny call to each of these providers: `ok`, and the model, or why not."""
    settings = load_settings(location)

    async def check() -> list[dict[str, object]]:
        return [await check_provider(settings, name) for name in names]

    return asyncio.run(check())
