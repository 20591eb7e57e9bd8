"""The contract suite of the transports against two processes that are one server.

What reaches into a server's memory (its admission, its providers' calls) is in `test_transports`;
here is what any client sees: bytes, outcomes, cancelling. `tests/server/test_workers.py` has what
only several processes can get wrong.
"""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from transport_contract import OUTCOMES, assert_mapped, everywhere, made_up
from transports import Received
from waiting import SECONDS, until_true
from worker_transports import WorkerTransports

from redask.core import errors

QUESTIONS = 12
FERRY = "When does the ferry leave?"
SERVED = ("http", "sse", "chat", "chat-stream", "mcp-http", "grpc", "grpc-stream", "pg")


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerTransports]:
    with WorkerTransports(tmp_path_factory.mktemp("workers") / "db") as opened:
        yield opened


def test_the_same_question_has_the_same_bytes_at_every_transport_of_two_processes(
    transports: WorkerTransports,
) -> None:
    for number in range(QUESTIONS):
        question, options = made_up(number)
        received = everywhere(transports, question, options)
        kinds = {transport: each.kind for transport, each in received.items()}
        assert set(kinds.values()) == {"answered"}, (question, options, received)
        assert len({each.body for each in received.values()}) == 1, (question, received)


def test_an_answer_that_one_process_kept_is_another_ones_too(transports: WorkerTransports) -> None:
    options = {"using": "scripted", "cache": {"ttl": "5m"}}
    first = transports.run(transports.ask("http", FERRY, options))
    assert json.loads(first.body)["cache_hit"] is False
    received = everywhere(transports, FERRY, options)
    assert len({each.body for each in received.values()}) == 1
    assert json.loads(received["http"].body)["cache_hit"] is True


@pytest.mark.parametrize("what", OUTCOMES)
def test_every_outcome_is_the_same_at_every_transport_of_two_processes(
    transports: WorkerTransports, what: str
) -> None:
    question, options, error = OUTCOMES[what]
    assert_mapped(everywhere(transports, question, options), error)


def test_what_is_written_through_one_process_is_found_through_all(
    transports: WorkerTransports,
) -> None:
    rows = [{"id": 1, "text": "The museum of Keitum opens at eleven."}]

    async def main() -> list[Received]:
        reply = await transports.clients["olga"].http.put(
            "/v1/collections/museums/entities", json={"rows": rows}
        )
        assert reply.status_code == 200, reply.text
        asked = [
            transports.ask(way, "When does the museum of Keitum open?", {"using": "scripted"})
            for way in (*SERVED, *SERVED)
        ]
        return list(await asyncio.gather(*asked))

    received = transports.run(main())
    assert all(b"museums" in each.body for each in received), received


@pytest.mark.parametrize("transport", SERVED)
def test_a_client_that_leaves_cancels_its_ask_in_whichever_process(
    transports: WorkerTransports, transport: str
) -> None:
    question = f"ferry, asked and left at {transport} of two"

    async def main() -> Any:
        asking = asyncio.create_task(transports.ask(transport, question, {"using": "anthropic"}))
        await until_true(lambda: transports.has_called(question))
        asking.cancel()
        await asyncio.wait([asking])
        async with asyncio.timeout(SECONDS):
            while True:
                rows = await transports.db.audit(5)
                found = [each.row for each in rows if each.row["question"] == question]
                if found:
                    return found
                await asyncio.sleep(0.01)

    [row] = transports.run(main())
    assert [each["kind"] for each in row["errors"]] == ["cancelled"]


def test_a_revoked_token_is_refused_by_every_process(transports: WorkerTransports) -> None:
    async def revoke() -> None:
        [fact] = [each for each in await transports.db.tokens() if each.user == "gone"]
        await transports.db.revoke_token(fact.id)

    transports.run(revoke())
    assert_mapped(everywhere(transports, FERRY, {}, "gone"), errors.Unauthenticated)
