"""A whole ingest: what is written, what is left alone, what goes, and what is left out."""

import asyncio
import errno
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filing import app_of, contents, edges, held, write

import redask
from redask.core.errors import AskError, BadAsk, StoreFailed
from redask.core.model import IngestProgress, LeftOut
from redask.ingest import listing, pipeline, spool
from redask.ingest.listing import LEADS_OUT
from redask.ingest.readers import READERS, content


def watermark(db: redask.OpenDatabase) -> int:
    return app_of(db).backend.store.watermark("local")


def reasons(db: redask.OpenDatabase, *paths: Path) -> dict[str, str]:
    return {Path(each.path).name: each.reason for each in db.ingest(*paths).problems}


# --- again ---------------------------------------------------------------------------------


def test_ingesting_unchanged_files_again_writes_nothing(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    write(tmp_path / "d" / "a.md", "# A\n\nsee [b](b.md)")
    write(tmp_path / "d" / "b.md", "# B\n\nback to [a](a.md)")
    write(tmp_path / "d" / "t.csv", "id,x\n1,2\n")
    first = db.ingest(tmp_path / "d")
    assert (first.written, first.ok) == (5, True)
    before = watermark(db), held(db)
    os.utime(tmp_path / "d" / "a.md")
    again = db.ingest(tmp_path / "d")
    assert (again.written, again.removed, again.gone) == (0, 0, 0)
    assert [(tally.read, tally.unchanged) for tally in again.tallies] == [(0, 1), (0, 2)]
    assert (watermark(db), held(db)) == before


def test_a_changed_file_changes_only_what_changed(db: redask.OpenDatabase, tmp_path: Path) -> None:
    file = write(tmp_path / "a.md", "# A\n\n## X\n\nx\n\n## Y\n\ny\n\n## Z\n\nz")
    db.ingest(file)
    before = watermark(db)
    write(file, "# A\n\n## X\n\nx\n\n## Y\n\nother\n\n## New\n\nn")
    done = db.ingest(file)
    assert (done.written, done.removed) == (2, 1)
    assert watermark(db) == before + 3
    texts = {name: chunk["text"] for name, chunk in contents(db, "document:documents/").items()}
    assert texts == {"a.md#x": "x", "a.md#y": "other", "a.md#new": "n"}


def test_rows_and_files_that_are_gone_are_removed(db: redask.OpenDatabase, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    write(folder / "t.csv", "id\n1\n2\n3\n")
    write(folder / "a.md", "a")
    write(folder / "sub" / "b.md", "b, see [a](../a.md)")
    db.ingest(folder)
    assert len(edges(db)) == 1
    write(folder / "t.csv", "id\n1\n3\n")
    (folder / "a.md").unlink()
    done = db.ingest(folder)
    assert (done.written, done.removed, done.gone) == (0, 3, 1)
    assert set(held(db)) == {
        "urn:reddb:row:t/1",
        "urn:reddb:row:t/3",
        "urn:reddb:document:d/sub%2Fb.md#top",
    }
    write(folder / "a.md", "a")
    db.ingest(folder)
    assert len(edges(db)) == 1, "the link leads somewhere again"


def test_what_was_put_by_hand_stays(db: redask.OpenDatabase, tmp_path: Path) -> None:
    db.put("t", [{"id": "hand"}])
    write(tmp_path / "d" / "t.csv", "id\n1\n")
    db.ingest(tmp_path / "d")
    (tmp_path / "d" / "t.csv").unlink()
    db.ingest(tmp_path / "d")
    assert set(held(db)) == {"urn:reddb:row:t/hand"}


def test_a_path_that_does_not_exist_is_refused_before_anything_is_read(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.md", "a")
    db.ingest(file)
    file.unlink()
    other, below = write(tmp_path / "b.md", "b"), tmp_path / "b.md" / "c.md"
    before = watermark(db)
    with pytest.raises(BadAsk) as caught:
        db.ingest(other, file, tmp_path / "nowhere", below)
    missing = f"{file}, {tmp_path / 'nowhere'}, {below}"
    assert caught.value.message == f"there is no file or folder {missing}; nothing was read"
    assert caught.value.detail == missing
    assert (watermark(db), len(held(db))) == (before, 1)


def test_a_file_that_vanishes_after_the_call_is_a_problem_and_removes_nothing(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "a.md", "a")
    db.ingest(file)
    listed = listing.find

    def vanished(path: str, *rest: Any, **more: Any) -> listing.FileList:
        file.unlink(missing_ok=True)
        return listed(path, *rest, **more)

    monkeypatch.setattr(listing, "find", vanished)
    assert reasons(db, file) == {"a.md": "cannot be read: No such file or directory"}
    assert len(held(db)) == 1


def test_a_file_that_became_bad_keeps_its_earlier_entities(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = write(tmp_path / "t.csv", "id,x\n1,2\n")
    db.ingest(file)
    write(file, "id,x\n1,2,3\n")
    assert "ragged" in reasons(db, file)["t.csv"]
    assert len(held(db)) == 1


def test_a_deleted_entity_is_ingested_again(db: redask.OpenDatabase, tmp_path: Path) -> None:
    file = write(tmp_path / "t.csv", "id\n1\n2\n")
    db.ingest(file)
    db.delete("urn:reddb:row:t/1")
    assert db.ingest(file).written == 1


def test_another_collection_moves_a_file(db: redask.OpenDatabase, tmp_path: Path) -> None:
    file = write(tmp_path / "t.csv", "id\n1\n")
    db.ingest(file)
    db.ingest(file, collection="other")
    assert set(held(db)) == {"urn:reddb:row:other/1"}


def test_a_file_of_a_folder_stays_where_it_is_when_it_is_named_directly(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    write(tmp_path / "d" / "sub" / "a.md", "a")
    db.ingest(tmp_path / "d")
    assert db.ingest(tmp_path / "d" / "sub" / "a.md").tallies[0].unchanged == 1
    write(tmp_path / "d" / "sub" / "a.md", "b")
    db.ingest(tmp_path / "d" / "sub" / "a.md")
    assert [chunk["text"] for chunk in contents(db, "document:d/sub%2Fa.md#").values()] == ["b"]
    assert len(held(db)) == 1


def test_two_files_with_the_same_rows_do_not_overwrite_each_other(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    first, second = write(tmp_path / "a" / "t.csv", "id,x\n1,1\n"), tmp_path / "b" / "t.csv"
    write(second, "id,x\n1,2\n2,2\n")
    done = db.ingest(first, second)
    assert done.problems[0].reason.startswith(f"has URNs that belong to {first}: ")
    assert contents(db, "row:t/") == {"1": {"id": 1, "x": 1}}
    write(first, "id,x\n7,1\n")
    assert db.ingest(second, first).ok, "the first no longer has the row, and is read later"
    assert set(contents(db, "row:t/")) == {"1", "2", "7"}
    first.unlink()
    write(second, "id,x\n7,2\n")
    assert db.ingest(second).ok, "the file that had the row is gone"
    assert contents(db, "row:t/") == {"7": {"id": 7, "x": 2}}


def test_the_same_content_is_held_whatever_happened_before(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    texts = {
        "a.md": "# A\n\nsee [b](b.md#x) and [c](c.md)\n\n## S\n\ns",
        "b.md": "# B\n\n## X\n\nback [a](a.md#s)",
        "c.md": "c, see [t](t.csv)",
        "t.csv": "id,x\n1,2\n3,4\n",
    }
    other = {"a.md": "# A\n\nno link", "b.md": "# B\n\n## Y\n\n[c](c.md)", "d.md": "d"}
    with redask.open(tmp_path / "one") as plain:
        for name, text in texts.items():
            write(folder / name, text)
        plain.ingest(folder)
        wanted = held(plain)
        assert len(edges(plain)) == 3
    with redask.open(tmp_path / "two") as db:
        for name, text in (*other.items(), ("c.md", "x"), ("t.csv", "id\n9\n")):
            write(folder / name, text)
        (folder / "c.md").unlink()
        db.ingest(folder)
        for name in sorted(texts, reverse=True):
            write(folder / name, texts[name])
            db.ingest(folder / name)
        (folder / "d.md").unlink()
        db.ingest(folder)
        assert held(db) == wanted


# --- which files ---------------------------------------------------------------------------


def test_folders_are_read_without_hidden_foreign_and_own_files(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    for name in ("a.md", ".git/b.md", "sub/.c.md", "d.png", "e.EXE", "g.png", "F.MD"):
        write(tmp_path / name, name)
    done = db.ingest(tmp_path)
    assert (done.ignored, done.problems, done.ok) == (3, (), True)
    assert done.left_out == (
        LeftOut(".png", 2, str(tmp_path / "d.png")),
        LeftOut(".exe", 1, str(tmp_path / "e.EXE")),
    )
    assert {chunk["path"] for chunk in contents(db, "document:").values()} == {"a.md", "F.MD"}


def test_a_file_without_a_reader_is_a_problem_when_it_is_named(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    write(tmp_path / "a.png", "x")
    os.mkfifo(tmp_path / "pipe.md")
    assert reasons(db, tmp_path / "a.png", tmp_path / "pipe.md") == {
        "a.png": "no reader is for such files (.png)",
        "pipe.md": "is neither a file nor a folder",
    }


def test_links_to_folders_are_followed_once_and_loops_are_reported(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    root = tmp_path / "d"
    write(root / "real" / "a.md", "a")
    write(tmp_path / "outside" / "b.md", "b")
    (root / "again").symlink_to(root / "real")
    (root / "away").symlink_to(tmp_path / "outside")
    (root / "real" / "up").symlink_to(root)
    (root / "self.md").symlink_to(root / "self.md")
    (root / "dangling.md").symlink_to(root / "nothing.md")
    broken = {
        "up": "is a link back to a folder above it",
        "self.md": "cannot be read: Too many levels of symbolic links",
        "dangling.md": "cannot be read: No such file or directory",
    }
    assert reasons(db, root) == broken | {"away": LEADS_OUT}
    assert {chunk["path"] for chunk in contents(db, "document:d/").values()} == {"real/a.md"}
    told = db.ingest(root, follow_symlinks=True).problems
    assert {Path(each.path).name for each in told} == set(broken)
    paths = {chunk["path"] for chunk in contents(db, "document:d/").values()}
    assert paths == {"real/a.md", "away/b.md"}


def test_a_symlink_out_of_a_folder_is_read_only_when_asked(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    root, secret = tmp_path / "docs", tmp_path / "docs-private"
    write(root / "a.md", "a")
    write(root / "deep" / "c.md", "c")
    write(secret / "passwd.md", "root:x:0:0")
    (root / "notes.md").symlink_to(secret / "passwd.md")
    (root / "chain.md").symlink_to(root / "notes.md")
    (root / "deep" / "up.md").symlink_to("../../docs-private/passwd.md")
    (root / "inside.md").symlink_to("deep/c.md")
    (root / "picture.png").symlink_to(secret)  # a folder, whatever it is called
    assert reasons(db, root) == dict.fromkeys(
        ("notes.md", "chain.md", "up.md", "picture.png"), LEADS_OUT
    )
    assert not any("root:x" in str(each) for each in contents(db, "document:").values())
    named = db.ingest(root / "notes.md")  # a path that somebody names is asked for
    assert named.ok
    assert any("root:x" in str(each) for each in contents(db, "document:").values())


def test_a_folder_that_is_a_symlink_itself_is_read(db: redask.OpenDatabase, tmp_path: Path) -> None:
    write(tmp_path / "real" / "a.md", "a")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert reasons(db, tmp_path / "link") == {}
    assert contents(db, "document:")


def test_a_name_that_is_not_utf_8_is_reported(db: redask.OpenDatabase, tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/d/caf\xe9.md"
    (tmp_path / "d").mkdir()
    with open(name, "w") as file:
        file.write("x")
    (problem,) = db.ingest(tmp_path / "d").problems
    assert problem.reason == "has a name that is not UTF-8"
    problem.path.encode()


def test_a_folder_that_cannot_be_listed_keeps_its_earlier_entities(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "d" / "shut" / "a.md", "a")
    write(tmp_path / "d" / "b.md", "b")
    db.ingest(tmp_path / "d")
    listed = os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        if str(path).endswith("shut"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr("redask.ingest.listing.os.scandir", refuse)
    done = db.ingest(tmp_path / "d")
    assert done.problems[0].reason == "cannot be read: Permission denied"
    assert (done.removed, len(held(db))) == (0, 2)


# --- one bad file --------------------------------------------------------------------------


def test_one_bad_file_does_not_stop_the_others(db: redask.OpenDatabase, tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path / "d" / f"{number}.md", f"text {number}")
    (tmp_path / "d" / "2.md").write_bytes(b"\xff\xfe\xfd")
    done = db.ingest(tmp_path / "d")
    assert [Path(each.path).name for each in done.problems] == ["2.md"]
    assert (done.ok, done.tallies[0].read, done.tallies[0].failed) == (False, 4, 1)
    assert len(held(db)) == 4


def test_an_unexpected_exception_of_a_reader_is_reported_for_its_file(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(text: str) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("redask.ingest.readers.markdown.outline", fail)
    files = write(tmp_path / "a.md", "x"), write(tmp_path / "t.csv", "id\n1\n")
    assert reasons(db, *files) == {"a.md": "could not be read (ZeroDivisionError)"}
    assert len(held(db)) == 1


def test_a_row_that_the_store_refuses_does_not_stop_the_others(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    names = ",".join(f"c{number}" for number in range(1000))
    values = ",".join("1" for _ in range(1000))
    write(tmp_path / "x" / "t.csv", f"id,{names}\n1,{values}\n")
    write(tmp_path / "y" / "t.csv", f"id,{names.replace('c', 'd')}\n2,{values}\n")
    write(tmp_path / "y" / "u.csv", "id\n1\n")
    found = reasons(
        db, tmp_path / "x" / "t.csv", tmp_path / "y" / "t.csv", tmp_path / "y" / "u.csv"
    )
    assert list(found) == ["t.csv"]
    assert "more than 1500" in found["t.csv"]
    assert set(held(db)) == {"urn:reddb:row:t/1", "urn:reddb:row:u/1"}


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.json", "t.md"])
def test_a_file_that_changes_while_it_is_read_is_left_out(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    texts = {"t.csv": "id\n1\n", "t.jsonl": '{"id":1}\n', "t.json": '[{"id":1}]', "t.md": "text"}
    file = write(tmp_path / name, texts[name])
    state = content._state
    calls: list[str] = []

    def meddle(path: str) -> tuple[int, int, int]:
        if calls:
            with file.open("a") as writer:
                writer.write("\n")
        calls.append(path)
        return state(path)

    monkeypatch.setattr(content, "_state", meddle)
    assert reasons(db, file)[name].startswith("changed while it was read")
    assert held(db) == {}


def test_a_text_file_of_two_gigabytes_is_refused_without_reading_it(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    with open(tmp_path / "big.txt", "wb") as file:
        file.truncate(2**31)  # a sparse file
    assert reasons(db, tmp_path / "big.txt") == {
        "big.txt": "is 2,147,483,648 bytes long, more than 67,108,864: split it"
    }


@pytest.mark.parametrize("name", ["big.csv", "big.json"])
def test_a_line_without_end_takes_no_memory(tmp_path: Path, name: str) -> None:
    with open(tmp_path / name, "wb") as file:
        file.write(b"[" if name == "big.json" else b"a\n")
        for _ in range(200):
            file.write(b"1" * 1_000_000)
    reason, grown = ingested(tmp_path, name, "problems[0].reason")
    assert reason.startswith(("has a line of more than", "is not valid JSON"))
    assert grown < 150_000


def ingested(directory: Path, name: str, what: str) -> tuple[str, int]:
    """Something of the summary, and how many kilobytes the process grew.

    The tables of SELECT come afterwards: DuckDB has a memory limit of its own.
    """
    code = (
        "import resource, sys, redask\n"
        "with redask.open(sys.argv[1]) as db:\n"
        "    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"    print(db.ingest(sys.argv[2], wait=False).{what})\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(directory / "db"), str(directory / name)],
        capture_output=True,
        text=True,
        check=True,
    )
    found, grown = run.stdout.splitlines()
    return found, int(grown)


# --- large files ---------------------------------------------------------------------------


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "SMALL", 10)
    monkeypatch.setattr(pipeline, "BATCH", 10)


@pytest.mark.usefixtures("small_parts")
def test_a_large_file_is_written_in_parts_and_stale_rows_deleted_at_its_end(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = write(tmp_path / "t.csv", "id\n" + "".join(f"{n}\n" for n in range(57)))
    assert db.ingest(file).written == 57
    assert db.ingest(file).written == 0
    write(file, "id,x\n" + "".join(f"{n},{n == 50}\n" for n in range(40, 90)))
    done = db.ingest(file)
    assert (done.written, done.removed) == (50, 40)
    assert set(contents(db, "row:t/")) == {str(n) for n in range(40, 90)}
    write(file, "id\n1\n")
    assert (db.ingest(file).removed, len(held(db))) == (50, 1)


@pytest.mark.usefixtures("small_parts")
def test_a_large_file_that_is_bad_in_its_last_line_leaves_nothing(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    lines = "".join(f"{n}\n" for n in range(57))
    assert "ragged" in reasons(db, write(tmp_path / "t.csv", f"id\n{lines}1,2\n"))["t.csv"]
    assert "duplicate URN" in reasons(db, write(tmp_path / "t.csv", f"id\n{lines}3\n"))["t.csv"]
    assert held(db) == {}


@pytest.mark.usefixtures("small_parts")
def test_a_large_file_that_conflicts_in_its_last_part_leaves_nothing(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    first = write(tmp_path / "a" / "t.csv", "id\n55\n")
    second = write(tmp_path / "b" / "t.csv", "id\n" + "".join(f"{n}\n" for n in range(57)))
    assert "has URNs that belong to" in reasons(db, first, second)["t.csv"]
    assert set(held(db)) == {"urn:reddb:row:t/55"}


@pytest.mark.usefixtures("small_parts")
def test_a_large_file_that_the_store_refuses_half_way_leaves_nothing(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    lines = [f'{{"id": {n}, "c{n}": 1}}' for n in range(1600)]
    found = reasons(db, write(tmp_path / "t.jsonl", "\n".join(lines)))
    assert "more than 1500" in found["t.jsonl"]
    assert held(db) == {}


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    with open(tmp_path / "t.jsonl", "w") as file:
        for number in range(25_000):
            file.write(f'{{"id": {number}, "text": "{"ferry " * 1000}"}}\n')
    written, grown = ingested(tmp_path, "t.jsonl", "written")
    assert written == "25000"
    assert grown < 115_000, "kilobytes, of 150 MB: caches and one part"


# --- stopping ------------------------------------------------------------------------------


def test_a_stopped_ingest_is_whole_and_the_next_one_goes_on(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "BATCH", 3)
    for number in range(20):
        write(tmp_path / "d" / f"{number:02}.md", f"see [next]({number + 1:02}.md)")

    def interrupt(at: IngestProgress) -> None:
        if at.files_done == 10:
            raise KeyboardInterrupt

    app = app_of(db)
    with pytest.raises(KeyboardInterrupt):
        app.ingest([str(tmp_path / "d")], None, redask.Caller(), interrupt, threading.Event())
    assert 0 < len(held(db)) < 20
    done = db.ingest(tmp_path / "d")
    assert 0 < done.tallies[0].unchanged < 20
    assert (len(edges(db)), len(held(db))) == (19, 39)


def test_stopping_is_asked_for_by_a_flag(db: redask.OpenDatabase, tmp_path: Path) -> None:
    write(tmp_path / "d" / "a.md", "a")
    stop = threading.Event()
    stop.set()
    with pytest.raises(AskError) as caught:
        app_of(db).ingest([str(tmp_path / "d")], None, redask.Caller(), lambda _: None, stop)
    assert caught.value.kind == "cancelled"


def test_cancelling_the_asynchronous_ingest_stops_it_soon(tmp_path: Path) -> None:
    for number in range(50):
        write(tmp_path / "d" / f"{number:02}.md", "text")

    async def cancelled() -> tuple[int, int]:
        async with await redask.aopen(tmp_path / "db") as db:
            begun = threading.Event()
            go_on = threading.Event()

            def wait(at: IngestProgress) -> None:
                begun.set()
                go_on.wait(60)

            work = asyncio.create_task(db.ingest(tmp_path / "d", progress=wait))
            await asyncio.to_thread(begun.wait, 60)
            work.cancel()
            await asyncio.sleep(0)
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await work
            first = await db.doctor()
            await db.ingest(tmp_path / "d")
            last = await db.doctor()
            return first["store"]["entities"], last["store"]["entities"]

    assert asyncio.run(cancelled()) == (0, 50)


def test_a_full_disk_ends_the_ingest_and_leaves_nothing_half_written(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    write(tmp_path / "d" / "a.md", "kept")
    db.ingest(tmp_path / "d")
    before = held(db)
    write(tmp_path / "d" / "t.csv", "id,x\n" + "".join(f"{n},{'x' * 300}\n" for n in range(3000)))
    writer = app_of(db).backend.store._database._writer  # type: ignore[attr-defined]
    (pages,) = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages + 20}")
    with pytest.raises(StoreFailed, match="the disk is full"):
        db.ingest(tmp_path / "d")
    assert held(db) == before
    writer.execute("PRAGMA max_page_count = 1000000")
    assert db.ingest(tmp_path / "d").written == 3000


def test_a_full_temporary_directory_is_reported_for_that_file(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "SMALL", 10)
    connect = sqlite3.connect

    def cramped(*args: object, **kwargs: object) -> sqlite3.Connection:
        made = connect(*args, **kwargs)  # type: ignore[call-overload]
        assert isinstance(made, sqlite3.Connection)
        made.execute("PRAGMA max_page_count = 4")
        return made

    monkeypatch.setattr("redask.ingest.spool.sqlite3.connect", cramped)
    file = write(tmp_path / "t.csv", "id,x\n" + "".join(f"{n},{'x' * 300}\n" for n in range(300)))
    assert "database or disk is full" in reasons(db, file)["t.csv"]
    assert held(db) == {}


# --- the rest ------------------------------------------------------------------------------


def test_progress_reports_files_bytes_and_entities(db: redask.OpenDatabase, tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / "d" / f"{number}.md", "x" * 10)
    reported: list[IngestProgress] = []
    db.ingest(tmp_path / "d", progress=reported.append)
    assert [at.files_done for at in reported] == [0, 1, 2, 3]
    assert (reported[-1].files, reported[-1].bytes, reported[-1].bytes_done) == (3, 30, 30)
    assert reported[-1].entities == 3


def test_a_summary_is_plain_data(db: redask.OpenDatabase, tmp_path: Path) -> None:
    bad = write(tmp_path / "b.png", "b")
    done = db.ingest(write(tmp_path / "a.md", "a"), bad)
    assert done.to_dict() == {
        "gone": 0,
        "ignored": 0,
        "left_out": [],
        "ok": False,
        "problems": [{"path": str(bad), "reason": "no reader is for such files (.png)"}],
        "readers": [{"entities": 1, "failed": 0, "read": 1, "reader": "markdown", "unchanged": 0}],
        "removed": 0,
        "written": 1,
    }


def test_invalid_arguments_are_refused(db: redask.OpenDatabase, tmp_path: Path) -> None:
    for paths, choice in (((), None), ((tmp_path,), "red_x"), ((tmp_path,), "")):
        with pytest.raises(BadAsk):
            db.ingest(*paths, collection=choice)


def test_no_two_readers_claim_one_suffix() -> None:
    endings = [suffix for row in READERS for suffix in row.suffixes]
    assert len(endings) == len(set(endings))
    assert all(suffix == suffix.lower() for suffix in endings)
