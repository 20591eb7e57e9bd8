"""While a server is attacked: an honest client of another tenant, a probe of its health, memory.

    with Measuring(server, token, questions) as measured: …
    measured.figures()

The honest client asks once a second whatever became of the asks before, and the probe calls
/healthz on a new connection five times a second. Times that nobody got an answer in are counted
as unanswered after ANSWER_SECONDS.
"""

import http.client
import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

from siege.attack import HOST
from siege.judging import SiegeFigures

ASK_SECONDS, PROBE_SECONDS, MEMORY_SECONDS = 1.0, 0.2, 0.25
ANSWER_SECONDS = 60.0
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Measuring:
    """See the module."""

    def __init__(self, process: int, port: int, token: str, questions: Sequence[str]) -> None:
        self._process = process
        self._port = port
        self._token = token
        self._questions = questions
        self._numbers = count()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []
        self._asks: list[float] = []
        self._probes: list[float] = []
        self._said: list[str] = []
        self._unanswered = self._unhealthy = 0
        self._server_bytes = self._process_bytes = 0

    def __enter__(self) -> Self:
        for every, work in (
            (ASK_SECONDS, partial(self._begin, self._ask)),
            (PROBE_SECONDS, partial(self._begin, self._probe)),
            (MEMORY_SECONDS, self._weigh),
        ):
            self._begin(partial(self._again, every, work))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        end = time.monotonic() + ANSWER_SECONDS + 5
        for thread in list(self._threads):
            thread.join(max(0.0, end - time.monotonic()))

    def figures(self, *, answers_afterwards: bool = True) -> SiegeFigures:
        """What was measured."""
        return SiegeFigures(
            *(list(self._asks), self._unanswered, list(self._probes), self._unhealthy),
            *(self._server_bytes, self._process_bytes, answers_afterwards),
        )

    def said(self) -> list[str]:
        """What those were told that got no answer."""
        return sorted(set(self._said))

    def answers(self) -> bool:
        """Whether the server answers an ask now."""
        return self._asked() is not None

    def _begin(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _again(self, every: float, work: Callable[[], None]) -> None:
        following = time.monotonic()
        while not self._stop.wait(max(0.0, following - time.monotonic())):
            work()
            following += every

    def _ask(self) -> None:
        taken = self._asked()
        if taken is None:
            self._unanswered += 1
        else:
            self._asks.append(taken)

    def _asked(self) -> float | None:
        question = self._questions[next(self._numbers) % len(self._questions)]
        body = json.dumps({"question": question, "options": {"nocache": True}})
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._token}"}
        return self._timed("POST", "/v1/ask", body, headers)

    def _probe(self) -> None:
        taken = self._timed("GET", "/healthz", None, {})
        if taken is None:
            self._unhealthy += 1
        else:
            self._probes.append(taken)

    def _timed(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> float | None:
        """The seconds until it was answered; None if it was not."""
        began = time.perf_counter()
        client = http.client.HTTPConnection(HOST, self._port, timeout=ANSWER_SECONDS)
        try:
            client.request(method, path, body, headers)
            reply = client.getresponse()
            whole = reply.read()
        except (OSError, http.client.HTTPException) as error:
            self._said.append(f"{path}: {type(error).__name__}")
            return None
        finally:
            client.close()
        if reply.status != 200:
            self._said.append(f"{path}: {reply.status} {whole[:200].decode(errors='replace')}")
            return None
        return time.perf_counter() - began

    def _weigh(self) -> None:
        self._server_bytes = max(self._server_bytes, resident(self._process))
        others = [resident(each) for each in offspring(self._process)]
        self._process_bytes = max([self._process_bytes, *others])


def resident(process: int) -> int:
    """The memory of a process now; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def offspring(process: int) -> list[int]:
    """The processes that one has started, and those they have."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError, ValueError):
                after_name = (entry / "stat").read_text().rpartition(")")[2]
                parents[int(entry.name)] = int(after_name.split()[1])
    found, front = list[int](), {process}
    while front := {child for child, parent in parents.items() if parent in front}:
        found += sorted(front)
    return found
