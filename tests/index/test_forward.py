"""The forward index: what is kept of an entity, in transactions, without traces of history."""

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from redask.core.errors import Damaged
from redask.core.wire.json import text
from redask.index.analysis import analyzer
from redask.index.analysis.vocabulary import number_of, token
from redask.index.forward.entries import Entry, Link, Share, name_of
from redask.index.forward.forward_index import Forward, Snapshot


def entry(key: int, collection: str = "t", label: str = "all", **columns: object) -> Entry:
    found = analyzer.entity(text(columns), "en")
    return Entry(key, f"urn:{key}", collection, label, *found[:-1])


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Forward]:
    opened = Forward(tmp_path / "forward.sqlite", create=True)
    yield opened
    opened.close()


def write(
    file: Forward,
    *entries: Entry,
    links: tuple[Link, ...] = (),
    deleted: tuple[int, ...] = (),
    seq: int = 1,
    tail: bool = False,
) -> None:
    with file.writing() as writing:
        writing.apply(entries, links, deleted, seq=seq, tail=tail)
        writing.moved(seq)


def content(snapshot: Snapshot, keys: range) -> object:
    rows = snapshot.fetch(keys)
    return (rows.keys, rows.urns, rows.tokens.tolist(), rows.starts.tolist(), rows.called)


def test_an_entity_comes_back_as_it_was_written(file: Forward) -> None:
    write(file, entry(2, "c", "secret", title="Old Cats", text="AB-1"), entry(1, text="dogs"))
    with file.snapshot() as snapshot:
        rows = snapshot.fetch([2, 3, 1])
    assert (rows.keys, rows.urns) == ([1, 2], ["urn:1", "urn:2"])
    assert (rows.collections, rows.labels) == (["t", "c"], ["all", "secret"])
    assert (rows.words.tolist(), rows.starts.tolist()) == ([1, 4], [0, 1, 6])
    assert rows.tokens[1:3].tolist() == [token("ab", "ab"), token("1", "1")]
    assert rows.tokens[5] == number_of("AB-1")
    assert rows.surfaces(1).tolist()[2:] == [number_of(w) & 0xFFFFFFFF for w in ("old", "cats")]
    assert rows.classes() == ["all\x1ft", "secret\x1fc"]


def test_sequences_are_the_tokens_of_many_at_once(file: Forward) -> None:
    count = 1_300
    write(file, *(entry(key, text=f"word{key} same") for key in range(1, count + 1)))
    with file.snapshot() as snapshot:
        found = snapshot.sequences(range(count, 0, -1))
        assert found.keys == list(range(1, count + 1))
        assert found.starts.tolist() == [3 * place for place in range(count + 1)]
        assert found.tokens[::3].tolist() == [
            token(f"word{key}", f"word{key}") for key in range(1, count + 1)
        ]
        assert snapshot.sequences([]).keys == snapshot.fetch([0]).keys == []


def test_urns_and_keys_lead_to_each_other(file: Forward) -> None:
    write(file, entry(1, text="x"), entry(2, text="y"))
    with file.snapshot() as snapshot:
        assert snapshot.keys(["urn:2", "urn:9"], None) == {"urn:2": 2}
        assert snapshot.keys(["urn:2"], frozenset({"other"})) == {}
        assert snapshot.addresses([1, 9]) == {1: "urn:1"}


def test_statistics_count_what_lives_and_nothing_else(file: Forward) -> None:
    write(file, entry(1, text="a b c"), entry(2, text="d"), entry(3, "u", text="e f"))
    write(file, entry(2, text="d d"), deleted=(3, 99))
    with file.snapshot() as snapshot:
        assert snapshot.statistics() == [Share("t", "all", "en", 2, 5)]
    write(file, deleted=(1, 2))
    with file.snapshot() as snapshot:
        assert snapshot.statistics() == []


def test_repeating_a_change_changes_nothing(file: Forward) -> None:
    given = (entry(1, title="Ann", text="a b"), entry(2, text="c"))
    link = Link(3, "urn:3", "e", "all", "urn:1", "urn:2", "knows")
    write(file, *given, links=(link,))
    with file.snapshot() as snapshot:
        before = (content(snapshot, range(9)), snapshot.statistics())
    write(file, *given, links=(link,))
    with file.snapshot() as snapshot:
        assert (content(snapshot, range(9)), snapshot.statistics()) == before
        assert [way.urn for way in snapshot.adjacency(None).ways("urn:1", 9) or []] == ["urn:3"]


def test_any_history_leaves_what_a_straight_one_leaves(tmp_path: Path, file: Forward) -> None:
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
    straight = Forward(tmp_path / "straight.sqlite", create=True)
    write(straight, *final.values())
    with file.snapshot() as one, straight.snapshot() as other:
        assert content(one, range(40)) == content(other, range(40))
        assert one.statistics() == other.statistics()
        assert sorted(one.names_since(-1).tolist()) == sorted(other.names_since(-1).tolist())
    straight.close()


def test_names_are_known_by_number_and_since_when(file: Forward) -> None:
    write(file, entry(1, title="Old Cats (film)"), seq=5)
    write(file, entry(2, title="Dogs"), seq=6)
    old, dogs = (
        [number_of(w) & 0xFFFFFFFF for w in words] for words in (("old", "cats"), ("dogs",))
    )
    with file.snapshot() as snapshot:
        assert snapshot.names_since(5).tolist() == [name_of(dogs)]
        assert len(snapshot.names_since(0)) == 3
        number = name_of(np.array(old, np.uint32))
        assert number is not None
        assert snapshot.adjacency(None).owners(number, 9) == [1]
    write(file, deleted=(1,), seq=7)
    with file.snapshot() as snapshot:
        assert snapshot.adjacency(None).owners(number, 9) == []


def test_the_tail_remembers_what_tantivy_holds(file: Forward) -> None:
    write(file, entry(1, "c", "secret", text="old"), entry(2, text="kept"), entry(3, text="gone"))
    write(file, entry(1, text="new"), entry(4, text="fresh"), deleted=(3,), seq=2, tail=True)
    write(file, entry(1, text="newer"), deleted=(4,), seq=3, tail=True)
    with file.snapshot() as snapshot:
        tail = snapshot.tail()
        assert len(snapshot.tail_keys()) == 3
    assert tail.keys == {1, 3, 4}
    assert tail.rows.keys == [1]
    assert tail.rows.tokens.tolist() == [token("newer", "newer")]
    assert tail.held.keys == [1, 3]
    assert tail.held.tokens.tolist() == [token("old", "old"), token("gone", "gone")]
    assert tail.held_classes == ["secret\x1fc", "all\x1ft"]
    with file.writing() as writing:
        writing.folded(3, "7")
    with file.snapshot() as snapshot:
        assert snapshot.tail_keys() == []
        assert snapshot.position() == (3, 3, "7")


def test_a_snapshot_sees_one_state(file: Forward) -> None:
    write(file, entry(1, text="a"), seq=1)
    with file.snapshot() as snapshot:
        assert snapshot.position().watermark == 1
        write(file, entry(2, text="b"), seq=2)
        assert snapshot.position().watermark == 1
        assert snapshot.fetch([1, 2]).keys == [1]
    with file.snapshot() as snapshot:
        assert snapshot.fetch([1, 2]).keys == [1, 2]


def test_a_block_that_fails_changes_nothing(file: Forward) -> None:
    write(file, entry(1, text="a"), seq=1)

    def fail() -> None:
        with file.writing() as writing:
            writing.apply([entry(2, text="b")], [], [1], seq=2, tail=False)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    with file.snapshot() as snapshot:
        assert snapshot.fetch([1, 2]).keys == [1]
        assert snapshot.position().watermark == 1


def test_a_changed_value_is_damage(file: Forward, tmp_path: Path) -> None:
    write(file, entry(1, text="a"), entry(2, text="b"))
    connection = sqlite3.connect(tmp_path / "forward.sqlite")
    connection.execute("UPDATE entities SET urn = 'urn:other' WHERE key = 1")
    connection.commit()
    connection.close()
    with file.snapshot() as snapshot:
        assert snapshot.sequences([2]).keys == [2]
        with pytest.raises(Damaged, match="damaged row: 1"):
            snapshot.sequences([1])


def test_a_missing_file_is_not_made_by_reading(tmp_path: Path) -> None:
    missing = Forward(tmp_path / "missing.sqlite")
    with pytest.raises(Damaged), missing.snapshot():
        pass
    assert not list(tmp_path.iterdir())


def test_a_connection_given_back_after_closing_is_closed(tmp_path: Path) -> None:
    file = Forward(tmp_path / "forward.sqlite", create=True)
    with file.snapshot() as snapshot:
        file.close()
        assert snapshot.statistics() == []
    with pytest.raises(sqlite3.ProgrammingError):
        snapshot.statistics()
