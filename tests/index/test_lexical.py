"""The bucket bm25: exact scores, live statistics, nothing of what a caller may not read."""

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from redask.core.errors import Damaged
from redask.core.ports import Query
from redask.core.wire.json import text
from redask.index.analysis import analyzer
from redask.index.forward.entries import Classes, Entry, Sequences, class_of
from redask.index.forward.forward_index import Forward
from redask.index.lexical import bm25, tantivy_terms
from redask.index.lexical.bm25 import Lexical, Totals
from redask.index.lexical.scoring import Hit, Scorer, Weighing, frequencies, said
from redask.index.lexical.tantivy_terms import View, WordIndex, guarded, idf, raw_idf
from tests.index.texts import ask, words


class Bench:
    """A forward index and a word index, filled by hand, with labels."""

    def __init__(self, directory: Path) -> None:
        self.texts: dict[str, str] = {}
        directory.mkdir()
        self._forward = Forward(directory / "forward.sqlite", create=True)
        self._words = WordIndex(directory / "words")

    def put(self, *given: tuple[int, str, str], tail: bool = False) -> None:
        """Entities by number, label and text."""
        entries, spelt = [], []
        for key, label, prose in given:
            found = analyzer.entity(text({"text": prose}), "en")
            entries.append(Entry(key, f"urn:{key:05}", "t", label, *found[:-1]))
            spelt.append((key, class_of(label, "t"), found.words))
            self.texts[f"urn:{key:05}"] = prose
        self._write(entries, [], tail)
        if not tail:
            with self._words.writing(many=False) as writer:
                for each in spelt:
                    writer.add(*each)
                writer.commit()

    def delete(self, *keys: int, tail: bool = False) -> None:
        self._write([], keys, tail)
        if not tail:
            with self._words.writing(many=False) as writer:
                for key in keys:
                    writer.delete(key)
                writer.commit()

    def _write(self, entries: Sequence[Entry], deleted: Sequence[int], tail: bool) -> None:
        with self._forward.writing() as writing:
            writing.apply(entries, [], deleted, seq=1, tail=tail)

    def search(self, query: Query, labels: frozenset[str] | None = None) -> list[Hit]:
        with self._forward.snapshot() as snapshot:
            shares = [s for s in snapshot.statistics() if labels is None or s.label in labels]
            totals = Totals(sum(s.entities for s in shares), sum(s.tokens for s in shares))
            readable: Classes = None
            if labels is not None:
                readable = frozenset(class_of(label, "t") for label in labels)
            words = Lexical(self._words.view(), snapshot, snapshot.tail(), readable, totals)
            wanted = analyzer.question(query.question, query.terms.literals, ("en",))
            return words.search(wanted, query.top_k, readable, self.read)

    def read(self, urns: Sequence[str]) -> dict[str, str]:
        return {urn: self.texts[urn] for urn in urns}

    def view(self) -> View:
        return self._words.view()

    def holding(self, question: str, limit: int) -> list[int] | None:
        with self._forward.snapshot() as snapshot:
            words = Lexical(self._words.view(), snapshot, snapshot.tail(), None, Totals(1, 1))
            groups = analyzer.question(question, (), ("en",)).groups
            return words.holding([term for group in groups for term in group], limit)

    def close(self) -> None:
        self._forward.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "bench")
    yield made
    made.close()


def found(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(hit.urn, hit.score) for hit in hits]


def prose(count: int, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return [words(chance.randrange(3, 60), chance) for _ in range(count)]


def naive(texts: dict[str, str], question: str, limit: int) -> list[tuple[str, float]]:
    """BM25 by the book, over stems, word by word."""
    stems = {
        urn: analyzer.entity(text({"t": said}), "en").words.split() for urn, said in texts.items()
    }
    wanted = [group[0].text for group in analyzer.question(question, (), ("en",)).groups]
    average = sum(map(len, stems.values())) / len(stems)
    weights = {}
    for term in wanted:
        holding = sum(term in each for each in stems.values())
        weights[term] = math.log(1 + (len(stems) - holding + 0.5) / (holding + 0.5))
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


def test_scores_are_those_of_bm25_by_the_book(bench: Bench) -> None:
    texts = prose(300)
    bench.put(*((key, "all", said) for key, said in enumerate(texts)))
    chance = random.Random(9)
    for _ in range(25):
        question = words(chance.randrange(1, 6), chance)
        expected = naive(bench.texts, question, 20)
        got = found(bench.search(ask(question)))
        assert [urn for urn, _ in got] == [urn for urn, _ in expected]
        assert [score for _, score in got] == pytest.approx([score for _, score in expected])


def test_the_tail_scores_like_the_rest(tmp_path: Path, bench: Bench) -> None:
    texts = prose(300)
    bench.put(*((key, "all", said) for key, said in enumerate(texts)))
    mixed = Bench(tmp_path / "mixed")
    mixed.put(*((key, "all", said) for key, said in enumerate(texts[:200])))
    mixed.put(*((key, "all", "baba " * 7) for key in range(300, 320)))
    mixed.put(*((key, "all", texts[key]) for key in range(150, 300)), tail=True)
    mixed.delete(*range(300, 320), tail=True)
    for question in prose(30, seed=4):
        assert found(mixed.search(ask(question))) == found(bench.search(ask(question)))
    mixed.close()


@pytest.mark.parametrize("tail", [False, True])
def test_what_a_caller_may_not_read_changes_no_byte(
    tail: bool, tmp_path: Path, bench: Bench
) -> None:
    texts = prose(400)
    bench.put(*((key, "open", said) for key, said in enumerate(texts[:200])))
    mixed = Bench(tmp_path / "mixed")
    mixed.put(*((key, "open", said) for key, said in enumerate(texts[:200])))
    hidden = [(key, "secret", said * 3) for key, said in enumerate(texts) if key >= 200]
    mixed.put(*hidden[:150])
    mixed.put(*hidden[150:], tail=tail)
    mixed.delete(201, 203, tail=tail)
    for question in prose(30, seed=4):
        expected = found(bench.search(ask(question)))
        assert found(mixed.search(ask(question), frozenset({"open"}))) == expected
        assert found(mixed.search(ask(question))) != expected
    mixed.close()


def test_many_ties_are_broken_by_urn(bench: Bench) -> None:
    order = random.Random(1).sample(range(900), 900)
    bench.put(*((key, "all", "alpha beta") for key in order))
    assert [hit.urn for hit in bench.search(ask("alpha", top_k=5))] == [
        f"urn:{key:05}" for key in range(5)
    ]


@pytest.mark.parametrize("walk", [0, 65_536])
def test_a_plateau_of_ties_is_settled_by_urn(
    walk: int, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bm25, "PLATEAU", 200)
    monkeypatch.setattr(bm25, "WALK", walk)
    order = random.Random(1).sample(range(3_000), 3_000)
    bench.put(*((key, "open" if key % 3 else "secret", "alpha beta") for key in order))
    bench.put((2_999, "open", "alpha alpha"), (7, "open", "beta"), (1, "open", "alpha"), tail=True)
    hits = bench.search(ask("alpha", top_k=5), frozenset({"open"}))
    assert [hit.key for hit in hits] == [2_999, 1, 2, 4, 5]


def test_a_phrase_beyond_a_plateau_is_found(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bm25, "PLATEAU", 200)
    bench.put(*((key, "all", "beta alpha") for key in range(3_000)))
    bench.put((9_999, "all", "alpha beta gamma"))
    assert bench.search(ask('"alpha beta"', top_k=1))[0].key == 9_999


def test_lengths_beyond_what_tantivy_tells_apart_still_count(bench: Bench) -> None:
    bench.put(*((key, "all", "alpha" + " beta" * (200 - key)) for key in range(100)))
    assert [hit.key for hit in bench.search(ask("alpha", top_k=100))] == list(range(99, -1, -1))


def test_a_perfect_match_scores_at_most_one_and_an_unknown_word_lowers_it(bench: Bench) -> None:
    bench.put((1, "all", "alpha " * 2_000), (2, "all", "beta"), (3, "all", "gamma"))
    (hit,) = bench.search(ask("alpha"))
    assert 0.5 < hit.score <= 1
    (lower,) = bench.search(ask("alpha omega"))
    assert lower.score < hit.score / 2


def test_a_phrase_counts_where_it_is_said_as_written(bench: Bench) -> None:
    bench.put(
        (1, "all", "war art of the kind"),
        (2, "all", "the art of war"),
        (3, "all", "the Art of War"),
        (4, "all", "smart of warfare art war"),
    )
    quoted = {hit.key: hit.score for hit in bench.search(ask('"art of war"'))}
    plain = {hit.key: hit.score for hit in bench.search(ask("art war"))}
    assert max(quoted, key=quoted.__getitem__) == 2
    assert quoted[2] == plain[2]
    assert [quoted[key] for key in (1, 3, 4)] == pytest.approx([plain[k] / 2 for k in (1, 3, 4)])


def test_a_phrase_far_down_the_list_of_its_words_is_found(bench: Bench) -> None:
    bench.put(*((key, "all", "beta alpha") for key in range(500)))
    bench.put((999, "all", "alpha beta gamma"))
    assert bench.search(ask('"alpha beta"', top_k=1))[0].key == 999


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
def test_a_phrase_is_no_part_of_longer_words(phrase: str, text_: str, count: int) -> None:
    assert said(phrase, text_) == count


def test_literals_match_exactly_as_written(bench: Bench) -> None:
    bench.put((1, "all", "see CVE-2023-1 there"), (2, "all", "see cve-2023-1 there"))
    first, second = bench.search(ask("CVE-2023-1"))
    assert first.key == 1
    assert first.score > second.score


def test_holding_is_all_or_none(bench: Bench) -> None:
    bench.put(*((key, "all", "alpha beta") for key in range(5)), (7, "all", "alpha"))
    bench.put((8, "all", "beta alpha"), (1, "all", "gone"), tail=True)
    assert bench.holding("alpha beta", 5) == [0, 2, 3, 4, 8]
    assert bench.holding("alpha beta", 4) is None
    assert bench.holding("", 5) == []


def test_holding_is_remembered_for_one_state_one_limit_and_one_class_alone(bench: Bench) -> None:
    bench.put((1, "all", "alpha beta"), (2, "some", "alpha beta"))
    view = bench.view()
    only = frozenset({class_of("some", "t")})
    groups = analyzer.question("alpha", (), ("en",)).groups
    terms = [term.text for group in groups for term in group]
    for _ in range(2):
        assert sorted(view.holding(terms, None, 5) or []) == [1, 2]
        assert view.holding(terms, None, 1) is None
        assert view.holding(terms, only, 5) == [2]
    assert bench.holding("alpha", 5) == [1, 2]
    bench.put((3, "all", "alpha"))
    assert bench.holding("alpha", 5) == [1, 2, 3]
    bench.delete(1)
    assert bench.holding("alpha", 5) == [2, 3]


def test_words_that_nobody_holds_are_not_remembered(bench: Bench) -> None:
    bench.put((1, "all", "alpha"), (2, "some", "alpha"))
    view = bench.view()
    only = class_of("some", "t")
    term = analyzer.question("alpha", (), ("en",)).groups[0][0].text
    for number in range(50):
        assert view.count(f"w{number}", frozenset({only})) == 0
        assert view.count(term, frozenset({only})) == 1
        assert view.count(term, None) == 2
    assert len(view._counts) == len(view._classes) == 2


def test_a_score_does_not_depend_on_what_is_scored_beside_it() -> None:
    chance = np.random.default_rng(3)
    lengths = chance.integers(0, 50, 200)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    tokens = chance.integers(0, 30, int(starts[-1])).astype(np.uint64) << np.uint64(32)
    every = Sequences(list(range(200)), [f"{key:03}" for key in range(200)], starts, tokens)
    terms = tuple(analyzer.Term(f"{number:02}", number) for number in range(25))
    weighing = Weighing(terms, tuple(chance.random(25).tolist()), (), 1.0)
    scorer = Scorer(weighing, 25.3, lambda _: {})
    together = {hit.key: hit.score for hit in scorer.score(every, None)}
    for key in range(200):
        alone = tokens[starts[key] : starts[key + 1]]
        one = Sequences([key], [f"{key:03}"], np.array([0, len(alone)]), alone)
        assert [hit.score for hit in scorer.score(one, None)] == [
            together[key] for _ in range(key in together)
        ]


def test_frequencies_count_words_and_literals_apart() -> None:
    number = 7 << 32 | 7
    rows = Sequences([1, 2], ["a", "b"], np.array([0, 3, 3]), np.array([number, 7, 7], np.uint64))
    terms = [analyzer.Term("w", 7), analyzer.Term("l", 7, True)]
    assert frequencies(rows, terms).tolist() == [[1, 0], [2, 0]]


def test_tantivy_computes_weights_as_we_think(bench: Bench) -> None:
    bench.put(*((key, "all", "alpha beta" if key % 99 else "alpha") for key in range(999)))
    view = bench.view()
    for word, held in (("alpha", 999), ("beta", 988)):
        term = analyzer.question(word, (), ("en",)).groups[0][0].text
        assert raw_idf(999, held) == pytest.approx(view.told(term)["idf"], rel=1e-6)


def test_a_word_that_all_entities_hold_is_scored_exactly(bench: Bench) -> None:
    bench.put(*((key, "all", "alpha" + " beta" * (key % 37)) for key in range(2_000)))
    expected = naive(bench.texts, "alpha", 50)
    got = found(bench.search(ask("alpha", top_k=50)))
    assert [urn for urn, _ in got] == [urn for urn, _ in expected]


def test_a_weight_that_tantivy_rounds_to_nothing_is_replaced_by_the_most(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tantivy_terms, "raw_idf", lambda *_: 0.0)
    bench.put(*((key, "all", "alpha" + " beta" * (key % 37)) for key in range(500)))
    expected = naive(bench.texts, "alpha beta", 20)
    assert [hit.urn for hit in bench.search(ask("alpha beta"))] == [urn for urn, _ in expected]


def test_a_rare_word_weighs_more() -> None:
    assert idf(1_000, 1) > idf(1_000, 500) > idf(1_000, 1_000) > 0


def test_a_panic_inside_tantivy_is_damage() -> None:
    class PanicException(BaseException):
        """What pyo3 makes of a Rust panic."""

    def fall(error: BaseException) -> None:
        with guarded():
            raise error

    for error in (PanicException("out of bounds"), ValueError("bad"), OSError("gone")):
        with pytest.raises(Damaged):
            fall(error)
    with pytest.raises(KeyboardInterrupt):
        fall(KeyboardInterrupt())


def test_a_real_panic_inside_tantivy_is_damage() -> None:
    from tantivy import Query as Asked
    from tantivy import SchemaBuilder

    schema = SchemaBuilder().add_text_field("body").build()
    with pytest.raises(Damaged), guarded():
        Asked.phrase_query(schema, "body", ["alone"])
