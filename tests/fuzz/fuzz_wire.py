"""`make fuzz-wire`: a million bad messages at every transport; the next honest client is served.

    python tests/fuzz/fuzz_wire.py --transport grpc --count 1000000 --seed 7 --minutes 20

Transports: http, rpc, mcp (on a pipe and over HTTP), grpc. Each is attacked in a real process over
a tiny database with the scripted provider, by several clients at once: garbage, damage, truncation,
messages out of order, lengths that lie, bad UTF-8, bytes that drip, sockets half closed, clients
that vanish; among them one in a hundred good questions. `tests/support/fuzz_*.py` say how.

A violation (a failure of ours, a hang, a process that died or printed a stack trace, an honest
client unserved, an answer without its audit row, memory that grows) is printed and ends with 1.
Memory is measured after WARM of the messages and at the end. Ctrl-C ends early with what was seen.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from fuzz_grpc import GrpcFuzz
from fuzz_http import HttpFuzz, Violation
from fuzz_jsonrpc import McpFuzz, RpcFuzz
from mutations import Asked
from served import Process, Served, audited, fill, megabytes

TRANSPORTS: dict[str, Any] = {"http": HttpFuzz, "rpc": RpcFuzz, "mcp": McpFuzz, "grpc": GrpcFuzz}
CLIENTS = {"http": 4, "rpc": 2, "mcp": 4, "grpc": 8}  # more at gRPC, where bad calls wait
HONEST = 4000  # messages between two honest clients
WARM = 0.2
GROWTH = 32 * 1024 * 1024  # what a warm process may still take, as caches fill


class Fuzz(Protocol):
    """A client that behaves badly."""

    def batch(self, rng: random.Random) -> int: ...
    def honest(self) -> None: ...
    def close(self) -> None: ...


@dataclass
class Round:
    """The attack on one transport."""

    transport: str
    server: Served
    count: int
    until: float
    sent: int = 0
    took: float = 0.0
    honest: int = 0
    violation: str = ""
    stopped: bool = False
    warm: int = 0
    last: list[int] = field(default_factory=list)
    clients: list[Any] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.asked = Asked(self.transport)

    def attack(self, seed: int, token: str) -> None:
        """One client, until there were enough messages."""
        rng, since = random.Random(seed), 0
        try:
            client: Fuzz = TRANSPORTS[self.transport](self.server, token, self.asked)
            with self.lock:
                self.clients.append(client)
                if self.transport in ("rpc", "mcp"):
                    self.clients[0].lasting = True
            while not self.over():
                count = client.batch(rng)
                with self.lock:
                    self.sent += count
                since += count
                if since >= HONEST:
                    since = 0
                    client.honest()
                    self.honest += 1
            client.honest()
            self.honest += 1
            self.last.append(self.memory())
            client.close()
        except BaseException as error:
            response = "" if isinstance(error, Violation) else traceback.format_exc()
            self.violation = self.violation or f"seed {seed}: {response or error}"

    def over(self) -> bool:
        enough = self.sent >= self.count or time.monotonic() > self.until
        return enough or self.stopped or bool(self.violation)

    def memory(self) -> int:
        """Of the process that lives through the whole round, and is attacked."""
        watched = self.watched()
        return watched.rss() if watched is not None and watched.alive() else 0

    def watched(self) -> Process | None:
        if self.transport in ("http", "grpc"):
            return self.server
        return self.clients[0].process if self.clients else None


def run(
    transports: list[str], count: int, seed: int, minutes: float, tell: bool = True
) -> list[Round]:
    """Attack transports of one server, one after the other, until there is a violation."""
    rounds: list[Round] = []
    with tempfile.TemporaryDirectory(prefix="redask-fuzz-") as name:
        directory = Path(name) / "db"
        token = fill(directory)["mia"]
        with Served(directory) as server:
            for transport in transports:
                made = Round(transport, server, count, time.monotonic() + minutes * 60)
                rounds.append(made)
                attacked(made, token, seed, tell)
                if not server.alive():
                    made.violation += "\nthe server died"
                if made.violation or made.stopped:
                    break
        if b"Traceback" in server.said:
            made.violation += "\nthe server said:\n" + server.said.decode(errors="replace")
        made.violation += _unaudited(directory, [each.asked for each in rounds])
    return rounds


def attacked(made: Round, token: str, seed: int, tell: bool) -> None:
    """Send a round's messages, from several clients at once if they are many."""
    clients = CLIENTS[made.transport] if made.count > 10_000 else 1
    threads = [
        threading.Thread(target=made.attack, args=(seed * 1009 + each, token), daemon=True)
        for each in range(clients)
    ]
    for thread in threads:
        thread.start()
    _watch(made, threads, tell)
    end = max(made.last, default=0)
    if tell and made.warm and end:
        shown = f"{megabytes(made.warm)} when warm, {megabytes(end)} at the end"
        print(f"{made.transport:5} memory: {shown}", flush=True)
    if made.warm and end - made.warm > GROWTH:
        made.violation = made.violation or f"memory grew by {megabytes(end - made.warm)}"


def _watch(made: Round, threads: list[threading.Thread], tell: bool) -> None:
    started = response = time.monotonic()
    try:
        while any(thread.is_alive() for thread in threads):
            threads[0].join(0.2)
            now = time.monotonic()
            if not made.warm and made.sent >= made.count * WARM and made.server.alive():
                made.warm = made.memory()
            if tell and now - response >= 5:
                response, rate = now, made.sent / (now - started)
                facts = f"{made.sent:>10,} messages, {rate:,.0f}/s"
                answers = f"{made.asked.answered.total():,} answers, {made.honest} honest clients"
                print(
                    f"{made.transport:5}{facts}, {answers}, {megabytes(made.memory())}", flush=True
                )
        made.took = time.monotonic() - started
    except KeyboardInterrupt:
        made.stopped = True
        print("stopping early", flush=True)
        for thread in threads:
            thread.join(90)


def _unaudited(directory: Path, rounds: list[Asked]) -> str:
    """What is wrong with the audit log: every answer that was heard has its row."""
    rows, intact = audited(directory)
    received = sum((each.answered for each in rounds), Counter[str]())
    missing = [each for each, count in received.items() if rows[each] < count]
    if missing:
        return f"{len(missing)} answers without a row: {missing[:3]}"
    return "" if intact else "the audit log is not what was written"


def main() -> int:
    parser = argparse.ArgumentParser(description="Send rubbish to every transport.")
    parser.add_argument("--transport", choices=[*TRANSPORTS, "all"], default="all")
    parser.add_argument("--count", type=int, default=1_000_000, help="messages per transport")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0, help="the most for one transport")
    options = parser.parse_args()
    transports = list(TRANSPORTS) if options.transport == "all" else [options.transport]
    print(f"{options.count:,} messages a transport, seed {options.seed}", flush=True)
    rounds = run(transports, options.count, options.seed, options.minutes)
    passed = sum(each.sent for each in rounds)
    for made in rounds:
        answers = f"{made.asked.answered.total():,} answers, all audited"
        print(f"{made.transport:5}{made.sent:>10,} messages, {answers}, in {made.took:.0f} s")
        if made.violation:
            print(f"{made.violation}\n{passed} passed, 1 failed (seed {options.seed})")
            return 1
    print(f"{passed} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
