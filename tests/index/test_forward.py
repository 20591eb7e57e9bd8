"""The forward index: rows in transactions, independent of history."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from redask.core.errors import CorruptIndex
from redask.core.wire.json import text
from redask.index.analysis import analyzer
from redask.index.analysis.vocabulary import hash64, token
from redask.index.forward.entries import EdgeEntry, Entry, GroupStatistics, name_hash
from redask.index.forward.forward_index import ForwardIndex, Snapshot


def entry(key: int, collection: str = "t", projection_key: str = "all", **columns: object) -> Entry:
    found = analyzer.entity(text(columns), "en")
    return Entry(key, f"urn:{key}", collection, projection_key, *found[:-1])


@pytest.fixture
def file(tmp_path: Path) -> Iterator[ForwardIndex]:
    opened = ForwardIndex(tmp_path / "forward.sqlite", create=True)
    yield opened
    opened.close()


def write(
    file: ForwardIndex,
    *entries: Entry,
    edges: tuple[EdgeEntry, ...] = (),
    deleted: tuple[int, ...] = (),
    seq: int = 1,
    tail: bool = False,
) -> None:
    with file.transaction() as transaction:
        transaction.apply(entries, edges, deleted, seq=seq, tail=tail)
        transaction.set_watermark(seq, "")


def content(snapshot: Snapshot, keys: range) -> object:
    rows = snapshot.fetch(keys)
    return (rows.keys, rows.urns, rows.tokens.tolist(), rows.starts.tolist(), rows.name_stems)


def test_an_entity_comes_back_as_it_was_written(file: ForwardIndex) -> None:
    write(file, entry(2, "c", "secret", title="Old Cats", text="AB-1"), entry(1, text="dogs"))
    with file.snapshot() as snapshot:
        rows = snapshot.fetch([2, 3, 1])
    assert (rows.keys, rows.urns) == ([1, 2], ["urn:1", "urn:2"])
    assert (rows.collections, rows.projection_keys) == (["t", "c"], ["all", "secret"])
    assert (rows.word_counts.tolist(), rows.starts.tolist()) == ([1, 4], [0, 1, 6])
    assert rows.tokens[1:3].tolist() == [token("ab", "ab"), token("1", "1")]
    assert rows.tokens[5] == hash64("AB-1")
    assert rows.surfaces(1).tolist()[2:] == [hash64(w) & 0xFFFFFFFF for w in ("old", "cats")]
    assert rows.filter_keys() == ["all\x1ft", "secret\x1fc"]


def test_token_sequences_are_read_for_many_keys_at_once(file: ForwardIndex) -> None:
    count = 1_300
    write(file, *(entry(key, text=f"word{key} same") for key in range(1, count + 1)))
    with file.snapshot() as snapshot:
        found = snapshot.token_sequences(range(count, 0, -1))
        assert found.keys == list(range(1, count + 1))
        assert found.starts.tolist() == [3 * place for place in range(count + 1)]
        assert found.tokens[::3].tolist() == [
            token(f"word{key}", f"word{key}") for key in range(1, count + 1)
        ]
        assert snapshot.token_sequences([]).keys == snapshot.fetch([0]).keys == []


def test_keys_are_found_by_urn_and_urns_by_key(file: ForwardIndex) -> None:
    write(file, entry(1, text="x"), entry(2, text="y"))
    with file.snapshot() as snapshot:
        assert snapshot.keys(["urn:2", "urn:9"], None) == {"urn:2": 2}
        assert snapshot.keys(["urn:2"], frozenset({"other"})) == {}
        assert snapshot.urns_of([1, 9]) == {1: "urn:1"}


def test_statistics_count_live_rows_only(file: ForwardIndex) -> None:
    write(file, entry(1, text="a b c"), entry(2, text="d"), entry(3, "u", text="e f"))
    write(file, entry(2, text="d d"), deleted=(3, 99))
    with file.snapshot() as snapshot:
        assert snapshot.statistics() == [GroupStatistics("t", "all", "en", 2, 5)]
    write(file, deleted=(1, 2))
    with file.snapshot() as snapshot:
        assert snapshot.statistics() == []


def test_repeating_a_change_changes_nothing(file: ForwardIndex) -> None:
    given = (entry(1, title="Ann", text="a b"), entry(2, text="c"))
    edge = EdgeEntry(3, "urn:3", "e", "all", "urn:1", "urn:2", "knows")
    write(file, *given, edges=(edge,))
    with file.snapshot() as snapshot:
        before = (content(snapshot, range(9)), snapshot.statistics())
    write(file, *given, edges=(edge,))
    with file.snapshot() as snapshot:
        assert (content(snapshot, range(9)), snapshot.statistics()) == before
        assert [one.urn for one in snapshot.adjacency(None).neighbours("urn:1", 9) or []] == [
            "urn:3"
        ]


def test_any_history_leaves_what_one_write_of_the_result_leaves(
    tmp_path: Path, file: ForwardIndex
) -> None:
    chance = random.Random(5)
    final: dict[int, Entry] = {}
    for step in range(200):
        key = chance.randrange(1, 40)
        if chance.random() < 0.3:
            final.pop(key, None)
            write(file, deleted=(key,), seq=step, tail=bool(step % 3))
        else:
            final[key] = entry(key, title=f"name {step % 7}", text="x " * chance.randrange(9))
            write(file, final[key], seq=step, tail=bool(step % 3))
    straight = ForwardIndex(tmp_path / "straight.sqlite", create=True)
    write(straight, *final.values())
    with file.snapshot() as one, straight.snapshot() as other:
        assert content(one, range(40)) == content(other, range(40))
        assert one.statistics() == other.statistics()
        assert sorted(one.name_hashes_since(-1).tolist()) == sorted(
            other.name_hashes_since(-1).tolist()
        )
    straight.close()


def test_names_are_found_by_hash_and_by_sequence(file: ForwardIndex) -> None:
    write(file, entry(1, title="Old Cats (film)"), seq=5)
    write(file, entry(2, title="Dogs"), seq=6)
    old, dogs = ([hash64(w) & 0xFFFFFFFF for w in words] for words in (("old", "cats"), ("dogs",)))
    with file.snapshot() as snapshot:
        assert snapshot.name_hashes_since(5).tolist() == [name_hash(dogs)]
        assert len(snapshot.name_hashes_since(0)) == 3
        number = name_hash(np.array(old, np.uint32))
        assert number is not None
        assert snapshot.adjacency(None).owners(number, 9) == [1]
    write(file, deleted=(1,), seq=7)
    with file.snapshot() as snapshot:
        assert snapshot.adjacency(None).owners(number, 9) == []


def test_the_tail_has_the_stale_versions_of_tantivy(file: ForwardIndex) -> None:
    write(file, entry(1, "c", "secret", text="old"), entry(2, text="kept"), entry(3, text="gone"))
    write(file, entry(1, text="new"), entry(4, text="fresh"), deleted=(3,), seq=2, tail=True)
    write(file, entry(1, text="newer"), deleted=(4,), seq=3, tail=True)
    with file.snapshot() as snapshot:
        tail = snapshot.tail()
        assert len(snapshot.tail_keys()) == 3
    assert tail.keys == {1, 3, 4}
    assert tail.rows.keys == [1]
    assert tail.rows.tokens.tolist() == [token("newer", "newer")]
    assert tail.stale.keys == [1, 3]
    assert tail.stale.tokens.tolist() == [token("old", "old"), token("gone", "gone")]
    assert tail.stale_filter_keys == ["secret\x1fc", "all\x1ft"]
    with file.transaction() as transaction:
        transaction.set_folded(3, "7", "2:b")
    with file.snapshot() as snapshot:
        assert snapshot.tail_keys() == []
        assert snapshot.position() == (3, 3, "7", "2:b")


def test_a_snapshot_sees_one_state(file: ForwardIndex) -> None:
    write(file, entry(1, text="a"), seq=1)
    with file.snapshot() as snapshot:
        assert snapshot.position().watermark == 1
        write(file, entry(2, text="b"), seq=2)
        assert snapshot.position().watermark == 1
        assert snapshot.fetch([1, 2]).keys == [1]
    with file.snapshot() as snapshot:
        assert snapshot.fetch([1, 2]).keys == [1, 2]


def test_a_failed_transaction_is_rolled_back(file: ForwardIndex) -> None:
    write(file, entry(1, text="a"), seq=1)

    def fail() -> None:
        with file.transaction() as transaction:
            transaction.apply([entry(2, text="b")], [], [1], seq=2, tail=False)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with file.snapshot() as snapshot:
        assert snapshot.fetch([1, 2]).keys == [1]
        assert snapshot.position().watermark == 1


def test_a_changed_value_fails_the_checksum(file: ForwardIndex, tmp_path: Path) -> None:
    write(file, entry(1, text="a"), entry(2, text="b"))
    connection = sqlite3.connect(tmp_path / "forward.sqlite")
    connection.execute("UPDATE entities SET urn = 'urn:other' WHERE key = 1")
    connection.commit()
    connection.close()
    with file.snapshot() as snapshot:
        assert snapshot.token_sequences([2]).keys == [2]
        with pytest.raises(CorruptIndex, match="row 1 fails its checksum; rebuild the index with"):
            snapshot.token_sequences([1])


def test_reading_does_not_create_a_missing_file(tmp_path: Path) -> None:
    missing = ForwardIndex(tmp_path / "missing.sqlite")
    with pytest.raises(CorruptIndex), missing.snapshot():
        pass
    assert not list(tmp_path.iterdir())


def test_a_connection_returned_after_closing_is_closed(tmp_path: Path) -> None:
    file = ForwardIndex(tmp_path / "forward.sqlite", create=True)
    with file.snapshot() as snapshot:
        file.close()
        assert snapshot.statistics() == []
    with pytest.raises(sqlite3.ProgrammingError):
        snapshot.statistics()


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON edges BEGIN DELETE FROM edges; END",
        "CREATE VIEW theirs AS SELECT 1",
    ],
)
def test_a_file_with_a_part_of_somebody_else_is_corrupt(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "forward.sqlite"
    with closing(ForwardIndex(path, create=True)) as made:
        write(made, entry(1, name="Ada"))
    with closing(ForwardIndex(path)) as again, again.snapshot() as snapshot:
        assert snapshot.fetch([1]).urns == ["urn:1"]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    with (
        closing(ForwardIndex(path)) as changed,
        pytest.raises(CorruptIndex) as caught,
        changed.snapshot(),
    ):
        pass
    assert "redask did not make" in (caught.value.detail or caught.value.message)
