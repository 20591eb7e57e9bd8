"""A back-up is of one moment, is verified, adds what changed, and comes back all or nothing."""

import json
import os
import shutil
import sqlite3
import stat
import threading
import zlib
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main
from redask.core.errors import BadAsk, Denied, StoreFailed
from redask.index.file_lock import FileLock
from redask.stores.sqlite.backup import backing_up, restoring
from redask.stores.sqlite.backup.chunk_store import CHUNK_BYTES

ROWS = [{"id": number, "text": f"the ferry {number} leaves at nine"} for number in range(50)]
QUESTION = "When does the ferry 7 leave?"


def made(directory: Path) -> Path:
    with redask.open(directory) as db:
        db.put("notes", ROWS)
        db.ask(QUESTION)
    return directory


def content(directory: Path) -> dict[str, list[tuple[object, ...]]]:
    """What both databases hold, but for the timeline and the place of the file."""
    found: dict[str, list[tuple[object, ...]]] = {}
    for name in ("redask.sqlite", "calls.sqlite"):
        with closing(sqlite3.connect(directory / name)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            for (table,) in tables.fetchall():
                if table != "store":
                    found[table] = connection.execute(f"SELECT * FROM {table}").fetchall()
    return found


def chunk_files(backup: Path) -> list[Path]:
    return sorted(path for path in (backup / "chunks").rglob("*") if path.is_file())


def everything(directory: Path) -> dict[str, bytes]:
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_what_comes_back_is_what_was_there_and_answers_equally(tmp_path: Path) -> None:
    db_path = made(tmp_path / "db")
    (db_path / "redask.toml").write_text("[ask]\ntimeout_ms = 70000\n", encoding="utf-8")
    with redask.open(db_path) as db:
        report = db.backup(tmp_path / "kept")
        answer = db.ask(QUESTION).to_dict()
        timeline = db._async._app.backend.store.timeline
        db.put("notes", [{"id": 1, "text": "later"}])
    restored = redask.restore(tmp_path / "kept", to=tmp_path / "new")
    assert (restored.name, restored.replaced) == (report.name, None)
    with redask.open(tmp_path / "new") as db:
        assert db.doctor()["problems"] == []
        assert [row.row["question"] for row in db.audit()] == [QUESTION]
        assert db.ask(QUESTION).to_dict() == answer
        assert db._async._app.backend.store.timeline != timeline
        assert json.loads(db.get("urn:reddb:row:notes/1") or "")["text"] == ROWS[1]["text"]
    assert (tmp_path / "new" / "redask.toml").read_text(encoding="utf-8").endswith("= 70000\n")


def test_an_equal_back_up_writes_nothing_and_a_change_writes_little(tmp_path: Path) -> None:
    with redask.open(made(tmp_path / "db")) as db:
        text = "x" * 200
        db.put("much", [{"id": number, "text": f"{number} {text}"} for number in range(20_000)])
        first = db.backup(tmp_path / "kept")
        again = db.backup(tmp_path / "kept")
        db.put("notes", [{"id": 1, "text": "later"}])
        later = db.backup(tmp_path / "kept")
    assert first.bytes > 8 * CHUNK_BYTES
    assert again.written == 0
    assert 0 < later.written < first.written / 2
    for name, said in ((first.name, ROWS[1]["text"]), (later.name, "later")):
        made_at = int(name.partition(".")[0])
        target = tmp_path / name
        assert restoring.restore(tmp_path / "kept", target, at=made_at).name == name
        with redask.open(target) as db:
            assert json.loads(db.get("urn:reddb:row:notes/1") or "")["text"] == said


def test_a_back_up_is_of_one_moment_of_both_databases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row of the log between the two beginnings: it is begun again, so the log is not behind."""
    with redask.open(made(tmp_path / "db")) as db:
        backend = db._async._app.backend
        turns: list[int] = []
        real = backend._calls.version  # type: ignore[attr-defined]

        def version() -> int:
            turns.append(len(turns))
            if len(turns) == 2:  # both have begun to read: now the store and the log go on
                db.put("notes", [{"id": 99, "text": "between"}])
                db.ask("What is between?")
            found: int = real()
            return found

        monkeypatch.setattr(backend._calls, "version", version)  # type: ignore[attr-defined]
        db.backup(tmp_path / "kept")
    assert len(turns) == 4
    redask.restore(tmp_path / "kept", to=tmp_path / "new")
    new, old = content(tmp_path / "new"), content(tmp_path / "db")
    later = ("audit_file", "log_file", "log_anchors", "audit_tiles", "audit_trees")
    for anchors in later:  # written when it was closed, too
        del new[anchors], old[anchors]
    assert new == old


def test_writes_and_asks_go_on_and_the_copy_is_a_state_that_was(tmp_path: Path) -> None:
    """A row is written before it is asked for: no restored log knows of one that is not there."""
    stop, failed = threading.Event(), []
    with redask.open(tmp_path / "db") as db:
        db.put("notes", ROWS)

        def work() -> None:
            try:
                for number in range(100, 100_000):
                    if stop.is_set():
                        return
                    db.put("notes", [{"id": number, "text": f"ferry {number}"}])
                    db.ask(f"ferry {number}?")
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(4):
            db.backup(tmp_path / "kept")
        stop.set()
        thread.join()
    assert failed == []
    names = sorted(path.name for path in (tmp_path / "kept").glob("*.backup.json"))
    assert len(names) == 4
    for name in names:
        target = tmp_path / name
        restoring.restore(tmp_path / "kept", target, at=int(name.partition(".")[0]))
        with redask.open(target) as db:
            assert db.doctor()["problems"] == []
            for row in db.audit(limit=1000):
                number = str(row.row["question"]).removeprefix("ferry ").removesuffix("?")
                assert db.get(f"urn:reddb:row:notes/{number}"), number


def test_only_the_owner_of_the_directory_backs_up_all_tenants(tmp_path: Path) -> None:
    with redask.open(tmp_path / "db", tenant="acme") as db:
        with pytest.raises(Denied, match="every tenant"):
            db.backup(tmp_path / "kept")
        db.add_user("mia", role="owner")
        with pytest.raises(Denied, match="every tenant"):
            db.signed_in(db.make_token("mia"), tenant="acme").backup(tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_nobody_else_may_read_a_back_up_or_what_is_restored(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with redask.open(made(tmp_path / "db")) as db:
            db.backup(tmp_path / "kept")
            db.dump(tmp_path / "dump.jsonl")
        redask.restore(tmp_path / "kept", to=tmp_path / "new")
    finally:
        os.umask(before)
    for path in [tmp_path / "dump.jsonl", tmp_path / "kept", tmp_path / "new"]:
        for each in [path, *path.rglob("*")]:
            assert not stat.S_IMODE(each.stat().st_mode) & 0o077, each


@pytest.mark.parametrize("damage", ["flipped", "cut", "missing", "bomb", "manifest"])
def test_a_damaged_back_up_is_refused_and_nothing_is_put_in_place(
    tmp_path: Path, damage: str
) -> None:
    with redask.open(made(tmp_path / "db")) as db:
        report = db.backup(tmp_path / "kept")
    files = chunk_files(tmp_path / "kept")
    manifest = tmp_path / "kept" / report.name
    if damage == "manifest":
        files = [manifest]
    for number, file in enumerate(files):
        whole = file.read_bytes()
        if damage in ("flipped", "manifest"):
            middle = len(whole) // 2
            file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
        elif damage == "cut":
            file.write_bytes(whole[:-9])
        elif damage == "bomb":
            file.write_bytes(zlib.compress(bytes(64 * CHUNK_BYTES)))
        else:
            file.unlink()
        with pytest.raises(StoreFailed, match="damaged"):
            redask.restore(tmp_path / "kept", to=tmp_path / f"new{number}")
        assert not (tmp_path / f"new{number}").exists()
        file.write_bytes(whole)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    redask.restore(tmp_path / "kept", to=tmp_path / "new")


@pytest.mark.parametrize("rot", [b"rot", zlib.compress(b"rot")])
def test_the_next_back_up_mends_a_chunk_that_rotted(tmp_path: Path, rot: bytes) -> None:
    with redask.open(made(tmp_path / "db")) as db:
        db.backup(tmp_path / "kept")
        for file in chunk_files(tmp_path / "kept"):
            file.write_bytes(rot)
        assert db.backup(tmp_path / "kept").written > 0
    redask.restore(tmp_path / "kept", to=tmp_path / "new")


def test_a_damaged_database_is_not_backed_up(tmp_path: Path) -> None:
    db_path = made(tmp_path / "db")
    with closing(sqlite3.connect(db_path / "redask.sqlite")) as connection:
        root, size = connection.execute(
            "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_master"
            " WHERE name = 'entities_by_urn'"
        ).fetchone()
    with open(db_path / "redask.sqlite", "r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    with redask.open(db_path) as db, pytest.raises(StoreFailed, match="damaged"):
        db.backup(tmp_path / "kept")
    assert list((tmp_path / "kept").glob("*.backup.json")) == []
    assert list((tmp_path / "kept").glob(".work-*")) == []


def test_an_interrupted_back_up_is_no_back_up_and_the_next_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redask.open(made(tmp_path / "db")) as db:
        with monkeypatch.context() as patch:
            patch.setattr(backing_up, "_verify", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                db._async._app.backend.back_up(tmp_path / "kept", made_at=1, made_by="test")
        (tmp_path / "kept" / ".work-left").mkdir()  # as a killed process leaves it
        with pytest.raises(BadAsk, match="no back-up"):
            redask.restore(tmp_path / "kept", to=tmp_path / "new")
        assert db.backup(tmp_path / "kept").written == 0  # the chunks were there
        assert not (tmp_path / "kept" / ".work-left").exists()


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_progress_callback_counts_up_and_may_end_it(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    with redask.open(made(tmp_path / "db")) as db:
        db.backup(tmp_path / "kept", progress=lambda done, total: seen.append((done, total)))
        assert seen == sorted(seen)
        assert seen[-1][0] == seen[-1][1] > 0

        def enough(_done: int, _total: int) -> None:
            raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            db.backup(tmp_path / "kept", progress=enough)
    assert len(list((tmp_path / "kept").glob("*.backup.json"))) == 1


def test_two_back_ups_at_once_are_one_and_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    with (
        redask.open(made(tmp_path / "db")) as db,
        FileLock(tmp_path / "kept" / "backup.lock", 0),
        pytest.raises(StoreFailed, match="another back-up"),
    ):
        db.backup(tmp_path / "kept")


@pytest.mark.parametrize("place", ["", "inside"])
def test_a_back_up_does_not_go_into_its_own_database(tmp_path: Path, place: str) -> None:
    with redask.open(made(tmp_path / "db")) as db, pytest.raises(BadAsk, match="does not belong"):
        db.backup(tmp_path / "db" / place)


def test_a_clock_that_went_back_hides_no_back_up(tmp_path: Path) -> None:
    with redask.open(made(tmp_path / "db")) as db:
        backend = db._async._app.backend
        names = [
            backend.back_up(tmp_path / "kept", made_at=at, made_by="test").name
            for at in (10**18, 5, 10**18)
        ]
    assert names == sorted(set(names))


@pytest.mark.parametrize("exchange", [True, False])
def test_a_directory_in_use_or_with_files_is_replaced_only_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    if not exchange:
        monkeypatch.setattr(restoring, "_exchange", lambda *_: False)
    db_path, kept = made(tmp_path / "db"), tmp_path / "kept"
    with redask.open(db_path) as db:
        db.backup(kept)
        db.put("notes", [{"id": 1, "text": "later"}])
        with pytest.raises(BadAsk, match="not empty"):
            redask.restore(kept, to=db_path)
        with pytest.raises(StoreFailed, match="open in a process"):
            redask.restore(kept, to=db_path, overwrite=True)
        assert "later" in (db.get("urn:reddb:row:notes/1") or "")
    before = everything(db_path)
    report = redask.restore(kept, to=db_path, overwrite=True)
    assert report.replaced is not None
    old = everything(Path(report.replaced))
    logs = ("-wal", "-shm")
    assert {name for name in old if not name.endswith(logs)} == {
        name for name in before if not name.endswith(logs)
    }
    with redask.open(db_path) as db:
        assert "later" not in (db.get("urn:reddb:row:notes/1") or "")
        assert "later" not in str(db.search("later").hits)
    with redask.open(report.replaced) as db:
        assert "later" in (db.get("urn:reddb:row:notes/1") or "")


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("lasting", [True, False])
def test_what_a_restore_would_replace_survives_a_renaming_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool, lasting: bool
) -> None:
    """The old database was deleted as what was left of the work."""
    target, kept = tmp_path / "db", tmp_path / "kept"
    with redask.open(target) as db:
        db.put("notes", [{"id": 1}])
        db.backup(kept)
        db.put("notes", [{"id": 2}])
    if not exchanges:
        monkeypatch.setattr(restoring, "_exchange", lambda one, other: False)
    rename, tries = os.rename, []

    def failing(one: Path, other: Path) -> None:
        tries.append(other)
        if len(tries) == (1 if exchanges else 2) or (lasting and len(tries) > 1):
            raise OSError(5, "Input/output error")
        rename(one, other)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(redask.AskError):
        redask.restore(kept, to=target, overwrite=True)
    monkeypatch.undo()
    found = target if target.exists() else next(tmp_path.glob("db.before-*"))
    assert (found == target) is (exchanges or not lasting)
    with redask.open(found) as db:
        assert db.get("urn:reddb:row:notes/2") is not None
    redask.restore(kept, to=target, overwrite=True)
    with redask.open(target) as db:
        assert db.get("urn:reddb:row:notes/2") is None


def test_a_damaged_target_can_be_replaced(tmp_path: Path) -> None:
    db_path = made(tmp_path / "db")
    with redask.open(db_path) as db:
        db.backup(tmp_path / "kept")
    (db_path / "redask.sqlite").write_bytes(b"rot" * 1000)
    redask.restore(tmp_path / "kept", to=db_path, overwrite=True)
    with redask.open(db_path) as db:
        assert db.doctor()["problems"] == []


@pytest.mark.parametrize(
    ("at", "message"), [("yesterday", "no time"), ("1999-01-01", "the first is of 20")]
)
def test_a_time_without_a_back_up_is_refused(tmp_path: Path, at: str, message: str) -> None:
    with redask.open(made(tmp_path / "db")) as db:
        db.backup(tmp_path / "kept")
    with pytest.raises(BadAsk, match=message):
        redask.restore(tmp_path / "kept", to=tmp_path / "new", at=at)


def test_the_commands_back_up_and_restore(tmp_path: Path) -> None:
    run = CliRunner()
    db_path = str(made(tmp_path / "db"))
    kept, new = str(tmp_path / "kept"), str(tmp_path / "new")
    done = run.invoke(main, ["--db", db_path, "backup", kept, "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output)["bytes"] > 0
    done = run.invoke(main, ["--db", db_path, "restore", kept])
    assert (done.exit_code, "not empty" in done.output) == (2, True)
    done = run.invoke(main, ["restore", kept, "--to", new, "--at", "2099-12-31T23:59:59+01:00"])
    assert (done.exit_code, f"restored {new}" in done.output) == (0, True)
    done = run.invoke(main, ["--db", new, "restore", kept, "--overwrite"])
    assert (done.exit_code, "remove it when you are sure" in done.output) == (0, True)
    shutil.rmtree(new)
    done = run.invoke(main, ["--db", new, "restore", kept, "--json"])
    assert json.loads(done.output)["directory"] == new
    assert run.invoke(main, ["restore", str(tmp_path / "none"), "--to", new]).exit_code == 2


def test_all_but_the_last_back_ups_are_removed_and_those_left_restore(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with redask.open(tmp_path / "db", embedder="none") as db:
        for number in range(4):
            db.put("notes", [{"id": number, "text": f"note {number} " * 20_000}])
            report = db.backup(kept, keep=2)
        assert report.removed == 1
        with pytest.raises(BadAsk, match="at least one"):
            db.backup(kept, keep=0)
    assert len(list(kept.glob("*.backup.json"))) == 2
    before = sum(1 for _ in kept.glob("chunks/*/*"))
    for name, at in (("last", None), ("earlier", _made(kept)[0])):
        restored = redask.restore(kept, to=tmp_path / name, at=at)
        with redask.open(restored.directory, embedder="none") as db:
            assert len(db.page("notes")) == (4 if at is None else 3)
            assert db.doctor(deep=True)["problems"] == []
    with redask.open(tmp_path / "db", embedder="none") as db:
        assert db.backup(kept, keep=1).removed == 2
    assert sum(1 for _ in kept.glob("chunks/*/*")) < before


def test_nothing_is_removed_while_a_back_up_to_keep_cannot_be_read(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with redask.open(tmp_path / "db", embedder="none") as db:
        for number in range(3):
            db.put("notes", [{"id": number}])
            db.backup(kept)
        _, second, last = sorted(kept.glob("*.backup.json"))
        last.write_bytes(last.read_bytes()[:-20])
        chunks = sorted(kept.glob("chunks/*/*"))
        with pytest.raises(StoreFailed, match="is damaged"):
            db.backup(kept, keep=2)
    assert second.exists()
    assert set(chunks) <= set(kept.glob("chunks/*/*"))


def _made(directory: Path) -> list[str]:
    """When the back-ups of a directory were made, the oldest first, to the microsecond."""
    names = sorted(path.name for path in directory.glob("*.backup.json"))
    times = [int(name.removesuffix(".backup.json")) // 1000 for name in names]
    return [datetime.fromtimestamp(each / 1e6, UTC).isoformat() for each in times]
