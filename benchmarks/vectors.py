"""Vector search against raw faiss: `python benchmarks/vectors.py [COUNT …]`.

For each count, vectors of 384 dimensions in clusters of about 200 (as texts on one matter are)
are put into an index in batches, folding when it asks for it. Then, query by query and in
turns, so that a busy machine harms all alike, each on one thread:

    floor     one pass over as many bytes as the codes have, in memory
    raw 20    faiss alone, same codes, 20 results, no exact cosines
    raw 2000  faiss alone, same codes, 2,000 results, no exact cosines
    ours      the 20 nearest: codes, 2,000 candidates, exact cosines
    ours n %  the same, of what the labels permit

Up to EXACT_ROWS there are no codes: ours is exhaustive, and raw is faiss over the floats.

`ratio` is ours / raw 2000, both as medians. `recall` is the share of the true 20 nearest found.
"""

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from redask.index.vector.cosine import Floats, top_k, unit_vectors
from redask.index.vector.nearest import VectorIndex
from redask.index.vector.quantization import rotate

DIMENSIONS = 384
LABELS = 100
QUERIES = 100
BATCH = 2_000


def vectors(count: int, seed: int, centres: Floats) -> Iterator[Floats]:
    random = np.random.default_rng(seed)
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        noise = random.standard_normal((size, DIMENSIONS), dtype=np.float32)
        yield centres[random.integers(0, len(centres), size)] + np.float32(1.2) * noise


def fill(index: VectorIndex, count: int, centres: Floats) -> None:
    applying = folding = longest = 0.0
    key = 0
    for rows in vectors(count, 1, centres):
        batch = [(key + i, (key + i) % LABELS, row) for i, row in enumerate(rows)]
        key += len(rows)
        started = time.perf_counter()
        index.apply(batch, [], key)
        applied = time.perf_counter()
        if index.needs_fold or key == count:
            index.fold()
        done = time.perf_counter()
        applying, folding = applying + applied - started, folding + done - applied
        longest = max(longest, done - applied)
    print(
        f"  apply {count / applying:,.0f}/s; folds {folding:.1f} s in all, longest {longest:.2f} s"
    )


def measure(calls: dict[str, Callable[[int], object]]) -> dict[str, float]:
    """The median of each call in ms, over all queries, in turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for query in [*range(10), *range(QUERIES)]:  # the first ten warm up
        for name, call in calls.items():
            started = time.perf_counter()
            call(query)
            times[name].append(time.perf_counter() - started)
    return {name: 1e3 * float(np.median(values[10:])) for name, values in times.items()}


def permitted(index: VectorIndex, queries: Floats, labels: set[int]) -> Callable[[int], object]:
    return lambda i: index.search(queries[i], 20, labels)


def recall(index: VectorIndex, floats: Path, queries: Floats) -> float:
    rows = np.memmap(floats, np.float32, "r").view(np.ndarray).reshape(-1, DIMENSIONS)
    rows = rows[: index.count]
    shares = []
    for query in queries[:50]:
        _, cosines = top_k(rows, unit_vectors(query[None, :])[0], 20)
        found = index.search(query, 20)[:20]
        shares.append(np.mean([cosine >= cosines[-1] for _, cosine in found]))
    return float(np.mean(shares))


def raw_index(
    directory: Path, floats: Path, queries: Floats, count: int
) -> tuple[Any, list[Floats], int]:
    """faiss over what ours searches, the queries as it takes them, and the bytes of a row."""
    units = [unit_vectors(query[None, :]) for query in queries]
    coded = next(directory.glob("codes-*"), None)
    if coded is not None:
        return faiss.read_index(str(coded)), [rotate(each) for each in units], DIMENSIONS // 8 + 8
    exact = faiss.IndexFlatIP(DIMENSIONS)
    exact.add(np.fromfile(floats, np.float32, count * DIMENSIONS).reshape(-1, DIMENSIONS))
    return exact, units, 4 * DIMENSIONS


def memory() -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    kept = [line.split() for line in lines if line.startswith(("RssAnon", "VmRSS"))]
    return ", ".join(f"{name.rstrip(':')} {int(size) // 1024} MB" for name, size, _ in kept)


def run(count: int, directory: Path) -> None:
    print(f"{count:,} × {DIMENSIONS}")
    shape = (max(50, count // 200), DIMENSIONS)
    centres = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    fill(VectorIndex(directory, DIMENSIONS), count, centres)
    started = time.perf_counter()
    index = VectorIndex(directory, DIMENSIONS)
    assert index.count == count
    print(f"  open {1e3 * (time.perf_counter() - started):.0f} ms; {memory()}")
    queries = next(vectors(QUERIES, 2, centres))
    (floats,) = directory.glob("floats-*")
    faiss.omp_set_num_threads(1)
    raw, points, width = raw_index(directory, floats, queries, count)
    codes = np.ones(count * width // 8, np.uint64)
    shares = {percent: set(range(percent)) for percent in (1, 10, 50)}
    calls: dict[str, Callable[[int], object]] = {
        "floor": lambda _: np.add.reduce(codes),
        "raw 20": lambda i: raw.search(points[i], 20),
        "raw 2000": lambda i: raw.search(points[i], 2_000),
        "ours": lambda i: index.search(queries[i], 20),
    }
    for percent, labels in shares.items():
        calls[f"ours {percent} %"] = permitted(index, queries, labels)
    medians = measure(calls)
    print("  " + "; ".join(f"{name} {value:.2f} ms" for name, value in medians.items()))
    ratios = [f"{name} {medians['ours'] / medians[name]:.2f}" for name in ("raw 2000", "floor")]
    print(f"  ratio to {', to '.join(ratios)}; recall {recall(index, floats, queries):.4f}")
    row = queries[0] + np.float32(0.01)
    started = time.perf_counter()
    index.apply([(count + 1, 1, row)], [], count + 1)
    assert index.search(row, 1)[0][0] == count + 1
    print(f"  one more, then found: {1e3 * (time.perf_counter() - started):.1f} ms; {memory()}")


if __name__ == "__main__":
    for argument in sys.argv[1:] or ["100000", "1000000"]:
        with tempfile.TemporaryDirectory() as place:
            run(int(argument), Path(place) / "vectors")
