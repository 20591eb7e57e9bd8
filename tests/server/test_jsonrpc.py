"""JSON-RPC on lines: garbage, batches, notifications, lost readers; and the real command."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import pytest
from server_thread import fill
from waiting import SECONDS, until_true

import redask
from redask.core.errors import AskError
from redask.server import jsonrpc


class Slow:
    """A session whose answers never come; it notes who was cancelled."""

    def __init__(self) -> None:
        self.started = asyncio.Event()
        self.cancelled = 0

    async def answer(self, ask: object) -> Any:
        self.started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def plan(self, ask: Any) -> dict[str, object]:
        if ask.question == "bug":
            raise AskError("internal")
        return {"question": ask.question}


def line(method: str, name: object = None, **params: object) -> bytes:
    request: dict[str, object] = {"jsonrpc": "2.0", "method": method, "params": params}
    if name is not None:
        request["id"] = name
    return json.dumps(request).encode()


async def pieces(chunks: Iterable[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


def replies(*lines: bytes) -> list[Any]:
    received: list[Any] = []

    async def write(message: bytes) -> None:
        received.append(json.loads(message))

    async def main() -> None:
        await jsonrpc.serve(Slow(), pieces(lines), write)  # type: ignore[arg-type]

    asyncio.run(main())
    return received


GARBAGE: dict[bytes, int] = {
    b"hello": jsonrpc.PARSE_ERROR,
    b"\xff\xfe": jsonrpc.PARSE_ERROR,
    b'{"a":1,"a":2}': jsonrpc.PARSE_ERROR,
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"explain"}': jsonrpc.PARSE_ERROR,
    b"[" * 100_000: jsonrpc.PARSE_ERROR,
    b"x" * (jsonrpc.MAX_LINE + 1): jsonrpc.PARSE_ERROR,
    b"[]": jsonrpc.INVALID_REQUEST,
    b"1": jsonrpc.INVALID_REQUEST,
    b'{"jsonrpc":"2.0","id":null,"method":"explain"}': jsonrpc.INVALID_REQUEST,
    b'{"jsonrpc":"1.0","id":1,"method":"explain"}': jsonrpc.INVALID_REQUEST,
    line("nothing", 1): jsonrpc.METHOD_NOT_FOUND,
    line("explain", 1): -32602,
    line("explain", 1, question="bug"): -32603,
}


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_gets_an_error_and_the_next_line_its_answer(garbage: bytes) -> None:
    received = replies(garbage, line("explain", "next", question="ferry"))
    found = {json.dumps(each["id"]): each for each in received}
    assert found.pop('"next"')["result"] == {"question": "ferry"}
    [error] = found.values()
    assert error["error"]["code"] == GARBAGE[garbage]


def test_a_notification_has_no_response() -> None:
    response = replies(line("explain", question="ferry"), line("nothing"), line("explain"), b"  ")
    assert response == []


def test_a_batch_is_answered_as_a_whole() -> None:
    one, two = line("explain", 1, question="a"), line("explain", 2, question="b")
    [received] = replies(b"[%b,%b,%b,7]" % (one, line("explain", question="c"), two))
    assert [each["id"] for each in received] == [1, 2, None]


def test_when_the_output_is_closed_what_runs_is_cancelled() -> None:
    async def main() -> int:
        session = Slow()

        async def lines() -> AsyncIterator[bytes]:
            yield line("ask", 1, question="ferry")
            await session.started.wait()
            yield line("explain", 2, question="ferry")
            await asyncio.Event().wait()

        async def write(_: bytes) -> None:
            raise BrokenPipeError

        async with asyncio.timeout(SECONDS):
            await jsonrpc.serve(session, lines(), write)  # type: ignore[arg-type]
        return session.cancelled

    assert asyncio.run(main()) == 1


def test_an_id_that_is_in_use_is_refused_and_the_first_goes_on() -> None:
    async def main() -> list[Any]:
        session = Slow()
        received: list[Any] = []

        async def lines() -> AsyncIterator[bytes]:
            yield line("ask", 1, question="ferry")
            await session.started.wait()
            yield line("ask", 1, question="ferry")
            await until_true(lambda: received)  # the refusal
            yield line("cancel", 2, id=1)

        async def write(message: bytes) -> None:
            received.append(json.loads(message))

        await jsonrpc.serve(session, lines(), write)  # type: ignore[arg-type]
        return received

    refused, *others = asyncio.run(main())
    assert (refused["id"], refused["error"]["code"]) == (1, jsonrpc.INVALID_REQUEST)
    found = {each["id"]: each for each in others}
    assert found[2]["result"] is True
    assert found[1]["error"]["code"] == -32015


def test_lines_are_split_whatever_the_pieces_and_what_follows_a_long_one_is_kept() -> None:
    async def main(chunks: list[bytes]) -> list[bytes]:
        return [each async for each in jsonrpc.split(pieces(chunks), 4)]

    assert asyncio.run(main([b"a", b"b\nc\n", b"", b"d"])) == [b"ab", b"c", b"d"]
    found = asyncio.run(main([b"xxxxxxxx", b"xxxx", b"x\nnext\n"]))
    assert len(found[0]) > 4
    assert found[1:] == [b"next"]


def test_the_command_is_of_the_tenant_that_is_named(tmp_path: Path) -> None:
    token = fill(tmp_path / "db")["mia"]  # of the tenant local
    with redask.open(tmp_path / "db", tenant="acme") as db:
        db.put("notes", [{"id": 1, "text": "The ferry of acme is blue."}])
    start = "from redask.cli import main; main()"

    def run(*words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-c", start, "--db", str(tmp_path / "db"), *words, "rpc"],
            input=line("query", 1, statement="SELECT text FROM notes WHERE id = 1"),
            capture_output=True,
            check=False,
            timeout=SECONDS,
        )

    assert b"ferry of acme" in run("--tenant", "acme").stdout
    assert b"ferry to Amrum" in run("--tenant", "local", "--token", token).stdout
    refused = run("--tenant", "acme", "--token", token)
    assert (refused.returncode, refused.stdout) == (3, b"")
    assert run("--tenant", "a\x1fb").returncode == 2


def test_the_command_answers_from_a_file_until_its_end(tmp_path: Path) -> None:
    token = fill(tmp_path / "db")["mia"]
    asked = {"question": "When does the ferry leave?", "options": {"using": "scripted"}}
    start = "from redask.cli import main; main()"
    requests = tmp_path / "requests"
    requests.write_bytes(
        b"rubbish\n" + line("ask", 1, **asked) + b"\n" + line("stream", 2, **asked)
    )
    with requests.open("rb") as given:
        run = subprocess.run(
            [sys.executable, "-c", start, "--db", tmp_path / "db", "--token", token, "rpc"],
            stdin=given,
            capture_output=True,
            check=False,
            timeout=SECONDS,
        )
    assert (run.returncode, run.stderr) == (0, b"")
    received = [json.loads(each) for each in run.stdout.splitlines()]
    results = [each["result"] for each in received if "result" in each]
    assert len(results) == 2
    assert results[0] == results[1]
