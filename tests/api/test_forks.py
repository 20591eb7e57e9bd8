"""After a fork: the child is told to open the database itself, at once; the parent goes on."""

import subprocess
import sys
from pathlib import Path

import pytest

from redask.core.errors import FORKED, StoreFailed
from redask.engine.owning_process import OwningProcess

PATIENCE = 60  # seconds until a child that hangs fails the test
SYNCHRONOUS = """
import os, signal, sys
import redask

db = redask.open(sys.argv[1], embedder="none")
db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
db.add_user("ann", role="owner")
session = db.signed_in(db.make_token("ann"))
if os.fork() == 0:
    signal.alarm(30)
    calls = [
        lambda: db.ask("When does the ferry leave?"),
        lambda: list(db.stream("When does the ferry leave?")),
        lambda: db.select("SELECT 1"),
        lambda: session.search("ferry"),
        lambda: db.put("notes", [{"id": 2}]),
    ]
    for call in calls:
        try:
            call()
        except redask.AskError as error:
            print("child:", error.message, flush=True)
    session.close()
    db.close()
    print("child: closed", flush=True)
    os._exit(0)
print("ended:", os.wait()[1])
print("parent:", db.ask("When does the ferry leave?").answer, db.select("SELECT 1"))
db.close()
"""
ASYNCHRONOUS = """
import asyncio, os, signal, sys
import redask

async def opened():
    db = await redask.aopen(sys.argv[1], embedder="none")
    await db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
    await db.select("SELECT 1")
    return db

async def child(db):
    for call in (db.ask("When?"), db.select("SELECT 1"), db.search("ferry"), db.explain("When?")):
        try:
            await call
        except redask.AskError as error:
            print("child:", error.message, flush=True)
    await db.close()
    print("child: closed", flush=True)

loop = asyncio.new_event_loop()
db = loop.run_until_complete(opened())
if os.fork() == 0:
    signal.alarm(30)
    asyncio.run(child(db))
    os._exit(0)
print("ended:", os.wait()[1])
answer = loop.run_until_complete(db.ask("When does the ferry leave?"))
rows = loop.run_until_complete(db.select("SELECT 1"))
print("parent:", answer.answer, rows)
loop.run_until_complete(db.close())
"""


@pytest.mark.parametrize(("script", "calls"), [(SYNCHRONOUS, 5), (ASYNCHRONOUS, 4)])
def test_a_forked_child_is_refused_at_once_and_the_parent_goes_on(
    script: str, calls: int, tmp_path: Path
) -> None:
    told = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "db")],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    *child, ended, parent = told.stdout.splitlines()
    assert child == [f"child: {FORKED}"] * calls + ["child: closed"]
    assert ended == "ended: 0"
    assert parent.startswith("parent: The ferry leaves at nine. [^1]")


def test_a_fork_is_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = OwningProcess()
    assert owner.is_this
    owner.check()
    monkeypatch.setattr("os.getpid", lambda: 1)
    assert not owner.is_this
    with pytest.raises(StoreFailed, match="does not survive a fork"):
        owner.check()
