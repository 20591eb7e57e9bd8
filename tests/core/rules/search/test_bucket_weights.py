"""Contract 10: what each bucket weighs, by what a search found."""

import itertools
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules.search import bucket_weights
from redask.core.rules.search.bucket_weights import LEAST, MAX_NAMED, Weight, decide, lead

BUCKETS = ("bm25", "vector", "graph")
Ranked = Sequence[tuple[str, float]]


def weights(
    words: Ranked = (("a", 0.5), ("b", 0.25)),
    vectors: Ranked = (("a", 0.5), ("b", 0.25)),
    graph: Ranked = (("a", 0.5),),
    named: int = 0,
    fixed: dict[str, Decimal] | None = None,
) -> dict[str, Weight]:
    given = dict.fromkeys(BUCKETS) | (fixed or {})
    return decide(words, vectors, graph, named, given)


def numbers(found: dict[str, Weight]) -> tuple[str, ...]:
    return tuple(str(found[bucket].weight) for bucket in BUCKETS)


def test_what_the_settings_fix_is_fixed_and_the_rest_is_decided() -> None:
    found = weights(fixed={"bm25": Decimal("2.5"), "graph": Decimal(0)})
    assert numbers(found) == ("2.5", "0.67", "0")
    assert [found[bucket].reason == "set" for bucket in BUCKETS] == [True, False, True]


@pytest.mark.parametrize("named", [1, MAX_NAMED])
def test_the_graph_leads_when_the_question_names_some_entities(named: int) -> None:
    found = weights(named=named)
    assert numbers(found) == ("0.01", "0.01", "1")
    assert {each.reason for each in found.values()} == {
        f"the question names {named} {'entity' if named == 1 else 'entities'}"
    }


def test_many_named_entities_do_not_lead() -> None:
    found = weights(named=MAX_NAMED + 1)
    assert numbers(found) == ("0.33", "0.67", "1")
    assert found["graph"].reason == "the question names 7 entities"


def test_nothing_linked_does_not_lead() -> None:
    assert numbers(weights(graph=(), named=1)) == ("0.33", "0.67", "1")


@pytest.mark.parametrize(
    ("second", "of_words", "leads"),
    [(0.86, 0.9, True), (0.85, 0.9, False), (0.84, 0.5, True), (0.5, 0.51, False)],
)
def test_the_graph_does_not_lead_where_another_vector_stands_out_and_more_than_words(
    second: float, of_words: float, leads: bool
) -> None:
    found = weights(
        words=(("a", 1.0), ("c", of_words)), vectors=(("b", 1.0), ("a", second)), named=1
    )
    assert (found["bm25"].weight == found["vector"].weight == LEAST) is leads
    assert leads or "another" in found["graph"].reason


@pytest.mark.parametrize(("second", "leads"), [(0.86, True), (0.85, False)])
def test_without_vectors_another_best_of_words_is_what_counts(second: float, leads: bool) -> None:
    found = weights(words=(("b", 1.0), ("a", second)), vectors=(), named=1)
    assert (found["bm25"].weight == LEAST) is leads
    assert numbers(weights(words=(("a", 1.0), ("b", 0.1)), vectors=(), named=1))[2] == "1"


def test_a_vector_that_stands_out_and_is_the_same_as_the_graphs_best_lets_the_graph_lead() -> None:
    assert numbers(weights(vectors=(("a", 1.0), ("b", 0.1)), named=1)) == ("0.01", "0.01", "1")


@pytest.mark.parametrize(
    ("of_words", "of_vectors", "shares"),
    [
        (0.5, 0.5, ("0.33", "0.67")),  # half as good as the best: both stand out by half
        (0.0, 0.0, ("0.33", "0.67")),  # both are alone
        (1.0, 1.0, ("0.5", "0.5")),  # no best in either
        (1.0, 0.5, ("0.01", "0.99")),  # no best among words: but none weighs nothing
        (0.5, 1.0, ("0.99", "0.01")),
        (0.6, 0.9, ("0.89", "0.11")),
    ],
)
def test_words_and_vectors_share_by_how_far_their_best_stands_out(
    of_words: float, of_vectors: float, shares: tuple[str, str]
) -> None:
    found = weights(words=(("a", 1.0), ("b", of_words)), vectors=(("c", 1.0), ("d", of_vectors)))
    assert numbers(found) == (*shares, "0.25")
    assert found["graph"].reason == "the question names nothing"
    assert found["bm25"].reason == found["vector"].reason
    assert f"{1 - of_words:.2f}, vectors by {1 - of_vectors:.2f}" in found["bm25"].reason


def test_without_words_or_without_vectors_the_graph_weighs_more() -> None:
    for found, reason in (
        (weights(vectors=()), "there are no vectors"),
        (weights(words=()), "there are no words"),
    ):
        assert numbers(found) == ("1", "1", "1.4")
        assert found["graph"].reason == reason
        assert not found["bm25"].reason


def test_how_far_the_best_stands_out() -> None:
    assert [lead(()), lead([("a", 0.0)]), lead([("a", 0.3)])] == [0.0, 0.0, 1.0]
    assert lead([("a", 0.5), ("b", 0.375), ("c", 0.0)]) == 0.25


LISTS = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.just(0.0) | st.floats(1e-9, 1)),
    max_size=5,
    unique_by=lambda one: one[0],
).map(lambda found: sorted(found, key=lambda one: (-one[1], one[0])))


@given(LISTS, LISTS, LISTS, st.integers(0, 10))
def test_every_bucket_keeps_an_exact_weight_and_only_the_two_best_matter(
    words: Ranked, vectors: Ranked, graph: Ranked, named: int
) -> None:
    found = weights(words, vectors, graph, named)
    assert tuple(found) == BUCKETS
    assert all(LEAST <= each.weight <= bucket_weights.LONE_GRAPH for each in found.values())
    assert all(each.weight * 100 % 1 == 0 for each in found.values())
    assert weights(words[:2], vectors[:2], graph[:1], named) == found


@given(LISTS, LISTS)
def test_scores_on_another_scale_change_nothing(words: Ranked, vectors: Ranked) -> None:
    halved = [(urn, score / 2) for urn, score in vectors]
    for named in (0, 1):
        assert numbers(weights(words, halved, named=named)) == numbers(
            weights(words, vectors, named=named)
        )


def test_the_order_of_buckets_is_fixed() -> None:
    for words, vectors, named in itertools.product(((), [("a", 1.0)]), ((), [("b", 1.0)]), (0, 1)):
        assert tuple(weights(words, vectors, named=named)) == BUCKETS
