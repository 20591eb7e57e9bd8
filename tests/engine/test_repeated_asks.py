"""A repeated ask is answered without a thread, and only while the store's version proves it."""

import json
import multiprocessing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stage import Player

import redask
from redask.core.errors import AuditUnavailable, Unauthenticated
from redask.core.model import Ask, Caller
from redask.core.rules.audit_chain import Intact
from redask.core.settings import load
from redask.core.wire import envelope
from redask.core.wire import json as canonical
from redask.engine.caching.remembered_findings import RememberedFindings

FERRY = "When does the ferry leave?"
CACHED: dict[str, Any] = {"using": "scripted", "cache": {"ttl": "1h"}}
PLAIN = '[embedder]\nname = "none"'


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[redask.OpenDatabase]:
    player = Player("scripted", ["At nine [^1]."] * 20)
    settings = load(PLAIN, {})
    with redask.open(tmp_path, settings=settings, providers={"scripted": player}) as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        db.add_user("mia", role="reader")
        yield db


def at_once(db: redask.OpenDatabase, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each ask from now on was answered without a thread."""
    engine, told = db._async._app.engine, list[bool]()
    real = type(engine)._at_once

    def watched(self: Any, run: Any) -> Any:
        answer = real(self, run)
        told.append(answer is not None)
        return answer

    monkeypatch.setattr(type(engine), "_at_once", watched)
    return told


def repeated(db: redask.OpenDatabase, told: list[bool]) -> redask.CitedAnswer:
    """The first answer without a thread; the store's memory of the log is a write, too."""
    for _ in range(100):
        answer = db.ask(FERRY, **CACHED)
        if told[-1]:
            return answer
    raise AssertionError("every ask took a thread")


def test_bytes_and_audit_rows_are_those_of_the_whole_way(
    opened: redask.OpenDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = at_once(opened, monkeypatch)
    short = repeated(opened, told)
    monkeypatch.setattr(opened._async._app.engine.finder, "known", lambda *_: None)
    whole = opened.ask(FERRY, **CACHED)
    assert told[-2:] == [True, False]
    assert short.cache_hit
    assert envelope.encoded(short) == envelope.encoded(whole)
    assert envelope.encoded(short) == canonical.encode(envelope.build(whole))
    rows = [each.row for each in opened.audit(2)]
    assert len(rows) == 2
    first, second = ({**row, "ts": 0} for row in rows)
    assert json.dumps(first) == json.dumps(second)
    traced = opened._async._app.backend.audit.traced(Caller(), limit=2)
    made = [dict(each.provenance or {}) for each in traced]
    assert made[0].pop("salt") != made[1].pop("salt")
    assert made[0] == made[1]
    assert isinstance(opened.verify_audit(), Intact)


def test_long_sources_are_not_looked_through_on_the_event_loop(
    opened: redask.OpenDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = at_once(opened, monkeypatch)
    repeated(opened, told)
    long = f"The ferry leaves at nine. {'characteristically ' * 1000}"
    opened.put("notes", [{"id": 1, "text": long}])
    for _ in range(20):
        assert opened.ask(FERRY, **CACHED).citations
    assert not any(told[-20:])
    assert opened.ask(FERRY, **CACHED).cache_hit


def _elsewhere(directory: Path, change: str) -> None:
    with redask.open(directory, settings=load(PLAIN, {})) as db:
        CHANGES[change](db)


CHANGES: dict[str, Callable[[redask.OpenDatabase], object]] = {
    "row": lambda db: db.put("notes", [{"id": 2, "text": "A ferry leaves at ten."}]),
    "deletion": lambda db: db.delete("urn:reddb:row:notes/1"),
    "policy": lambda db: db.set_policy("notes", {"read": [{"roles": ["spy"]}]}),
    "user": lambda db: db.remove_user("mia"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_by_another_process_ends_it_at_once(
    opened: redask.OpenDatabase, tmp_path: Path, change: str
) -> None:
    finder, mia = opened._async._app.engine.finder, Caller("local", "mia", "reader")
    assert any(finder.find(Ask(FERRY), mia) and finder.known(Ask(FERRY), mia) for _ in range(100))
    process = multiprocessing.get_context("spawn").Process(
        target=_elsewhere, args=(tmp_path, change)
    )
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert finder.known(Ask(FERRY), mia) is None
    assert isinstance(finder, RememberedFindings)
    assert finder.find(Ask(FERRY), mia) == finder._work.find(Ask(FERRY), mia)


def test_vectors_that_come_later_end_it(tmp_path: Path) -> None:
    with redask.open(tmp_path, embedder="hashed") as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}], wait=False)
        finder = db._async._app.engine.finder
        finder.find(Ask(FERRY), Caller())
        assert finder.known(Ask(FERRY), Caller()) is None  # something waits for its vector
        db.embed()
        finder.find(Ask(FERRY), Caller())
        assert finder.known(Ask(FERRY), Caller()) is not None
        db.put("notes", [{"id": 2, "text": "The ferry leaves at ten."}])
        assert finder.known(Ask(FERRY), Caller()) is None


def test_a_revoked_token_is_refused_by_the_next_statement(
    opened: redask.OpenDatabase, tmp_path: Path
) -> None:
    token = opened.make_token("mia")
    signing, now = opened._async._app.signing_in, opened._async._app.clock
    caller = signing.caller(token, now())
    assert signing.known(token, now()) == caller
    assert signing.known(token[:-1] + ("0" if token[-1] != "0" else "1"), now()) is None
    assert signing.known(token, now(), "other") is None
    with redask.open(tmp_path, settings=load(PLAIN, {})) as other:
        other.revoke_token(other.tokens()[0].id)
    assert signing.known(token, now()) is None
    with pytest.raises(Unauthenticated):
        signing.caller(token, now())


def test_an_expired_token_is_not_known_any_more(opened: redask.OpenDatabase) -> None:
    app = opened._async._app
    signing, now = app.signing_in, app.clock()
    token = app.backend.users.make_token("mia", now, 60, Caller())
    signing.caller(token, now)
    assert signing.known(token, now) is not None
    assert signing.known(token, now + 61 * 10**9) is None


def test_no_answer_before_its_row(
    opened: redask.OpenDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = at_once(opened, monkeypatch)
    repeated(opened, told)

    def broken(*_: Any, **__: Any) -> Any:
        raise AuditUnavailable("the audit row could not be written, so there is no answer")

    monkeypatch.setattr(opened._async._app.engine.log, "append", broken)
    with pytest.raises(AuditUnavailable):
        opened.ask(FERRY, **CACHED)
