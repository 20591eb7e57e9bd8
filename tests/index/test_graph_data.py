"""The bucket graph over public data: foreign keys, and multi-hop evidence."""

import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from graph_index import IndexedWorld, World

from redask.core.rules.fusion import Bucket, fuse

DATA = Path(os.environ.get("REDASK_DATA") or Path(__file__).parents[3] / "shared" / "data")

pytestmark = pytest.mark.skipif(
    not DATA.exists(), reason=f"no evaluation data at {DATA} (REDASK_DATA says where it is)"
)


@pytest.fixture(scope="module")
def chinook() -> Iterator[IndexedWorld]:
    """Every row an entity of its table, every foreign key an edge."""
    world = World()
    address = f"{(DATA / 'databases' / 'chinook.sqlite').absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(address, uri=True)) as database:
        database.row_factory = sqlite3.Row
        for table in "Artist Album Genre MediaType Track Employee Customer Invoice".split():
            foreign = database.execute(f"PRAGMA foreign_key_list({table})").fetchall()
            for row in database.execute(f"SELECT * FROM {table}"):
                columns = {
                    name.lower(): value for name, value in dict(row).items() if value is not None
                }
                source = world.put(str(row[f"{table}Id"]), collection=table, **columns)
                for key in foreign:
                    if row[key["from"]] is not None:
                        target = f"urn:reddb:row:{key['table']}/{row[key['from']]}"
                        world.link(source, key["from"], target)
    with world.indexed() as index:
        yield index


@pytest.mark.parametrize(
    ("question", "linked"),
    [
        ("Which artist made the album with the track Princess of the Dawn?", "Artist/2"),
        ("Who performs the song Jesus Christ Pose?", "Artist/132"),
        ("Who wrote the album with Back in the Village?", "Artist/90"),
        ("Which employee looks after the buyer of 2021-01-19?", "Employee/3"),
        ("Which employee looks after the buyer of 2021-01-06?", "Employee/5"),
    ],
)
def test_two_hops_along_foreign_keys_need_depth_2(
    question: str, linked: str, chinook: IndexedWorld
) -> None:
    urn = f"urn:reddb:row:{linked}"
    hits = chinook.words(question)
    assert urn not in dict(hits)
    found = [dict(chinook.traverse(question, hits[:5], depth=depth)) for depth in (0, 1, 2)]
    assert [urn in some for some in found] == [False, False, True]
    every = dict(chinook.traverse(question, hits[:5], top_k=500))
    assert any(
        each.startswith("urn:reddb:edge:") and each.endswith(quote(urn, "")) for each in every
    )


def test_all_evidence_of_questions_over_many_passages_is_found_together() -> None:
    folder = DATA / "retrieval" / "2wiki_101"
    world = World()
    places = {
        passage["_id"]: world.put(passage["_id"], title=passage["title"], text=passage["text"])
        for passage in map(json.loads, (folder / "corpus.jsonl").read_text().splitlines())
    }
    evidence: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text().splitlines()[1:]:
        question, passage, _ = line.split("\t")
        evidence[question].add(places[passage])
    together, by_words = 0, 0
    with world.indexed() as index:
        for asked in map(json.loads, (folder / "queries.jsonl").read_text().splitlines()):
            words = index.words(asked["text"])
            buckets = [Bucket(words), Bucket(index.traverse(asked["text"], words[:5]))]
            best = {each.urn for each in fuse(buckets, limit=8)}
            together += evidence[asked["_id"]] <= best
            by_words += evidence[asked["_id"]] <= {urn for urn, _ in words[:8]}
    assert by_words / len(evidence) < 0.4
    assert together / len(evidence) >= 0.9
