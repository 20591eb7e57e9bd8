"""Services for the tests of worker processes; `make` is their factory."""

import gc
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from redask.core.errors import BadStatement, Misconfigured, SqlError


class Service:
    """What a worker is asked to do in the tests."""

    def __init__(self, directory: str) -> None:
        self._directory = Path(directory)
        self._stop = threading.Event()
        self._kept: list[bytearray] = []
        self._made_at = self.niceness()

    def niceness(self) -> int:
        """That of the thread which works."""
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    def frozen(self) -> int:
        """How many objects no collection of garbage looks at."""
        return gc.get_freeze_count()

    def made_at(self) -> int:
        """That of the thread which made the service."""
        return self._made_at

    def interrupt(self) -> None:
        self._stop.set()

    def close(self) -> None:
        (self._directory / f"closed-{os.getpid()}").touch()

    def use_parent(self, ask_parent: Callable[..., Any]) -> None:
        self._ask_parent = ask_parent

    def from_parent(self, name: str, *arguments: object) -> object:
        """What the parent gives, and once more."""
        return [self._ask_parent(name, *arguments) for _ in range(2)]

    def process(self) -> int:
        return os.getpid()

    def echo(self, *arguments: object, **named: object) -> object:
        return arguments, named

    def loop(self) -> None:
        """Python that never ends."""
        self._started()
        while True:
            pass

    def deaf(self) -> None:
        """One step of C that does not end in our time, and lets no other thread run."""
        self._started()
        re.match(r"(a|aa)+$", "a" * 60 + "b")

    def wait(self) -> str:
        """Until it is interrupted."""
        self._stop.clear()
        self._started()
        self._stop.wait()
        return "interrupted"

    def linger(self) -> str:
        """Until it is interrupted, and then until there is a file `go`."""
        self.wait()
        while not (self._directory / "go").exists():
            time.sleep(0.01)
        return "interrupted"

    def sleep_pages(self) -> Iterator[int]:
        """Pages without end."""
        self._started()
        yield from range(10**9)

    def hoard(self) -> int:
        """Memory without end."""
        kept = [b"x" * 2**20]
        while True:
            kept.append(bytes(kept[-1]) + b"x" * 2**20)

    def keep_all(self) -> int:
        """Keep what memory there is, but for 128 KB: no thread has room for its stack."""
        self._kept = []
        for size in (2**23, 2**20, 2**17):
            with suppress(MemoryError):
                while True:
                    self._kept.append(bytearray(size))
        del self._kept[-1]
        return os.getpid()

    def keep(self, size: int) -> int:
        """Keep so much memory, and no more."""
        self._kept = []
        self._kept = [bytearray(size)]
        return os.getpid()

    def fail_full(self) -> None:
        """What CPython makes of simple work at the limit."""
        self.keep_all()
        raise SystemError("error return without exception set")

    def pages(self, count: int, rows: int) -> Iterator[list[tuple[int, str]]]:
        for page in range(count):
            yield [(page * rows + row, "text") for row in range(rows)]

    def text(self, length: int) -> str:
        return "x" * length

    def half(self) -> Iterator[int]:
        yield 1
        raise SqlError("22012", "division by zero", position=8, hint="do not")

    def statement_error(self) -> None:
        raise BadStatement(3, 4, "x", "y")

    def bug(self) -> None:
        raise KeyError("a secret of ours")

    def leave(self) -> None:
        os._exit(3)

    def say(self) -> None:
        print("on standard output")
        sys.stdout.flush()

    def in_line(self, name: str) -> str:
        with (self._directory / "line").open("a") as line:
            line.write(f"{name}\n")
        time.sleep(0.001)
        return name

    def unpicklable(self) -> object:
        return threading.Lock()

    def _started(self) -> None:
        (self._directory / "started").touch()


def make(directory: str) -> Service:
    return Service(directory)


def make_slowly(directory: str, seconds: float) -> Service:
    time.sleep(seconds)
    return Service(directory)


def make_nothing() -> None:
    raise Misconfigured("there is nothing here", detail="nothing")


def make_badly() -> None:
    raise KeyError("a secret of ours")
