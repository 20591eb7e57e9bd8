"""`holding` at its limit: what counts is what lives, not what tantivy still holds of it.

An entity that changed since tantivy's last commit is in the tail, and its old version is still
in tantivy. Neither may the old version use up the limit, nor both count for two.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from redask.core.wire.json import text
from redask.index.analysis import analyzer
from redask.index.forward.entries import Classes, Entry, class_of
from redask.index.forward.forward_index import Forward
from redask.index.lexical.bm25 import Lexical, Totals
from redask.index.lexical.tantivy_terms import WordIndex

BOTH = "alpha beta"
OTHER = "gamma"


class Shelf:
    """Entities by key, said to tantivy or still in the tail; asked who holds `alpha beta`."""

    def __init__(self, directory: Path) -> None:
        self.forward = Forward(directory / "forward.sqlite", create=True)
        self._words = WordIndex(directory / "words")

    def committed(self, *keys: int) -> None:
        """Entities that hold both words, in tantivy too."""
        self._put(dict.fromkeys(keys, BOTH), "all", tail=False)
        with self._words.writing(many=False) as writer:
            for key in keys:
                words = analyzer.entity(text({"text": BOTH}), "en").words
                writer.add(key, class_of("all", "t"), words)
            writer.commit()

    def changed(self, said: dict[int, str], label: str = "all") -> None:
        """What these entities say since tantivy's last commit."""
        self._put(said, label, tail=True)

    def deleted(self, *keys: int) -> None:
        with self.forward.writing() as writing:
            writing.apply([], [], keys, seq=1, tail=True)

    def holding(self, limit: int, readable: Classes = None) -> list[int] | None:
        groups = analyzer.question(BOTH, (), ("en",)).groups
        with self.forward.snapshot() as snapshot:
            view, tail = self._words.view(), snapshot.tail()
            words = Lexical(view, snapshot, tail, readable, Totals(1, 1))
            return words.holding([term for group in groups for term in group], limit)

    def _put(self, said: dict[int, str], label: str, tail: bool) -> None:
        entries = []
        for key, prose in said.items():
            found = analyzer.entity(text({"text": prose}), "en")
            entries.append(Entry(key, f"urn:{key}", "t", label, *found[:-1]))
        with self.forward.writing() as writing:
            writing.apply(entries, [], [], seq=1, tail=tail)


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(tmp_path)
    yield made
    made.forward.close()


def test_an_entity_that_was_replaced_does_not_use_up_the_limit(shelf: Shelf) -> None:
    shelf.committed(1, 2, 3, 4)
    assert shelf.holding(3) is None
    shelf.changed({2: OTHER})
    assert shelf.holding(3) == [1, 3, 4]
    assert shelf.holding(2) is None


def test_an_entity_that_was_deleted_does_not_use_up_the_limit(shelf: Shelf) -> None:
    shelf.committed(1, 2, 3, 4)
    shelf.deleted(1, 4)
    assert shelf.holding(2) == [2, 3]
    assert shelf.holding(1) is None


def test_an_entity_that_was_replaced_and_still_holds_the_words_counts_once(shelf: Shelf) -> None:
    shelf.committed(1, 2, 3)
    shelf.changed({2: f"{BOTH} {OTHER}"})
    assert shelf.holding(3) == [1, 2, 3]
    assert shelf.holding(2) is None


def test_many_replaced_entities_leave_room_for_the_new_ones(shelf: Shelf) -> None:
    shelf.committed(*range(1, 8))
    shelf.changed({**dict.fromkeys(range(1, 7), OTHER), 8: BOTH, 9: BOTH})
    assert shelf.holding(3) == [7, 8, 9]
    assert shelf.holding(2) is None


def test_a_replaced_entity_that_the_caller_may_no_longer_see_is_not_held(shelf: Shelf) -> None:
    shelf.committed(1, 2, 3, 4)
    shelf.changed({4: BOTH}, label="few")
    everybody, few = class_of("all", "t"), class_of("few", "t")
    assert shelf.holding(3, frozenset({everybody})) == [1, 2, 3]
    assert shelf.holding(1, frozenset({few})) == [4]
    assert shelf.holding(4, frozenset({everybody, few})) == [1, 2, 3, 4]
    assert shelf.holding(3, frozenset({everybody, few})) is None
