"""A large file whose first ingest was cut off, and that is refused the next time, leaves nothing.

The next run after a cut ends where an uninterrupted one would have: a new file that is refused
leaves nothing. The rows of a complete earlier version do stay, see `test_refused_half_way`.
"""

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from filing import app_of, contents, held, write

import redask
from redask.core.errors import Cancelled
from redask.ingest import pipeline, spool

TOO_WIDE = "\n".join(f'{{"id": {n}, "c{n}": 1}}' for n in range(1600))
OLD = range(57)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "SMALL", 10)
    monkeypatch.setattr(pipeline, "BATCH", 10)


def rows(ids: Sequence[int]) -> str:
    return "\n".join(f'{{"id": {n}}}' for n in ids)


def cut_off(db: redask.OpenDatabase, file: Path) -> None:
    """Ingest, stopped once a part of the file is written."""
    before = app_of(db).backend.store.watermark("local")

    class Stopped(threading.Event):
        def is_set(self) -> bool:
            return app_of(db).backend.store.watermark("local") > before

    with pytest.raises(Cancelled):
        app_of(db).ingest([str(file)], None, redask.Caller(), lambda _: None, Stopped())
    assert Stopped().is_set()


@pytest.fixture
def begun(db: redask.OpenDatabase, tmp_path: Path) -> Path:
    """A file that is too wide for the store, of which a part is written."""
    file = write(tmp_path / "b" / "t.jsonl", TOO_WIDE)
    cut_off(db, file)
    return file


def test_a_new_file_cut_off_and_then_refused_half_way_leaves_nothing(
    db: redask.OpenDatabase, begun: Path
) -> None:
    done = db.ingest(begun)
    assert "more than 1500" in done.problems[0].reason
    assert held(db) == {}
    assert done.removed >= done.written


def test_a_new_file_cut_off_twice_and_then_bad_leaves_nothing(
    db: redask.OpenDatabase, begun: Path
) -> None:
    cut_off(db, write(begun, rows(range(100, 200))))
    assert not db.ingest(write(begun, rows(OLD) + "\n{")).ok
    assert held(db) == {}


def test_a_new_file_cut_off_and_then_conflicting_leaves_nothing(
    db: redask.OpenDatabase, begun: Path, tmp_path: Path
) -> None:
    other = write(tmp_path / "a" / "t.jsonl", '{"id": 1599}')
    assert db.ingest(other).ok
    [problem] = db.ingest(begun).problems
    assert "has URNs that belong to" in problem.reason
    assert set(contents(db, "row:t/")) == {"1599"}


def test_a_new_file_cut_off_is_whole_after_the_next_good_run_and_then_stays(
    db: redask.OpenDatabase, begun: Path
) -> None:
    assert db.ingest(write(begun, rows(OLD))).ok
    assert contents(db, "row:t/") == {str(n): {"id": n} for n in OLD}
    assert not db.ingest(write(begun, TOO_WIDE)).ok
    assert set(contents(db, "row:t/")) >= {str(n) for n in OLD}


def test_a_known_file_whose_new_version_is_cut_off_and_then_refused_keeps_its_rows(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = write(tmp_path / "t.jsonl", rows(OLD))
    assert db.ingest(file).ok
    cut_off(db, write(file, TOO_WIDE))
    assert not db.ingest(file).ok
    assert set(contents(db, "row:t/")) >= {str(n) for n in OLD}
    assert not db.ingest(write(file, rows(OLD) + "\n{")).ok
    assert set(contents(db, "row:t/")) >= {str(n) for n in OLD}
