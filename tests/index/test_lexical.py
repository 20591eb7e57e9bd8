"""The bucket bm25: exact scores, live statistics, no influence of hidden rows."""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from redask.core.errors import CorruptIndex
from redask.core.ports import Query
from redask.core.wire.json import text
from redask.index.analysis import analyzer
from redask.index.forward.entries import Entry, FilterKeys, TokenSequences, filter_key
from redask.index.forward.forward_index import ForwardIndex
from redask.index.lexical import bm25, tantivy_terms
from redask.index.lexical.bm25 import CorpusStatistics, LexicalSearcher
from redask.index.lexical.scoring import Hit, Scorer, WeightedQuery, phrase_frequency
from redask.index.lexical.tantivy_terms import (
    InvertedIndex,
    TermSearcher,
    idf,
    tantivy_errors,
    tantivy_idf,
)
from redask.index.lexical.term_counts import TermCounts, frequencies
from tests.index.texts import ask, words


class SmallIndex:
    """A forward index and an inverted index, filled by hand, with projection keys."""

    def __init__(self, directory: Path) -> None:
        self.texts: dict[str, str] = {}
        directory.mkdir()
        self._forward = ForwardIndex(directory / "forward.sqlite", create=True)
        self._inverted = InvertedIndex(directory / "words")

    def put(self, *given: tuple[int, str, str], tail: bool = False) -> None:
        """Entities by key, projection key and text."""
        entries, documents = [], []
        for key, projection_key, prose in given:
            found = analyzer.entity(text({"text": prose}), "en")
            entries.append(Entry(key, f"urn:{key:05}", "t", projection_key, *found[:-1]))
            documents.append((key, filter_key(projection_key, "t"), found.body))
            self.texts[f"urn:{key:05}"] = prose
        self._write(entries, [], tail)
        if not tail:
            with self._inverted.writer(bulk=False) as writer:
                for each in documents:
                    writer.add(*each)
                writer.commit()

    def delete(self, *keys: int, tail: bool = False) -> None:
        self._write([], keys, tail)
        if not tail:
            with self._inverted.writer(bulk=False) as writer:
                for key in keys:
                    writer.delete(key)
                writer.commit()

    def _write(self, entries: Sequence[Entry], deleted: Sequence[int], tail: bool) -> None:
        with self._forward.transaction() as transaction:
            transaction.apply(entries, [], deleted, seq=1, tail=tail)

    def search(self, query: Query, projection_keys: frozenset[str] | None = None) -> list[Hit]:
        with self._forward.snapshot() as snapshot:
            groups = [
                group
                for group in snapshot.statistics()
                if projection_keys is None or group.projection_key in projection_keys
            ]
            statistics = CorpusStatistics.of(groups)
            readable: FilterKeys = None
            if projection_keys is not None:
                readable = frozenset(
                    filter_key(projection_key, "t") for projection_key in projection_keys
                )
            lexical = LexicalSearcher(
                self._inverted.searcher(), snapshot, snapshot.tail(), readable, statistics
            )
            analysed = analyzer.question(query.question, query.terms.literals, ("en",))
            return lexical.search(analysed, query.top_k, readable, self.read)

    def read(self, urns: Sequence[str]) -> dict[str, str]:
        return {urn: self.texts[urn] for urn in urns}

    def searcher(self) -> TermSearcher:
        return self._inverted.searcher()

    def matching_all(self, question: str, limit: int) -> list[int] | None:
        with self._forward.snapshot() as snapshot:
            lexical = LexicalSearcher(
                self._inverted.searcher(), snapshot, snapshot.tail(), None, CorpusStatistics(1, 1)
            )
            groups = analyzer.question(question, (), ("en",)).groups
            return lexical.matching_all([term for group in groups for term in group], limit)

    def close(self) -> None:
        self._forward.close()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SmallIndex]:
    made = SmallIndex(tmp_path / "index")
    yield made
    made.close()


def found(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.urn, hit.score) for hit in hits]


def prose(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return [words(chance.randrange(3, 60), chance) for _ in range(count)]


def naive(texts: dict[str, str], question: str, limit: int) -> list[tuple[str, float]]:
    """BM25 from its definition, over stems, word by word."""
    stems = {
        urn: analyzer.entity(text({"t": content}), "en").body.split()
        for urn, content in texts.items()
    }
    wanted = [group[0].text for group in analyzer.question(question, (), ("en",)).groups]
    average = sum(map(len, stems.values())) / len(stems)
    weights = {}
    for term in wanted:
        frequency = sum(term in each for each in stems.values())
        weights[term] = math.log(1 + (len(stems) - frequency + 0.5) / (frequency + 0.5))
    scores = []
    for urn, each in stems.items():
        norm = 1.2 * (1 - 0.75 + 0.75 * (len(each) / average))
        score = sum(
            weights[term] * (each.count(term) * 2.2 / (each.count(term) + norm))
            for term in sorted(wanted)
        )
        if score:
            scores.append((urn, score / (2.2 * sum(weights.values()))))
    return sorted(scores, key=lambda one: (-one[1], one[0]))[:limit]


def test_scores_are_those_of_bm25(index: SmallIndex) -> None:
    texts = prose(300)
    index.put(*((key, "all", content) for key, content in enumerate(texts)))
    chance = random.Random(9)
    for _ in range(25):
        question = words(chance.randrange(1, 6), chance)
        expected = naive(index.texts, question, 20)
        got = found(index.search(ask(question)))
        assert [urn for urn, _ in got] == [urn for urn, _ in expected]
        assert [score for _, score in got] == pytest.approx([score for _, score in expected])


def test_the_tail_scores_like_the_rest(tmp_path: Path, index: SmallIndex) -> None:
    texts = prose(300)
    index.put(*((key, "all", content) for key, content in enumerate(texts)))
    mixed = SmallIndex(tmp_path / "mixed")
    mixed.put(*((key, "all", content) for key, content in enumerate(texts[:200])))
    mixed.put(*((key, "all", "baba " * 7) for key in range(300, 320)))
    mixed.put(*((key, "all", texts[key]) for key in range(150, 300)), tail=True)
    mixed.delete(*range(300, 320), tail=True)
    for question in prose(30, seed=4):
        assert found(mixed.search(ask(question))) == found(index.search(ask(question)))
    mixed.close()


@pytest.mark.parametrize("tail", [False, True])
def test_hidden_rows_change_no_byte(tail: bool, tmp_path: Path, index: SmallIndex) -> None:
    texts = prose(400)
    index.put(*((key, "open", content) for key, content in enumerate(texts[:200])))
    mixed = SmallIndex(tmp_path / "mixed")
    mixed.put(*((key, "open", content) for key, content in enumerate(texts[:200])))
    hidden = [(key, "secret", content * 3) for key, content in enumerate(texts) if key >= 200]
    mixed.put(*hidden[:150])
    mixed.put(*hidden[150:], tail=tail)
    mixed.delete(201, 203, tail=tail)
    for question in prose(30, seed=4):
        expected = found(index.search(ask(question)))
        assert found(mixed.search(ask(question), frozenset({"open"}))) == expected
        assert found(mixed.search(ask(question))) != expected
    mixed.close()


def test_many_ties_are_broken_by_urn(index: SmallIndex) -> None:
    order = random.Random(1).sample(range(900), 900)
    index.put(*((key, "all", "alpha beta") for key in order))
    assert [hit.urn for hit in index.search(ask("alpha", top_k=5))] == [
        f"urn:{key:05}" for key in range(5)
    ]


@pytest.mark.parametrize("scan_limit", [0, 65_536])
def test_a_long_run_of_ties_is_broken_by_urn(
    scan_limit: int, index: SmallIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bm25, "MIN_TIED_RUN", 200)
    monkeypatch.setattr(bm25, "URN_SCAN_LIMIT", scan_limit)
    order = random.Random(1).sample(range(3_000), 3_000)
    index.put(*((key, "open" if key % 3 else "secret", "alpha beta") for key in order))
    index.put((2_999, "open", "alpha alpha"), (7, "open", "beta"), (1, "open", "alpha"), tail=True)
    hits = index.search(ask("alpha", top_k=5), frozenset({"open"}))
    assert [hit.key for hit in hits] == [2_999, 1, 2, 4, 5]


def test_a_phrase_after_a_long_run_of_ties_is_found(
    index: SmallIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bm25, "MIN_TIED_RUN", 200)
    index.put(*((key, "all", "beta alpha") for key in range(3_000)))
    index.put((9_999, "all", "alpha beta gamma"))
    assert index.search(ask('"alpha beta"', top_k=1))[0].key == 9_999


def test_lengths_that_tantivy_rounds_to_one_still_count(index: SmallIndex) -> None:
    index.put(*((key, "all", "alpha" + " beta" * (200 - key)) for key in range(100)))
    assert [hit.key for hit in index.search(ask("alpha", top_k=100))] == list(range(99, -1, -1))


def test_a_perfect_match_scores_at_most_one_and_an_unknown_word_lowers_it(
    index: SmallIndex,
) -> None:
    index.put((1, "all", "alpha " * 2_000), (2, "all", "beta"), (3, "all", "gamma"))
    (hit,) = index.search(ask("alpha"))
    assert 0.5 < hit.score <= 1
    (lower,) = index.search(ask("alpha omega"))
    assert lower.score < hit.score / 2


def test_a_phrase_counts_where_it_occurs_as_written(index: SmallIndex) -> None:
    index.put(
        (1, "all", "war art of the kind"),
        (2, "all", "the art of war"),
        (3, "all", "the Art of War"),
        (4, "all", "smart of warfare art war"),
    )
    quoted = {hit.key: hit.score for hit in index.search(ask('"art of war"'))}
    plain = {hit.key: hit.score for hit in index.search(ask("art war"))}
    assert max(quoted, key=quoted.__getitem__) == 2
    assert quoted[2] == plain[2]
    assert [quoted[key] for key in (1, 3, 4)] == pytest.approx([plain[k] / 2 for k in (1, 3, 4)])


def test_a_phrase_far_down_the_list_of_its_words_is_found(index: SmallIndex) -> None:
    index.put(*((key, "all", "beta alpha") for key in range(500)))
    index.put((999, "all", "alpha beta gamma"))
    assert index.search(ask('"alpha beta"', top_k=1))[0].key == 999


@pytest.mark.parametrize(
    ("phrase", "text_", "count"),
    [
        ("a.b", "a.b axb A.B", 1),
        ("don", "don't don", 2),
        ("东京", "在东京都", 1),
        ("(x)", "f(x)", 1),
        ("art", "smart art arts", 1),
        ("aa", "aaaa aa", 1),
        ("x", "", 0),
    ],
)
def test_a_phrase_does_not_match_inside_longer_words(phrase: str, text_: str, count: int) -> None:
    assert phrase_frequency(phrase, text_) == count


def test_literals_match_exactly_as_written(index: SmallIndex) -> None:
    index.put((1, "all", "see CVE-2023-1 there"), (2, "all", "see cve-2023-1 there"))
    first, second = index.search(ask("CVE-2023-1"))
    assert first.key == 1
    assert first.score > second.score


def test_matching_all_returns_all_or_none(index: SmallIndex) -> None:
    index.put(*((key, "all", "alpha beta") for key in range(5)), (7, "all", "alpha"))
    index.put((8, "all", "beta alpha"), (1, "all", "gone"), tail=True)
    assert index.matching_all("alpha beta", 5) == [0, 2, 3, 4, 8]
    assert index.matching_all("alpha beta", 4) is None
    assert index.matching_all("", 5) == []


def test_matching_all_is_cached_by_state_limit_and_filter(index: SmallIndex) -> None:
    index.put((1, "all", "alpha beta"), (2, "some", "alpha beta"))
    searcher = index.searcher()
    only = frozenset({filter_key("some", "t")})
    groups = analyzer.question("alpha", (), ("en",)).groups
    terms = [term.text for group in groups for term in group]
    for _ in range(2):
        assert sorted(searcher.matching_all(terms, None, 5) or []) == [1, 2]
        assert searcher.matching_all(terms, None, 1) is None
        assert searcher.matching_all(terms, only, 5) == [2]
    assert index.matching_all("alpha", 5) == [1, 2]
    index.put((3, "all", "alpha"))
    assert index.matching_all("alpha", 5) == [1, 2, 3]
    index.delete(1)
    assert index.matching_all("alpha", 5) == [2, 3]


def test_unknown_words_are_not_cached(index: SmallIndex) -> None:
    index.put((1, "all", "alpha"), (2, "some", "alpha"))
    searcher = index.searcher()
    only = filter_key("some", "t")
    term = analyzer.question("alpha", (), ("en",)).groups[0][0].text
    for number in range(50):
        assert searcher.document_frequency(f"w{number}", frozenset({only})) == 0
        assert searcher.document_frequency(term, frozenset({only})) == 1
        assert searcher.document_frequency(term, None) == 2
    assert len(searcher._frequencies) == len(searcher._interned) == 2


def test_a_score_does_not_depend_on_its_batch() -> None:
    chance = np.random.default_rng(3)
    lengths = chance.integers(0, 50, 200)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    tokens = chance.integers(0, 30, int(starts[-1])).astype(np.uint64) << np.uint64(32)
    every = TokenSequences(list(range(200)), [f"{key:03}" for key in range(200)], starts, tokens)
    terms = tuple(analyzer.Term(f"{number:02}", number) for number in range(25))
    query = WeightedQuery(terms, tuple(chance.random(25).tolist()), (), 1.0)
    scorer = Scorer(query, 25.3, lambda _: {})
    together = {hit.key: hit.score for hit in scorer.score(every, None)}
    for key in range(200):
        alone = tokens[starts[key] : starts[key + 1]]
        one = TokenSequences([key], [f"{key:03}"], np.array([0, len(alone)]), alone)
        assert [hit.score for hit in scorer.score(one, None)] == [
            together[key] for _ in range(key in together)
        ]


def test_frequencies_of_words_and_literals_are_counted_separately() -> None:
    number = 7 << 32 | 7
    rows = TokenSequences(
        [1, 2], ["a", "b"], np.array([0, 3, 3]), np.array([number, 7, 7], np.uint64)
    )
    terms = [analyzer.Term("w", 7), analyzer.Term("l", 7, True)]
    assert frequencies(rows, terms).tolist() == [[1, 0], [2, 0]]


@pytest.mark.parametrize("count", [3, 500])
def test_terms_are_counted_alike_be_they_few_or_many(count: int) -> None:
    numbers = np.random.default_rng(count)
    tokens = numbers.integers(0, 40, 3_000).astype(np.uint64)
    words = numbers.random(3_000) < 0.8
    tokens[words] = tokens[words] << np.uint64(32) | np.uint64(1)
    starts = np.array([0, 0, *sorted(numbers.integers(0, 3_000, 60)), 3_000])
    rows = TokenSequences(list(range(62)), [str(n) for n in range(62)], starts, tokens)
    drawn = numbers.integers(0, 60, count)  # some stand twice, some nowhere
    terms = [analyzer.Term(str(n), int(each), n % 3 == 0) for n, each in enumerate(drawn)]
    expected = [
        [
            sum(
                int(token) == term.token_hash
                if term.literal
                else int(token) >> 32 == term.token_hash
                for token in tokens[start:end]
            )
            for start, end in itertools.pairwise(starts)
        ]
        for term in terms[:40]
    ]
    matrix = frequencies(rows, terms)
    assert matrix[:40].tolist() == expected
    found = TermCounts.of(rows, terms)
    assert found.by_row([0, 1]).tolist() == (matrix[0] + matrix[1]).tolist()
    rebuilt = np.zeros_like(matrix)
    rebuilt[found.terms, found.rows] = found.counts
    assert (rebuilt == matrix).all()


def test_tantivy_computes_idf_as_we_do(index: SmallIndex) -> None:
    index.put(*((key, "all", "alpha beta" if key % 99 else "alpha") for key in range(999)))
    searcher = index.searcher()
    for word, frequency in (("alpha", 999), ("beta", 988)):
        term = analyzer.question(word, (), ("en",)).groups[0][0].text
        assert tantivy_idf(999, frequency) == pytest.approx(
            searcher.term_statistics(term)["idf"], rel=1e-6
        )


def test_a_word_of_every_entity_is_scored_exactly(index: SmallIndex) -> None:
    index.put(*((key, "all", "alpha" + " beta" * (key % 37)) for key in range(2_000)))
    expected = naive(index.texts, "alpha", 50)
    got = found(index.search(ask("alpha", top_k=50)))
    assert [urn for urn, _ in got] == [urn for urn, _ in expected]


def test_an_idf_that_tantivy_rounds_to_zero_is_replaced_by_the_greatest_score(
    index: SmallIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tantivy_terms, "tantivy_idf", lambda *_: 0.0)
    index.put(*((key, "all", "alpha" + " beta" * (key % 37)) for key in range(500)))
    expected = naive(index.texts, "alpha beta", 20)
    assert [hit.urn for hit in index.search(ask("alpha beta"))] == [urn for urn, _ in expected]


def test_a_rare_word_weighs_more() -> None:
    assert idf(1_000, 1) > idf(1_000, 500) > idf(1_000, 1_000) > 0


def test_a_panic_inside_tantivy_is_corruption() -> None:
    class PanicException(BaseException):
        """What pyo3 makes of a Rust panic."""

    def fail(error: BaseException) -> None:
        with tantivy_errors():
            raise error

    for error in (PanicException("out of bounds"), ValueError("bad"), OSError("gone")):
        with pytest.raises(CorruptIndex):
            fail(error)
    with pytest.raises(KeyboardInterrupt):
        fail(KeyboardInterrupt())


def test_a_real_panic_inside_tantivy_is_corruption() -> None:
    from tantivy import Query as Asked
    from tantivy import SchemaBuilder

    schema = SchemaBuilder().add_text_field("body").build()
    with pytest.raises(CorruptIndex), tantivy_errors():
        Asked.phrase_query(schema, "body", ["alone"])
