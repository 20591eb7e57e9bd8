"""Whatever happens to the files: a clear error, nothing half-written, nothing lost."""

import errno
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from redask.core.errors import StoreFailed
from redask.core.model import Caller
from redask.core.ports import Entity
from redask.stores import entity_rows
from redask.stores.sqlite import migrations
from redask.stores.sqlite.store import FILE, SqliteStore

ME = Caller()
NOBODY = 65534


def fill(directory: Path, count: int = 500) -> None:
    with SqliteStore(directory) as store:
        batch = [{"id": n, "text": f"row {n} " * 20} for n in range(count)]
        store.put([*entity_rows.entities("t", batch), entity_rows.link(_urn(1), "x", _urn(2))], ME)
        store.put(entity_rows.entities("v", [{"id": 1}], vectors=[[1.0, 2.0]]), ME)


def _urn(number: int) -> str:
    return f"urn:reddb:row:t/{number}"


def read_all(directory: Path) -> int:
    with SqliteStore(directory) as store:
        return len(store.changes("local", 0, 10_000)) + len(store.page("t", ME, limit=10_000))


# --- damaged files -------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 50, 100, 4096, 5000, 40_000])
def test_a_truncated_file_is_refused_and_not_replaced(tmp_path: Path, size: int) -> None:
    fill(tmp_path)
    os.truncate(tmp_path / FILE, size)
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(StoreFailed, match=r"damaged"):
        read_all(tmp_path)
    assert (tmp_path / FILE).read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_not_replaced(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("Dear diary, " * 1000)
    with pytest.raises(StoreFailed, match="not a SQLite database"):
        SqliteStore(tmp_path)
    assert (tmp_path / FILE).read_text().startswith("Dear diary")


def test_pages_full_of_rubbish_are_noticed_when_they_are_read(tmp_path: Path) -> None:
    fill(tmp_path)
    data = (tmp_path / FILE).read_bytes()
    pages = range(len(data) // 4096)
    spoiled = b"".join(
        data[n * 4096 : n * 4096 + 4096] if n < 60 else b"\xa5" * 4096 for n in pages
    )
    (tmp_path / FILE).write_bytes(spoiled)
    with pytest.raises(StoreFailed, match="damaged"):
        read_all(tmp_path)
    with SqliteStore(tmp_path) as store:
        assert store.check()[0].startswith("SQLite says: ")


def test_a_directory_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(StoreFailed, match=r"no file"):
        SqliteStore(tmp_path)


def test_a_file_in_place_of_the_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreFailed, match="cannot be used"):
        SqliteStore(tmp_path / "data")


def test_a_log_that_lost_its_database_is_not_replayed_into_a_new_one(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store:
        store.put(entity_rows.entities("t", [{"id": 1}]), ME)
        shutil.copy(tmp_path / f"{FILE}-wal", tmp_path / "kept")
    (tmp_path / FILE).unlink()
    (tmp_path / "kept").rename(tmp_path / f"{FILE}-wal")
    with pytest.raises(StoreFailed, match="is missing, but its log"):
        SqliteStore(tmp_path)
    assert not (tmp_path / FILE).exists()


def test_nothing_but_the_database_is_left_of_making_one(tmp_path: Path) -> None:
    SqliteStore(tmp_path / "a" / "b").close()
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == [FILE]


def test_any_name_will_do_for_a_directory(tmp_path: Path) -> None:
    odd = tmp_path / "my data? #1 100% ü"
    fill(odd)
    assert read_all(odd) > 1000


# --- what check finds ----------------------------------------------------------------------

PLANTED = {
    "an edge stands without one of its ends": (
        "UPDATE entities SET payload = NULL WHERE urn = 'urn:reddb:row:t/1'"
    ),
    "a vector stands without its entity": (
        "UPDATE entities SET payload = NULL WHERE urn = 'urn:reddb:row:v/1'"
    ),
    "a change is newer than its tenant's watermark": "UPDATE tenants SET seq = seq - 1",
    "a collection counts other entities than it holds": "UPDATE holdings SET entities = 7",
    "a tenant counts other vectors than it has": "UPDATE tenants SET vectors = 0",
    "a collection's columns are not those of its entities": (
        "DELETE FROM columns WHERE name = 'text'"
    ),
    "row 1 of vectors refers to something missing in entities": (
        "UPDATE vectors SET key = 1; DELETE FROM entities WHERE key = 1"
    ),
}


@pytest.mark.parametrize("sentence", PLANTED)
def test_check_names_what_is_wrong(tmp_path: Path, sentence: str) -> None:
    fill(tmp_path)
    with SqliteStore(tmp_path) as store:
        assert store.check() == []
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.executescript(PLANTED[sentence])
    with SqliteStore(tmp_path) as store:
        assert sentence in store.check()


# --- read-only directories -----------------------------------------------------------------


@pytest.fixture
def public_directory() -> Iterator[Path]:
    """A directory that an ordinary user can reach; pytest's own are closed to others."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o777)
    if os.geteuid() == 0:
        os.chown(made, NOBODY, -1)
    yield made
    made.chmod(0o777)
    shutil.rmtree(made)


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Nothing is read-only to root, so stop being root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_directory_cannot_hold_a_new_database(public_directory: Path) -> None:
    public_directory.chmod(0o555)
    with ordinary_user(), pytest.raises(StoreFailed, match=r"writable|Permission"):
        SqliteStore(public_directory)
    assert list(public_directory.iterdir()) == []


def test_a_database_in_a_read_only_directory_is_refused_until_it_is_writable(
    public_directory: Path,
) -> None:
    with ordinary_user():
        fill(public_directory)
        public_directory.chmod(0o555)
        with pytest.raises(StoreFailed, match="directory"):
            SqliteStore(public_directory)
        public_directory.chmod(0o777)
        assert read_all(public_directory) > 1000


def test_a_read_only_file_can_be_read_and_refuses_writes(public_directory: Path) -> None:
    with ordinary_user():
        fill(public_directory)
        (public_directory / FILE).chmod(0o444)
        with SqliteStore(public_directory) as store:
            assert store.get(_urn(1), ME) is not None
            with pytest.raises(StoreFailed, match="read-only"):
                store.put(entity_rows.entities("t", [{"id": 1}]), ME)


# --- a full disk ---------------------------------------------------------------------------

Cramp = Callable[[SqliteStore], None]


def _limit_pages(store: SqliteStore) -> None:
    """SQLite's own limit: the same error as from a full disk, wherever mounting is not allowed."""
    with store.database.writing() as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    store.database._writer.execute(f"PRAGMA max_page_count = {pages + 20}")


@pytest.fixture(params=["small disk", "page limit"])
def cramped(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Path, Cramp]]:
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(tmp_path)]
    small = request.param == "small disk" and os.geteuid() == 0
    if not small or subprocess.run(mount, check=False, capture_output=True).returncode:
        yield tmp_path, _limit_pages
        return
    try:
        yield tmp_path, lambda _: None
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_full_disk_loses_nothing_and_leaves_nothing_half_written(
    cramped: tuple[Path, Cramp],
) -> None:
    directory, cramp = cramped
    with SqliteStore(directory) as store:
        store.put(entity_rows.entities("t", [{"id": 1, "text": "first"}]), ME)
        cramp(store)
        acknowledged = _fill_up(store)
        before = store.page("t", ME, limit=10_000), store.watermark("local")
        with pytest.raises(StoreFailed, match="the disk is full"):
            store.put(_batch(acknowledged, size=4000), ME)
        assert (store.page("t", ME, limit=10_000), store.watermark("local")) == before
        assert store.check() == []
    with SqliteStore(directory) as store:
        assert (store.page("t", ME, limit=10_000), store.watermark("local")) == before
        assert len(before[0]) == 1 + 10 * acknowledged


def _fill_up(store: SqliteStore) -> int:
    """Write batches until one is refused. → how many were acknowledged."""
    for number in range(1000):
        try:
            store.put(_batch(number), ME)
        except StoreFailed:
            return number
    raise AssertionError("the disk never filled up")


def _batch(number: int, size: int = 10) -> list[Entity]:
    ids = range(100 + 10 * number, 100 + 10 * number + size)
    return entity_rows.entities("t", [{"id": row, "text": f"{row} " * 100} for row in ids])


def test_a_full_disk_cannot_hold_a_new_database(tmp_path: Path) -> None:
    def link(_source: object, _target: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "link", link)
        with pytest.raises(StoreFailed, match="No space left on device"):
            SqliteStore(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_new_database_is_written_without_a_log_that_closing_would_have_to_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Closing tells nobody when copying fails, and then the file was linked without its content."""
    modes: list[str] = []

    def upgrade(connection: sqlite3.Connection, *rest: Any) -> None:
        modes.append(connection.execute("PRAGMA journal_mode").fetchone()[0])
        migrations.upgrade(connection, *rest)

    monkeypatch.setattr("redask.stores.sqlite.connection.upgrade", upgrade)
    with SqliteStore(tmp_path) as store:
        assert store.check() == []
    assert modes == ["delete", "wal"]  # the draft, and the file as it is opened
