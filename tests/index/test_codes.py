"""A search of codes finds the same rows in any order, and a rotation keeps every angle."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redask.index.vector.cosine import Floats, unit_vectors
from redask.index.vector.files import Flags
from redask.index.vector.quantization import Codes, rotate

DIMENSIONS = [1, 2, 3, 5, 8, 31, 64, 100, 384]


def random_units(count: int, dimensions: int, seed: int) -> Floats:
    numbers = np.random.default_rng(seed).standard_normal((count, dimensions))
    return unit_vectors(numbers.astype(np.float32))


def estimates(codes: Codes, query: Floats, bits: Flags | None = None) -> dict[int, float]:
    packed = None if bits is None else np.packbits(bits, bitorder="little")
    values, rows = codes.search(rotate(query[None, :]), len(codes), packed)
    return dict(zip(rows.tolist(), values.tolist(), strict=True))


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_a_rotation_keeps_products_and_does_not_depend_on_the_batch(dimensions: int) -> None:
    rows = random_units(300, dimensions, 1)
    kept = rows.copy()
    rotated = rotate(rows)
    assert np.allclose(rotated @ rotated.T, rows @ rows.T, atol=1e-5)
    for i in (0, 7, 299):
        assert np.array_equal(rotate(rows[i : i + 1])[0], rotated[i])
    assert np.array_equal(rows, kept)


def test_a_rotation_of_one_row_leaves_that_row_alone() -> None:
    row = random_units(1, 64, 1)
    kept = row.copy()
    rotate(row)
    assert np.array_equal(row, kept)


@pytest.mark.parametrize("dimensions", DIMENSIONS)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 2_500), data=st.data())
def test_an_estimate_depends_on_the_row_and_the_query_alone(
    dimensions: int, seed: int, count: int, data: st.DataObject
) -> None:
    rows, query = random_units(count, dimensions, seed), random_units(1, dimensions, seed + 1)[0]
    whole = Codes(dimensions)
    whole.add(rows)
    expected = estimates(whole, query)
    assert len(expected) == count
    random = np.random.default_rng(seed)
    order = random.permutation(count)
    cut = data.draw(st.integers(0, count))
    found: dict[int, float] = {}
    for part in (order[:cut], order[cut:]):
        codes = Codes(dimensions)
        codes.add(rows[part])
        found |= {int(part[row]): value for row, value in estimates(codes, query).items()}
    assert found == expected
    allowed = random.random(count) < 0.3
    some = estimates(whole, query, allowed)
    assert some == {row: expected[row] for row in np.flatnonzero(allowed).tolist()}


def test_the_nearest_are_among_the_candidates_for_any_distribution() -> None:
    random = np.random.default_rng(5)
    centres = random.standard_normal((100, 384))
    near = centres[random.integers(0, 100, 5_000)] + random.standard_normal((5_000, 384))
    for numbers in (near, np.maximum(near, 0), np.where(near > 1.5, near, 0)):
        rows = unit_vectors(numbers.astype(np.float32) + np.float32(1e-6))
        codes = Codes(384)
        codes.add(rows)
        for query in rows[:20]:
            best = np.argsort(-(rows @ query))[:20]
            _, candidates = codes.search(rotate(query[None, :]), 500, None)
            assert set(best.tolist()) <= set(candidates.tolist())


def test_codes_come_back_from_a_file_as_they_were(tmp_path: Path) -> None:
    rows, query = random_units(3_000, 48, 1), random_units(1, 48, 2)[0]
    codes = Codes(48)
    codes.add(rows[:2_000])
    with open(tmp_path / "codes", "wb") as file:
        codes.write(file.write)
    again = Codes.read(tmp_path / "codes", 48)
    codes.add(rows[2_000:])
    again.add(rows[2_000:])
    assert estimates(again, query) == estimates(codes, query)


def test_a_removed_file_is_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        Codes.read(tmp_path / "codes", 48)
    assert caught.value.filename == str(tmp_path / "codes")


def test_an_error_while_writing_is_not_swallowed() -> None:
    codes = Codes(48)
    codes.add(random_units(3_000, 48, 1))

    def full(_: bytes) -> int:
        raise OSError(28, os.strerror(28))

    with pytest.raises(OSError, match="space"):
        codes.write(full)


def test_a_search_of_no_codes_finds_nothing() -> None:
    values, rows = Codes(8).search(rotate(random_units(1, 8, 1)), 5, None)
    assert len(values) == len(rows) == 0
