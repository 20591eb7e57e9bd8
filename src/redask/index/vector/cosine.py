"""Cosines that do not depend on who else is being compared.

    unit(vectors)                → the vectors at length 1, as float32
    exact(rows, query)           → one float64 per row: the score that is shown and compared
    best(rows, query, k, pick)   → positions and cosines of the k best, ties with the k-th included

A matrix product, and numpy's own sums, may add the same numbers in another order when a row
has other neighbours, another alignment, another thread or another processor, and give the row
another last bit. Here one sum is a fixed tree of element-wise additions: the tree depends on
the number of dimensions alone, each step is one IEEE operation, and a product of two float32
is exact in float64. So equal vectors score equally, to the bit, everywhere.

That tree is slow for many rows. `best` first takes quick float32 products (by faiss, which
copies no row, in this thread only). Whatever their
order, they miss the true value by at most `slack`: γ = d·u / (1 − d·u), u = 2⁻²⁴. Then it
computes exactly only the rows that could still reach the k-th place: with A the k-th best
quick value, the k-th exact one is at least A − slack, so that a row at or above it has a quick
value of at least A − 2·slack. The result is the one of exact arithmetic over all rows.
"""

import faiss
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_CHUNK = 256  # rows that fit the cache as float64


def _total(terms: Doubles) -> Doubles:
    """The sum of each row, halving the row until one column is left; `terms` is consumed."""
    width = terms.shape[1]
    while width > 1:
        half, odd = divmod(width, 2)
        terms[:, :half] += terms[:, half : 2 * half]
        if odd:
            terms[:, half] = terms[:, 2 * half]
        width = half + odd
    return terms[:, 0]


def unit(vectors: Floats) -> Floats:
    """Each vector at length 1. The caller has made sure that none is zero or infinite."""
    wide = vectors.astype(np.float64)
    # Scaled by the largest component first, or the squares of tiny vectors would vanish.
    wide /= np.abs(wide).max(axis=1, keepdims=True)
    wide /= np.sqrt(_total(wide * wide))[:, None]
    return wide.astype(np.float32) + np.float32(0)  # no negative zeros


def exact(rows: Floats, query: Floats) -> Doubles:
    """The cosine of each unit row with a unit query, from −1 to 1; of equal ones, 1.

    A float32 vector is of length 1 only to within rounding: both lengths are divided out.
    """
    cosines = np.empty(len(rows), np.float64)
    wide = query.astype(np.float64)
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK].astype(np.float64)
        products, lengths, (own,) = np.split(
            _total(np.concatenate((part * wide, part * part, [wide * wide]))),
            (len(part), 2 * len(part)),
        )
        with np.errstate(divide="ignore", invalid="ignore"):  # damaged rows: not a number
            cosines[start : start + _CHUNK] = products / np.sqrt(lengths * own)
    return np.clip(cosines, -1.0, 1.0) + 0.0  # no negative zero


def slack(dimensions: int) -> float:
    """How far a float32 product of two unit vectors can be from their exact cosine."""
    roundoff = 2.0**-24
    sums = dimensions * roundoff / (1 - dimensions * roundoff)
    lengths = 4 * roundoff  # each is within one of 1
    return 1.001 * sums + lengths + 1e-9


def best(rows: Floats, query: Floats, k: int, pick: Places | None = None) -> tuple[Places, Doubles]:
    """The `k` best of `rows` (only those at `pick`, when given), best first.

    Whoever ties with the k-th is returned too: the caller knows how to break ties.
    """
    count = len(rows) if pick is None else len(pick)
    if count == 0 or k < 1:
        return np.empty(0, np.int64), np.empty(0, np.float64)
    quick = _quick(rows, query, pick)
    if k < count:
        floor = float(np.partition(quick, count - k)[count - k]) - 2 * slack(len(query))
        near = np.flatnonzero(quick >= floor)
    else:
        near = np.arange(count)
    chosen = near if pick is None else pick[near]
    cosines = exact(rows[chosen], query)
    order = np.argsort(-cosines, kind="stable")
    if k < len(order):
        order = order[: int(np.count_nonzero(cosines >= cosines[order[k - 1]]))]
    return chosen[order], cosines[order]


def _quick(rows: Floats, query: Floats, pick: Places | None) -> Floats:
    faiss.omp_set_num_threads(1)
    rows, query = np.ascontiguousarray(rows), np.ascontiguousarray(query)
    products = np.empty(len(rows) if pick is None else len(pick), np.float32)
    if pick is None:
        places = [faiss.swig_ptr(numbers) for numbers in (products, query, rows)]
        multiply = faiss.fvec_inner_products_ny  # type: ignore[attr-defined]  # not in its stubs
        multiply(*places, len(query), len(rows))
    else:
        places = [faiss.swig_ptr(numbers) for numbers in (products, query, rows, pick)]
        multiply = faiss.fvec_inner_products_by_idx  # type: ignore[attr-defined]
        multiply(*places, len(query), 1, len(pick))
    return products
