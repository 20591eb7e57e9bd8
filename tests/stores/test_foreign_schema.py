"""A database that somebody hands over runs nothing of theirs: parts that redask did not make."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import redask
from redask.core.errors import StoreFailed
from redask.core.settings import load
from redask.index.sqlite_schema import foreign_parts, harden
from redask.stores.sqlite import migrations
from redask.stores.sqlite.schema_check import check_schema

PLAIN = load('[embedder]\nname = "none"', {})
FILES = ("redask.sqlite", "calls.sqlite")
TRIGGER = "CREATE TRIGGER undo AFTER INSERT ON policies BEGIN DELETE FROM policies; END"
ENDLESS = (
    "CREATE TRIGGER spin AFTER UPDATE ON store BEGIN INSERT INTO settings SELECT n, n FROM "
    "(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n FROM c); END"
)


def made(directory: Path) -> Path:
    with redask.open(directory, settings=PLAIN) as db:
        db.put("notes", [{"id": 1, "text": "the ferry leaves at nine"}])
    return directory


def execute(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def rewritten(old: str, new: str) -> Callable[[Path], None]:
    """A schema whose text somebody changed, as `writable_schema` allows."""

    def change(path: Path) -> None:
        execute(
            path,
            "PRAGMA writable_schema = ON",
            f"UPDATE sqlite_master SET sql = replace(sql, '{old}', '{new}')",
        )

    return change


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (TRIGGER, "trigger 'undo'"),
        (ENDLESS, "trigger 'spin'"),
        ("CREATE VIEW theirs AS SELECT 1", "view 'theirs'"),
        ("CREATE TABLE theirs (x)", "table 'theirs'"),
        ("CREATE INDEX theirs ON users (upper(name))", "index 'theirs'"),
        ('CREATE TABLE "a\x1b[2J" (x)', "table 'a\\x1b[2J'"),
        ("ALTER TABLE users ADD COLUMN more AS (zeroblob(9))", "table 'users'"),
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_with_a_part_of_somebody_else_is_not_opened(
    tmp_path: Path, statement: str, named: str, read_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made(tmp_path / "db") / FILES[0]
    execute(path, "PRAGMA journal_mode = DELETE", statement)
    before = path.read_bytes()
    if read_only:
        monkeypatch.setattr("redask.stores.sqlite.connection._is_writable", lambda _: False)
    with pytest.raises(StoreFailed, match="redask did not make") as caught:
        redask.open(tmp_path / "db", settings=PLAIN)
    assert named in caught.value.message
    assert path.read_bytes() == before or not read_only


def test_the_file_of_calls_is_looked_at_alike(tmp_path: Path) -> None:
    path = made(tmp_path / "db") / FILES[1]
    execute(path, "CREATE TRIGGER t AFTER INSERT ON audit_records BEGIN SELECT 1; END")
    with pytest.raises(StoreFailed, match=r"calls\.sqlite has what redask did not make"):
        redask.open(tmp_path / "db", settings=PLAIN)


@pytest.mark.parametrize(
    "change",
    [
        rewritten("role TEXT NOT NULL", "role TEXT NOT NULL DEFAULT (zeroblob(99))"),
        rewritten("WHERE unlinked", "WHERE upper(unlinked)"),
        rewritten("FROM columns", "FROM users"),
    ],
    ids=["default", "partial index", "view"],
)
def test_a_schema_whose_text_was_changed_is_not_opened(
    tmp_path: Path, change: Callable[[Path], None]
) -> None:
    change(made(tmp_path / "db") / FILES[0])
    with pytest.raises(StoreFailed, match="redask did not make"):
        redask.open(tmp_path / "db", settings=PLAIN)


def test_an_older_store_is_looked_at_before_it_is_upgraded(tmp_path: Path) -> None:
    """Migrations write, so a trigger would run in them."""
    directory = tmp_path / "db"
    directory.mkdir(mode=0o700)
    path = directory / FILES[0]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrations.upgrade(connection, "old", migrations.MIGRATIONS[:2])
        connection.execute("CREATE TRIGGER t AFTER UPDATE ON tenants BEGIN DELETE FROM users; END")
    os.chmod(path, 0o600)
    with pytest.raises(StoreFailed, match="trigger 't'"):
        redask.open(directory, settings=PLAIN)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        connection.execute("DROP TRIGGER t")
    with redask.open(directory, settings=PLAIN) as db:
        assert db.users() == []


@pytest.mark.parametrize("version", range(len(migrations.MIGRATIONS) + 1))
def test_every_version_of_our_own_is_ours_also_when_it_grew_in_steps(version: int) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for reached in range(version + 1):
            migrations.upgrade(connection, "grown", migrations.MIGRATIONS[:reached])
        check_schema(connection, "grown", migrations.MIGRATIONS)


def test_what_analyze_leaves_and_missing_parts_are_not_foreign(tmp_path: Path) -> None:
    path = made(tmp_path / "db") / FILES[0]
    execute(path, "ANALYZE", "DROP INDEX tokens_by_user")
    with redask.open(tmp_path / "db", settings=PLAIN) as db:
        assert db.get("urn:reddb:row:notes/1") is not None


@pytest.mark.parametrize("file", FILES)
def test_a_back_up_with_a_part_of_somebody_else_is_not_restored(tmp_path: Path, file: str) -> None:
    back_up_of_a_hostile(tmp_path, file, "CREATE TRIGGER t AFTER UPDATE ON x BEGIN SELECT 1; END")
    with pytest.raises(StoreFailed, match="redask did not make"):
        redask.restore(tmp_path / "back-up", to=tmp_path / "new")
    assert [each.name for each in tmp_path.iterdir() if "new" in each.name] == []


def test_a_back_up_that_hides_whose_it_is_is_not_restored_either(tmp_path: Path) -> None:
    """Without the mark of redask's own files its trigger would run when its place is forgotten."""
    back_up_of_a_hostile(tmp_path, FILES[0], ENDLESS, "PRAGMA application_id = 7")
    with pytest.raises(StoreFailed, match="another program"):
        redask.restore(tmp_path / "back-up", to=tmp_path / "new")


def back_up_of_a_hostile(folder: Path, file: str, *statements: str) -> None:
    """A back-up whose maker had another program."""
    made(folder / "db")
    with redask.open(folder / "db", settings=PLAIN) as db, pytest.MonkeyPatch.context() as patch:
        from redask.stores.sqlite.backup import backing_up

        check = backing_up._check

        def changed(copy: sqlite3.Connection, name: str) -> None:
            check(copy, name)
            if name == file:
                table = "store" if file == FILES[0] else "audit_file"
                for statement in statements:
                    copy.execute(statement.replace(" ON x ", f" ON {table} "))

        patch.setattr(backing_up, "_check", changed)
        db.backup(folder / "back-up")


def test_a_hardened_connection_trusts_no_schema() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        harden(connection)
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
        assert connection.execute("PRAGMA cell_size_check").fetchone() == (1,)


def test_connections_of_a_store_are_hardened(tmp_path: Path) -> None:
    from redask.stores.sqlite.connection import Database

    database = Database(
        tmp_path / "db" / "x.sqlite", busy_timeout=5, migrations=migrations.MIGRATIONS
    )
    with closing(database):
        for opened in (database.reading, database.beside, database.writing):
            with opened() as connection:
                assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_a_table_of_sqlites_own_name_is_not_taken_for_one_of_analyze() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (x UNIQUE)")
        connection.execute("PRAGMA writable_schema = ON")
        for kind, name, text in (
            ("view", "sqlite_stat1", "CREATE VIEW v AS SELECT 1"),
            ("trigger", "sqlite_autoindex_t_2", None),
            ("index", "sqlite_autoindex_t_3", "CREATE INDEX i ON t (upper(x))"),
        ):
            connection.execute(
                "INSERT INTO sqlite_master VALUES (?, ?, 't', 0, ?)", (kind, name, text)
            )
        assert foreign_parts(connection, ["CREATE TABLE t (x UNIQUE)"]) == [
            "index 'sqlite_autoindex_t_3'",
            "trigger 'sqlite_autoindex_t_2'",
            "view 'sqlite_stat1'",
        ]
