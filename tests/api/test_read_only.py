"""A database on read-only media is read and verified; what would leave a row is refused."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main
from redask.core.errors import AuditUnavailable, StoreFailed
from redask.core.rules.audit_chain import Intact

FERRY = {"id": 1, "text": "The ferry leaves at nine."}
QUESTION = "When does the ferry leave?"
COMMANDS = [
    ["audit", "verify"],
    ["audit", "verify", "--log", "access"],
    ["audit", "list"],
    ["audit", "export"],
    ["doctor"],
    ["sources"],
    ["show", "urn:reddb:row:notes/1"],
    ["dump", "-"],
    ["user", "list"],
    ["cost"],
]
REFUSED = [
    ["ask", QUESTION],
    ["search", "ferry"],
    ["select", "SELECT 1"],
    ["explain", QUESTION],
    ["tables"],
]
IN_A_MOUNT = """
import sys
from click.testing import CliRunner
from redask.cli import main
for line in sys.stdin.read().splitlines():
    told = CliRunner().invoke(main, ["--db", sys.argv[1], *line.split("\\t")])
    print(told.exit_code, (told.output or "-").splitlines()[0], sep="\\t")
"""


@pytest.fixture
def made(tmp_path: Path) -> Path:
    place = tmp_path / "db"
    with redask.open(place, embedder="none") as db:
        db.put("notes", [FERRY])
        db.add_user("ann", role="owner")
        db.ask(QUESTION)
        db.select("SELECT 1")
    return place


@pytest.fixture
def frozen(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system says that nothing can be written there."""
    access = os.access

    def refused(path: Path, mode: int) -> bool:
        inside = Path(path) == made or made in Path(path).parents
        return not (mode & os.W_OK and inside) and access(path, mode)

    monkeypatch.setattr(os, "access", refused)
    return made


def contents(place: Path) -> dict[str, tuple[int, bytes]]:
    files = (each for each in place.rglob("*") if each.is_file())
    return {each.name: (each.stat().st_mtime_ns, each.read_bytes()) for each in files}


def test_what_is_there_is_read_and_verified_and_nothing_is_touched(
    frozen: Path, tmp_path: Path
) -> None:
    before = contents(frozen)
    with redask.open(frozen, embedder="none") as db:
        for log in ("ask", "access"):
            assert isinstance(db.verify_audit(log=log), Intact)
        assert len(db.audit()) == 1
        assert db.doctor()["problems"] == []
        assert db.get("urn:reddb:row:notes/1") is not None
        assert db.dump(tmp_path / "dump.jsonl").entities == 1
        db.backup(tmp_path / "kept")
    assert contents(frozen) == before
    redask.restore(tmp_path / "kept", to=tmp_path / "again")
    with redask.open(tmp_path / "again", embedder="none") as db:
        assert db.ask(QUESTION).answer.startswith("The ferry leaves at nine")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda db: db.ask(QUESTION), AuditUnavailable, "is read-only, so no row can be written"),
        (lambda db: db.search("ferry"), AuditUnavailable, "is read-only"),
        (lambda db: db.select("SELECT 1"), AuditUnavailable, "is read-only"),
        (lambda db: list(db.stream(QUESTION)), AuditUnavailable, "is read-only"),
        (lambda db: db.put("notes", [FERRY, {"id": 2}]), StoreFailed, "read-only"),
        (lambda db: db.set_policy("notes", None), StoreFailed, "audit row could not be written"),
        (lambda db: db.make_token("ann"), StoreFailed, "audit row could not be written"),
        (lambda db: db.accept_logs("x"), StoreFailed, ""),
    ],
)
def test_what_would_leave_a_row_or_write_is_refused(
    frozen: Path,
    call: Callable[[redask.OpenDatabase], object],
    error: type[redask.AskError],
    message: str,
) -> None:
    before = contents(frozen)
    with redask.open(frozen, embedder="none") as db:
        if message:
            with pytest.raises(error, match=message):
                call(db)
        else:
            assert call(db) == "", "nothing is wrong, so nothing is noted"
    assert contents(frozen) == before


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_that_read_and_verify_work(frozen: Path, command: list[str]) -> None:
    told = CliRunner().invoke(main, ["--db", str(frozen), *command])
    assert told.exit_code == 0, told.output


@pytest.mark.parametrize("command", REFUSED, ids=" ".join)
def test_commands_that_ask_say_why_not(frozen: Path, command: list[str]) -> None:
    told = CliRunner().invoke(main, ["--db", str(frozen), *command])
    assert (told.exit_code, told.output[:34]) == (9, "redask: the database is read-only,"), (
        told.output
    )


def test_a_log_that_was_not_copied_into_its_file_is_not_passed_over(
    frozen: Path, tmp_path: Path
) -> None:
    """SQLite would read the file without it, and so without the last rows."""
    with closing(sqlite3.connect(frozen / "calls.sqlite", isolation_level=None)) as calls:
        calls.execute("UPDATE audit_clock SET owed = 1")
        calls.execute("BEGIN")
        calls.execute("SELECT * FROM audit_clock").fetchall()
        shutil.copytree(frozen, tmp_path / "copied")
    shutil.copy2(tmp_path / "copied" / "calls.sqlite-wal", frozen)
    with pytest.raises(StoreFailed, match=r"read-only, and its log calls.sqlite-wal holds"):
        redask.open(frozen, embedder="none")


def test_a_file_of_another_version_is_not_upgraded(frozen: Path) -> None:
    with closing(sqlite3.connect(frozen / "redask.sqlite", isolation_level=None)) as store:
        store.execute("PRAGMA user_version = 9")
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with pytest.raises(StoreFailed, match="read-only and was written by another redask"):
        redask.open(frozen, embedder="none")


def test_a_file_of_another_program_is_refused(frozen: Path) -> None:
    (frozen / "redask.sqlite").unlink()
    with closing(sqlite3.connect(frozen / "redask.sqlite")) as other:
        other.execute("CREATE TABLE t (x)")
    (frozen / "redask.sqlite").chmod(0o600)
    with pytest.raises(StoreFailed, match="of another program"):
        redask.open(frozen, embedder="none")


def test_no_cached_answer_of_a_copy_is_of_its_timeline(frozen: Path) -> None:
    with redask.open(frozen, embedder="none") as db:
        first = db._async._app.backend.store.timeline
    with closing(sqlite3.connect(frozen / "redask.sqlite", isolation_level=None)) as store:
        store.execute("UPDATE store SET file = 'elsewhere'")
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with redask.open(frozen, embedder="none") as db:
        assert db._async._app.backend.store.timeline not in ("", first)


def _can_mount() -> bool:
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    tried = subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False)
    return tried.returncode == 0


@pytest.mark.skipif(not _can_mount(), reason="only root may mount")
def test_the_same_on_a_mount_that_is_read_only(made: Path) -> None:
    script = f'mount --bind "{made}" "{made}" && mount -o remount,ro,bind "{made}" && exec "$@"'
    told = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-c", IN_A_MOUNT, str(made)],
        input="\n".join("\t".join(each) for each in (*COMMANDS, *REFUSED)),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    lines = [line.split("\t") for line in told.stdout.splitlines()]
    assert [code for code, _ in lines] == ["0"] * len(COMMANDS) + ["9"] * len(REFUSED), told.stdout
    assert all(said.startswith("redask: the database is read-only") for _, said in lines[-5:])
    with redask.open(made, embedder="none") as db:
        assert len(db.audit()) == 1
