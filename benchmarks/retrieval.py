"""`make bench-retrieval`: our search compared with raw tantivy and raw faiss, in one run.

    python benchmarks/retrieval.py [COUNT …]        100,000 and 1,000,000 when not given

Passages are generated (a Zipf vocabulary, 40 to 80 words, a title), vectors too (clustered, as
embeddings are: 384 dimensions). The raw engines get the same words after stop words, and the same
vectors; they keep nothing durably, check no permission and break no ties. Ingest is words
alone; mention edges cost nothing then, they are found at query time. Each stage is a process of
its own, so that memory is what a searching process needs. A noisy machine moves the times; the
ratios move less.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import faiss
import numpy as np
import tantivy

from redask.core.model import Caller
from redask.core.ports import Entity, Query
from redask.core.rules import terms
from redask.core.wire import json as canonical
from redask.index import SearchIndex
from redask.index.graph import traversal
from redask.index.graph.graph_reader import GraphReader
from redask.stores.sqlite.store import SqliteStore

DIMENSIONS = 384
CLUSTERS = 256
QUERIES = 200
BATCH = 2000
ME = Caller()
_VOCABULARY = 200_000


def passages(count: int) -> Iterator[tuple[str, str]]:
    """Titles and texts."""
    rng = np.random.default_rng(1)
    words = np.array([_word(number) for number in range(_VOCABULARY)])
    for start in range(0, count, BATCH):
        lengths = rng.integers(40, 80, min(BATCH, count - start))
        drawn = (rng.zipf(1.2, int(lengths.sum())) - 1) % _VOCABULARY
        ends = np.cumsum(lengths)
        for number, end in enumerate(ends):
            text = " ".join(words[drawn[end - lengths[number] : end]])
            yield f"{words[drawn[end - 1]]} {words[drawn[end - 2]]} {start + number}", text


def _word(number: int) -> str:
    """A pronounceable word for a number, each another."""
    letters = []
    number += 50
    while number:
        number, digit = divmod(number, 100)
        letters.append("bcdfghklmnprstvwxyzj"[digit // 5] + "aeiou"[digit % 5])
    return "".join(letters)


def vectors(count: int) -> Iterator[np.ndarray]:
    """Unit vectors in batches: around 256 centres."""
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(CLUSTERS, DIMENSIONS)).astype(np.float32)
    for start in range(0, count, BATCH):
        size = min(BATCH, count - start)
        noise = rng.normal(size=(size, DIMENSIONS)).astype(np.float32)
        made = centres[rng.integers(0, CLUSTERS, size)] + noise
        yield made / np.linalg.norm(made, axis=1, keepdims=True)


def questions(count: int) -> list[tuple[str, np.ndarray]]:
    """Questions like a user's: a few content words among stop words, and a vector."""
    rng = random.Random(3)
    texts = [text.split() for _, text in passages(min(count, 4000))]
    points = next(vectors(BATCH))
    asked = []
    for number in range(QUERIES):
        picked = rng.sample(rng.choice(texts), 4)
        asked.append(
            (f"What is the {picked[0]} of {' and '.join(picked[1:])}?", points[number % BATCH])
        )
    return asked


# --- the stages, each in a process of its own --------------------------------------------


def ingest_raw(directory: Path, count: int) -> dict[str, float]:
    pairs = list(passages(count))
    directory.mkdir(parents=True)
    started = time.perf_counter()
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("key", stored=True, indexed=True, fast=True)
    builder.add_text_field("body", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), path=str(directory))
    writer = index.writer(128_000_000, 1)
    for key, (title, text) in enumerate(pairs):
        document = tantivy.Document()
        document.add_unsigned("key", key)
        document.add_text("body", f"{title}\n{text}")
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    return {"seconds": time.perf_counter() - started}


def _entities(count: int, with_vectors: bool) -> Iterator[list[Entity]]:
    made = vectors(count)
    batch: list[Entity] = []
    for key, (title, text) in enumerate(passages(count)):
        payload = canonical.text({"id": key, "text": text, "title": title})
        batch.append(Entity(f"urn:reddb:document:passages/{key}", payload))
        if len(batch) == BATCH or key == count - 1:
            if with_vectors:
                rows = next(made).tolist()
                batch = [
                    Entity(each.urn, each.payload, vector=tuple(row))
                    for each, row in zip(batch, rows, strict=True)
                ]
            yield batch
            batch = []


def ingest_ours(directory: Path, count: int, with_vectors: bool) -> dict[str, float]:
    batches = _entities(count, with_vectors)
    ready = batches if with_vectors else iter(list(batches))
    store = SqliteStore(directory)
    index = SearchIndex(directory / "index", store)
    started = time.perf_counter()
    for batch in ready:
        store.put(batch, ME)
    written = time.perf_counter()
    index.search(Query("warm", terms.extract("warm")), ME)
    done = time.perf_counter()
    index.close()
    store.close()
    return {"seconds": done - started, "store": written - started, "index": done - written}


def search_ours(directory: Path, count: int) -> dict[str, float]:
    started = time.perf_counter()
    store = SqliteStore(directory)
    index = SearchIndex(directory / "index", store)
    index.search(Query("warm", terms.extract("warm")), ME)
    opened = time.perf_counter() - started
    traversals = _timed_traversal()
    asked = [
        Query(text, terms.extract(text), tuple(point.tolist())) for text, point in questions(count)
    ]
    for query in asked[:20]:
        index.search(query, ME)
    traversals.clear()
    whole = _times(lambda query: index.search(query, ME), asked)
    apart = [total - graph for total, graph in zip(whole, traversals, strict=True)]
    memory = _memory()
    found = []
    for number in range(11):
        urn = f"urn:reddb:document:passages/new{number}"
        payload = canonical.text({"id": number, "text": f"unheardof{number} appears at last"})
        begun = time.perf_counter()
        store.put([Entity(urn, payload)], ME)
        word = f"unheardof{number}"
        hits = index.search(Query(word, terms.extract(word)), ME)[0].candidates
        found.append(time.perf_counter() - begun)
        if not hits or hits[0][0] != urn:
            raise SystemExit(f"row {urn} was not found by the next search")
    index.close()
    store.close()
    return {
        "open_ms": opened * 1000,
        "p50_ms": statistics.median(apart) * 1000,
        "graph_p50_ms": statistics.median(traversals) * 1000,
        "insert_found_ms": statistics.median(found) * 1000,
        **memory,
    }


def _timed_traversal() -> list[float]:
    """The times of the graph bucket, measured inside each search."""
    taken: list[float] = []
    traverse = traversal.traverse

    def timed(
        query: Query, hits: Sequence[tuple[str, float]], reader: GraphReader
    ) -> traversal.Traversed:
        started = time.perf_counter()
        try:
            return traverse(query, hits, reader)
        finally:
            taken.append(time.perf_counter() - started)

    traversal.traverse = timed
    return taken


def search_raw(directory: Path, count: int) -> dict[str, float]:
    words = tantivy.Index.open(str(directory))
    searcher, schema = words.searcher(), words.schema
    codes = faiss.IndexIVFRaBitQFastScan(
        faiss.IndexFlatL2(DIMENSIONS), DIMENSIONS, 1, faiss.METRIC_INNER_PRODUCT
    )
    codes.quantizer.add(np.zeros((1, DIMENSIONS), dtype=np.float32))
    codes.is_trained = True
    faiss.omp_set_num_threads(1)
    floats = np.concatenate(list(vectors(count)))
    codes.add(floats)
    flat = np.zeros(count * DIMENSIONS // 8, dtype=np.uint8)
    asked = [(terms.extract(text).words, point[None]) for text, point in questions(count)]

    def by_words(query: tuple[tuple[str, ...], np.ndarray]) -> object:
        clauses = [
            (tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", word))
            for word in query[0]
        ]
        return searcher.search(tantivy.Query.boolean_query(clauses), limit=20, count=False)

    def by_codes(query: tuple[tuple[str, ...], np.ndarray]) -> list[int]:
        return list(map(int, codes.search(query[1], 20)[1][0]))

    def by_floats(query: tuple[tuple[str, ...], np.ndarray]) -> list[int]:
        rows = codes.search(query[1], 2000)[1][0]
        return list(map(int, rows[np.argsort(-(floats[rows] @ query[1][0]))[:20]]))

    def recall(search: Callable[..., list[int]]) -> float:
        best = [set(np.argsort(-(floats @ point[0]))[:20].tolist()) for _, point in asked[:25]]
        found = [len(true & set(search(query))) for true, query in zip(best, asked, strict=False)]
        return sum(found) / 20 / len(best)

    lexical = _times(by_words, asked)
    nearest = _times(by_codes, asked)
    rescored = _times(by_floats, asked)
    floor = _times(lambda _: int(flat.view(np.uint64).sum()), asked[:50])
    return {
        "words_p50_ms": statistics.median(lexical) * 1000,
        "vectors_p50_ms": statistics.median(nearest) * 1000,
        "recall": recall(by_codes),
        "rescored_p50_ms": statistics.median(rescored) * 1000,
        "rescored_recall": recall(by_floats),
        "floor_ms": statistics.median(floor) * 1000,
    }


def _times(work: Callable[..., object], inputs: list) -> list[float]:  # type: ignore[type-arg]
    taken = []
    for each in inputs:
        started = time.perf_counter()
        work(each)
        taken.append(time.perf_counter() - started)
    return taken


def _memory() -> dict[str, float]:
    lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
    sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith("kB")}
    return {"anonymous_mb": sizes["Anonymous"] / 1024, "resident_mb": sizes["Rss"] / 1024}


STAGES: dict[str, Callable[[Path, int], dict[str, float]]] = {
    "ingest_raw": lambda root, count: ingest_raw(root / "raw", count),
    "ingest_words": lambda root, count: ingest_ours(root / "words", count, with_vectors=False),
    "ingest_both": lambda root, count: ingest_ours(root / "both", count, with_vectors=True),
    "search_raw": lambda root, count: search_raw(root / "raw", count),
    "search_ours": lambda root, count: search_ours(root / "both", count),
}


def measure(count: int) -> float:
    """Run the stages at one size and print them. → our p50, for the growth."""
    root = Path(tempfile.mkdtemp(prefix="redask-bench-"))
    got = {}
    try:
        for stage in STAGES:
            command = [sys.executable, __file__, "--stage", stage, str(root), str(count)]
            got[stage] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            print(f"  {stage}: {got[stage]}", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(root)
    raw, ours = got["search_raw"], got["search_ours"]
    both = raw["words_p50_ms"] + raw["vectors_p50_ms"]
    ingest_raw_s, words = got["ingest_raw"]["seconds"], got["ingest_words"]
    print(f"{count:,} passages")
    print(
        f"  search p50     ours {ours['p50_ms']:.2f} ms · raw {both:.2f} ms (words "
        f"{raw['words_p50_ms']:.2f}, vectors {raw['vectors_p50_ms']:.2f}) · "
        f"ratio {ours['p50_ms'] / both:.2f} (target 1.5) · "
        f"one pass over the codes {raw['floor_ms']:.2f} ms, ratio "
        f"{ours['p50_ms'] / raw['floor_ms']:.1f}"
    )
    same = raw["words_p50_ms"] + raw["rescored_p50_ms"]
    print(
        f"                 codes alone find {raw['recall']:.2f} of the nearest 20; with 2,000 "
        f"candidates rescored, as ours, raw finds {raw['rescored_recall']:.2f} in "
        f"{raw['rescored_p50_ms']:.2f} ms: ratio {ours['p50_ms'] / same:.2f}"
    )
    print(f"  graph p50      {ours['graph_p50_ms']:.2f} ms, apart")
    print(
        f"  ingest         ours {count / words['seconds']:,.0f}/s (store {words['store']:.0f} s, "
        f"index {words['index']:.0f} s) · raw tantivy {count / ingest_raw_s:,.0f}/s · "
        f"ratio {ingest_raw_s / words['seconds']:.2f} (target 0.5; 0.35 with mentions)"
    )
    print(f"  open           {ours['open_ms']:.0f} ms (target 300)")
    print(f"  insert, find   {ours['insert_found_ms']:.1f} ms (target 60)")
    print(
        f"  memory         anonymous {ours['anonymous_mb']:.0f} MB (target 500), "
        f"resident {ours['resident_mb']:.0f} MB (target 2000)",
        flush=True,
    )
    return float(ours["p50_ms"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", nargs="*", type=int, default=[100_000, 1_000_000])
    parser.add_argument("--stage", nargs=3)
    given = parser.parse_args()
    if given.stage:
        stage, root, count = given.stage
        print(json.dumps(STAGES[stage](Path(root), int(count))))
        return
    times = [measure(count) for count in given.counts]
    if len(times) > 1:
        print(
            f"growth from {given.counts[0]:,} to {given.counts[-1]:,}: ×{times[-1] / times[0]:.1f}"
        )


if __name__ == "__main__":
    main()
