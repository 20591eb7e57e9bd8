"""A database of another time or another program is upgraded or refused, never guessed at."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from redask.core.errors import StoreFailed
from redask.core.model import Caller
from redask.stores import entity_rows
from redask.stores.sqlite import migrations
from redask.stores.sqlite.store import FILE, SqliteStore

ME = Caller()


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A directory with a database of today that holds one row."""
    with SqliteStore(tmp_path) as store:
        store.put(entity_rows.entities("t", [{"id": 1}]), ME)
    return tmp_path


def execute(directory: Path, statement: str) -> None:
    with closing(sqlite3.connect(directory / FILE)) as connection, connection:
        connection.execute(statement)


def add_rung(monkeypatch: pytest.MonkeyPatch, *statements: str) -> None:
    monkeypatch.setattr(migrations, "MIGRATIONS", (*migrations.MIGRATIONS, statements))


def test_a_newer_database_is_refused_and_left_alone(old: Path) -> None:
    today = len(migrations.MIGRATIONS)
    execute(old, f"PRAGMA user_version = {today + 6}")
    with pytest.raises(StoreFailed, match="newer redask") as caught:
        SqliteStore(old)
    assert caught.value.detail == f"schema {today + 6}, this redask knows up to {today}"
    execute(old, f"PRAGMA user_version = {today}")
    with SqliteStore(old) as store:
        assert store.get("urn:reddb:row:t/1", ME) is not None


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    execute(tmp_path, "CREATE TABLE theirs (x)")
    with pytest.raises(StoreFailed, match="another program"):
        SqliteStore(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("theirs",)]


def test_another_program_that_counts_like_us_is_refused_too(tmp_path: Path) -> None:
    execute(tmp_path, "CREATE TABLE theirs (x)")
    execute(tmp_path, f"PRAGMA user_version = {len(migrations.MIGRATIONS)}")
    with pytest.raises(StoreFailed, match="another program"):
        SqliteStore(tmp_path)


def test_an_older_database_climbs_and_keeps_its_data(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_rung(monkeypatch, "CREATE TABLE extra (x)", "INSERT INTO extra VALUES (5)")
    for _ in range(2):
        with SqliteStore(old) as store:
            assert store.get("urn:reddb:row:t/1", ME) is not None
            assert store.statistics(ME).schema == len(migrations.MIGRATIONS)
    with closing(sqlite3.connect(old / FILE)) as connection:
        assert connection.execute("SELECT x FROM extra").fetchall() == [(5,)]


def test_a_climb_that_fails_leaves_the_old_database_as_it_was(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        add_rung(patched, "CREATE TABLE extra (x)", "INSERT INTO nowhere VALUES (5)")
        with pytest.raises(StoreFailed, match=FILE):
            SqliteStore(old)
    with SqliteStore(old) as store:
        assert store.get("urn:reddb:row:t/1", ME) is not None
        assert store.statistics(ME).schema == len(migrations.MIGRATIONS)


def test_a_database_taken_out_of_wal_is_put_back(old: Path) -> None:
    execute(old, "PRAGMA journal_mode = DELETE")
    with SqliteStore(old):
        assert (old / f"{FILE}-wal").exists()
