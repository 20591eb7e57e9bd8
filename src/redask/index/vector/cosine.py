"""Cosines that do not depend on the batch they are computed in.

    unit_vectors(vectors)                 → the vectors normalised to length 1, as float32
    exact_cosines(rows, query)            → one float64 per row: the score that is reported
    top_k(rows, query, k, candidates)     → positions and cosines of the k best rows, ties with the
                                            k-th included

A matrix product, and numpy's own sums, may add the same numbers in another order for another batch,
alignment, thread or processor, and so change the last bit. Here a sum is a fixed tree of
element-wise additions: the tree depends on the number of dimensions alone, each step is one IEEE
operation, and a product of two float32 is exact in float64. So equal vectors have bitwise equal
scores everywhere.

That tree is slow for many rows. `top_k` first computes approximate float32 products in this thread
only: by faiss, which copies no row, or, for few rows while that is not imported yet, by numpy's
`einsum`, for the import takes longer (a product of matrices would start BLAS's threads, which spin
on a second core). In any order of addition their error is at most
`error_bound`: γ = d·u / (1 − d·u), u = 2⁻²⁴. Then it computes exact cosines only for the rows that
can still be in the top k: with A the k-th best approximate value, the k-th exact one is at least
A − bound, so a row at or above it has an approximate value of at least A − 2·bound. The result is
that of exact arithmetic over all rows, whoever made the first step.
"""

import sys

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]

_CHUNK = 256  # rows that fit the CPU cache as float64
_FEW = 5_000


def _pairwise_sums(terms: Doubles) -> Doubles:
    """The sum of each row, halving the row until one column is left; `terms` is consumed."""
    width = terms.shape[1]
    while width > 1:
        half, odd = divmod(width, 2)
        terms[:, :half] += terms[:, half : 2 * half]
        if odd:
            terms[:, half] = terms[:, 2 * half]
        width = half + odd
    return terms[:, 0]


def unit_vectors(vectors: Floats) -> Floats:
    """Each vector at length 1. The caller has checked that none is zero or infinite."""
    doubles = vectors.astype(np.float64)
    # Scaled by the largest component first, or the squares of tiny vectors would underflow.
    doubles /= np.abs(doubles).max(axis=1, keepdims=True)
    doubles /= np.sqrt(_pairwise_sums(doubles * doubles))[:, None]
    return doubles.astype(np.float32) + np.float32(0)  # no negative zeros


def exact_cosines(rows: Floats, query: Floats) -> Doubles:
    """The cosine of each unit row with a unit query, from −1 to 1; of equal ones, 1.

    A float32 vector is of length 1 only to within rounding: both lengths are divided out.
    """
    cosines = np.empty(len(rows), np.float64)
    doubles = query.astype(np.float64)
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK].astype(np.float64)
        products, lengths, (own,) = np.split(
            _pairwise_sums(np.concatenate((part * doubles, part * part, [doubles * doubles]))),
            (len(part), 2 * len(part)),
        )
        with np.errstate(divide="ignore", invalid="ignore"):  # corrupt rows give NaN
            cosines[start : start + _CHUNK] = products / np.sqrt(lengths * own)
    return np.clip(cosines, -1.0, 1.0) + 0.0  # no negative zero


def error_bound(dimensions: int) -> float:
    """The greatest error of a float32 product of two unit vectors against their exact cosine."""
    roundoff = 2.0**-24
    sums = dimensions * roundoff / (1 - dimensions * roundoff)
    lengths = 4 * roundoff  # each length is within one roundoff of 1
    return 1.001 * sums + lengths + 1e-9


def top_k(
    rows: Floats, query: Floats, k: int, candidates: I64 | None = None
) -> tuple[I64, Doubles]:
    """The `k` best of `rows` (only of the `candidates`, when given), best first.

    All ties with the k-th are returned too: the caller breaks them.
    """
    count = len(rows) if candidates is None else len(candidates)
    if count == 0 or k < 1:
        return np.empty(0, np.int64), np.empty(0, np.float64)
    if k < count:
        approximate = _approximate(rows, query, candidates)
        floor = float(np.partition(approximate, count - k)[count - k]) - 2 * error_bound(len(query))
        close = np.flatnonzero(approximate >= floor)
    else:
        close = np.arange(count)
    chosen = close if candidates is None else candidates[close]
    cosines = exact_cosines(rows[chosen], query)
    order = np.argsort(-cosines, kind="stable")
    if k < len(order):
        order = order[: int(np.count_nonzero(cosines >= cosines[order[k - 1]]))]
    return chosen[order], cosines[order]


def _approximate(rows: Floats, query: Floats, candidates: I64 | None) -> Floats:
    count = len(rows) if candidates is None else len(candidates)
    if count <= _FEW and "faiss" not in sys.modules:
        some = rows if candidates is None else rows[candidates]
        few: Floats = np.einsum("ij,j->i", some, query)
        return few
    import faiss

    faiss.omp_set_num_threads(1)
    rows, query = np.ascontiguousarray(rows), np.ascontiguousarray(query)
    products = np.empty(count, np.float32)
    if candidates is None:
        pointers = [faiss.swig_ptr(array) for array in (products, query, rows)]
        multiply = faiss.fvec_inner_products_ny  # type: ignore[attr-defined]  # not in its stubs
        multiply(*pointers, len(query), len(rows))
    else:
        pointers = [faiss.swig_ptr(array) for array in (products, query, rows, candidates)]
        multiply = faiss.fvec_inner_products_by_idx  # type: ignore[attr-defined]
        multiply(*pointers, len(query), 1, len(candidates))
    return products
