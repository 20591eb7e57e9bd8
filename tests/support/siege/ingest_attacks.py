"""Attacks by documents: an owner of the other tenant ingests bombs beside the server."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from served import SOURCE, START

from siege.attack import Target
from siege.document_bombs import BOMBS
from siege.measuring import offspring, resident

AT_ONCE = 2


def preparing(names: Sequence[str]) -> Callable[[Path], None]:
    """Make the files."""

    def prepare(scratch: Path) -> None:
        for name in names:
            file, make = BOMBS[name]
            if not (scratch / file).exists():
                (scratch / file).write_bytes(make())

    return prepare


def ingesting(names: Sequence[str]) -> Callable[[Target], None]:
    """Ingest these, each by a process of its own, until the time is over."""

    def run(target: Target) -> None:
        paths = [target.scratch / BOMBS[name][0] for name in names]
        waiting = list(paths)
        running: list[subprocess.Popen[bytes]] = []
        while running or not target.over():
            while len(running) < AT_ONCE and not target.over():
                waiting = waiting or list(paths)
                running.append(_started(target, str(waiting.pop(0))))
            for each in [*running]:
                own = [each.pid, *offspring(each.pid)]
                target.peak_bytes = max([target.peak_bytes, *map(resident, own)])
                if each.poll() is not None:
                    running.remove(each)
                    target.note(f"exit {each.returncode}")
                elif target.over():
                    each.kill()
                    target.note("still reading at the end")
                    running.remove(each)
            time.sleep(0.1)

    return run


def _started(target: Target, path: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", START, "--db", target.at.directory, "--token", target.at.owner]
    return subprocess.Popen(
        [*command, "ingest", "--no-wait", path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
