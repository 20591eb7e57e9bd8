"""A large file that is known, in a new version that is refused half way: its old rows stay.

A large file is written in parts. A new file that is refused half way leaves nothing; a known one
must not be treated so, or a bad edit would delete all earlier rows of the file.
"""

from pathlib import Path

import pytest
from filing import contents, held, write

import redask
from redask.ingest import pipeline, spool
from redask.stores.relational.manifest import RelationalManifest

OLD = {str(number) for number in range(57)}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "SMALL", 10)
    monkeypatch.setattr(pipeline, "BATCH", 10)


def lines(ids: range, columns: int = 0) -> str:
    """Rows with their version; with `columns`, each row has a column of its own, so many in all."""
    made = [f'{{"id": {n}, "version": "new", "c{n % max(columns, 1)}": 1}}' for n in ids]
    return "\n".join(made)


@pytest.fixture
def file(db: redask.OpenDatabase, tmp_path: Path) -> Path:
    """A large file whose 57 rows are in the database."""
    made = write(tmp_path / "b" / "t.jsonl", "\n".join(f'{{"id": {n}}}' for n in range(57)))
    assert db.ingest(made).written == 57
    return made


def test_a_version_that_the_store_refuses_half_way_leaves_the_old_rows(
    db: redask.OpenDatabase, file: Path
) -> None:
    write(file, lines(range(40, 1700), columns=1600))
    for _ in range(2):  # what was refused is not taken for done
        [problem] = db.ingest(file).problems
        assert "more than 1500" in problem.reason
    found = contents(db, "row:t/")
    assert set(found) >= OLD
    assert found["0"] == {"id": 0}
    assert "1699" not in found, "it was not refused half way: the test shows nothing"


def test_a_version_that_conflicts_half_way_leaves_the_old_rows(
    db: redask.OpenDatabase, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(file, lines(range(40, 100)))
    other = write(tmp_path / "a" / "t.jsonl", '{"id": 95, "version": "other"}')
    looked = RelationalManifest.collisions

    def late(manifest: RelationalManifest, *args: object) -> str | None:
        """No conflict yet; then another process ingests the other file."""
        monkeypatch.setattr(RelationalManifest, "collisions", looked)
        with redask.open(tmp_path / "db") as second:
            assert second.ingest(other).ok
        monkeypatch.setattr(RelationalManifest, "collisions", lambda *_: None)
        return None

    monkeypatch.setattr(RelationalManifest, "collisions", late)
    [problem] = db.ingest(file).problems
    assert "has URNs that belong to" in problem.reason
    found = contents(db, "row:t/")
    assert set(found) >= OLD
    assert found["0"] == {"id": 0}
    assert found["60"]["version"] == "new", "it was refused at once: the test shows nothing"
    assert found["95"]["version"] == "other"


def test_a_version_that_conflicts_before_it_is_written_changes_nothing(
    db: redask.OpenDatabase, file: Path, tmp_path: Path
) -> None:
    other = write(tmp_path / "a" / "t.jsonl", '{"id": 95, "version": "other"}')
    assert db.ingest(other).ok
    before = held(db)
    write(file, lines(range(40, 100)))
    [problem] = db.ingest(file).problems
    assert "has URNs that belong to" in problem.reason
    assert held(db) == before


@pytest.mark.parametrize(
    "ids", [range(57), range(30, 80)], ids=["the old version", "a corrected one"]
)
def test_after_a_refusal_the_next_good_version_is_all_there_is(
    db: redask.OpenDatabase, file: Path, ids: range
) -> None:
    write(file, lines(range(40, 1700), columns=1600))
    assert not db.ingest(file).ok
    good = "\n".join(f'{{"id": {n}}}' for n in ids)
    assert db.ingest(write(file, good)).ok
    assert contents(db, "row:t/") == {str(n): {"id": n} for n in ids}
    assert db.ingest(file).written == 0
