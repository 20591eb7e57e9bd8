"""What asks need of a server's workers: the same answers, and an end to whatever takes too long."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from deadlines import let_deadlines_pass
from hanging_service import PHASES
from waiting import until_true

import redask
from redask.api.asynchronous import AsyncDatabase
from redask.api.sync import open_async
from redask.app import build, process_parts, worker_service
from redask.core.errors import AskError, Cancelled, DeadlineExceeded, Denied
from redask.core.model import Ask, Caller
from redask.core.settings import Settings, load
from redask.engine.caching.remembered_findings import RememberedFindings
from redask.engine.processes.process_finder import ProcessFinder, ProcessQuoting

ME = Caller()
NOTES = [
    {"id": 1, "text": "The ferry to Amrum leaves at nine."},
    {"id": 2, "text": "The ferry to Föhr leaves at ten, and returns in the evening." * 100},
]
SALES = [{"id": n, "city": "Kiel" if n % 2 else "Husum", "amount": n} for n in range(20)]
QUESTIONS = (
    "When does the ferry to Amrum leave?",
    "How many sales are there in Kiel?",
    "What is the average amount per city?",
    "Who painted the ceiling?",
    "Wen does the fery leave today?",
)
LONG_MS = 600_000
PATIENT = load(f'[embedder]\nname = "none"\n[ask]\ntimeout_ms = {LONG_MS}\n', {})


def filled(directory: Path, settings: str = "") -> Path:
    directory.mkdir()
    (directory / "redask.toml").write_text(settings)
    with redask.open(directory, settings=load('[embedder]\nname = "none"', {})) as db:
        db.put("notes", NOTES)
        db.put("sales", SALES)
        db.put("secrets", [{"id": 1, "text": "The ferry to Sylt is late."}])
        db.set_policy("secrets", {"read": [{"roles": ["spy"]}]})
        db.set_policy("sales", {"read": [{"roles": ["*"], "hide": ["amount"]}]})
    return directory


@pytest.mark.parametrize("embedder", ["none", "hashed"])
def test_a_worker_finds_quotes_and_checks_just_what_this_process_does(
    tmp_path: Path, embedder: str
) -> None:
    chosen = dataclasses.replace(
        load(f'[embedder]\nname = "{embedder}"\n[ask]\ntimeout_ms = {LONG_MS}\n', {}),
        redact_secrets=True,
    )
    directory = filled(tmp_path / "db")
    clock = 1_700_000_000_000_000_000
    seen: list[list[str]] = []
    for serving in (False, True):
        app = build(directory, settings=chosen, serving=serving, clock=lambda: clock)
        try:
            app.embed(ME)
            assert isinstance(app.finder, RememberedFindings)
            assert isinstance(app.finder._work, ProcessFinder) is serving
            said = []
            for role in ("owner", "reader"):
                who = dataclasses.replace(ME, role=role)
                for question in QUESTIONS:
                    found = app.finder.find(Ask(question), who)
                    said.append(repr(found))
                    said.append(repr(app.finder.find_with(None, Ask(question), who)))
                    said.append(repr(app.finder.search(Ask(question, limit=3), who)))
                    said.append(repr(app.finder.outline(Ask(question), who)))
                    text = "The ferry leaves at ten [^1]. It is green."
                    said.append(repr(app.finder.examine(text, found.sources, None, question)))
                    answer = asyncio.run(app.engine.ask(Ask(question, using=("extractive",)), who))
                    said.append(repr(answer))
            seen.append(said)
        finally:
            app.close()
    assert seen[0] == seen[1]


def test_a_worker_finds_what_was_just_written_and_obeys_a_policy_that_was_just_set(
    tmp_path: Path,
) -> None:
    directory, reader = filled(tmp_path / "db"), dataclasses.replace(ME, role="reader")
    app = build(directory, settings=PATIENT, serving=True)
    try:
        for n in range(5):
            app.put("notes", [{"id": 10 + n, "text": f"Buoy {n} is zinnober."}], "row", ME)
            found = app.finder.search(Ask("Which buoy is zinnober?"), reader)
            assert f"urn:reddb:row:notes/{10 + n}" in {source.urn for source in found.sources}
        with pytest.raises(Denied):
            app.finder.search(Ask("ferry", collections=("secrets",)), reader)
        app.set_policy("notes", {"read": [{"roles": ["spy"]}]}, ME)
        assert app.finder.search(Ask("Which buoy is zinnober?"), reader).sources == ()
    finally:
        app.close()


def test_no_key_goes_to_a_worker(tmp_path: Path) -> None:
    chosen = load("", {"REDASK_OPENAI_API_KEY": "sk-of-ours", "REDASK_EMBEDDER_API_KEY": "em-ours"})
    app = build(filled(tmp_path / "db"), settings=chosen, embedder="none", serving=True)
    try:
        order = app.selector._pool._order  # type: ignore[attr-defined]
        assert "ours" not in repr(order)
        assert not any("endpoint" in name or "key" in name for name in order.arguments[1])
    finally:
        app.close()


def test_the_built_in_answerer_of_a_server_is_in_its_workers_and_streams_as_ever(
    tmp_path: Path,
) -> None:
    directory, question = filled(tmp_path / "db"), QUESTIONS[0]

    async def events(serving: bool) -> list[str]:
        db = await open_async(directory, settings=PATIENT, serving=serving)
        async with db:
            opened = db._app.opener("extractive", None)
            assert isinstance(opened, ProcessQuoting) is serving
            return [repr(event) async for event in db.stream(question, using="extractive")]

    assert asyncio.run(events(True)) == asyncio.run(events(False))


# --- what hangs -----------------------------------------------------------------------------


@asynccontextmanager
async def hanging(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[AsyncDatabase, Path]]:
    """A server's database whose workers hang where a question says."""
    monkeypatch.setattr(process_parts, "_SERVICE", "hanging_service:make")
    directory = filled(tmp_path / "db")
    db = await open_async(directory, settings=PATIENT, serving=True)
    try:
        yield db, directory
    finally:
        await db.close()


Call = Callable[[AsyncDatabase, str], Awaitable[object]]
CALLS: dict[str, Call] = {
    "ask": lambda db, text: db.ask(text, using="extractive"),
    "explain": lambda db, text: db.explain(text),
    "search": lambda db, text: db.search(text),
    "query_plan": lambda db, text: db.query_plan(text),
    "execute": lambda db, text: db.execute("EXPLAIN ASK $1", [text]),
}
HANGING = [
    *(("ask", phase) for phase in PHASES),
    *(("explain", "prompt"), ("search", "search"), ("query_plan", "plan"), ("execute", "search")),
]


def question_for(phase: str) -> str:
    return f"How does the ferry to Föhr hang in {phase}?"


@pytest.mark.parametrize(("name", "phase"), HANGING)
def test_what_hangs_in_a_phase_ends_with_its_deadline_its_caller_and_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, phase: str
) -> None:
    async def ends(db: AsyncDatabase, directory: Path, end: Callable[[Any], Any]) -> object:
        """Have it hang, end it. → what the caller is told"""
        call = asyncio.ensure_future(CALLS[name](db, question_for(phase)))
        await until_true((directory / f"hangs-{phase}").exists)
        (directory / f"hangs-{phase}").unlink()
        (worker,) = db._app.selector._pool._held  # type: ignore[attr-defined]
        ending = end(call)
        if ending is not None and not isinstance(ending, bool):
            await ending
        (told,) = await asyncio.gather(call, return_exceptions=True)
        await until_true(lambda: worker.process.poll() is not None)
        return told

    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with hanging(tmp_path, monkeypatch) as (db, directory):
            told = await ends(db, directory, lambda _: let_deadlines_pass(loop))
            assert isinstance(told, DeadlineExceeded)
            assert "ask.timeout_ms" in told.message
            told = await ends(db, directory, lambda call: call.cancel())
            assert isinstance(told, asyncio.CancelledError)
            assert (await db.search("ferry to Amrum")).hits  # and the next is served
            rows = await db.audit()
            assert len(rows) == 2 * (name == "ask")
            assert not any(each.row["validation_ok"] for each in rows)
            told = await ends(db, directory, lambda _: db.close())
            assert isinstance(told, Cancelled)

    asyncio.run(main())


def test_a_search_that_looks_is_stopped_without_ending_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with hanging(tmp_path, monkeypatch) as (db, directory):
            call = asyncio.ensure_future(db.search("loop in search"))
            await until_true((directory / "hangs-search").exists)
            workers = db._app.selector._pool  # type: ignore[attr-defined]
            (worker,) = workers._held
            call.cancel()
            with suppress(asyncio.CancelledError):
                await call
            await until_true(lambda: not workers._held)
            assert worker.process.poll() is None
            assert worker in workers._idle

    asyncio.run(main())


def test_others_are_served_while_one_user_s_questions_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with hanging(tmp_path, monkeypatch) as (db, directory):
            await db.add_user("mia", role="reader")
            await db.add_user("bo", role="reader")
            mia, bo = [await db.signed_in(await db.make_token(user)) for user in ("mia", "bo")]
            asked = [asyncio.ensure_future(mia.search(question_for("search"))) for _ in range(16)]
            await until_true((directory / "hangs-search").exists)
            held = db._app.selector._pool._held  # type: ignore[attr-defined]
            await until_true(lambda: len(held) == 3)  # of four: one is for others
            assert (await bo.search("ferry to Amrum")).hits
            assert (await bo.ask(QUESTIONS[0], using="extractive")).citations
            await db.doctor()  # the owner has threads of her own
            for each in asked:
                each.cancel()
            await asyncio.wait(asked)

    asyncio.run(main())


# --- in this process ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ask", "explain", "search"])
def test_a_search_in_this_process_looks_whether_to_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The thread of an embedded database is free soon after its caller left."""
    from redask.index.lexical.bm25 import LexicalSearcher

    began: list[LexicalSearcher] = []
    ended: list[str] = []

    def endless(self: LexicalSearcher, _: Any) -> list[int]:
        began.append(self)
        try:
            while True:
                self._check()
        except AskError as error:
            ended.append(error.kind)
            raise

    async def main() -> None:
        db = await open_async(filled(tmp_path / "db"), settings=PATIENT)
        async with db:
            monkeypatch.setattr(LexicalSearcher, "_document_frequencies", endless)
            call = asyncio.ensure_future(CALLS[name](db, "ferry"))
            await until_true(lambda: began)
            let_deadlines_pass(asyncio.get_running_loop())
            with pytest.raises(DeadlineExceeded):
                await call
            await until_true(lambda: ended)
            assert ended == ["cancelled"]

    asyncio.run(main())


def test_settings_that_a_search_depends_on_are_all_sent(tmp_path: Path) -> None:
    chosen = load('[ask]\nmax_prompt_tokens = 999\n[embedder]\nname = "none"\n', {})
    told = worker_service.sent(chosen)
    made = Settings(**told)
    assert made.limits.max_prompt_tokens == 999
    assert (made.buckets, made.redact_secrets) == (chosen.buckets, chosen.redact_secrets)
