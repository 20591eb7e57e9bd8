"""A real `redask serve`, `rpc` or `mcp` in a process of its own, over the yard."""

import json
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from surface import COMMAND, environment

SECONDS = 60


@contextmanager
def served(directory: Path, *words: str) -> Iterator[dict[str, int]]:
    """`redask serve` at free ports. → the port of each door, by its scheme"""
    ports = ("--port", "0", "--grpc-port", "0", "--pg-port", "0")
    command = [str(COMMAND), "--db", str(directory), "serve", *ports, *words]
    with tempfile.TemporaryFile() as said:
        # the first SELECT starts a process: on a busy machine longer than the default
        unhurried = {**environment(), "REDASK_SELECT_TIMEOUT_MS": "60000"}
        process = subprocess.Popen(command, env=unhurried, stderr=said)
        try:
            yield _doors(process, said, 3 - sum(word in _CLOSED for word in words))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(SECONDS)


_CLOSED = ("--no-http", "--no-grpc", "--no-pg")


def _doors(process: "subprocess.Popen[bytes]", said: IO[bytes], count: int) -> dict[str, int]:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        said.seek(0)
        found = re.findall(r"serving (\w+)://[\d.]+:(\d+)\n", said.read().decode())
        if len(found) == count:
            return {scheme: int(port) for scheme, port in found}
        time.sleep(0.02)
    said.seek(0)
    raise RuntimeError(f"the server does not start: {said.read().decode()}")


class Lines:
    """A command that talks in lines of JSON: `tell` sends one, `ask` waits for its reply."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def ask(self, line: str) -> list[str]:
        """What is said up to the first line that is a reply, that one included."""
        assert self._process.stdout is not None
        self.tell(line)
        heard: list[str] = []
        while text := self._process.stdout.readline():
            heard.append(text)
            message: Any = json.loads(text)
            if isinstance(message, list) or "method" not in message:
                break
        return heard


@contextmanager
def piped(directory: Path, command: str, token: str | None = None) -> Iterator[Lines]:
    """`redask rpc` or `redask mcp`, which ends with its input."""
    variables = environment() | ({"REDASK_TOKEN": token} if token else {})
    with subprocess.Popen(
        [str(COMMAND), "--db", str(directory), command],
        env=variables,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        yield Lines(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(SECONDS)
