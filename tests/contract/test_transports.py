"""One suite over every transport: the same envelope bytes and the mapped outcome, as in process."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from transport_contract import AT_A_TIME, FERRY, OUTCOMES, assert_mapped, everywhere, made_up
from transports import TRANSPORTS, Received, Transports
from waiting import SECONDS, until_true

from redask.core import errors
from redask.stores.sqlite.calls_migrations import CALLS_FILE


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transports]:
    patch = pytest.MonkeyPatch()
    patch.setattr("redask.stores.sqlite.sqlite_backend.BUSY_TIMEOUT_SECONDS", 0.5)
    with Transports(tmp_path_factory.mktemp("transports") / "db") as opened:
        yield opened
    patch.undo()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "start" in metafunc.fixturenames:
        questions = int(metafunc.config.getoption("--transport-questions"))
        metafunc.parametrize("start", range(0, questions, AT_A_TIME))


def test_the_same_question_has_the_same_bytes_at_every_transport(
    transports: Transports, start: int
) -> None:
    answered = 0
    for number in range(start, start + AT_A_TIME):
        question, options = made_up(number)
        received = everywhere(transports, question, options)
        kinds = {transport: each.kind for transport, each in received.items()}
        assert set(kinds.values()) == {"answered"}, (question, options, received)
        bodies = {each.body for each in received.values()}
        assert len(bodies) == 1, (question, options, received)
        answered += bool(json.loads(received["here"].body)["citations"])
    assert answered > AT_A_TIME / 5  # most are real answers, not the fixed sentence


def test_an_answer_from_the_cache_is_the_same_at_every_transport(transports: Transports) -> None:
    options = {"using": "scripted", "cache": {"ttl": "5m"}}
    transports.run(transports.ask("here", FERRY, options))
    received = everywhere(transports, FERRY, options)
    assert len({each.body for each in received.values()}) == 1
    assert json.loads(received["http"].body)["cache_hit"] is True


def test_claims_and_evidence_are_the_same_at_every_transport(transports: Transports) -> None:
    asked = "Does the ferry leave at midnight?"
    options = {"using": "openai", "collection": "notes", "evidence": True}
    received = everywhere(transports, asked, options)
    assert len({each.body for each in received.values()}) == 1
    whole = json.loads(received["http"].body)
    assert [warning["kind"] for warning in whole["validation"]["warnings"]] == [
        "contradicted_claim"
    ]
    [evidence] = whole["evidence"]
    assert (evidence["verdict"], evidence["markers"]) == ("contradicted", [1])
    assert sorted(evidence) == ["claim", "markers", "quotes", "verdict"]
    plain = everywhere(transports, asked, {**options, "evidence": False})
    assert {len(json.loads(each.body)) for each in plain.values()} == {12}


def test_a_computed_answer_and_its_source_are_the_callers_at_every_transport(
    transports: Transports,
) -> None:
    harbours = [{"id": n, "name": f"Harbour {n}", "size": n} for n in (1, 2, 3)]
    policy = {"read": [{"roles": ["reader"], "rows": "size < 3"}]}
    transports.run(transports.db.put("harbours", harbours))
    transports.run(transports.db.set_policy("harbours", policy))
    options = {"using": "extractive", "evidence": True}
    counts = {}
    for user in ("mia", "olga"):
        received = everywhere(transports, "How many harbours are there?", options, user)
        assert len({each.body for each in received.values()}) == 1, received
        whole = json.loads(received["pg"].body)
        assert [each["verdict"] for each in whole["evidence"]] == ["supported"]
        counts[user] = json.loads(whole["sources_flat"][0]["payload"])["rows"]
        urn = whole["sources_flat"][0]["urn"]
    assert counts == {"mia": [[2]], "olga": [[3]]}
    for user, rows in counts.items():
        assert transports.run(resolved(transports, urn, user)) == [rows, rows, rows]


async def resolved(transports: Transports, urn: str, user: str) -> list[object]:
    """The rows behind a URN, as each way to open a source gives them."""
    clients = transports.clients[user]
    http = await clients.http.get(f"/v1/sources/{quote(urn, safe='')}")
    mcp = await clients.mcp.read_resource(urn)
    resource: Any = mcp.contents[0]
    payloads = (http.json()["payload"], resource.text, await clients.db.get(urn))
    return [json.loads(payload)["rows"] for payload in payloads]


def test_a_follow_up_is_understood_alike_at_every_transport_that_takes_a_history(
    transports: Transports,
) -> None:
    talk = [{"question": "Where does the Amrum ferry leave?", "answer": "At the pier. [^1]"}]
    options = {"using": "scripted", "plan": "off", "history": talk}

    async def main() -> list[Received]:
        ways = ("here", *(each for each in TRANSPORTS if not each.startswith("pg")))
        return await asyncio.gather(
            *(transports.ask(way, "And its price?", options) for way in ways)
        )

    received = transports.run(main())
    assert len({each.body for each in received}) == 1, received
    whole = json.loads(received[0].body)
    assert whole["validation"]["warnings"][0] == {
        "detail": "What is the price of Amrum?",
        "kind": "understood_as",
    }


@pytest.mark.parametrize("what", OUTCOMES)
def test_every_outcome_is_the_same_at_every_transport(transports: Transports, what: str) -> None:
    question, options, error = OUTCOMES[what]
    received = everywhere(transports, question, options)
    assert_mapped(received, error)
    spoken = b"".join(each.body for each in received.values())
    assert b"KEY-1234" not in spoken
    assert b"Traceback" not in spoken
    if error is errors.Ungrounded:
        for transport in ("http", "chat", "rpc", "mcp", "mcp-http", "grpc"):
            assert json.loads(received[transport].body)["validation"]["ok"] is False


@pytest.mark.parametrize(
    ("using", "response"),
    [
        ("groq", b"groq: refused: no, said the model"),
        ("together", b"no provider answered: together: 5xx: busy"),
    ],
)
def test_every_transport_names_the_provider_that_failed_and_what_it_said(
    transports: Transports, using: str, response: bytes
) -> None:
    for transport, received in everywhere(transports, FERRY, {"using": using}).items():
        assert response in received.body, transport


def test_an_unauthenticated_client_is_refused_at_every_transport(
    transports: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    # there are more transports than times that one may bring the same wrong token
    monkeypatch.setattr("redask.server.wrong_tokens.FREE_OF_NAME", 100)

    async def revoke() -> None:
        [fact] = [each for each in await transports.db.tokens() if each.user == "gone"]
        await transports.db.revoke_token(fact.id)

    transports.run(revoke())
    assert_mapped(everywhere(transports, FERRY, {}, "gone"), errors.Unauthenticated)


def test_a_full_house_is_overloaded_at_every_transport(transports: Transports) -> None:
    async def full() -> dict[str, Received]:
        at_once, waiting = transports.admission.at_once, transports.admission.waiting
        transports.admission.at_once = transports.admission.waiting = 0
        try:
            return {transport: await transports.ask(transport, FERRY) for transport in TRANSPORTS}
        finally:
            transports.admission.at_once, transports.admission.waiting = at_once, waiting

    assert_mapped(transports.run(full()), errors.Overloaded)


def test_without_its_audit_row_there_is_no_answer_at_any_transport(transports: Transports) -> None:
    with closing(sqlite3.connect(transports.directory / CALLS_FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        received = everywhere(transports, FERRY, {"using": "scripted"})
    assert_mapped(received, errors.AuditUnavailable)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Transports]:
    with Transports(tmp_path / "db") as opened:
        yield opened


def test_a_store_that_fails_says_so_at_every_transport(
    elsewhere: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise errors.StoreFailed("the disk is gone")

    monkeypatch.setattr("redask.engine.retrieval.Retriever.find_for_provider", broken)
    assert_mapped(everywhere(elsewhere, FERRY, {"using": "scripted"}), errors.StoreFailed)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_that_disconnects_cancels_the_ask_as_its_audit_row_shows(
    transports: Transports, transport: str
) -> None:
    question = f"ferry, asked and left at {transport}"
    options = {"using": "anthropic"}
    before = len(transports.actors["anthropic"].calls)

    async def main() -> None:
        asking = asyncio.create_task(transports.ask(transport, question, options))
        await until_true(lambda: len(transports.actors["anthropic"].calls) > before)
        if transport.startswith("rpc"):
            lines = transports.clients["mia"].lines
            _, reply = await lines.call("cancel", {"id": lines.count})
            assert reply["result"] is True
            assert (await asking).kind == "cancelled"
        asking.cancel()
        await asyncio.wait([asking])
        async with asyncio.timeout(SECONDS):
            while True:
                rows = await transports.db.audit(1)
                if rows and rows[0].row["question"] == question:
                    break
                await asyncio.sleep(0.01)
        reasons: Any = rows[0].row["errors"]
        assert [each["kind"] for each in reasons] == ["cancelled"]
        # a task is forgotten by its callback, a turn of the loop after it has ended
        await until_true(lambda: not transports.admission._tasks)

    transports.run(main())
