"""Contestants that are open at the same time and asked in turns: `ask_in_turns`.

A busy spell of the machine harms all alike then. Each is a process, `peers.worker ask`, with two
pipes (their descriptors are in `PIPES` of its environment), on which it is told and tells in lines:

    it tells                                     it is told
    ready    open and warm                       next     ask the next question
    asked    the question is answered            finish   insert, write your figures, and end
    enough   its time or the questions are used up

Who is asked first changes with every question. A process that ends, or says nothing for `limit`
seconds, is out, and the others go on; its figures are those that it had written by then.
"""

import os
import select
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

PIPES = "PEERS_PIPES"


class ContestantProcess:
    """A contestant that is asked in turns."""

    def __init__(self, command: Sequence[str], given: Mapping[str, str], limit: float) -> None:
        self._limit = limit
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - `ended` closes it
        told, self._tell = os.pipe()
        self._told, tells = os.pipe()
        self._lines = os.fdopen(self._told, "rb")
        self._process = subprocess.Popen(
            command,
            env={**given, PIPES: f"{told} {tells}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            pass_fds=(told, tells),
        )
        os.close(told)
        os.close(tells)
        self.late = False

    def heard(self) -> str:
        """The next line that it tells; empty once it has ended, or is ended for saying nothing."""
        if not select.select([self._told], [], [], self._limit)[0]:
            self.late = True
            self._process.kill()
        return self._lines.readline().decode().strip()

    def told(self, word: str) -> str:
        """What it says to a word."""
        with suppress(BrokenPipeError):
            os.write(self._tell, f"{word}\n".encode())
        return self.heard()

    def ended(self) -> tuple[int, str]:
        """Its exit code and what it wrote to its error output, once it has ended."""
        os.close(self._tell)
        try:
            code = self._process.wait(self._limit)
        except subprocess.TimeoutExpired:
            self.late = True
            self._process.kill()
            code = self._process.wait()
        self._lines.close()
        self._errors.seek(0)
        errors = self._errors.read().decode(errors="replace")
        self._errors.close()
        return code, errors


def ask_in_turns(
    starts: Mapping[str, Callable[[], ContestantProcess]], log: Callable[[str], None]
) -> dict[str, ContestantProcess]:
    """Start them one after the other, ask until none wants more, and finish each alone."""
    every: dict[str, ContestantProcess] = {}
    for name, start in starts.items():
        every[name] = start()
        log(f"{name}: {every[name].heard() or 'ended'}")
    asking = list(every)
    while asking:
        asking.append(asking.pop(0))
        for name in list(asking):
            if every[name].told("next") != "asked":
                asking.remove(name)
    for name, process in every.items():
        process.told("finish")
        log(f"{name}: finished")
    return every
