"""`redask serve --workers N`: the parent of N processes that are one server.

It holds the ports and serves nobody. The processes inherit the sockets of HTTP and of PostgreSQL's
clients and accept from one queue, so a connection that waits is lost with none of them; gRPC opens
its port itself, so each process opens it (SO_REUSEPORT), and the parent keeps it by a socket that
only is bound. What they share is in `shared_state`.

    start      the first alone: what cannot be served is said once. Then the others
    watch      one that ends is replaced, after a pause (`pause_after`), with a line that says so
    stop       all are told at once, finish what runs and end; the first ends last: it does what
               one does for all. One that has not ended after END_SECONDS is killed
    restart    the same, and the ports stay open (`listening_sockets`)

A process whose parent is gone stops by itself.
"""

import asyncio
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from redask.core.serving_limits import ProcessPlace
from redask.server import listening_sockets
from redask.server.supervising import process_link
from redask.server.supervising.process_link import ProcessStart
from redask.server.supervising.shared_state import SharedState

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 30.0  # seconds
STEADY_SECONDS = 60.0  # a process that lived so long was no failure at its start
END_SECONDS = 60.0
METRICS = "PROMETHEUS_MULTIPROC_DIR"  # where processes of one server count together


class ProcessFailed(Exception):
    """A process ended before the server was open; it said why, and this is its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(f"a process of the server ended with {code}")
        self.code = code


def pause_after(lived: float, before: float) -> float:
    """How long to wait before a process is replaced that lived so long.

    FIRST_PAUSE, and after one that did not live for STEADY_SECONDS twice the pause `before`, up to
    LONGEST_PAUSE.
    """
    if lived >= STEADY_SECONDS or before == 0:
        return FIRST_PAUSE
    return min(2 * before, LONGEST_PAUSE)


@dataclass
class _Running:
    """One of the processes."""

    process: asyncio.subprocess.Process | None = None
    is_open: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Supervisor:
    """See the module; `sockets` by transport, `say` prints a line."""

    def __init__(
        self,
        count: int,
        sockets: Mapping[str, socket.socket],
        grpc_port: int | None,
        say: Callable[[str], None],
        command: Sequence[str] = (sys.executable, *sys.orig_argv[1:]),
    ) -> None:
        self._count = count
        self._sockets = sockets
        self._grpc_port = grpc_port
        self._say = say
        self._command = command
        self._stopping = asyncio.Event()
        self._opened: list[asyncio.Future[list[str]]] = []
        self._processes = [_Running() for _ in range(count)]
        self._state = SharedState(self._others_ended)
        self._metrics = tempfile.mkdtemp(prefix="redask-metrics-")

    async def run(self, ready: Callable[[list[str]], None]) -> None:
        """Serve until `stop`; `ready` gets the addresses once all processes are open."""
        loop = asyncio.get_running_loop()
        self._opened = [loop.create_future() for _ in range(self._count)]
        keeping = []
        try:
            for number in range(self._count):
                keeping.append(asyncio.ensure_future(self._keep(number)))
                if number == 0:
                    await self._first_of(self._opened[0], keeping[0])
            for opened, task in zip(self._opened, keeping, strict=True):
                await self._first_of(opened, task)
            if not self._stopping.is_set():
                ready(self._opened[0].result())
            await self._stopping.wait()
        finally:
            self.stop()
            await asyncio.gather(*keeping, return_exceptions=True)
            for opened in self._opened:
                opened.cancel()
            shutil.rmtree(self._metrics, ignore_errors=True)

    @property
    def is_stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        """Let all processes finish what runs, and end."""
        self._stopping.set()
        for each in self._processes:
            _signal(each.process, signal.SIGTERM)

    async def _first_of(self, opened: asyncio.Future[list[str]], task: asyncio.Task[None]) -> None:
        """Wait until a process is open; raise why it is not."""
        stopped = asyncio.ensure_future(self._stopping.wait())
        either: list[asyncio.Future[Any]] = [opened, task, stopped]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if task.done():
            task.result()

    async def _keep(self, number: int) -> None:
        """Run a process, and another in its place, until the server stops."""
        pause = 0.0
        while not self._stopping.is_set():
            began = time.monotonic()
            code, process = await self._live(number)
            if self._stopping.is_set():
                return
            if not self._opened[number].done():
                raise ProcessFailed(code)
            pause = pause_after(time.monotonic() - began, pause)
            self._say(
                f"worker {number} (process {process}) ended {_how(code)}: "
                f"another starts in {pause:g} s"
            )
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    async def _live(self, number: int) -> tuple[int, int]:
        """One process, from its start to its end. → its exit code, its id"""
        ours, its = socket.socketpair()
        running = self._processes[number]
        running.ended.clear()
        start = ProcessStart(ProcessPlace(number, self._count), its.fileno(), self._grpc_port)
        given = {name: each.fileno() for name, each in self._sockets.items()}
        environment = {
            **os.environ,
            METRICS: self._metrics,
            process_link.VARIABLE: start.written(),
            listening_sockets.VARIABLE: listening_sockets.written(given),
        }
        channel = self._state.channel(number, lambda addresses: self._open(number, addresses))
        await channel.open(ours)
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            env=environment,
            pass_fds=[its.fileno(), *given.values()],
            process_group=0,  # Ctrl-C is for the parent, which tells them
        )
        its.close()
        running.process = process
        talking = asyncio.ensure_future(channel.run())
        if self._stopping.is_set():
            _signal(process, signal.SIGTERM)
        try:
            code = await self._ended(process)
        finally:
            running.process, running.is_open = None, False
            running.ended.set()
            self._state.gone(number)
            self._tell_missing()
            await talking
        _forget_metrics(process.pid, self._metrics)
        return code, process.pid

    async def _ended(self, process: asyncio.subprocess.Process) -> int:
        """The exit code; a process that does not end when it should is killed."""
        waiting = asyncio.ensure_future(process.wait())
        stopped = asyncio.ensure_future(self._stopping.wait())
        either: list[asyncio.Future[Any]] = [waiting, stopped]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if not waiting.done():
            await asyncio.wait([waiting], timeout=END_SECONDS)
        if not waiting.done():
            self._say(f"process {process.pid} did not end in {END_SECONDS:g} s: it is killed")
            _signal(process, signal.SIGKILL)
        return await waiting

    def _open(self, number: int, addresses: list[str]) -> None:
        self._processes[number].is_open = True
        if not self._opened[number].done():
            self._opened[number].set_result(addresses)
        self._tell_missing()

    def _tell_missing(self) -> None:
        self._state.tell_missing(sum(not each.is_open for each in self._processes))

    async def _others_ended(self, number: int) -> None:
        for other, each in enumerate(self._processes):
            if other != number and each.process is not None:
                await each.ended.wait()


def _signal(process: asyncio.subprocess.Process | None, number: signal.Signals) -> None:
    if process is not None and process.returncode is None:
        with suppress(ProcessLookupError):  # it has ended
            process.send_signal(number)


def _how(code: int) -> str:
    if code >= 0:
        return f"with {code}"
    try:
        return f"by {signal.Signals(-code).name}"
    except ValueError:
        return f"by signal {-code}"


def _forget_metrics(pid: int, folder: str) -> None:
    """What a process that has ended said of the moment; what it counted stays."""
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]
