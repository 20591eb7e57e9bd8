"""`make bench-access`: search as one who may read 1 % of the passages, beside one who reads all.

    python benchmarks/access.py [COUNT]        1,000,000 when not given

One database; first there is no policy, then one that shows each user the passages of one team in
a hundred. The passages of the last team are three times as long as the others, so that they come
last for every question. The graph's time is printed apart. Memory and ratios as in
`benchmarks/retrieval.py`, whose passages, vectors and questions these are.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from retrieval import BATCH, ME, _timed_traversal, _times, passages, questions, vectors

from redask.core.model import Caller
from redask.core.ports import Entity, Query
from redask.core.rules import terms
from redask.core.wire import json as canonical
from redask.index import SearchIndex
from redask.stores.backend import EntityStore
from redask.stores.sqlite.store import SqliteStore

TEAMS = 100
POLICY = {"read": [{"roles": ["reader"], "rows": "team = :user.name"}]}


def entities(count: int) -> Iterator[list[Entity]]:
    made = vectors(count)
    batch: list[Entity] = []
    for key, (title, text) in enumerate(passages(count)):
        team = key % TEAMS
        long = f"{text} {text[::-1]} {text[::-1]}" if team == TEAMS - 1 else text
        payload = canonical.text({"id": key, "team": str(team), "text": long, "title": title})
        batch.append(Entity(f"urn:reddb:document:passages/{key}", payload))
        if len(batch) == BATCH or key == count - 1:
            rows = next(made).tolist()
            yield [
                Entity(each.urn, each.payload, vector=tuple(row))
                for each, row in zip(batch, rows, strict=True)
            ]
            batch = []


def measure(index: SearchIndex, asked: list[Query], who: Caller) -> tuple[float, float]:
    """p50 of a search without the graph, and of the graph, in ms."""
    for query in asked[:20]:
        index.search(query, who)
    TRAVERSALS.clear()
    whole = _times(lambda query: index.search(query, who), asked)
    apart = [total - graph for total, graph in zip(whole, TRAVERSALS, strict=True)]
    return statistics.median(apart) * 1000, statistics.median(TRAVERSALS) * 1000


TRAVERSALS = _timed_traversal()


def show(store: EntityStore, index: SearchIndex, count: int) -> None:
    asked = [
        Query(text, terms.extract(text), tuple(point.tolist())) for text, point in questions(count)
    ]
    index.search(asked[0], ME)
    everything, graph = measure(index, asked, ME)
    print(f"{count:,} passages")
    print(f"  no policy                 {everything:.2f} ms · graph {graph:.2f} ms")
    started = time.perf_counter()
    store.set_policy("passages", POLICY, ME)
    index.search(asked[0], ME)
    print(f"  policy set, index anew    {time.perf_counter() - started:.0f} s")
    for name, user in (("1 % of them", "7"), ("1 %, which rank last", str(TEAMS - 1))):
        took, graph = measure(index, asked, Caller(ME.tenant, user, "reader"))
        print(
            f"  {name:<25} {took:.2f} ms · graph {graph:.2f} ms · "
            f"ratio {took / everything:.2f} (target 1.2)",
            flush=True,
        )
    took, graph = measure(index, asked, ME)
    print(f"  the owner, under policy   {took:.2f} ms · graph {graph:.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=1_000_000)
    count = parser.parse_args().count
    root = Path(tempfile.mkdtemp(prefix="redask-bench-"))
    try:
        store = SqliteStore(root)
        index = SearchIndex(root / "index", store)
        for batch in entities(count):
            store.put(batch, ME)
        show(store, index, count)
        index.close()
        store.close()
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
