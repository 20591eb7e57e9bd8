"""Store and log remember each other: losing, replacing or putting back either is seen."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from redask.core.errors import Denied
from redask.core.model import Caller
from redask.core.ports import AuditRow
from redask.core.rules.audit_chain import Broken, Intact
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.sqlite_backend import SqliteBackend
from redask.stores.sqlite.store import FILE

OWNER = Caller()


def row(number: int, tenant: str = "local") -> AuditRow:
    return AuditRow({"ts": number, "tenant": tenant, "user": "ada", "n": number})


def write(directory: Path, *numbers: int) -> None:
    with SqliteBackend(directory) as backend:
        backend.audit.append([row(number) for number in numbers])
        backend.anchor()


def verdict(directory: Path) -> Intact | Broken:
    with SqliteBackend(directory) as backend:
        return backend.audit.verify()


def lose(directory: Path, name: str) -> None:
    for file in directory.glob(f"{name}*"):
        file.unlink()


def backup(directory: Path, name: str) -> Callable[[], None]:
    """→ what puts the file back as it is now."""
    kept = directory.parent / f"kept-{name}"
    with (
        closing(sqlite3.connect(directory / name)) as source,
        closing(sqlite3.connect(kept)) as target,
    ):
        source.backup(target)

    def put_back() -> None:
        lose(directory, name)
        shutil.copy(kept, directory / name)

    return put_back


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_a_log_that_is_lost_is_missed_and_stays_so(directory: Path) -> None:
    write(directory, 1, 2)
    lose(directory, CALLS_FILE)
    fault = Broken(0, "the store remembers another log: the log was replaced or lost")
    assert verdict(directory) == fault
    write(directory, 3)  # anchoring does not paper over it
    assert verdict(directory) == fault


def test_a_store_that_is_lost_is_missed_and_stays_so(directory: Path) -> None:
    write(directory, 1, 2)
    lose(directory, FILE)
    fault = "the log was written beside another store: the store was replaced or lost"
    assert verdict(directory) == Broken(0, fault)
    write(directory, 3)
    assert verdict(directory) == Broken(0, fault)


@pytest.mark.parametrize("name", [CALLS_FILE, FILE])
def test_a_file_that_was_put_back_alone_is_seen(directory: Path, name: str) -> None:
    write(directory, 1, 2)
    put_back = backup(directory, name)
    write(directory, 3)
    write(directory, 4)
    put_back()
    found = verdict(directory)
    assert isinstance(found, Broken)
    assert "not of one time" in found.reason
    write(directory, 5)
    assert isinstance(verdict(directory), Broken)


def test_both_put_back_together_are_whole(directory: Path) -> None:
    write(directory, 1, 2)
    both = backup(directory, CALLS_FILE), backup(directory, FILE)
    write(directory, 3)
    for put_back in both:
        put_back()
    found = verdict(directory)
    assert isinstance(found, Intact)
    assert found.rows == 2
    write(directory, 3, 4)
    assert isinstance(verdict(directory), Intact)


def test_what_the_store_does_not_remember_yet_is_told(directory: Path) -> None:
    write(directory, 1, 2)
    with SqliteBackend(directory) as backend:
        backend.audit.append([row(3)])
        found = backend.audit.verify()
    assert isinstance(found, Intact)
    assert [(each.rows, each.anchored) for each in found.chains] == [(3, 2)]


def test_an_owner_may_accept_a_log_as_it_is_and_that_is_on_record(directory: Path) -> None:
    write(directory, 1, 2)
    lose(directory, CALLS_FILE)
    with SqliteBackend(directory) as backend:
        backend.audit.append([row(9)])
        with pytest.raises(Denied):
            backend.accept_logs(Caller("local", "eve", "auditor"), "why not")
        assert "replaced or lost" in backend.accept_logs(OWNER, "the disk broke")
        found = backend.audit.verify()
        assert isinstance(found, Intact)
        assert backend.accept_logs(OWNER, "again") == ""
        backend.audit.append([row(10)])
        backend.anchor()
        assert isinstance(backend.audit.verify(), Intact)
    with closing(sqlite3.connect(directory / CALLS_FILE)) as calls:
        [(kept,)] = calls.execute("SELECT row FROM audit_records WHERE kind = 'accepted'")
    assert "the disk broke" in kept
    assert "replaced or lost" in kept


KILLED = """
import os, signal, sys
from redask.core.ports import AuditRow
from redask.stores.sqlite.connection import Database
from redask.stores.sqlite.sqlite_backend import SqliteBackend

directory, place = sys.argv[1], int(sys.argv[2])
seen = 0
writing = Database.writing

def counted(self, *whose):
    global seen
    seen += 1
    if seen == place:
        os.kill(os.getpid(), signal.SIGKILL)
    return writing(self, *whose)

Database.writing = counted
with SqliteBackend(directory) as backend:
    for number in range(1, 4):
        row = {"ts": number, "tenant": "local", "user": "ada", "n": number}
        backend.audit.append([AuditRow(row)])
        print(number, flush=True)
        backend.anchor()
"""

KILLED_AFTER = """
import os, signal, sys
from contextlib import contextmanager
from redask.core.ports import AuditRow
from redask.stores.sqlite.connection import Database
from redask.stores.sqlite.sqlite_backend import SqliteBackend

directory, place = sys.argv[1], int(sys.argv[2])
seen = 0
writing = Database.writing

@contextmanager
def counted(self, *whose):
    global seen
    with writing(self, *whose) as connection:
        yield connection
    seen += 1
    if seen == place:
        os.kill(os.getpid(), signal.SIGKILL)

Database.writing = counted
with SqliteBackend(directory) as backend:
    for number in range(1, 4):
        row = {"ts": number, "tenant": "local", "user": "ada", "n": number}
        backend.audit.append([AuditRow(row)])
        print(number, flush=True)
        backend.anchor()
"""


@pytest.mark.parametrize("program", [KILLED, KILLED_AFTER])
def test_killed_between_the_two_files_they_belong_together_and_no_row_is_lost(
    directory: Path, program: str
) -> None:
    ended = False
    for place in range(1, 30):
        for name in (CALLS_FILE, FILE):
            lose(directory, name)
        ran = subprocess.run(
            [sys.executable, "-c", program, str(directory), str(place)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ,
        )
        found = verdict(directory)
        assert isinstance(found, Intact), (place, found)
        assert found.rows >= len(ran.stdout.split()), place
        write(directory, 5, 6)
        again = verdict(directory)
        assert isinstance(again, Intact), (place, again)
        assert again.rows == found.rows + 2
        ended = ran.returncode == 0
        if ended:
            break
        assert ran.returncode == -signal.SIGKILL, ran.stderr
    assert ended
    assert place > 9  # pairing, and three times a row and an anchor in both files
