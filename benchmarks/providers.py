"""`make bench-providers`: what a provider call costs on our side, against servers on loopback.

- The time from a provider's first token to ours: the server, a process of its own, sends its
  clock's reading (the same clock for the whole machine) as the first piece of text, and the first
  AnswerToken event is compared with it. For comparison, the SDK alone.
- A cache hit beyond the search, the question's embedding and one durable commit: the search is
  `db.search`, which reads and fuses what it finds; for comparison, what the buckets alone take.
- 64 streams at once from one process: none lost, each whole, and how long they took.
"""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from ask import QUESTION, STEPS, BareCommits, p50_ms, timed_step
from loopback import EVENTS, Loopback, Received, Wire
from openai import AsyncOpenAI
from wires import CHAT

import redask
from redask.core.model import Answered, AnswerToken
from redask.core.settings import load
from redask.engine import telemetry

STREAMS = 64
PIECES = [f"piece {number} " for number in range(50)] + ["[^1]"]
PAUSE = 0.02
ROUNDS = 100


def play(received: Received) -> Wire:
    """The server: the model's name selects the reply."""
    match received.body["model"]:
        case "streaming":
            return Wire(chunks=LazyChunks(), kind=EVENTS)
        case "slow":
            return Wire(chunks=CHAT.stream(PIECES).chunks, kind=EVENTS, delay=PAUSE)
        case _:
            return CHAT.whole("Amrum. [^1]")


def serve() -> None:
    with Loopback() as server:
        server.play(play)
        print(server.url, flush=True)
        sys.stdin.read()


class LazyChunks(list[bytes]):
    """Chunks made when they are sent."""

    def __init__(self) -> None:
        super().__init__(CHAT.stream(["now", " and on", " [^1]"]).chunks)

    def __iter__(self) -> Iterator[bytes]:
        for chunk in list.__iter__(self):
            if b'"now"' in chunk:
                time.sleep(0.001)  # the piece before it is on its way
                yield chunk.replace(b'"now"', f'"{time.perf_counter_ns()}"'.encode())
            else:
                yield chunk


async def first_tokens(db: redask.AsyncDatabase, url: str) -> None:
    ours, theirs = [], []
    client = AsyncOpenAI(api_key="sk-test", base_url=url, max_retries=0)
    for _ in range(ROUNDS):
        async for event in db.stream(QUESTION, using="openai", model="streaming"):
            if isinstance(event, AnswerToken):
                now = time.perf_counter_ns()
                if event.text.isdigit():
                    ours.append((now - int(event.text)) / 1e9)
        stream = await client.chat.completions.create(
            model="streaming", messages=[{"role": "user", "content": "x"}], stream=True
        )
        async for chunk in stream:
            now = time.perf_counter_ns()
            text = chunk.choices[0].delta.content if chunk.choices else None
            if text and text.isdigit():
                theirs.append((now - int(text)) / 1e9)
    await client.close()
    print(f"first token, provider to us, p50   {p50_ms(ours):8.3f} ms   (target: below 2 ms)")
    print(f"  the SDK alone                    {p50_ms(theirs):8.3f} ms")


async def cache_hits(db: redask.AsyncDatabase, directory: Path) -> None:
    """A hit, a plain search and a bare commit in turn, so that a busy machine slows all alike."""
    for _ in range(3):
        await db.ask(QUESTION, cache={"ttl": "1h"})
    taken, parts, searched, commits = [], [], [], []
    with BareCommits(directory) as bare:
        for _ in range(ROUNDS * 3):
            STEPS.clear()
            started = time.perf_counter()
            answer = await db.ask(QUESTION, cache={"ttl": "1h"})
            taken.append(time.perf_counter() - started)
            assert answer.cache_hit
            parts.append(sum(STEPS["embed"]) + sum(STEPS["search"]))
            started = time.perf_counter()
            await db.search(QUESTION)
            searched.append(time.perf_counter() - started)
            commits.append(bare.commit())
    hit, commit = p50_ms(taken), p50_ms(commits)
    print(f"cache hit, p50                     {hit:8.3f} ms")
    print(f"  a plain search with embedding    {p50_ms(searched):8.3f} ms")
    print(f"    the buckets and the embedding  {p50_ms(parts):8.3f} ms")
    print(f"  one bare durable commit          {commit:8.3f} ms")
    print(f"  beyond search and commit         {hit - p50_ms(searched) - commit:8.3f} ms", end="")
    print("   (target: below 1 ms)")
    print(f"    beyond the buckets and commit  {hit - p50_ms(parts) - commit:8.3f} ms")


async def many_streams(db: redask.AsyncDatabase) -> None:
    async def one() -> str:
        texts, ended = [], False
        async for event in db.stream(QUESTION, using="openai", model="slow"):
            if isinstance(event, AnswerToken):
                texts.append(event.text)
            ended = isinstance(event, Answered)
        assert ended
        return "".join(texts)

    started = time.perf_counter()
    answers = await asyncio.gather(*(one() for _ in range(STREAMS)))
    seconds = time.perf_counter() - started
    whole = sum(answer == "".join(PIECES) for answer in answers)
    alone = PAUSE * (len(PIECES) + 4)
    print(f"{STREAMS} streams at once: {whole} whole, {seconds:.2f} s (one alone: {alone:.2f} s)")


def fill(db: redask.OpenDatabase, rows: int) -> None:
    names = ("Amrum", "Föhr", "Sylt", "Pellworm", "Hooge")
    texts = [f"Ferry {n} serves the harbour of {names[n % 5]} on Sundays. " for n in range(rows)]
    db.put("timetable", [{"id": n, "text": text * 6} for n, text in enumerate(texts)])


async def main(url: str) -> None:
    telemetry.step = timed_step
    with tempfile.TemporaryDirectory(prefix="redask-bench-") as name:
        directory = Path(name)
        data = directory / "data"
        with redask.open(data) as db:
            fill(db, 500)
        env = {"OPENAI_API_KEY": "sk-test", "REDASK_OPENAI_BASE_URL": url}
        async with await redask.aopen(data, settings=load("[ask]\nstrict = false", env)) as opened:
            await first_tokens(opened, url)
            await cache_hits(opened, directory)
            await many_streams(opened)


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        command = [sys.executable, __file__, "--serve"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            assert server.stdout is not None
            asyncio.run(main(server.stdout.readline().strip()))
            server.kill()
