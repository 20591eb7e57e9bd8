"""Documents read in a process of their own: the same entities, and bounds that hold."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from filing import contents, text_cell, xlsx, zipped

import redask
from redask.cli import main
from redask.core.errors import BadAsk, DeadlineExceeded, LimitExceeded, StoreFailed
from redask.ingest import process_reading
from redask.ingest.process_reading import ReadingService, in_process, in_worker
from redask.ingest.readers import READERS, reader_for
from redask.ingest.records import FoundFile, OpenedFile, ReadItem
from redask.stores.entity_rows import entity

LONG = b"".join(b"key%d: value\n" % number for number in range(1_000_000))


def opened(path: Path, data: bytes) -> OpenedFile:
    row = reader_for(str(path))
    assert row is not None
    found = FoundFile(str(path), str(path), path.name, None, True, row, len(data))
    return OpenedFile(found, data)


def files(folder: Path) -> list[Path]:
    folder.mkdir()
    made = {
        "boat.md": b"# Boats\n\nThe ferry leaves at nine.\n",
        "dock.yaml": b"dock: 4\nopen: true\n",
        "inner.zip": zipped({"a/b.md": b"# In\n\nPacked.\n", "c.zzz": b"?"}),
        "fares.xlsx": xlsx({"f": [[text_cell("to"), text_cell("fare")], [text_cell("Ay")]]}),
        "bad.ipynb": b"{",
    }
    for name, data in made.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in made]


def test_what_is_read_in_a_process_is_what_is_read_here(tmp_path: Path) -> None:
    files(tmp_path / "in")
    found: list[tuple[object, object]] = []
    for isolated in (False, True):
        with redask.open(tmp_path / f"db{isolated}") as db:
            report = db.ingest(tmp_path / "in", isolated=isolated).to_dict()
            found.append((report, contents(db, "")))
    assert found[0] == found[1]
    assert found[0][1]


def test_only_what_is_not_plain_is_read_elsewhere(tmp_path: Path) -> None:
    asked: list[str] = []

    def stream(method: str, *arguments: Any, **_: Any) -> Iterator[Any]:
        asked.append(arguments[0].path)
        assert arguments[0].reader is None  # a function is not sent
        yield 0, []

    read = in_worker(stream, 60, threading.Event())
    for path in files(tmp_path / "in"):
        list(read(opened(path, path.read_bytes())))
    assert [Path(each).name for each in asked] == [
        *("dock.yaml", "inner.zip", "fares.xlsx", "bad.ipynb")
    ]
    plain = {row.name for row in READERS if row.plain}
    assert plain == {
        *("markdown", "text", "restructuredtext", "asciidoc", "subtitles", "csv", "jsonl")
    }


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("file_seconds = 5", r"took longer than 5 s to read \(ingest.file_seconds\)"),
        ("file_memory_mb = 96", r"more memory than the 96 MiB allowed \(ingest.file_memory_mb\)"),
    ],
)
def test_a_file_that_takes_too_much_is_named_and_the_run_goes_on(
    tmp_path: Path, setting: str, reason: str
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.yaml").write_bytes(LONG[: 8 * 1024 * 1024 - 8])
    (tmp_path / "in" / "b.yaml").write_bytes(b"dock: 4\n")
    (tmp_path / "db").mkdir(mode=0o700)
    (tmp_path / "db" / "redask.toml").write_text(f"[ingest]\n{setting}\n")
    with redask.open(tmp_path / "db") as db:
        report = db.ingest(tmp_path / "in", isolated=True)
        (problem,) = report.problems
        assert problem.path.endswith("a.yaml")
        assert re.search(reason, problem.reason)
        assert report.written == 1


def test_a_file_read_here_has_the_same_time(tmp_path: Path) -> None:
    now = iter((0.0, 1.0, 5.0, 61.0))
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n{"a": 3}\n')
    records = in_process(60, lambda: next(now))(opened(path, b""))
    assert isinstance(next(records), ReadItem)
    assert isinstance(next(records), ReadItem)
    with pytest.raises(BadAsk, match="took longer than 60 s"):
        next(records)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DeadlineExceeded("x", "late"), "took longer than 60 s to read"),
        (LimitExceeded("memory", "needed much"), "could not be read: needed much"),
        (StoreFailed("ended", detail="killed by signal 11"), "crashed .killed by signal 11"),
    ],
)
def test_how_a_process_ends_is_said_of_the_file(
    tmp_path: Path, error: redask.AskError, said: str
) -> None:
    def stream(*_: Any, **__: Any) -> Iterator[Any]:
        raise error
        yield

    path = tmp_path / "a.yaml"
    with pytest.raises(BadAsk, match=said):
        list(in_worker(stream, 60, threading.Event())(opened(path, b"a: 1")))


def test_pages_are_bounded_by_records_and_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pages(lines: Callable[[int], str]) -> list[int]:
        path = tmp_path / "a.jsonl"
        path.write_text("".join(f'{{"a": "{lines(n)}"}}\n' for n in range(5)))
        service = ReadingService(entity)
        return [len(page) for _, page in service.read(opened(path, b"").found, b"")]

    monkeypatch.setattr(process_reading, "_PAGE", 2)
    assert pages(lambda _: "x") == [2, 2, 1]
    monkeypatch.setattr(process_reading, "_PAGE_CHARACTERS", 10)
    assert pages(lambda n: "x" * 11 if n == 0 else "x") == [1, 2, 2, 0]


def test_a_file_that_no_reader_is_for_is_refused() -> None:
    found = opened(Path("/a.md"), b"").found
    with pytest.raises(BadAsk, match="has no reader"):
        next(ReadingService(entity).read(replace(found, path="/a.zzz"), b""))


def test_an_interrupt_ends_the_reading_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(LONG[: 8 * 1024 * 1024 - 8])
    with redask.open(tmp_path / "db") as db:

        async def main() -> None:
            work = asyncio.ensure_future(db._async.ingest(tmp_path / "a.yaml", isolated=True))
            await asyncio.sleep(1)
            work.cancel()
            async with asyncio.timeout(60):
                await asyncio.wait([work])
            assert work.cancelled()

        db._run(main())


def test_the_command_reads_documents_in_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    ingest = redask.OpenDatabase.ingest

    def noted(self: redask.OpenDatabase, *paths: Any, **named: Any) -> Any:
        asked.append(named["isolated"])
        return ingest(self, *paths, **named)

    monkeypatch.setattr(redask.OpenDatabase, "ingest", noted)
    (tmp_path / "a.yaml").write_bytes(b"dock: 4\n")
    words = ["--db", str(tmp_path / "db"), "ingest", "--no-wait", str(tmp_path / "a.yaml")]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert asked == [True]
