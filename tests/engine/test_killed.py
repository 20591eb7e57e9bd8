"""Kill -9 at every step of an ASK: no answer without its row, no row lost after its answer."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import redask
from redask.core.rules.audit_chain import Intact

CHILD = """
import os, signal, sys
from contextlib import contextmanager

import redask
from redask.engine import telemetry
from redask.engine.auditing import audit_writer
from redask.stores.relational.auditing import audit_log

directory, fatal, turn = sys.argv[1], sys.argv[2], int(sys.argv[3])
asked = 0

def reach(point):
    if point == fatal and asked == turn:
        os.kill(os.getpid(), signal.SIGKILL)

step, save, tell = telemetry.step, audit_log.save, audit_writer.PendingRow.tell
writer_of = audit_log.writer_of

@contextmanager
def deadly_step(name):
    reach(f"before {name}")
    with step(name):
        yield
        reach(f"in {name}")
    reach(f"after {name}")

def deadly_writer(*given):
    reach("before the row")
    return writer_of(*given)

def deadly_save(*given):
    save(*given)
    reach("after the row, before the commit")

def deadly_tell(self, error=None):  # dies after the commit, before the one who waits is told
    if error is None and f"ferry {turn} " in self.row.row["question"]:
        reach("after the commit")
    tell(self, error)

telemetry.step = deadly_step
audit_log.writer_of, audit_log.save = deadly_writer, deadly_save
audit_writer.PendingRow.tell = deadly_tell

with redask.open(directory) as db:
    for asked in range(1, 4):
        answer = db.ask(f"When does ferry {asked} leave?", using="scripted")
        reach("after the answer")
        print(asked, answer.answer, flush=True)
"""

STEPS = ("search", "read", "provider", "audit")
POINTS = [
    *(f"{when} {step}" for step in STEPS for when in ("before", "in", "after")),
    "before the row",
    "after the row, before the commit",
    "after the commit",
    "after the answer",
]


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_ask_leaves_no_answer_without_row_and_a_whole_chain(
    tmp_path: Path, point: str
) -> None:
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": n, "text": f"Ferry {n} leaves at nine."} for n in range(1, 4)])
    command = [sys.executable, "-c", CHILD, str(tmp_path), point, "2"]
    child = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert child.returncode == -signal.SIGKILL, child.stderr
    seen = [int(line.split()[0]) for line in child.stdout.splitlines()]
    with redask.open(tmp_path) as db:
        verdict = db.verify_audit()
        rows = [str(entry.row["question"]) for entry in reversed(db.audit(10))]
        assert isinstance(verdict, Intact)
        assert db.ask("When does ferry 3 leave?", using="scripted").citations
        assert isinstance(db.verify_audit(), Intact)
    assert seen == [1]
    assert rows[:1] == ["When does ferry 1 leave?"]
    durable = point in ("after the commit", "after audit", "after the answer", "in audit")
    assert len(rows) == (2 if durable else 1)
