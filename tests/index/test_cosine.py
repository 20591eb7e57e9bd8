"""Cosines are bitwise equal wherever they are computed, and `top_k` misses no row."""

import importlib
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.index.vector import cosine
from redask.index.vector.cosine import Floats


def random_units(count: int, dimensions: int, seed: int) -> Floats:
    numbers = np.random.default_rng(seed).standard_normal((count, dimensions))
    return cosine.unit_vectors(numbers.astype(np.float32))


sizes = st.integers(1, 700)
seeds = st.integers(0, 2**32 - 1)


@given(sizes, st.sampled_from([1, 2, 3, 7, 64, 100, 384, 385]), seeds, st.data())
def test_a_row_scores_the_same_in_any_batch_at_any_place(
    count: int, dimensions: int, seed: int, data: st.DataObject
) -> None:
    rows = random_units(count, dimensions, seed)
    query = random_units(1, dimensions, seed + 1)[0]
    together = cosine.exact_cosines(rows, query)
    order = np.random.default_rng(seed).permutation(count)
    assert np.array_equal(cosine.exact_cosines(rows[order], query), together[order])
    one = data.draw(st.integers(0, count - 1))
    assert cosine.exact_cosines(rows[one : one + 1], query)[0] == together[one]
    end = data.draw(st.integers(one + 1, count))
    assert np.array_equal(cosine.exact_cosines(rows[one:end], query), together[one:end])


@given(st.integers(0, 15), seeds)
def test_a_row_scores_the_same_at_any_address(shift: int, seed: int) -> None:
    rows, query = random_units(33, 96, seed), random_units(1, 96, seed + 1)[0]
    room = np.empty(rows.nbytes + 16, np.uint8)
    moved = room[shift : shift + rows.nbytes].view(np.float32).reshape(rows.shape)
    moved[:] = rows
    assert np.array_equal(cosine.exact_cosines(moved, query), cosine.exact_cosines(rows, query))


def test_a_row_scores_the_same_in_many_threads() -> None:
    rows, query = random_units(5_000, 384, 1), random_units(1, 384, 2)[0]
    alone = cosine.exact_cosines(rows, query)
    with ThreadPoolExecutor(8) as pool:
        parts = list(
            pool.map(lambda i: cosine.exact_cosines(rows[i : i + 613], query), range(0, 4_000, 7))
        )
    for start, part in zip(range(0, 4_000, 7), parts, strict=True):
        assert np.array_equal(part, alone[start : start + 613])


@given(sizes, st.sampled_from([1, 3, 8, 384]), seeds)
def test_approximate_products_are_within_the_error_bound(
    count: int, dimensions: int, seed: int
) -> None:
    rows, query = random_units(count, dimensions, seed), random_units(1, dimensions, seed + 1)[0]
    approximate = np.einsum("ij,j->i", rows, query).astype(np.float64)
    assert np.all(
        np.abs(approximate - cosine.exact_cosines(rows, query)) <= cosine.error_bound(dimensions)
    )


def spread(kind: str, count: int, random: np.random.Generator) -> Floats:
    """Vectors all over, vectors of few values that tie often, or ones hard to tell apart."""
    if kind == "coarse":
        few = random.integers(0, 2, (count, 48)).astype(np.float32)
        few[:, :46] = 1
        return few
    noise = random.standard_normal((count, 48)).astype(np.float32)
    return noise if kind == "wide" else np.float32(1) + np.float32(1e-6) * noise


@contextmanager
def faiss_imported() -> Iterator[None]:
    importlib.import_module("faiss")
    yield


@contextmanager
def faiss_not_imported() -> Iterator[None]:
    with patch.dict(sys.modules):
        sys.modules.pop("faiss", None)
        yield
        assert "faiss" not in sys.modules  # few rows are compared without it


@given(
    sizes,
    st.integers(0, 800),
    st.sampled_from(["wide", "coarse", "narrow"]),
    st.tuples(st.booleans(), st.booleans()),
    seeds,
)
def test_the_best_are_those_of_sorting_everything_with_all_ties(
    count: int, k: int, kind: str, chances: tuple[bool, bool], seed: int
) -> None:
    filtered, imported = chances
    random = np.random.default_rng(seed)
    rows = cosine.unit_vectors(spread(kind, count, random))
    query = random_units(1, 48, seed + 1)[0]
    chosen = np.sort(random.choice(count, (count + 1) // 2, replace=False)) if filtered else None
    candidates = np.arange(count) if chosen is None else chosen
    every = cosine.exact_cosines(rows[candidates], query)
    kth = np.sort(every)[::-1][:k].min(initial=2.0)
    with faiss_imported() if imported else faiss_not_imported():
        found, cosines = cosine.top_k(rows, query, k, chosen)
    assert set(found.tolist()) == set(candidates[every >= kth].tolist())
    assert np.array_equal(cosines, np.sort(cosines)[::-1])
    assert np.array_equal(cosines, cosine.exact_cosines(rows[found], query))


@pytest.mark.parametrize("imported", [False, True])
@pytest.mark.parametrize("filtered", [False, True])
def test_exact_cosines_are_made_only_of_rows_that_may_be_among_the_best(
    monkeypatch: pytest.MonkeyPatch, imported: bool, filtered: bool
) -> None:
    rows, query = random_units(600, 48, 1), random_units(1, 48, 2)[0]
    exact, made = cosine.exact_cosines, []

    def counted(some: Floats, point: Floats) -> cosine.Doubles:
        made.append(len(some))
        return exact(some, point)

    monkeypatch.setattr(cosine, "exact_cosines", counted)
    with faiss_imported() if imported else faiss_not_imported():
        found, _ = cosine.top_k(rows, query, 10, np.arange(0, 600, 2) if filtered else None)
    assert len(found) == 10
    assert sum(made) < 20


@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1e-3, 1.0, 1e30, 3e38])
def test_a_vector_of_any_size_becomes_length_one(scale: float) -> None:
    row = cosine.unit_vectors(np.array([[scale, 0, -scale, scale / 4]], np.float32))[0].astype(
        np.float64
    )
    assert np.sqrt(np.sum(row * row)) == pytest.approx(1, abs=1e-6)


@given(st.integers(1, 500), seeds)
def test_a_vector_has_cosine_one_with_itself_and_never_more(dimensions: int, seed: int) -> None:
    row = random_units(1, dimensions, seed)
    assert 1 - 1e-6 < cosine.exact_cosines(row, row[0])[0] <= 1
    assert -1 <= cosine.exact_cosines(-row, row[0])[0] < -1 + 1e-6
