"""A tenant's partition: caught up before every search, rebuilt when it is corrupt."""

import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from redask.core.errors import CorruptIndex, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Entity, Found
from redask.core.wire.json import text
from redask.index import MAX_OPEN, SearchIndex, generation
from redask.index.analysis.analyzer import AnalysedQuery
from redask.index.forward import forward_index
from redask.index.forward.entries import U64, FilterKeys
from redask.index.generation import MAX_TAIL, Generation
from redask.index.lexical.bm25 import LexicalSearcher
from redask.index.lexical.scoring import ReadTexts
from redask.index.lexical.tantivy_terms import TermWriter
from tests.index.memory_store import MemoryStore
from tests.index.texts import ask, corpus, questions, row

CALLER = Caller()
CONTENT = corpus(800)
QUESTIONS = questions(10)


def answers(index: SearchIndex) -> list[tuple[Found, ...]]:
    return [index.search(question, CALLER) for question in QUESTIONS]


def found(index: SearchIndex, question: str) -> list[str]:
    return [urn.rsplit("/", 1)[1] for urn, _ in index.search(ask(question), CALLER)[0].candidates]


@dataclass(frozen=True)
class Opened:
    store: MemoryStore
    index: SearchIndex
    directory: Path

    def partition(self) -> Path:
        (path,) = self.directory.iterdir()
        return path

    def generation(self) -> Path:
        (path,) = [path for path in self.partition().iterdir() if path.is_dir()]
        return path


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    store = MemoryStore()
    index = SearchIndex(tmp_path / "index", store)
    yield Opened(store, index, tmp_path / "index")
    index.close()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Found, ...]]]:
    store = MemoryStore()
    store.put(CONTENT, CALLER)
    index = SearchIndex(tmp_path_factory.mktemp("expected"), store)
    yield answers(index)
    index.close()


@pytest.fixture
def filled(opened: Opened) -> Opened:
    """All the content, most of it folded into tantivy, the rest in the tail."""
    opened.store.put(CONTENT[:-50], CALLER)
    opened.index.search(QUESTIONS[0], CALLER)
    opened.store.put(CONTENT[-50:], CALLER)
    opened.index.search(QUESTIONS[0], CALLER)
    return opened


# --- catching up ---------------------------------------------------------------------------


def test_a_search_finds_what_was_just_written_changed_and_deleted(opened: Opened) -> None:
    store, index = opened.store, opened.index
    assert found(index, "alpha") == []
    store.put([row(1, text="alpha")], CALLER)
    assert found(index, "alpha") == ["1"]
    store.put([row(1, text="beta"), row(2, text="alpha alpha")], CALLER)
    assert found(index, "alpha") == ["2"]
    store.delete([row(2).urn], CALLER)
    assert found(index, "alpha") == []
    assert found(index, "beta") == ["1"]


def test_few_changes_stay_in_the_tail_and_many_are_folded(opened: Opened) -> None:
    store, index = opened.store, opened.index
    store.put([row(number, text="alpha") for number in range(MAX_TAIL - 1)], CALLER)
    index.search(ask("alpha"), CALLER)
    assert index.health(CALLER.tenant).tail == MAX_TAIL - 1
    store.put([row(MAX_TAIL, text="alpha")], CALLER)
    index.search(ask("alpha"), CALLER)
    health = index.health(CALLER.tenant)
    assert (health.tail, health.entities, health.pending) == (0, MAX_TAIL, 0)


def test_health_tells_what_is_pending_without_catching_up(opened: Opened) -> None:
    store, index = opened.store, opened.index
    store.put([row(1, text="alpha")], CALLER)
    assert index.health(CALLER.tenant).pending == 1
    index.search(ask("alpha"), CALLER)
    store.put([row(2, text="alpha")], CALLER)
    health = index.health(CALLER.tenant)
    assert (health.watermark, health.pending, health.entities) == (1, 1, 1)
    assert health.bytes > 0


def test_long_folds_are_committed_in_batches(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, expected: list[tuple[Found, ...]]
) -> None:
    monkeypatch.setattr(generation, "_COMMIT_BATCH", 500)
    opened.store.put(CONTENT, CALLER)
    assert answers(opened.index) == expected


def test_a_watermark_that_advances_without_entities_is_followed(opened: Opened) -> None:
    store, index = opened.store, opened.index
    store.put([row(1, text="alpha")], CALLER)
    index.search(ask("alpha"), CALLER)
    store.skip(5)
    assert found(index, "alpha") == ["1"]
    assert index.health(CALLER.tenant).pending == 0


def test_system_collections_are_never_found(opened: Opened) -> None:
    opened.store.put([row(1, "red_ask_audit", text="alpha"), row(2, text="alpha")], CALLER)
    assert found(opened.index, "alpha") == ["2"]


def test_edges_are_not_texts(opened: Opened) -> None:
    ends = [row(1, name="Ann"), row(2, name="Bob")]
    edge = Entity(
        "urn:reddb:edge:knows/1",
        text({"from": ends[0].urn, "label": "knows", "to": ends[1].urn}),
        source=ends[0].urn,
        target=ends[1].urn,
    )
    opened.store.put([*ends, edge], CALLER)
    assert found(opened.index, "knows") == []
    linked = dict(opened.index.search(ask("Ann"), CALLER)[2].candidates)
    assert {ends[1].urn, edge.urn} <= linked.keys()
    opened.store.delete([edge.urn], CALLER)
    assert ends[1].urn not in dict(opened.index.search(ask("Ann"), CALLER)[2].candidates)


def test_vectors_are_found_by_cosine_and_follow_their_entities(opened: Opened) -> None:
    store, index = opened.store, opened.index

    def nearest(*vector: float, **options: object) -> list[tuple[str, float]]:
        buckets = index.search(ask("x", vector=vector, **options), CALLER)
        return [(urn.rsplit("/", 1)[1], round(score, 6)) for urn, score in buckets[1].candidates]

    def put(number: int, *vector: float, collection: str = "t") -> None:
        entity = row(number, collection, text="x")
        store.put([Entity(entity.urn, entity.payload, vector=vector)], CALLER)

    put(1, 1.0, 0.0)
    put(2, 0.0, 2.0)
    put(3, -1.0, 0.0, collection="u")
    put(4, 0.0, 0.0)
    assert nearest(3.0, 0.0) == [("1", 1.0), ("2", 0.0), ("3", 0.0)]
    assert nearest(3.0, 0.0, collections=("u",)) == [("3", 0.0)]
    assert nearest(0.0, 0.0) == []
    store.put([row(1, text="x")], CALLER)
    store.delete([row(2).urn], CALLER)
    assert nearest(3.0, 0.0) == [("3", 0.0)]
    put(5, 1.0, 0.0, 0.0)
    assert nearest(1.0, 0.0, 0.0) == [("5", 1.0)]


def test_a_filter_on_collections_changes_no_score(filled: Opened) -> None:
    question = QUESTIONS[1].question
    whole = dict(filled.index.search(ask(question, top_k=1_000), CALLER)[0].candidates)
    part = filled.index.search(ask(question, top_k=1_000, collections=("even",)), CALLER)[0]
    assert part.candidates
    assert all(":even/" in urn and whole[urn] == score for urn, score in part.candidates)
    assert len(part.candidates) < len(whole)


def test_opening_does_not_read_every_name(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "_MAX_UNSAVED_NAMES", 100)
    names = [row(number, name=f"Ann Number {number}") for number in range(1_000)]
    opened.store.put(names, CALLER)
    opened.index.search(ask("alpha"), CALLER)
    opened.store.put([row(5_000, name="Bob"), row(5_001, text="Ann Number 77 met Bob")], CALLER)
    opened.index.close()
    read = []
    name_hashes_since = forward_index.Snapshot.name_hashes_since

    def counted(snapshot: forward_index.Snapshot, seq: int) -> U64:
        found = name_hashes_since(snapshot, seq)
        read.append(len(found))
        return found

    monkeypatch.setattr(forward_index.Snapshot, "name_hashes_since", counted)
    linked = [urn for urn, _ in opened.index.search(ask("who met Bob"), CALLER)[2].candidates]
    assert {row(5_000).urn, row(77).urn} <= set(linked)
    assert read == [1]


# --- sharing -------------------------------------------------------------------------------


def test_two_indexes_on_one_directory_follow_each_other(
    opened: Opened, expected: list[tuple[Found, ...]]
) -> None:
    store, one = opened.store, opened.index
    other = SearchIndex(opened.directory, store)
    for start in range(0, len(CONTENT), 100):
        store.put(CONTENT[start : start + 100], CALLER)
        (one if start % 200 else other).search(QUESTIONS[0], CALLER)
    assert answers(one) == expected
    assert answers(other) == expected
    other.close()


def test_threads_share_an_index_while_others_write(
    opened: Opened, expected: list[tuple[Found, ...]]
) -> None:
    store, index = opened.store, opened.index
    failures: list[BaseException] = []
    done = threading.Event()

    def search() -> None:
        try:
            while not done.is_set():
                for question in QUESTIONS[:3]:
                    index.search(question, CALLER)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for start in range(0, len(CONTENT), 80):
        store.put(CONTENT[start : start + 80], CALLER)
        index.search(QUESTIONS[0], CALLER)
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert answers(index) == expected


def test_an_index_rebuilt_by_another_process_is_opened_again(
    filled: Opened, expected: list[tuple[Found, ...]]
) -> None:
    other = SearchIndex(filled.directory, filled.store)
    before = filled.generation()
    other.rebuild(CALLER.tenant)
    assert filled.generation() != before
    assert answers(filled.index) == expected
    other.close()


def test_only_so_many_partitions_stay_open(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path, MemoryStore())
    for number in range(MAX_OPEN + 5):
        index.search(ask("alpha"), Caller(tenant=f"tenant {number}"))
    assert len(index._open) == MAX_OPEN
    index.close()
    assert len(list(tmp_path.iterdir())) == MAX_OPEN + 5


def test_a_partition_in_use_is_not_closed(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path, MemoryStore())
    with index._partition("used") as used:
        for number in range(MAX_OPEN + 5):
            index.search(ask("alpha"), Caller(tenant=f"tenant {number}"))
        used.search(ask("alpha"), Caller(tenant="used"))
    index.close()


# --- corruption ----------------------------------------------------------------------------


def delete(path: Path) -> None:
    path.unlink()


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwrite(path: Path) -> None:
    path.write_bytes(b"overwritten, " * 99)


def scribble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in range(0, len(content), 97):
        content[place] ^= 0x55
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("corruption", [delete, truncate, overwrite, scribble])
def test_a_corrupt_file_is_rebuilt_on_the_next_open(
    corruption: Callable[[Path], None], filled: Opened, expected: list[tuple[Found, ...]]
) -> None:
    for number in range(len(files_of(filled))):
        filled.index.close()
        files = files_of(filled)
        file = files[min(number, len(files) - 1)]
        corruption(file)
        assert answers(filled.index) == expected, file.name


def files_of(opened: Opened) -> list[Path]:
    """The files of the generation but locks and what SQLite creates at every opening."""
    paths = opened.generation().rglob("*")
    files = [path for path in paths if path.is_file() and path.suffix != ".lock"]
    return sorted(path for path in files if not path.name.endswith("-shm"))


@pytest.mark.parametrize("corruption", [delete, truncate, overwrite])
def test_a_corrupt_pointer_to_the_generation_is_rebuilt(
    corruption: Callable[[Path], None], filled: Opened, expected: list[tuple[Found, ...]]
) -> None:
    filled.index.close()
    corruption(filled.partition() / "current")
    assert answers(filled.index) == expected


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_a_deleted_directory_is_rebuilt(
    depth: int, filled: Opened, expected: list[tuple[Found, ...]]
) -> None:
    generation_ = filled.generation()
    shutil.rmtree([filled.directory, generation_.parent, generation_, generation_ / "words"][depth])
    assert answers(filled.index) == expected


def test_a_row_that_fails_its_checksum_is_rebuilt(
    filled: Opened, expected: list[tuple[Found, ...]]
) -> None:
    filled.index.close()
    before = filled.generation()
    with sqlite3.connect(filled.generation() / "forward.sqlite") as connection:
        connection.execute("UPDATE entities SET tokens = zeroblob(length(tokens))")
    connection.close()
    assert answers(filled.index) == expected
    assert filled.generation() != before


def test_an_index_of_another_layout_is_rebuilt(
    filled: Opened, monkeypatch: pytest.MonkeyPatch, expected: list[tuple[Found, ...]]
) -> None:
    filled.index.close()
    before = filled.generation()
    monkeypatch.setattr(generation, "LAYOUT", forward_index.LAYOUT + 1)
    assert answers(filled.index) == expected
    assert filled.generation() != before


def test_an_index_of_another_store_is_rebuilt(filled: Opened) -> None:
    filled.index.close()
    other = MemoryStore("another")
    other.put([row(number, text="alpha") for number in range(2_000)], CALLER)
    index = SearchIndex(filled.directory, other)
    assert len(found(index, "alpha")) == 20
    assert found(index, "baba") == []
    index.close()


def test_an_index_ahead_of_its_store_is_rebuilt(filled: Opened) -> None:
    filled.index.close()
    restored = MemoryStore()
    restored.put([row(1, text="alpha")], CALLER)
    index = SearchIndex(filled.directory, restored)
    assert found(index, "alpha") == ["1"]
    assert index.health(CALLER.tenant).entities == 1
    index.close()


def test_a_copied_directory_is_verified_by_its_checksums(
    filled: Opened, tmp_path: Path, expected: list[tuple[Found, ...]]
) -> None:
    filled.index.close()
    shutil.copytree(filled.directory, tmp_path / "copy", copy_function=shutil.copyfile)
    index = SearchIndex(tmp_path / "copy", filled.store)
    copied = filled.generation().name
    assert answers(index) == expected
    assert [path.name for path in (tmp_path / "copy").glob("*/*") if path.is_dir()] == [copied]
    index.close()


def test_a_crash_between_the_two_commits_is_repaired(
    filled: Opened, monkeypatch: pytest.MonkeyPatch, expected: list[tuple[Found, ...]]
) -> None:
    filled.store.delete([entity.urn for entity in CONTENT[:600]], CALLER)
    commit = TermWriter.commit

    def crash(writer: TermWriter) -> str:
        commit(writer)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TermWriter, "commit", crash)
        with pytest.raises(KeyboardInterrupt):
            filled.index.search(QUESTIONS[0], CALLER)
    before = filled.generation()
    filled.index.close()
    filled.store.put(CONTENT[:600], CALLER)
    assert answers(filled.index) == expected
    assert filled.generation() == before


def test_a_search_that_finds_corruption_rebuilds_and_answers(
    filled: Opened, monkeypatch: pytest.MonkeyPatch, expected: list[tuple[Found, ...]]
) -> None:
    before = filled.generation()
    search = LexicalSearcher.search
    calls: list[int] = []

    def failing(
        lexical: LexicalSearcher,
        query: AnalysedQuery,
        limit: int,
        allowed: FilterKeys,
        read: ReadTexts,
    ) -> object:
        calls.append(limit)
        if len(calls) == 1:
            raise CorruptIndex("a page is missing")
        return search(lexical, query, limit, allowed, read)

    monkeypatch.setattr(LexicalSearcher, "search", failing)
    assert answers(filled.index) == expected
    assert filled.generation() != before


def test_corruption_that_a_rebuild_does_not_repair_is_a_store_failure(
    filled: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise CorruptIndex("still broken")

    monkeypatch.setattr(Generation, "catch_up", failing)
    monkeypatch.setattr(Generation, "state", failing)
    with pytest.raises(StoreFailed, match="still broken"):
        filled.index.search(QUESTIONS[0], CALLER)


def test_on_a_full_disk_no_files_are_deleted(
    filled: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.index.close()
    overwrite(filled.generation() / "forward.sqlite")
    kept = sorted(path.name for path in filled.generation().rglob("*"))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(9, 9, 0))
    with pytest.raises(StoreFailed, match="disk is full"):
        filled.index.search(QUESTIONS[0], CALLER)
    assert sorted(path.name for path in filled.generation().rglob("*")) == kept


def test_a_directory_that_cannot_be_created_is_a_store_failure(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file where a directory should be")
    index = SearchIndex(tmp_path / "index", MemoryStore())
    with pytest.raises(StoreFailed, match="cannot be used"):
        index.search(ask("alpha"), CALLER)


@pytest.mark.parametrize("changes", [1, 2, 3])
def test_an_index_of_another_store_is_rebuilt_however_far_either_is(
    opened: Opened, changes: int
) -> None:
    opened.store.put([row(1, text="ferry"), row(2, text="ferry")], CALLER)
    assert found(opened.index, "ferry") == ["1", "2"]
    opened.index.close()
    other = MemoryStore("another")
    other.put([row(10 + number, text="lighthouse") for number in range(changes)], CALLER)
    with closing(SearchIndex(opened.directory, other)) as index:
        assert found(index, "lighthouse") == [str(10 + number) for number in range(changes)]
        assert found(index, "ferry") == []
