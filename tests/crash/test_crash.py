"""kill -9 at random moments: what was acknowledged is there, and the index answers like new."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from crashing_writer import IDS, WORDS

import redask

WRITER = Path(__file__).parent.parent / "support" / "crashing_writer.py"
QUESTIONS = [" ".join(random.Random(number).sample(WORDS, 2)) for number in range(12)]
Content = dict[int, str]


def after(content: Content, operation: dict[str, Any]) -> Content:
    """What the collection holds after an operation."""
    changed = dict(content)
    if operation["do"] == "put":
        changed.update((row["id"], row["text"]) for row in operation["rows"])
    elif operation["do"] == "delete":
        for each in operation["ids"]:
            changed.pop(each, None)
    return changed


def held(db: redask.OpenDatabase) -> Content:
    """What the collection holds."""
    payloads = [db.get(f"urn:reddb:row:notes/{each}") for each in range(IDS)]
    rows = [json.loads(payload) for payload in payloads if payload is not None]
    return {row["id"]: row["text"] for row in rows}


def results(db: redask.OpenDatabase) -> list[tuple[Any, ...]]:
    return [db.search(question, limit=20).buckets for question in QUESTIONS]


def killed(directory: Path, seed: int, lifetime: float) -> list[str]:
    """The lines a writer printed before it was killed."""
    command = [sys.executable, str(WRITER), str(directory), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        first = writer.stdout.readline()  # the clock starts when it has begun
        time.sleep(lifetime)
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read()
        assert writer.wait() == -signal.SIGKILL
    return (first + rest).splitlines()


def test_a_killed_database_holds_what_was_acknowledged_and_searches_like_a_new_one(
    tmp_path: Path, crash_round: int
) -> None:
    rng = random.Random(crash_round)
    content: Content = {}
    for life in range(3):
        lines = killed(tmp_path, crash_round * 10 + life, rng.uniform(0.01, 0.6))
        pending: dict[str, Any] | None = None
        for line in lines:
            if line == "done" and pending is not None:
                content, pending = after(content, pending), None
            elif line.startswith("try ") and line.endswith("}"):
                pending = json.loads(line[4:])
        with redask.open(tmp_path, embedder="hashed") as db:
            allowed = [content] if pending is None else [content, after(content, pending)]
            content = held(db)
            assert content in allowed
            found = results(db)
            report = db.doctor(rebuild_index=True)
            assert report["problems"] == []
            assert results(db) == found
