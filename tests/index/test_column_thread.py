"""Arrays of a large partition are made beside its searches, and change no result."""

import random
import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import redask
from redask.core.model import Caller
from redask.core.ports import Found
from redask.index import SearchIndex
from redask.index.file_lock import FileLock
from redask.index.forward import column_builds, columns
from redask.index.forward.columns import ColumnRow
from redask.index.forward.entries import U64
from redask.index.forward.forward_index import Snapshot
from redask.index.graph.column_entities import ChangedRows
from tests.index.memory_store import MemoryStore
from tests.index.texts import ask, corpus, questions, row

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from waiting import SECONDS, until

CALLER = Caller()
CONTENT = corpus(200)
QUESTIONS = questions(6)
THREAD = "redask-columns"


class Gate:
    """Holds the making of arrays once it has read their first row, until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()
        self._build = columns.build

    def build(self, path: Path, rows: Iterable[ColumnRow], name_hashes: U64) -> None:
        self._build(path, self._held(iter(rows)), name_hashes)

    def _held(self, rows: Iterator[ColumnRow]) -> Iterator[ColumnRow]:
        yield next(rows)
        self.reached.set()
        assert self.opened.wait(SECONDS)
        yield from rows


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made = Gate()
    monkeypatch.setattr(columns, "build", made.build)
    monkeypatch.setattr(column_builds, "WAITED_ROWS", 0)
    yield made
    made.opened.set()


@pytest.fixture
def store() -> MemoryStore:
    made = MemoryStore()
    made.put(CONTENT, CALLER)
    return made


@pytest.fixture
def index(tmp_path: Path, store: MemoryStore) -> Iterator[SearchIndex]:
    opened = SearchIndex(tmp_path / "index", store)
    yield opened
    opened.close()


def answers(index: SearchIndex) -> list[tuple[Found, ...]]:
    return [index.search(question, CALLER) for question in QUESTIONS]


def without_arrays(store: MemoryStore, directory: Path) -> list[tuple[Found, ...]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_builds, "MIN_ROWS", 10**9)
        plain = SearchIndex(directory, store)
        found = answers(plain)
        plain.close()
    return found


def threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == THREAD]


def ended() -> bool:
    return until(lambda: not threads())


def recorded(directory: Path) -> tuple[str, list[int]]:
    """The file that the forward index names, and what changed since."""
    (file,) = directory.rglob("forward.sqlite")
    with sqlite3.connect(file) as connection:
        found = connection.execute("SELECT value FROM meta WHERE name = 'columns'").fetchone()
        changed = connection.execute("SELECT DISTINCT entity FROM changed").fetchall()
    return (found[0] if found else "", sorted(entity for (entity,) in changed))


def files(directory: Path) -> list[str]:
    return [path.name for path in directory.rglob("columns-*")]


def begin(index: SearchIndex, gate: Gate) -> None:
    """Search until arrays are being made."""
    for question in QUESTIONS[:2]:
        index.search(question, CALLER)
    assert gate.reached.wait(SECONDS)


def test_searches_go_on_and_find_the_same_before_while_and_after(
    index: SearchIndex, store: MemoryStore, gate: Gate, tmp_path: Path
) -> None:
    begin(index, gate)
    assert answers(index) == without_arrays(store, tmp_path / "plain")
    assert recorded(tmp_path / "index") == ("", [])
    gate.opened.set()
    assert ended()
    assert files(tmp_path / "index") == [recorded(tmp_path / "index")[0]]
    assert answers(index) == without_arrays(store, tmp_path / "plain")


def test_what_others_write_while_arrays_are_made_is_noted_and_found(
    index: SearchIndex, store: MemoryStore, gate: Gate, tmp_path: Path
) -> None:
    begin(index, gate)
    other = SearchIndex(tmp_path / "index", store)  # as another process has it
    store.put([row(3, title="Amrum", text="alpha beta"), row(900, title="Zanzibar")], CALLER)
    store.delete([CONTENT[5].urn], CALLER)
    assert answers(other) == without_arrays(store, tmp_path / "plain")
    assert len(recorded(tmp_path / "index")[1]) == 3
    gate.opened.set()
    assert ended()
    name, changed = recorded(tmp_path / "index")
    assert files(tmp_path / "index") == [name]
    assert len(changed) == 3  # since the arrays, which do not have them
    for each in (index, other):
        assert answers(each) == without_arrays(store, tmp_path / "plain")
        assert each.search(ask("Zanzibar"), CALLER)[0].candidates[0][0].endswith("/900")
    other.close()


def test_a_process_that_did_not_make_them_uses_them_without_another_write(
    index: SearchIndex, store: MemoryStore, gate: Gate, tmp_path: Path
) -> None:
    begin(index, gate)
    other = SearchIndex(tmp_path / "index", store)
    assert answers(other) == answers(index)
    used: list[bool] = []
    changed = column_builds.ColumnBuilds.changed

    def watched(self: column_builds.ColumnBuilds, snapshot: Snapshot) -> ChangedRows | None:
        found = changed(self, snapshot)
        used.append(found is not None)
        return found

    gate.opened.set()
    assert ended()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_builds.ColumnBuilds, "changed", watched)
        assert answers(other) == without_arrays(store, tmp_path / "plain")
    assert used[0]
    other.close()


def test_a_partition_that_is_closed_leaves_no_half_made_file(
    index: SearchIndex, gate: Gate, tmp_path: Path
) -> None:
    begin(index, gate)
    closing = threading.Thread(target=index.close)
    closing.start()
    gate.opened.set()
    closing.join(SECONDS)
    assert not closing.is_alive()
    assert not threads()
    assert not files(tmp_path / "index") or recorded(tmp_path / "index")[0]


def test_what_was_made_of_a_replaced_generation_is_removed(
    index: SearchIndex, store: MemoryStore, gate: Gate, tmp_path: Path
) -> None:
    begin(index, gate)
    other = SearchIndex(tmp_path / "index", store)
    (old,) = (tmp_path / "index").rglob("forward.sqlite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "build", gate._build)
        other.rebuild(CALLER.tenant)  # which makes them at once
    gate.opened.set()
    assert ended()
    assert not old.exists()
    assert files(tmp_path / "index") == [recorded(tmp_path / "index")[0]]
    assert answers(index) == answers(other) == without_arrays(store, tmp_path / "plain")
    other.close()


def test_one_process_makes_them_at_a_time_and_who_could_not_waits_for_a_write(
    index: SearchIndex, store: MemoryStore, gate: Gate, tmp_path: Path
) -> None:
    index.search(QUESTIONS[0], CALLER)
    (partition,) = (tmp_path / "index").iterdir()
    with FileLock(partition / "columns.lock", 1):
        answers(index)
        assert ended()
    answers(index)
    assert not threads()
    store.put([row(901, text="alpha")], CALLER)
    begin(index, gate)


def test_a_command_that_searches_once_makes_none(index: SearchIndex, gate: Gate) -> None:
    index.search(QUESTIONS[0], CALLER)
    assert not threads()
    assert not gate.reached.is_set()


def test_who_has_the_index_caught_up_waits_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_builds, "WAITED_ROWS", 0)
    with redask.open(tmp_path, embedder="none") as db:
        db.put("ships", [{"id": n, "title": f"Ship {n}"} for n in range(80)])
        db.catch_up()
        assert files(tmp_path) == [recorded(tmp_path)[0]]
        assert not threads()


def test_few_rows_are_made_at_once(
    index: SearchIndex, gate: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate.opened.set()
    monkeypatch.setattr(column_builds, "WAITED_ROWS", 1_000)
    index.search(QUESTIONS[0], CALLER)
    assert files(tmp_path / "index") == [recorded(tmp_path / "index")[0]]
    answers(index)
    assert not threads()


def test_arrays_that_others_recorded_meanwhile_stay(
    index: SearchIndex, store: MemoryStore, gate: Gate, tmp_path: Path
) -> None:
    begin(index, gate)
    other = SearchIndex(tmp_path / "index", store)
    store.put([row(902, text="alpha")], CALLER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "build", gate._build)
        patch.setattr(column_builds, "WAITED_ROWS", 1_000)
        other.search(QUESTIONS[0], CALLER)
    theirs = recorded(tmp_path / "index")
    assert theirs[0]
    gate.opened.set()
    assert ended()
    assert recorded(tmp_path / "index") == theirs
    assert files(tmp_path / "index") == [theirs[0]]
    assert answers(index) == without_arrays(store, tmp_path / "plain")
    other.close()


POLICIES = [
    {"read": [{"roles": ["clerk"], "rows": "shelf < 3"}]},
    {"read": [{"roles": ["clerk"], "rows": "shelf = 1", "hide": ["title"]}]},
]


def test_policies_and_users_see_the_same_while_the_engine_makes_arrays(
    tmp_path: Path, gate: Gate
) -> None:
    def found(directory: Path, *, held: bool) -> list[object]:
        chance = random.Random(3)
        rows = [
            {"id": n, "title": f"Ship {n % 9}", "text": f"harbour {n % 7} storm", "shelf": n % 5}
            for n in range(150)
        ]
        seen: list[object] = []
        with redask.open(directory, embedder="none") as db, redask.open(directory) as other:
            db.put("ships", rows)
            db.add_user("mia", role="clerk")
            clerk = db.signed_in(db.make_token("mia"))

            def look() -> None:
                for each in (db, clerk, other):
                    hits = each.search(f"Ship {chance.randrange(9)} harbour")
                    seen.append((hits.buckets, hits.to_dict()))

            look()
            assert gate.reached.wait(SECONDS) if held else not threads()
            for policy in POLICIES:
                db.set_policy("ships", policy)
                look()
                other.put("ships", [{"id": 3, "title": "Ship 8", "text": "late", "shelf": 1}])
                look()
            gate.opened.set()
            assert ended()
            look()
        return seen

    with_thread = found(tmp_path / "with", held=True)
    assert files(tmp_path / "with")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_builds, "MIN_ROWS", 10**9)
        assert found(tmp_path / "without", held=False) == with_thread


def test_arrays_of_another_layout_are_made_again_by_whoever_opens_the_index(
    tmp_path: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "index"
    with monkeypatch.context() as patch:
        patch.setattr(columns, "LAYOUT", 1)
        older = SearchIndex(directory, store)
        found = answers(older)
        older.close()
    before = recorded(directory)[0]
    assert files(directory) == [before]
    index = SearchIndex(directory, store)
    try:
        assert index.verify(CALLER.tenant) == ""
        assert answers(index) == found
        assert until(lambda: recorded(directory)[0] not in ("", before))
        assert ended()
        assert files(directory) == [recorded(directory)[0]]
        assert answers(index) == found
    finally:
        index.close()
