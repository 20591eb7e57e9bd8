"""SQLite databases: tables, keys, foreign keys, and values that JSON does not have."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from filing import contents, database, edges

import redask
from redask.core.ports import DeclaredKey
from redask.ingest.readers import sqlite_files

SHOP = (
    "CREATE TABLE artist (id INTEGER PRIMARY KEY, Name TEXT)",
    "CREATE TABLE album (AlbumId INTEGER PRIMARY KEY, Title, ArtistId REFERENCES artist)",
    "INSERT INTO artist VALUES (1, 'Accept'), (2, 'Aerosmith')",
    "INSERT INTO album VALUES (7, 'Restless', 1), (8, 'Lost', 99), (9, 'None', NULL)",
)


def test_tables_are_collections_and_foreign_keys_are_edges(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    assert db.ingest(database(tmp_path / "shop.sqlite", *SHOP)).ok
    assert contents(db, "row:") == {
        "artist/1": {"id": 1, "Name": "Accept"},
        "artist/2": {"id": 2, "Name": "Aerosmith"},
        "album/7": {"AlbumId": 7, "Title": "Restless", "ArtistId": 1},
        "album/8": {"AlbumId": 8, "Title": "Lost", "ArtistId": 99},
        "album/9": {"AlbumId": 9, "Title": "None", "ArtistId": None},
    }
    assert edges(db) == {("row:album/7", "artist", "row:artist/1")}  # 99 is a dangling reference


def test_rows_are_found_by_a_name_column_of_any_case(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    db.ingest(database(tmp_path / "shop.sqlite", *SHOP))
    found = {bucket.bucket: bucket for bucket in db.search("What did Accept make?").buckets}
    reached = [urn for urn, _ in found["graph"].candidates]
    assert reached[0] == "urn:reddb:row:artist/1"
    assert "urn:reddb:row:album/7" in reached


def test_a_requested_collection_is_a_prefix_of_the_tables(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    db.ingest(database(tmp_path / "shop.sqlite", *SHOP), collection="music")
    assert set(contents(db, "row:")) >= {"music.artist/1", "music.album/7"}
    assert edges(db) == {("row:music.album/7", "artist", "row:music.artist/1")}


def test_keys_of_every_kind_make_ids(db: redask.OpenDatabase, tmp_path: Path) -> None:
    file = database(
        tmp_path / "k.db",
        "CREATE TABLE pair (a TEXT, b TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID",
        "INSERT INTO pair VALUES ('x,y', 'z'), ('y', 'z,x'), ('%', '')",
        "CREATE TABLE none (v)",
        "INSERT INTO none (rowid, v) VALUES (5, 'five'), (9, 'nine')",
        "CREATE TABLE odd (k TEXT PRIMARY KEY, rowid TEXT)",
        "INSERT INTO odd VALUES ('é/#', 'r'), (NULL, 's')",
        "CREATE TABLE bytes (k BLOB PRIMARY KEY)",
        "INSERT INTO bytes VALUES (x'00ff'), (1.5)",
    )
    assert db.ingest(file).problems == ()
    assert set(contents(db, "row:")) == {
        "pair/z,x%252Cy",
        "pair/z%252Cx,y",
        "pair/'',%2525",
        "none/5",
        "none/9",
        "odd/%C3%A9%2F%23",
        "odd/rowid%202",
        "bytes/00ff",
        "bytes/1.5",
    }


def test_values_that_json_does_not_have_are_described(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = database(
        tmp_path / "v.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v)",
        "INSERT INTO t VALUES (1, x'0102'), (2, 9e999), (3, -9e999), (4, CAST(x'ff41' AS TEXT)),"
        " (5, 'a' || char(0) || 'b'), (6, 9223372036854775807), (7, 0.1)",
    )
    assert db.ingest(file).ok
    values = {name: row["v"] for name, row in contents(db, "row:t/").items()}
    assert values["1"].startswith("<2 bytes, sha256 a12871fee210fb86")
    assert values["4"].startswith("<2 bytes, sha256 ")
    assert values["5"].startswith("<3 bytes, sha256 ")
    assert [values[key] for key in "2367"] == ["inf", "-inf", 9223372036854775807, 0.1]


def test_composite_and_self_referencing_foreign_keys_become_edges(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = database(
        tmp_path / "f.db",
        "CREATE TABLE parent (a, b, code TEXT UNIQUE, PRIMARY KEY (a, b))",
        "CREATE TABLE child (id INTEGER PRIMARY KEY, pa, pb, code REFERENCES Parent (CODE),"
        " boss_id REFERENCES child, gone REFERENCES nowhere,"
        " FOREIGN KEY (pa, pb) REFERENCES parent)",
        "INSERT INTO parent VALUES (1, 2, 'x')",
        "INSERT INTO child VALUES (1, 1, 2, 'x', 1, 7), (2, 2, 1, NULL, 1, 8)",
    )
    assert db.ingest(file).problems == ()
    assert edges(db) == {
        ("row:child/1", "pa pb", "row:parent/1,2"),
        ("row:child/1", "code", "row:parent/1,2"),
        ("row:child/1", "boss", "row:child/1"),
        ("row:child/2", "boss", "row:child/1"),
    }


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (("customer_id",), "customer"),
        (("SupportRepId",), "support rep"),
        (("ReportsTo",), "reports to"),
        (("ID",), "id"),
        (("übergabeID",), "übergabe"),
        (("",), ""),
    ],
)
def test_labels_are_words(columns: tuple[str, ...], words: str) -> None:
    assert DeclaredKey("t", columns).label == words


def test_views_virtual_tables_and_shadows_are_left_out(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = database(
        tmp_path / "s.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, g AS (id * 2))",
        "INSERT INTO t DEFAULT VALUES",
        "CREATE VIEW v AS SELECT * FROM t",
        "CREATE VIRTUAL TABLE f USING fts5 (x)",
        "INSERT INTO f VALUES ('words')",
    )
    db.ingest(file)
    assert contents(db, "") == {"row:t/1": {"id": 1, "g": 2}}


def test_a_log_that_was_not_folded_in_is_read_and_noticed(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = database(tmp_path / "w.db", "PRAGMA journal_mode = WAL", "CREATE TABLE t (v)")
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("INSERT INTO t VALUES ('first')")
        assert db.ingest(file).written == 1
        assert db.ingest(file).written == 0
        other.execute("INSERT INTO t VALUES ('second')")
        assert db.ingest(file).written == 1
    assert set(contents(db, "row:t/")) == {"1", "2"}


def test_a_locked_database_is_left_out(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_files, "BUSY_TIMEOUT_SECONDS", 0.1)
    file = database(tmp_path / "l.db", *SHOP)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        (problem,) = db.ingest(file).problems
    assert problem.reason == "is locked by another program: try again when it is done"
    assert contents(db, "") == {}
    assert db.ingest(file).ok


def test_a_damaged_database_is_left_out(db: redask.OpenDatabase, tmp_path: Path) -> None:
    rows = ", ".join(f"({number}, '{'x' * 500}')" for number in range(1, 500))
    file = database(
        tmp_path / "d.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, v)",
        f"INSERT INTO t VALUES {rows}",
    )
    whole = file.read_bytes()
    file.write_bytes(whole[: 4096 * 9] + b"\xa5" * 4096 * 5 + whole[4096 * 14 :])
    (problem,) = db.ingest(file).problems
    assert problem.reason.startswith("is damaged")
    file.write_bytes(b"Dear diary, " * 1000)
    assert db.ingest(file).problems[0].reason.startswith("is not a SQLite database")
    assert contents(db, "") == {}


def test_a_table_of_a_reserved_name_is_refused_by_name(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = database(tmp_path / "r.db", "CREATE TABLE red_x (a)", "INSERT INTO red_x VALUES (1)")
    assert "is reserved" in db.ingest(file).problems[0].reason
    assert db.ingest(file, collection="mine").ok
