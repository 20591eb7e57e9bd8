"""An open database for asyncio: `AsyncDatabase`; `api` has its synchronous twin and the story.

Methods come in pairs where a transport needs them: by question and keyword arguments, and by `Ask`
(`ask` and `answer`, `explain` and `plan`, `stream` and `events`, `search` and `find`). Every
one begins by finding out who asks.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from redask.api import ingest_paths
from redask.api.admin import AsyncAdministration
from redask.api.async_selects import AsyncSelects, is_select
from redask.api.attaching.attach_methods import AsyncAttaching
from redask.api.auditing.audit_reading import AsyncAuditReading
from redask.api.auditing.replay_methods import AsyncReplays
from redask.api.contents import AsyncContents
from redask.api.conversation import AsyncConversation
from redask.api.entering.page_entry import AsyncPageEntry
from redask.api.entering.principals import ProvenToken, TokenSignIn
from redask.api.event_stream import events_of
from redask.api.keeping import AsyncKeeping
from redask.api.results import CitedAnswer, IngestSummary, SearchHit, SearchResult
from redask.api.row_values import RowsInput, plain_rows
from redask.api.transport_needs import AsyncTransportNeeds
from redask.app import App
from redask.core import clauses
from redask.core.access.ask_shares import AskClaim
from redask.core.errors import (
    CLOSED,
    AskError,
    BadAsk,
    Cancelled,
    Denied,
    StoreFailed,
    Unauthenticated,
)
from redask.core.model import (
    Answer,
    Ask,
    Caller,
    Emit,
    Event,
    IngestProgress,
    IngestReport,
    Notice,
    Source,
    Strictness,
)
from redask.core.rules.followups.whole_question import by_rule
from redask.core.wire import query_source
from redask.embedding.stage import EmbeddingProgress

_T = TypeVar("_T")
_LONG = 4096  # characters of a statement: up to these, parsing takes less than a millisecond


class AsyncDatabase(
    AsyncAdministration,
    AsyncSelects,
    AsyncAuditReading,
    AsyncReplays,
    AsyncContents,
    AsyncAttaching,
    AsyncTransportNeeds,
    AsyncPageEntry,
    AsyncKeeping,
):
    """An open database for asyncio; see the module."""

    def __init__(
        self, app: App, who: Caller | TokenSignIn | ProvenToken, *, shared: bool = False
    ) -> None:
        self._app = app
        self._principal = who
        self._shared = shared
        self._closed = False
        local = who if isinstance(who, Caller) else Caller()
        self._claim = AskClaim(local.tenant, local.user)

    @property
    def claim(self) -> AskClaim:
        """Who signed in, by whose share of a server asks run; what they may do is found anew."""
        return self._claim

    async def signed_in(self, token: str, *, tenant: str | None = None) -> "AsyncDatabase":
        """The same open database as another principal; closing it closes nothing else."""
        return await self._checked(TokenSignIn(token, tenant))

    async def holding(self, ident: str, *, tenant: str | None = None) -> "AsyncDatabase":
        """As `signed_in`, for a token that the transport saw proven and that was never sent."""
        await self._opened_here()
        return await self._checked(ProvenToken(ident, tenant))

    async def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question; every clause is an option."""
        return await self.answer(clauses.from_options(question, options, ""))

    def conversation(self) -> AsyncConversation:
        """A conversation: questions that may lean on earlier ones; see `api.conversation`."""
        return AsyncConversation(self)

    async def explain(self, question: str, **options: object) -> dict[str, Any]:
        """What `ask` would do, without asking anybody."""
        return await self.plan(clauses.from_options(question, options, ""))

    def stream(self, question: str, **options: object) -> AsyncGenerator[Event, None]:
        """The events of an answer while it is written."""
        return self.events(clauses.from_options(question, options, ""))

    async def events(self, ask: Ask) -> AsyncGenerator[Event, None]:
        """The events of an answer; raises only before the first one."""
        running: set[asyncio.Task[CitedAnswer]] = set()

        def start(emit: Emit) -> asyncio.Task[CitedAnswer]:
            running.add(task := asyncio.create_task(self.answer(ask, emit)))
            return task

        try:
            async with aclosing(events_of(start)) as events:
                async for event in events:
                    if event is not None:
                        yield event
        finally:
            if running:
                await asyncio.wait(running)

    async def answer(self, ask: Ask, emit: Emit | None = None) -> CitedAnswer:
        """Answer an Ask; `emit` gets the events while it is written, `Answered` the last."""
        caller = await self._who()
        self._app.logs.check()
        answer = await self._app.engine.ask(ask, caller, emit)
        return CitedAnswer(*(getattr(answer, each.name) for each in fields(Answer)))

    async def plan(self, ask: Ask) -> dict[str, Any]:
        """What answering an Ask would do."""
        caller = await self._who()
        self._app.logs.check()
        return await self._app.engine.explain(ask, caller)

    async def query_plan(self, question: str, **options: object) -> dict[str, Any]:
        """The SELECT that would answer a question, or what is unclear; nothing is run."""
        return await self.outline(clauses.from_options(question, options, ""))

    async def outline(self, ask: Ask) -> dict[str, Any]:
        """The same for an Ask."""
        return await self._in_ask_thread(
            lambda caller: self._app.finder.outline(by_rule(ask)[0], caller)
        )

    async def strictness(self, question: str, **options: object) -> Strictness:
        """What an answer would be held to by the first provider: the word of STRICT in force."""
        await self._who()
        return self._app.engine.strictness(clauses.from_options(question, options, ""))

    async def judge(self) -> str:
        """The provider and model that would judge the claims of answers; empty for nobody."""
        caller = await self._who()
        return await self._app.engine.judge_name(caller)

    async def execute(self, statement: str, params: Sequence[object] = ()) -> list[dict[str, Any]]:
        """Run an ASK (one row: the envelope), an EXPLAIN ASK (the plan) or a SELECT (its rows)."""
        if isinstance(statement, str) and len(statement) > _LONG:  # it is read beside the loop
            ask = await self._app.in_thread(_parsed, statement, params)
        else:
            ask = _parsed(statement, params)
        if ask is None:
            return await self.select(statement, params)
        if ask.stream:
            raise BadAsk("execute returns rows: for STREAM, use stream()", detail="STREAM")
        if ask.explain:
            return [{"plan": await self.plan(ask)}]
        return [(await self.answer(ask)).to_dict()]

    async def search(self, question: str, **options: object) -> SearchResult:
        """What the data holds on a question, best first, without an answer."""
        return await self.find(clauses.from_options(question, options, ""))

    async def find(self, ask: Ask) -> SearchResult:
        """The same for an Ask."""

        def search(caller: Caller) -> tuple[tuple[Notice, ...], Any]:
            whole, notes = by_rule(ask)
            return notes, self._app.find(whole, caller)

        app, who = self._app, [await self._who()]
        app.logs.check()
        async with app.logs.recorder.reading("search", ask.question, who):
            notes, found = await app.in_ask_thread(search, who[0])
        hits = zip(found.fused, found.sources, strict=True)
        return SearchResult(
            tuple(SearchHit(item.urn, item.score, source.payload) for item, source in hits),
            found.buckets,
            (*notes, *found.warnings),
            {step.bucket: float(step.weight) for step in found.retrieval},
            {step.bucket: step.reason for step in found.retrieval},
        )

    async def put(
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
        return await self._as_caller(
            lambda caller: self._app.put(collection, plain_rows(rows), kind, caller, wait=wait)
        )

    async def embed(self, *, anew: bool = False, progress: EmbeddingProgress | None = None) -> int:
        """Embed what waits for it; `anew`: everything, with the present embedder. → how many"""
        return await self._as_caller(
            lambda caller: self._app.embed(caller, anew=anew, progress=progress)
        )

    async def ingest(
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
        Waits until all is embedded, and the tables of SELECT have it; with `wait=False` that is
        left to `embed`, and to the first question. Cancelled, it stops soon; what was written is
        whole, and the next call goes on.
        """
        stop = threading.Event()
        tell = progress or (lambda _: None)
        async with self._app.running.cancellable():
            work = asyncio.ensure_future(
                self._as_caller(
                    lambda caller: self._app.ingest(
                        *(ingest_paths.check(paths), collection, caller, tell, stop),
                        isolated=isolated,
                        follow_symlinks=follow_symlinks,
                    )
                )
            )
            work.add_done_callback(_seen)  # cancelled twice, nobody waits for it any more
            try:
                report = await asyncio.shield(work)
            except asyncio.CancelledError:
                stop.set()
                await asyncio.wait([work])
                raise
            if wait:
                await self.embed()
                try:
                    await self._as_caller(self._app.selector.catch_up)
                except Cancelled:
                    raise
                except AskError:
                    pass  # the first question would wait for it, or say why not
        return IngestSummary(*(getattr(report, each.name) for each in fields(IngestReport)))

    async def link(self, source: str, label: str, target: str) -> str:
        """Connect two entities. → the edge's URN."""
        return await self._as_caller(lambda caller: self._app.link(source, label, target, caller))

    async def delete(self, *urns: str) -> int:
        """Remove entities and the edges that touch them. → how many entities went."""
        return await self._as_caller(lambda caller: self._app.backend.store.delete(urns, caller))

    async def get(self, urn: str) -> str | None:
        """The payload of one entity, or None when there is none that the caller may see."""
        found = await self.source(urn)
        return found.payload if found else None

    async def source(self, urn: str) -> Source | None:
        """One entity as the caller may see it, or None; of a `query`, its result for the caller."""
        sql = query_source.statement_of(urn)
        if sql is not None:
            return await self._in_select_thread(
                lambda caller, _: self._app.computing.result(sql, caller), sql
            )
        return await self._as_caller(lambda caller: self._app.backend.store.get(urn, caller))

    async def spending(self, days: int = 30) -> list[dict[str, Any]]:
        """What was spent, by UTC day, tenant and provider, newest first."""
        return await self._as_caller(lambda caller: self._app.spending(caller, days))

    def _check_may_close(self) -> None:
        """`BadAsk` in a progress callback, whose work closing waits for."""
        if self._app.workers.is_current:
            raise BadAsk(
                "a progress callback cannot close the database, which waits for it: "
                "raise an exception there to end the work"
            )

    async def close(self) -> None:
        """Let go of the database; asks, streams and ingests that run are `Cancelled` first."""
        self._closed = True
        if not self._shared:
            await self._app.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _checked(self, who: TokenSignIn | ProvenToken) -> "AsyncDatabase":
        """The session of somebody who may sign in."""
        session = AsyncDatabase(self._app, who, shared=True)
        caller = await session._who()
        if not self._app.settings.serving.serves(caller.tenant):  # a proxy tries another node
            raise StoreFailed("this server serves other tenants: ask another", detail="tenants")
        session._claim = AskClaim(caller.tenant, caller.user)
        return session

    async def _opened_here(self) -> App:
        """For whoever opened the files: nobody who signed in turns into somebody else."""
        await self._who()
        if not isinstance(self._principal, Caller):
            raise Denied("only whoever opened the database signs others in")
        return self._app

    async def _who(self) -> Caller:
        """Who asks, for what does not go to a thread first; see `_asking`."""
        self._check_open()
        if isinstance(self._principal, Caller):
            return self._principal
        return await self._app.in_thread(self._asking)

    async def _as_caller(self, work: Callable[[Caller], _T], who: list[Caller] | None = None) -> _T:
        """Do it in a thread, as whoever asks when its turn comes, who is added to `who`."""
        self._check_open()
        asking = [] if who is None else who

        def run() -> _T:
            asking.append(self._asking())
            return work(asking[-1])

        return await self._app.in_thread(run)

    async def _in_ask_thread(self, work: Callable[[Caller], _T]) -> _T:
        """Do what may be long in a thread, as whoever asks, within the time of an ask."""
        return await self._app.in_ask_thread(work, await self._who())

    def _asking(self) -> Caller:
        """Who asks; a token is looked at for every statement, so that a change holds at once."""
        self._check_open()
        app, given = self._app, self._principal
        if isinstance(given, Caller):
            return given
        try:
            if isinstance(given, ProvenToken):
                return app.backend.users.holder(given.ident, app.clock(), given.tenant)
            return app.signing_in.caller(
                given.token, app.clock(), given.tenant, of_page=given.of_page
            )
        except Unauthenticated:
            self._note_refusal("", given.tenant)
            raise

    def _check_open(self) -> None:
        if self._closed or self._app.running.closed:
            raise BadAsk(CLOSED)


def _parsed(statement: str, params: Sequence[object]) -> Ask | None:
    """The Ask of a statement; None for a SELECT."""
    if is_select(statement):
        return None
    return clauses.parse(statement, params)


def _seen(work: asyncio.Future[Any]) -> None:
    """Look at how it ended, so that asyncio does not report it as never retrieved."""
    if not work.cancelled():
        work.exception()
