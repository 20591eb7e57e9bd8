"""Who embeds which changes: spans do not overlap, and the start leaves none of them out."""

from dataclasses import replace

import pytest

from redask.core.ports import EmbeddingLease
from redask.stores import embedding_leases as rules
from redask.stores.embedding_leases import DONE

A, B = EmbeddingLease("a", 1, 0, 10), EmbeddingLease("b", 1, 20, 30)


def done(after: int, through: int) -> EmbeddingLease:
    return EmbeddingLease(DONE, 0, after, through)


def test_free_is_what_nobody_has_from_the_start_on() -> None:
    end = 2**62
    assert list(rules.free((), 5)) == [(5, end)]
    assert list(rules.free((A, B), 0)) == [(10, 20), (30, end)]
    assert list(rules.free((B,), 5)) == [(5, 20), (30, end)]
    assert list(rules.free((A, B), 25)) == [(30, end)]  # what lies below the start is done


def test_a_sign_of_life_changes_ones_own_and_what_is_over_goes() -> None:
    assert rules.renewed((A, B), EmbeddingLease("a", 2), [B]) == (replace(A, beat=2),)
    assert rules.renewed((A, B), EmbeddingLease("c", 2), [replace(B, beat=0)]) == (A, B)
    assert rules.of((A, B), "b") == B
    assert rules.of((A, B), "c") is None


def test_done_spans_that_touch_are_one() -> None:
    assert rules.added((done(0, 5),), done(5, 8)) == (done(0, 8),)
    assert rules.added((done(5, 8),), done(0, 9)) == (done(0, 9),)
    assert rules.added((done(0, 5),), done(6, 8)) == (done(0, 5), done(6, 8))
    assert rules.added((B,), A) == (A, B)


@pytest.mark.parametrize(
    ("through", "left"),
    [
        (4, (done(0, 4), replace(A, after=4, beat=7), B)),
        (10, (done(0, 10), B)),
        (11, (A, B)),  # not the holder's
    ],
)
def test_what_was_worked_is_done(through: int, left: tuple[EmbeddingLease, ...]) -> None:
    assert rules.worked((A, B), replace(A, beat=7), through) == left


def test_a_lease_that_was_taken_away_does_nothing() -> None:
    assert rules.worked((B,), A, 4) == (B,)


def test_the_start_moves_through_done_spans_and_no_further() -> None:
    assert rules.passed((done(0, 4), replace(A, after=4), B), 0) == ((replace(A, after=4), B), 4)
    assert rules.passed((A, done(10, 20), B), 0) == ((A, done(10, 20), B), 0)
    assert rules.passed((done(0, 10), done(12, 20)), 0) == ((done(12, 20),), 10)
    assert rules.passed((A, B), 10) == ((B,), 10)


def test_leases_are_read_as_they_were_written_and_those_of_an_older_redask_too() -> None:
    assert rules.read(rules.written((A, B, done(40, 50))), 0) == (A, B, done(40, 50))
    assert rules.written(()) is None
    assert rules.read(None, 0) == ()
    assert rules.read("machine:1:x", 9) == (EmbeddingLease("machine:1:x", 9, 0, 2**62),)
