"""`make bench-audit`: what sealing and a back-up cost, and a proof of one row among many.

    asks        asks a second, answered by the built-in answerer, without trees and seals, and with
                both: the tree grows with the log, and a checkpoint is signed and written to a file
                EVERY second (a server's own interval is ten minutes). Both take turns, so that a
                busy machine slows them alike; the cost is of the medians. Where others keep the
                machine busy, the processor time of an ask says more
    proofs      a log of --rows rows: the time until its tree has grown, of a seal, of making a
                proof of one row, and of verifying it, signature included; medians of PROOFS
    backups     asks over --entities entities, each another one: calm, and while `redask backup`
                runs in a process of its own; medians, and the size of the back-up

The promises: sealing costs below 5 % of throughput; a proof among 1,000,000 verifies below 10 ms;
a back-up of 1,000,000 entities makes asks slower by less than a third.
On two cores that some forty other jobs kept busy, with 40 asks a turn: 14.9 ms of processor time an
ask without, 15.0 with (+0.6 %); a proof among 100,000 rows was made in 10 ms and verified in 0.44.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import redask
from redask.core.ports import AuditRow, SealedLogs
from redask.core.rules.auditing.log_proofs import proof_fault
from redask.core.sealing_settings import SealingSettings
from redask.core.settings import Settings
from redask.engine.auditing.sealing import Sealing
from redask.engine.auditing.sealing_thread import SealingThread
from redask.providers.sealing.checkpoint_sinks import FileSink
from redask.providers.sealing.ed25519_keys import KeyFile, make_key, signature_check
from redask.stores.sqlite.sqlite_backend import SqliteBackend

EVERY, PROOFS, BATCH, CALM = 1.0, 200, 512, 300
MOST_COST, MOST_MS, MOST_SLOWER = 0.05, 10.0, 1 / 3


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--rows", type=int, default=1_000_000)
    given.add_argument("--asks", type=int, default=400, help="in a turn")
    given.add_argument("--turns", type=int, default=7)
    given.add_argument("--entities", type=int, default=1_000_000)
    chosen = given.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as scratch:
        make_key(Path(scratch) / "key.pem")
        asks(Path(scratch), chosen.asks, chosen.turns)
        proofs(Path(scratch), chosen.rows)
        backups(Path(scratch), chosen.entities)


def asks(scratch: Path, count: int, turns: int) -> None:
    settings = Settings(
        sealing=SealingSettings(key=str(scratch / "key.pem"), file=str(scratch / "out"))
    )
    with redask.open(scratch / "asks", settings=settings, embedder="none") as db:
        db.put("notes", [{"id": n, "text": f"Ferry {n} leaves at nine."} for n in range(200)])
        app = db._async._app
        grow = app.backend.sealed.grow
        rates: dict[bool, list[float]] = {False: [], True: []}
        used: dict[bool, list[float]] = {False: [], True: []}
        for turn in range(2 * turns + 2):
            sealing = turn % 2 == 1
            with sealed(app.sealing) if sealing else without_trees(app.backend.sealed, grow):
                began, work = time.perf_counter(), time.process_time()
                for n in range(count):
                    db.ask(f"When does ferry {n % 200} leave?")
                if turn > 1:  # the first of both warms up
                    rates[sealing].append(count / (time.perf_counter() - began))
                    used[sealing].append(1000 * (time.process_time() - work) / count)
    plain, sealed_rate = (statistics.median(rates[each]) for each in (False, True))
    cost = 1 - sealed_rate / plain
    cpu, more = (statistics.median(used[each]) for each in (False, True))
    print(f"processor time of an ask: {cpu:.2f} ms without, {more:.2f} ms: {more / cpu - 1:+.1%}")
    print(f"asks: {plain:.0f}/s without, {sealed_rate:.0f}/s sealed every {EVERY:.0f} s:", end=" ")
    print(f"{cost:+.1%} (promised below {MOST_COST:.0%})")


@contextmanager
def sealed(sealing: Sealing) -> Iterator[None]:
    thread = SealingThread(sealing.seal_and_deliver, EVERY)
    try:
        yield
    finally:
        thread.close()


@contextmanager
def without_trees(logs: SealedLogs, grow: Callable[[], None]) -> Iterator[None]:
    """No tree grows meanwhile."""
    logs.grow = lambda: None  # type: ignore[method-assign]
    try:
        yield
    finally:
        logs.grow = grow  # type: ignore[method-assign]


def row(number: int) -> AuditRow:
    who = {"ts": number, "tenant": "local", "user": f"user{number % 50}", "role": "analyst"}
    question = f"What did customer {number} order in {2000 + number % 26}?"
    numbers = {"prompt_tokens": 812, "completion_tokens": 64, "cost_usd": 0.0013, "seed": number}
    urns = [f"urn:reddb:row:orders/{number + n}" for n in range(8)]
    return AuditRow({**who, **numbers, "question": question, "sources_urns": urns})


def proofs(scratch: Path, rows: int) -> None:
    key = KeyFile(scratch / "key.pem")
    with SqliteBackend(scratch / "proofs") as backend:
        for start in range(0, rows, BATCH):
            backend.audit.append([row(n) for n in range(start, min(start + BATCH, rows))])
        began = time.perf_counter()
        backend.sealed.grow()
        grown = time.perf_counter() - began
        sink = FileSink(str(scratch / "proven"))
        sealing = Sealing(backend.sealed, lambda: key, [sink], signature_check, time.time_ns)
        began = time.perf_counter()
        sealing.seal_and_deliver()
        seal_ms = 1000 * (time.perf_counter() - began)
        check, chosen = signature_check([key.public]), random.Random(1)
        making, checking, size = [], [], 0
        for _ in range(PROOFS):
            seq = chosen.randrange(1, rows + 1)
            began = time.perf_counter()
            proof = sealing.prove("ask", "local", seq)
            between = time.perf_counter()
            assert proof_fault(proof, check) is None
            checking.append(1000 * (time.perf_counter() - between))
            making.append(1000 * (between - began))
            size = len(proof)
    print(f"a log of {rows:,} rows: tree grown in {grown:.1f} s, sealed in {seal_ms:.1f} ms")
    print(f"a proof ({size:,} bytes): made in {statistics.median(making):.2f} ms,", end=" ")
    print(f"verified in {statistics.median(checking):.2f} ms", end=" ")
    print(f"(slowest {max(checking):.2f}; promised below {MOST_MS:.0f})")


def backups(scratch: Path, entities: int) -> None:
    place, out = scratch / "large", scratch / "back-up"
    with redask.open(place, embedder="none") as db:
        for start in range(0, entities, 10_000):
            numbers = range(start, min(start + 10_000, entities))
            texts = (f"Ferry {n} leaves pier {n % 97} at {n % 24} o'clock." for n in numbers)
            rows = [{"id": n, "text": text} for n, text in zip(numbers, texts, strict=True)]
            db.put("notes", rows, wait=False)
        db.catch_up()
        asked = random.Random(1)

        def ask() -> float:
            began = time.perf_counter()
            db.ask(f"When does ferry {asked.randrange(entities)} leave?", plan="off")
            return 1000 * (time.perf_counter() - began)

        calm = [ask() for _ in range(CALM)][CALM // 3 :]  # the first of them warm up
        redask_command = str(Path(sys.executable).with_name("redask"))
        command = [redask_command, "backup", str(out), "--db", str(place)]
        began = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as backup:
            during = [ask()]
            while backup.poll() is None:
                during.append(ask())
        took = time.perf_counter() - began
    if backup.returncode:
        raise SystemExit(f"the back-up failed with {backup.returncode}")
    before, while_it_ran = statistics.median(calm), statistics.median(during)
    size = sum(each.stat().st_size for each in out.rglob("*") if each.is_file()) / 1e6
    print(f"back-up of {entities:,} entities ({size:,.0f} MB): {took:.1f} s;", end=" ")
    print(f"asks {before:.1f} ms before, {while_it_ran:.1f} ms meanwhile ({len(during)}):", end=" ")
    print(f"{while_it_ran / before - 1:+.0%} (promised below {MOST_SLOWER:+.0%})")


if __name__ == "__main__":
    main()
