"""Zipped folders: as a folder would be read, within bounds, and never out of the archive."""

import io
import zipfile
from pathlib import Path

import pytest
from filing import contents, database, held, zipped

import redask
from redask.core.model import LeftOut
from redask.ingest.readers import archives


def ingest(db: redask.OpenDatabase, path: Path, files: dict[str, bytes | str]) -> list[str]:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zipped(files))
    return [f"{each.path.partition('.zip')[2]}: {each.reason}" for each in db.ingest(path).problems]


def test_an_archive_is_read_as_its_folder(db: redask.OpenDatabase, tmp_path: Path) -> None:
    sqlite = database(
        tmp_path / "x.db",
        "CREATE TABLE port (id INTEGER PRIMARY KEY)",
        "INSERT INTO port VALUES (1)",
    )
    files: dict[str, bytes | str] = {
        "guide/a.md": "# Ferry\n\nAt nine.",
        "2024/sales.csv": "id,x\n1,2\n",
        "port.db": sqlite.read_bytes(),
        "inner.zip": zipped({"b.txt": "Never."}),
        ".hidden/c.md": "x",
        "__MACOSX/d.md": "x",
    }
    assert ingest(db, tmp_path / "docs.zip", files) == []
    found = contents(db, "document:docs/")
    assert {name: chunk["path"] for name, chunk in found.items()} == {
        "guide%2Fa.md#top": "guide/a.md",
        "inner.zip%2Fb.txt#top": "inner.zip/b.txt",
    }
    assert contents(db, "row:") == {"2024.sales/1": {"id": 1, "x": 2}, "port/1": {"id": 1}}


def test_in_a_folder_the_archive_is_part_of_the_path(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "d.zip").write_bytes(zipped({"a.md": "x", "t.csv": "id\n1\n"}))
    assert db.ingest(tmp_path / "all").ok
    assert set(held(db)) == {"urn:reddb:document:all/d.zip%2Fa.md#top", "urn:reddb:row:d.t/1"}


def test_what_cannot_be_read_is_named_every_time_and_the_rest_is_read(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    files: dict[str, bytes | str] = {
        "a.md": "x",
        "b.csv": "a,a\n1,2\n",
        "c.png": "x",
        "d.md": b"\0",
    }
    (tmp_path / "d.zip").write_bytes(zipped(files))
    for _ in range(2):
        done = db.ingest(tmp_path / "d.zip")
        assert [(each.path, each.reason) for each in done.problems] == [
            (f"{tmp_path}/d.zip/b.csv", "has two columns that are called 'a'"),
            (f"{tmp_path}/d.zip/d.md", "is not text: it holds a NUL character at position 0"),
        ]
        assert done.left_out == (LeftOut(".png", 1, f"{tmp_path}/d.zip/c.png"),)
        assert set(contents(db, "document:d/")) == {"a.md#top"}


@pytest.mark.parametrize(
    "name", ["../a.md", "x/../../a.md", "/etc/a.md", "C:/a.md", "..\\a.md", "\\a.md"]
)
def test_a_name_that_leads_out_is_refused(
    db: redask.OpenDatabase, tmp_path: Path, name: str
) -> None:
    (problem,) = ingest(db, tmp_path / "d.zip", {"ok.md": "x", name: "x"})
    assert problem.startswith(": holds a name that leads out of it: ")
    assert held(db) == {}


def test_bombs_are_bounded(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "MAX_ENTRY", 1_000_000)
    monkeypatch.setattr(archives, "MAX_UNPACKED", 5_000_000)
    monkeypatch.setattr(archives, "MAX_FILES", 50)
    path = tmp_path / "d.zip"
    assert ingest(db, path, {"a.md": "x" * 3_000_000, "b.md": "b"}) == [
        "/a.md: is more than 1,000,000 bytes long: unpack the archive"
    ]
    assert ingest(db, path, {f"{n}.md": "x" * 900_000 for n in range(9)}) == [
        ": unpacks to more than 5,000,000 bytes: a zip bomb?"
    ]
    assert ingest(db, path, {f"{n}.md": "x" for n in range(60)}) == [": packs more than 50 files"]
    deep = zipped({"c.zip": zipped({"d.zip": zipped({"a.md": "x"})})})
    assert ingest(db, path, {"b.zip": deep}) == [
        "/b.zip/c.zip: is an archive in an archive in an archive"
    ]


def test_damaged_encrypted_and_lying_archives_are_told(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    good = zipped({"a.md": "x" * 5000, "b.md": "y"})
    path = tmp_path / "d.zip"
    path.write_bytes(
        good.replace(b"PK\x01\x02\x14\x03\x14\0\0\0", b"PK\x01\x02\x14\x03\x14\0\1\0", 1)
    )
    assert db.ingest(path).problems[0].reason == "is protected by a password"
    path.write_bytes(good[:-30])
    assert db.ingest(path).problems[0].reason.startswith("is damaged, or no .zip file")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.md", "hello")
    path.write_bytes(made.getvalue().replace(b"hello", b"HELLO"))
    assert "CRC" in db.ingest(path).problems[0].reason


def test_one_row_or_name_that_cannot_be_written_leaves_out_its_file_only(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    files: dict[str, bytes | str] = {
        "a.md": "x",
        "b.csv": "id,n\n1,2\n1,3\n",
        "c.json": '[{"id":1,"x":1},{"id":2,"x":1e999}]',
        "n" * 2000 + ".md": "x",
        "red_x.csv": "id,n\n1,2\n",
        "t.csv": "id,n\n1,2\n",
        "u/t.csv": "id,n\n1,3\n",
    }
    (tmp_path / "d.zip").write_bytes(zipped(files))
    done = db.ingest(tmp_path / "d.zip")
    assert [each.reason.partition(":")[0] for each in done.problems] == [
        "has a duplicate URN",
        "c/2",
        "d/top",
        "red_x/1",
    ]
    assert set(contents(db, "")) == {"document:d/a.md#top", "row:t/1", "row:u.t/1"}
