"""How long another tenant's ask takes while one user runs endless statements, or asks 32 KiB.

`redask serve` in a process of its own, two tenants. `delays` times the asks of the second
tenant, calm and under attack, in ROUNDS turns, so that other work on the machine slows both alike.
Target: under attack not more than twice the calm median.
"""

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from serve import Wire
from served import Served, fill

import redask
from redask.core.settings import load

QUESTION = "When does the ferry to Amrum leave?"
ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"
WORDS = [f"{a}{b}" for a in ("ferry", "boat", "island", "leave") for b in range(900)]
ATTACKS = {
    "endless SELECTs": ("/v1/query", {"statement": ENDLESS}),
    "questions of 32 KiB": ("/v1/search", {"question": " ".join(WORDS)[:32_000]}),
}
TARGET = 2.0
ROUNDS = 5
AT_ONCE = 16


def tenants(directory: Path) -> tuple[str, str]:
    """Fill a database. → the token of an attacker, and one of another tenant's user"""
    attacker = fill(directory)["mia"]
    with redask.open(
        directory, tenant="other", settings=load('[embedder]\nname = "none"', {})
    ) as db:
        db.put("notes", [{"id": 1, "text": "The ferry to Amrum leaves at nine."}])
        db.add_user("eva", role="reader")
        return attacker, db.make_token("eva")


@contextmanager
def attacked(port: int, token: str, path: str, body: object) -> Iterator[None]:
    """So many clients of one user, each with one request after the other."""
    ended = threading.Event()

    def attack() -> None:
        with suppress(OSError):
            wire = Wire(port, token)
            request = wire.request(path, body)
            while not ended.is_set():
                wire.send(request)

    threads = [threading.Thread(target=attack, daemon=True) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    try:
        time.sleep(1)  # until they are at work
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()  # the last requests meet their deadline


def delays(port: int, token: str, count: int) -> list[float]:
    """The milliseconds of asks of one user, one after the other."""
    wire, taken = Wire(port, token), []
    request = wire.request("/v1/ask", {"question": QUESTION, "options": {"using": "extractive"}})
    for _ in range(count):
        started = time.perf_counter()
        if b"200 OK" not in wire.send(request)[:20]:
            raise SystemExit("an ask was refused")
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what one user does to another.")
    parser.add_argument("--asks", type=int, default=50)
    count = parser.parse_args().asks
    median: Callable[[list[float]], float] = statistics.median
    with tempfile.TemporaryDirectory(prefix="redask-bench-") as made:
        directory = Path(made) / "db"
        attacker, other = tenants(directory)
        for name, (path, body) in ATTACKS.items():
            calm: list[float] = []
            during: list[float] = []
            with Served(directory) as server:
                delays(server.port, other, 5)
                for _ in range(ROUNDS):
                    calm += delays(server.port, other, count // ROUNDS)
                    with attacked(server.port, attacker, path, body):
                        during += delays(server.port, other, count // ROUNDS)
            ratio = median(during) / median(calm)
            p95 = [sorted(each)[int(len(each) * 0.95)] for each in (calm, during)]
            print(
                f"{AT_ONCE} clients, {name}: another tenant's ask {median(calm):.1f} ms calm, "
                f"{median(during):.1f} ms then; ratio {ratio:.2f} (target {TARGET:g}); "
                f"p95 {p95[0]:.1f} and {p95[1]:.1f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
