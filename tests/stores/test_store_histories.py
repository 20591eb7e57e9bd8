"""A store that was replaced, copied or put back is never searched with what was derived of another.

`--file-histories` says how many steps of random histories are played; `make histories` plays 2,000.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from store_histories import content, play, small_tails

import redask
from redask.core.model import Caller
from redask.core.ports import EmbeddingLease, Entity
from redask.stores import entity_rows
from redask.stores.relational import history
from redask.stores.sqlite.migrations import MIGRATIONS, upgrade
from redask.stores.sqlite.store import FILE, SqliteStore

ME = Caller()
SEEDS = 4


def put(store: SqliteStore, number: int) -> None:
    store.put(entity_rows.entities("t", [{"id": number}]), ME)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_equal_content_answers_equally_whatever_became_of_the_files(
    request: pytest.FixtureRequest, tmp_path: Path, seed: int
) -> None:
    steps = int(request.config.getoption("--file-histories")) // SEEDS
    played = play(seed, steps, tmp_path)
    assert played.wrong == []
    assert played.checks > steps // 3, "it looked at too little"
    assert len(played.expected) > 2, "the content hardly changed"


@pytest.mark.parametrize("part", ["redask.sqlite", "index"])
def test_an_older_store_under_a_newer_index_that_is_written_on_is_found_out(
    tmp_path: Path, part: str
) -> None:
    """The case that was searched with the old index, silently; and its mirror image."""
    here, older = tmp_path / "here", tmp_path / "older"
    with redask.open(here) as db:
        db.put("notes", [{"id": 1, "text": "the ferry leaves at nine"}])
        db.search("ferry")
    shutil.copytree(here, older)
    for place, text in ((here, "a storm came"), (older, "an island of sand")):
        with redask.open(place) as db:
            db.put("notes", [{"id": number, "text": text} for number in (2, 3)])
            db.search("ferry")
    if part == "index":
        shutil.rmtree(here / part)
        shutil.copytree(older / part, here / part)
        word, other = "storm", "island"
    else:
        shutil.copy2(older / part, here / part)
        word, other = "island", "storm"
    with redask.open(here) as db:
        assert "another history" in " ".join(db.doctor()["problems"])
        assert {hit.urn for hit in db.search(word).hits} >= {
            "urn:reddb:row:notes/2",
            "urn:reddb:row:notes/3",
        }
        assert not any("text" in str(hit) and other in str(hit) for hit in db.search(other).hits)
        # the logs remember the store, and not the index
        put_back = "log: the store and the log are not of one time: one of them was put back"
        logs = ("audit", "access") if part == "redask.sqlite" else ()
        assert db.doctor()["problems"] == [f"{log} {put_back}" for log in logs]


def test_doctor_names_an_index_that_is_ahead_of_its_store(tmp_path: Path) -> None:
    here, older = tmp_path / "here", tmp_path / "older"
    with redask.open(here) as db:
        db.put("notes", [{"id": 1}])
    shutil.copytree(here, older)
    with redask.open(here) as db:
        db.put("notes", [{"id": 2}])
        db.search("x")
    shutil.copy2(older / FILE, here / FILE)
    with redask.open(here) as db:
        (problem,) = db.doctor()["problems"]
        assert problem == "index: the index is at change 2, the store only at 1"


def test_the_content_of_a_store_does_not_name_its_history(tmp_path: Path) -> None:
    """Equal content, other marks: the same fingerprint, plan and answer."""
    seen = []
    for name in ("one", "two"):
        with redask.open(tmp_path / name) as db:
            db.put("notes", [{"id": 1, "text": "the ferry leaves at nine"}])
            seen.append((content(db), db.ask("When does the ferry leave?").to_dict()))
            marks = db._async._app.backend.store.history(ME.tenant)
            assert marks.partition(":")[2] not in str(seen[-1])
    assert seen[0] == seen[1]


def test_each_write_that_moves_the_watermark_leaves_a_mark_and_no_other(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store:
        assert store.history(ME.tenant) == ""
        assert store.follows(ME.tenant, "")
        put(store, 1)
        first = store.history(ME.tenant)
        assert first.startswith("1:")
        put(store, 1)  # equal content is no change
        assert store.history(ME.tenant) == first
        (row,) = store.page("t", ME)
        embedded = Entity(row.urn, row.payload, vector=(1.0, 0.0))
        store.set_vectors([embedded], ME.tenant, model="m", through=1)
        second = store.history(ME.tenant)
        assert second.startswith("2:")
        store.delete(["urn:reddb:row:t/1"], ME)
        assert store.history(ME.tenant).startswith("3:")
        assert store.follows(ME.tenant, first)
        assert store.follows(ME.tenant, second)
        assert store.view(ME).history == store.history(ME.tenant)
        assert store.history("another") == ""


@pytest.mark.parametrize("write", ["1:", "1:00", "2:{mark}", "0:{mark}", "x", ":", "-1:{mark}"])
def test_a_write_of_another_history_is_not_followed(tmp_path: Path, write: str) -> None:
    with SqliteStore(tmp_path) as store:
        put(store, 1)
        mark = store.history(ME.tenant).partition(":")[2]
        assert not store.follows(ME.tenant, write.format(mark=mark))
        assert not store.follows("another", f"1:{mark}")


def test_only_the_last_marks_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "KEPT", 3)
    with SqliteStore(tmp_path) as store:
        writes = []
        for number in range(6):
            put(store, number)
            writes.append(store.history(ME.tenant))
        assert [store.follows(ME.tenant, each) for each in writes] == [False] * 3 + [True] * 3


def test_a_database_of_before_has_one_mark_for_all_that_it_holds(tmp_path: Path) -> None:
    """Two upgrades of the same old file are two histories: nobody knows what came between."""
    (tmp_path / "old").mkdir(mode=0o700)
    with closing(sqlite3.connect(tmp_path / "old" / FILE, isolation_level=None)) as old:
        upgrade(old, FILE, MIGRATIONS[:9])
        old.execute("INSERT INTO tenants (name, seq) VALUES (?, 1)", (ME.tenant,))
    (tmp_path / "old" / FILE).chmod(0o600)
    shutil.copytree(tmp_path / "old", tmp_path / "again")
    seen = []
    for name in ("old", "again"):
        with SqliteStore(tmp_path / name) as store:
            seen.append((store.history(ME.tenant), store.timeline))
            assert store.follows(ME.tenant, seen[-1][0])
    assert seen[0][0].startswith("1:")
    assert seen[0][0] != seen[1][0]
    assert seen[0][1] != seen[1][1]


def test_a_copy_begins_a_timeline_and_has_no_lease(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "one") as store:
        put(store, 1)
        mine, other = EmbeddingLease("a:1:x", 1), EmbeddingLease("b:1:y", 1)
        store.claim_embedding(ME.tenant, mine, 9)
        timeline = store.timeline
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    with SqliteStore(tmp_path / "one") as same, SqliteStore(tmp_path / "two") as copy:
        assert same.timeline == timeline
        (found,) = same.claim_embedding(ME.tenant, other, 9)
        assert found.holder == mine.holder
        assert copy.timeline not in ("", timeline)
        (found,) = copy.claim_embedding(ME.tenant, other, 9)
        assert found.holder == other.holder
        assert copy.identity == same.identity
    with SqliteStore(tmp_path / "two") as again:
        assert again.timeline == copy.timeline


def test_tables_of_select_are_of_the_stores_own_history(tmp_path: Path) -> None:
    """An older store, written on until its watermark has passed that of the generation on disk."""
    here, older = tmp_path / "here", tmp_path / "older"
    with small_tails():
        with redask.open(here) as db:
            db.put("notes", [{"id": number, "text": "first"} for number in range(20)])
        shutil.copytree(here, older)
        with redask.open(here) as db:
            db.put("notes", [{"id": 1, "text": "of another history"}])
            assert len(db.select("SELECT * FROM notes WHERE text <> 'first'")) == 1
        assert list(here.rglob("*.duckdb")), "there is no generation to be found out"
        shutil.copy2(older / FILE, here / FILE)
        with redask.open(here) as db:
            db.put("notes", [{"id": number, "text": "first"} for number in (30, 31, 32)])
            assert db.select("SELECT id FROM notes WHERE text <> 'first'") == []
            assert len(db.select("SELECT id FROM notes")) == 23


def test_a_live_store_that_sqlite_put_back_is_searched_with_its_own_index(tmp_path: Path) -> None:
    """The same watermark, the same process, another history."""
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "the ferry"}])
        with closing(sqlite3.connect(":memory:")) as older:
            with closing(sqlite3.connect(tmp_path / FILE)) as live:
                live.backup(older)
            db.put("notes", [{"id": 2, "text": "a storm"}])
            assert "notes/2" in str(db.search("storm").hits)
            with closing(sqlite3.connect(tmp_path / FILE)) as live:
                older.backup(live)
        db.put("notes", [{"id": 3, "text": "an island"}])
        assert "notes/3" in str(db.search("island").hits)


@pytest.mark.parametrize("damage", ["", "answer", "ttl", "copy"])
def test_a_cached_answer_that_rotted_or_is_of_another_timeline_is_a_miss(
    tmp_path: Path, damage: str
) -> None:
    here, question = tmp_path / "here", "When does the ferry leave?"
    with redask.open(here) as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        first = db.ask(question, cache={"ttl": "1d"}).to_dict()
    if damage == "copy":
        shutil.copytree(here, tmp_path / "copy")
        here = tmp_path / "copy"
    elif damage:
        change = {"answer": "replace(answer, 'nine', 'none')", "ttl": "ttl + 1"}[damage]
        with closing(sqlite3.connect(here / "calls.sqlite")) as calls, calls:
            calls.execute(f"UPDATE answers SET {damage} = {change}")
    with redask.open(here) as db:
        again = db.ask(question, cache={"ttl": "1d"}).to_dict()
    assert again["cache_hit"] is (not damage)
    assert again["answer"] == first["answer"]
