"""`matching_all` at its limit: live rows count, stale versions in tantivy do not.

An entity that changed since tantivy's last commit is in the tail, and its old version is still
in tantivy. The old version must not count towards the limit, nor the entity twice.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from redask.core.wire.json import text
from redask.index.analysis import analyzer
from redask.index.forward.entries import Entry, FilterKeys, filter_key
from redask.index.forward.forward_index import ForwardIndex
from redask.index.lexical.bm25 import CorpusStatistics, LexicalSearcher
from redask.index.lexical.tantivy_terms import InvertedIndex

BOTH = "alpha beta"
OTHER = "gamma"


class TailedIndex:
    """Entities by key, committed to tantivy or in the tail, searched for `alpha beta`."""

    def __init__(self, directory: Path) -> None:
        self.forward = ForwardIndex(directory / "forward.sqlite", create=True)
        self._inverted = InvertedIndex(directory / "words")

    def committed(self, *keys: int) -> None:
        """Entities with both words, committed to tantivy."""
        self._put(dict.fromkeys(keys, BOTH), "all", tail=False)
        with self._inverted.writer(bulk=False) as writer:
            for key in keys:
                body = analyzer.entity(text({"text": BOTH}), "en").body
                writer.add(key, filter_key("all", "t"), body)
            writer.commit()

    def changed(self, texts: dict[int, str], projection_key: str = "all") -> None:
        """New texts of these entities, in the tail."""
        self._put(texts, projection_key, tail=True)

    def deleted(self, *keys: int) -> None:
        with self.forward.transaction() as transaction:
            transaction.apply([], [], keys, seq=1, tail=True)

    def matching_all(self, limit: int, readable: FilterKeys = None) -> list[int] | None:
        groups = analyzer.question(BOTH, (), ("en",)).groups
        with self.forward.snapshot() as snapshot:
            searcher, tail = self._inverted.searcher(), snapshot.tail()
            lexical = LexicalSearcher(searcher, snapshot, tail, readable, CorpusStatistics(1, 1))
            return lexical.matching_all([term for group in groups for term in group], limit)

    def _put(self, texts: dict[int, str], projection_key: str, tail: bool) -> None:
        entries = []
        for key, prose in texts.items():
            found = analyzer.entity(text({"text": prose}), "en")
            entries.append(Entry(key, f"urn:{key}", "t", projection_key, *found[:-1]))
        with self.forward.transaction() as transaction:
            transaction.apply(entries, [], [], seq=1, tail=tail)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[TailedIndex]:
    made = TailedIndex(tmp_path)
    yield made
    made.forward.close()


def test_a_replaced_entity_does_not_count_towards_the_limit(index: TailedIndex) -> None:
    index.committed(1, 2, 3, 4)
    assert index.matching_all(3) is None
    index.changed({2: OTHER})
    assert index.matching_all(3) == [1, 3, 4]
    assert index.matching_all(2) is None


def test_a_deleted_entity_does_not_count_towards_the_limit(index: TailedIndex) -> None:
    index.committed(1, 2, 3, 4)
    index.deleted(1, 4)
    assert index.matching_all(2) == [2, 3]
    assert index.matching_all(1) is None


def test_a_replaced_entity_that_still_matches_counts_once(index: TailedIndex) -> None:
    index.committed(1, 2, 3)
    index.changed({2: f"{BOTH} {OTHER}"})
    assert index.matching_all(3) == [1, 2, 3]
    assert index.matching_all(2) is None


def test_many_replaced_entities_do_not_displace_new_ones(index: TailedIndex) -> None:
    index.committed(*range(1, 8))
    index.changed({**dict.fromkeys(range(1, 7), OTHER), 8: BOTH, 9: BOTH})
    assert index.matching_all(3) == [7, 8, 9]
    assert index.matching_all(2) is None


def test_a_replaced_entity_that_is_now_hidden_does_not_match(index: TailedIndex) -> None:
    index.committed(1, 2, 3, 4)
    index.changed({4: BOTH}, projection_key="few")
    everyone, few = filter_key("all", "t"), filter_key("few", "t")
    assert index.matching_all(3, frozenset({everyone})) == [1, 2, 3]
    assert index.matching_all(1, frozenset({few})) == [4]
    assert index.matching_all(4, frozenset({everyone, few})) == [1, 2, 3, 4]
    assert index.matching_all(3, frozenset({everyone, few})) is None
