"""A command on a terminal of its own, as a person sits at it: type, and wait for what is said.

with TypedTerminal(["chat"], env) as terminal:
    terminal.type("When?\n"); terminal.wait_for("at nine"); terminal.interrupt(); terminal.end()
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from types import TracebackType
from typing import Self

from waiting import SECONDS, until

_STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# the terminal that Ctrl-C is pressed on is this one
_CODE = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from redask.cli import main
main()
"""


class TypedTerminal:
    """`redask WORDS…` with standard input, output and errors on a pseudo-terminal."""

    def __init__(self, words: list[str], env: dict[str, str], *, rows: int = 40) -> None:
        self._words, self._env, self._rows = words, env, rows
        self.raw = ""

    def __enter__(self) -> Self:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", self._rows, 100, 0, 0))
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CODE, *self._words],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, "TERM": "xterm", **self._env},
            start_new_session=True,
        )
        os.close(theirs)
        self._seen = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join(SECONDS)
        os.close(self._ours)

    @property
    def text(self) -> str:
        """What was said since `type`, without styles and movements."""
        return _STYLES.sub("", self.raw[self._seen :]).replace("\r", "")

    def type(self, keys: str) -> None:
        self._seen = len(self.raw)
        os.write(self._ours, keys.encode())

    def interrupt(self) -> None:
        self.type("\x03")

    def end(self) -> int:
        """Ctrl-D. → the exit code"""
        self.type("\x04")
        return self.process.wait(SECONDS)

    def wait_for(self, words: str) -> str:
        """What was said since `type`, once it holds the words."""
        assert until(lambda: words in self.text), self.text
        return self.text

    def _read(self) -> None:
        while True:
            try:
                piece = os.read(self._ours, 65536)
            except OSError:  # the other end is closed
                return
            if not piece:
                return
            self.raw += piece.decode("utf-8", "replace")
