"""What an attack is: `Attack`, a row of `attacks.ATTACKS`; and what it is aimed at: `Target`.

An attack runs in a process of its own (`attacker`) until `target.over()`, and counts in
`target.outcomes` what came of what it sent. Everything it opens is bounded, and on loopback.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is, and the tokens of the tenant that attacks it."""

    http_port: int
    grpc_port: int
    pg_port: int
    tenant: str
    reader: str
    owner: str
    directory: str
    scratch: str  # a folder for the files that an attack makes

    def text(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def of(text: str) -> "Address":
        return Address(**json.loads(text))


@dataclass(slots=True)
class Target:
    """The server, for how long it is attacked, and what came of it so far."""

    at: Address
    end: float
    outcomes: Counter[str] = field(default_factory=Counter)
    peak_bytes: int = 0  # of processes that the attack itself started
    _lock: Any = field(default_factory=threading.Lock)

    def over(self) -> bool:
        return time.monotonic() >= self.end

    def left(self) -> float:
        return max(0.0, self.end - time.monotonic())

    def note(self, outcome: str) -> None:
        with self._lock:
            self.outcomes[outcome] += 1

    @property
    def scratch(self) -> Path:
        return Path(self.at.scratch)


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack: its name, what it does, whether it is one of the short form, what it needs."""

    name: str
    run: Callable[[Target], None]
    short: bool = False
    prepare: Callable[[Path], None] | None = None  # files, in a folder of its own
    ratio: float | None = None  # of the honest p95 to the calm one, where less is promised


def at_once(target: Target, count: int, work: Callable[[Target, int], None]) -> None:
    """Do so many at once, each again and again until the time is over."""

    def again(number: int) -> None:
        while not target.over():
            began = time.monotonic()
            try:
                work(target, number)
            except Exception as error:  # whatever a client makes of a server that defends itself
                target.note(type(error).__name__)
            time.sleep(0.02 if time.monotonic() - began < 0.02 else 0)

    threads = [threading.Thread(target=again, args=(each,), daemon=True) for each in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(target.left() + 1)
