"""How much code there is, and how many files one call runs through: `python tools/footprint.py`.

Counts the modules and lines of the package, then the source files of redask that are entered, in
whichever thread, during one embedded `ask`, one prepared SELECT over PostgreSQL's wire (on the
server's side) and one `put`. Each is done a few times before, so that nothing is counted that runs
once. `--files` names the files. There is no embedder unless REDASK_EMBEDDER_NAME says otherwise.
"""

import io
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from importlib.metadata import entry_points
from pathlib import Path
from types import FrameType
from typing import Any

import psycopg

import redask

PACKAGE = Path(redask.__file__).parent
ROWS = [{"id": number, "text": f"Ferry {number} leaves at nine."} for number in range(20)]
WARM = 5  # calls before the one that is counted
SETTLE_SECONDS = 0.05  # for what is still running when a reply has come


class Footprint:
    """A profiler for all threads that begin after it: which of our files are entered."""

    def __init__(self) -> None:
        self._files: set[str] | None = None
        threading.setprofile(self._entered)
        sys.setprofile(self._entered)

    def of(self, work: Callable[[], object]) -> list[str]:
        """The files that one call enters, when it is no longer the first."""
        for _ in range(WARM):
            work()
        time.sleep(SETTLE_SECONDS)
        files = self._files = set()
        work()
        time.sleep(SETTLE_SECONDS)
        self._files = None
        ours = (Path(name) for name in files)
        return sorted(str(file.relative_to(PACKAGE)) for file in ours if PACKAGE in file.parents)

    def _entered(self, frame: FrameType, event: str, _: object) -> None:
        files = self._files
        if files is not None and event == "call":
            files.add(frame.f_code.co_filename)


def size() -> tuple[int, int]:
    """Modules and lines under the package, without what protoc wrote."""
    files = [file for file in PACKAGE.rglob("*.py") if "_pb2" not in file.name]
    return len(files), sum(len(file.read_text("utf-8").splitlines()) for file in files)


def serve(directory: str) -> int:
    """`redask serve` in a thread of this process, which ends with it. → the port"""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    [point] = entry_points(group="console_scripts", name="redask")
    main: Any = point.load()
    words = ["--db", directory, "serve", "--no-http", "--no-grpc", "--pg-port", str(port)]
    threading.Thread(target=main.main, args=(words,), daemon=True).start()
    for _ in range(500):
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return port
        time.sleep(0.02)
    raise RuntimeError("the server does not start")


def measure(directory: str) -> dict[str, list[str]]:
    """The files of each kind of call, over a small database."""
    footprint = Footprint()
    with redask.open(directory) as db:
        db.put("notes", ROWS)
        db.add_user("mia", role="reader")
        token = db.make_token("mia")
        found = {
            "one embedded ask": footprint.of(lambda: db.ask("When does ferry 7 leave?")),
            "one put": footprint.of(lambda: db.put("notes", [{"id": 1, "at": time.time_ns()}])),
        }
    port = serve(directory)
    with psycopg.connect(
        host="127.0.0.1", port=port, dbname="local", user="mia", password=token, autocommit=True
    ) as client:
        sql = "SELECT text FROM notes WHERE id = %s"
        asking = footprint.of(lambda: client.execute(sql, (7,), prepare=True).fetchall())
        found["one prepared SELECT over PostgreSQL's wire"] = asking
    return found


def main() -> None:
    """Print the figures."""
    os.environ.setdefault("REDASK_EMBEDDER_NAME", "none")
    modules, lines = size()
    print(f"{modules} modules, {lines} lines under src/redask (without generated code)")
    with tempfile.TemporaryDirectory() as directory, redirect_stderr(io.StringIO()):
        found = measure(directory)
        for what, files in found.items():
            print(f"{len(files):4} files: {what}")
            if "--files" in sys.argv[1:]:
                print("".join(f"       {file}\n" for file in files), end="")
        sys.stdout.flush()
    os._exit(0)  # the server's thread does not end by itself


if __name__ == "__main__":
    main()
