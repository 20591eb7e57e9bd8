"""The arrays of the forward index: what is found by them is what is found without them."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import redask
from redask.core.errors import CorruptIndex
from redask.core.ports import Query
from redask.core.rules import terms
from redask.core.wire.json import text
from redask.index.analysis import analyzer
from redask.index.forward import column_builds, column_file
from redask.index.forward.column_builds import ColumnBuilds
from redask.index.forward.column_file import ColumnFile
from redask.index.forward.entries import PROJECTION_BITS, EdgeEntry, Entry, filter_key
from redask.index.forward.forward_index import ForwardIndex
from redask.index.generation import Generation
from redask.index.graph import graph_entities, traversal
from redask.index.graph.column_entities import ChangedRows
from redask.index.graph.graph_reader import GraphReader
from redask.index.graph.mentions import BloomFilter
from redask.index.lexical.bm25 import CorpusStatistics, LexicalSearcher
from redask.index.lexical.tantivy_terms import InvertedIndex

NAMES = ["Amrum", "New York", "New York Times", "Sylt Ferry", "Ada", "Ada Lovelace", "Oslo", "Fram"]
WORDS = "harbour ferry storm pilot lantern tide quay sail fog open ORD-17 ORD-18".split()
QUESTIONS = [
    "Which storm hit New York Times?",
    "Who is the pilot of Ada Lovelace in Amrum?",
    "fog at the quay of Sylt Ferry",
    "Where is ORD-17 now?",
    "Oslo",
    "what about the harbour of Bergen",
    "nothing of this is there",
]
CALLERS: list[tuple[frozenset[str] | None, frozenset[tuple[str, str]]]] = [
    (None, frozenset()),
    (frozenset({"a"}), frozenset()),
    (frozenset({"a", "b"}), frozenset({("b", "t")})),
]


class Twins:
    """An index whose rows change; it is searched with and without arrays."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self._folder = folder
        self._chance = chance
        self._forward = ForwardIndex(folder / "forward.sqlite", create=True)
        self._inverted = InvertedIndex(folder / "words")
        self._builds = ColumnBuilds(folder, 1 << 30)
        self._bloom_filter = BloomFilter()
        self._seq = 0
        self.titles = [*NAMES, "storm"]

    def write(self, numbers: Sequence[int], extra: Sequence[str] = ()) -> None:
        """Put random entities with these numbers in place of what they were."""
        chance = self._chance
        drafts = []
        for number in numbers:
            said = chance.choices(WORDS, k=chance.randrange(1, 9))
            said += chance.choices([*NAMES, *extra], k=chance.randrange(3))
            chance.shuffle(said)
            content: dict[str, object] = {"text": " ".join(said)}
            if chance.random() < 0.6:
                content["title"] = chance.choice([*self.titles, *extra])
            projection_key, collection = chance.choice("ab"), chance.choice("tu")
            drafts.append((number, collection, projection_key, text(content)))
        analysed = analyzer.entities([(payload, None) for *_, payload in drafts])
        entries = [
            Entry(number << PROJECTION_BITS, f"urn:{number:03}", collection, key, *found[:-1])
            for (number, collection, key, _), found in zip(drafts, analysed, strict=True)
        ]
        edges = [
            EdgeEntry(
                (1000 + number) << PROJECTION_BITS, f"urn:e{number}", "e", "a", *ends, "sails"
            )
            for number in numbers[::7]
            for ends in [(f"urn:{number:03}", f"urn:{chance.randrange(90):03}")]
        ]
        with self._inverted.writer(bulk=False) as writer:
            for entry, found in zip(entries, analysed, strict=True):
                writer.add(
                    entry.key, filter_key(entry.projection_key, entry.collection), found.body
                )
            writer.commit()
        self._seq += 1
        with self._forward.transaction() as transaction:
            transaction.apply(entries, edges, (), seq=self._seq, tail=False)

    def delete(self, numbers: Sequence[int]) -> None:
        keys = [number << PROJECTION_BITS for number in numbers]
        with self._inverted.writer(bulk=False) as writer:
            for key in keys:
                writer.delete(key)
            writer.commit()
        with self._forward.transaction() as transaction:
            transaction.apply((), (), keys, seq=self._seq, tail=False)

    def make_arrays(self) -> bool:
        return self._builds.make(self._forward, most=column_builds.MAX_ROWS)

    def changed(self) -> ChangedRows:
        with self._forward.snapshot() as snapshot:
            found = self._builds.changed(snapshot)
        assert found is not None
        return found

    @contextmanager
    def reader(self, with_arrays: bool) -> Iterator[GraphReader]:
        """What an owner's traversal reads; it asks for no terms."""
        terms_: Any = None
        with self._forward.snapshot() as snapshot:
            changed = self._builds.changed(snapshot) if with_arrays else None
            given = (snapshot.adjacency(None), terms_, self._bloom_filter, None, ["en"])
            yield GraphReader(snapshot, *given, changed=changed)

    def found(self, with_arrays: bool) -> list[Any]:
        """Both buckets of all questions, for all callers."""
        with self._forward.snapshot() as snapshot:
            changed = self._builds.changed(snapshot) if with_arrays else None
            assert (changed is not None) is with_arrays
            self._bloom_filter.catch_up(snapshot.name_hashes_since, self._seq)
            results: list[Any] = []
            for projection_keys, withheld in CALLERS:
                groups = [
                    group
                    for group in snapshot.statistics()
                    if projection_keys is None or group.projection_key in projection_keys
                    if (group.projection_key, group.collection) not in withheld
                ]
                keys = frozenset(filter_key(g.projection_key, g.collection) for g in groups)
                lexical = LexicalSearcher(
                    self._inverted.searcher(),
                    snapshot,
                    snapshot.tail(),
                    None if projection_keys is None else keys,
                    CorpusStatistics.of(groups),
                    changed=changed,
                )
                reader = GraphReader(
                    snapshot,
                    snapshot.adjacency(projection_keys, withheld),
                    lexical,
                    self._bloom_filter,
                    projection_keys,
                    ["en"],
                    withheld,
                    changed,
                )
                for question in QUESTIONS:
                    asked = Query(question, terms.extract(question), None, (), 20, 2)
                    words = analyzer.question(question, asked.terms.literals, ["en"])
                    allowed = None if projection_keys is None else keys
                    hits = lexical.search(words, 12, allowed, lambda _: {})
                    seeds = [(hit.urn, hit.score) for hit in hits[:5]]
                    seeds += [(f"urn:{number:03}", 0.2) for number in range(30, 36)]  # also hidden
                    results.append((hits, traversal.traverse(asked, seeds, reader)))
                    only = Query(question, asked.terms, None, ("t", "e"), 3, 1)
                    results.append(traversal.traverse(only, seeds, reader))
            return results

    def close(self) -> None:
        self._forward.close()


@contextmanager
def twins(folder: Path, seed: int) -> Iterator[Twins]:
    made = Twins(folder, random.Random(seed))
    made.write(range(90))
    try:
        yield made
    finally:
        made.close()


@pytest.mark.parametrize("seed", range(12))
def test_arrays_change_no_score_whatever_changed_since(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    with twins(tmp_path, seed) as index:
        plain = index.found(with_arrays=False)
        assert any(found.candidates for _, found in plain[::2])
        assert index.make_arrays()
        assert index.found(with_arrays=True) == plain
        index.write(chance.sample(range(120), 25))  # no new name
        index.delete(chance.sample(range(120), 10))
        assert index.changed().entities
        assert index.found(with_arrays=True) == index.found(with_arrays=False)
        index.write(chance.sample(range(120), 40), ["Bergen", "Tide", "Storm Quay"])
        assert index.changed().has_new_names
        assert index.found(with_arrays=True) == index.found(with_arrays=False)


def test_a_name_in_many_texts_leads_to_the_same_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redask.index.graph.column_entities._FEW", 0)
    with twins(tmp_path, 4) as index:
        index.make_arrays()
        assert index.found(with_arrays=True) == index.found(with_arrays=False)


def test_a_name_whose_owners_went_covers_no_shorter_one(tmp_path: Path) -> None:
    index = Twins(tmp_path, random.Random(6))
    index.titles.remove("New York Times")
    index.write(range(80))
    index.titles = ["New York Times"]
    index.write(range(80, 90))
    assert index.make_arrays()
    before = index.found(with_arrays=True)
    index.delete(range(80, 90))
    assert not index.changed().owners
    found = index.found(with_arrays=True)
    assert found != before
    assert found == index.found(with_arrays=False)
    every = [number << PROJECTION_BITS for number in range(80)]
    mentioned = []
    for with_arrays in (True, False):
        with index.reader(with_arrays) as reader:
            entities = reader.entities()
            entities.similarities(every)
            mentioned.append(entities.mentions_in(every))
    assert mentioned[0] == mentioned[1]
    index.close()


def test_limits_count_the_same_owners(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_entities, "MAX_OWNERS", 4)
    monkeypatch.setattr("redask.index.graph.column_entities.MAX_OWNERS", 4)
    monkeypatch.setattr(traversal, "MAX_DOCUMENT_FREQUENCY", 6)
    with twins(tmp_path, 3) as index:
        index.make_arrays()
        index.write(range(5), ["Bergen"])
        assert index.found(with_arrays=True) == index.found(with_arrays=False)


def test_arrays_are_made_again_when_enough_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(column_builds, "MIN_CHANGES", 20)
    with twins(tmp_path, 1) as index:
        assert index.make_arrays()
        assert not index.make_arrays()
        (first,) = tmp_path.glob("columns-*")
        index.write(range(17))  # and three edges
        assert not index.make_arrays()
        index.write(range(20, 22))
        assert index.make_arrays()
        (second,) = tmp_path.glob("columns-*")
        assert first.name != second.name
        assert not index.changed().entities
        assert index.found(with_arrays=True) == index.found(with_arrays=False)


def test_few_rows_and_too_many_have_no_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with twins(tmp_path, 1) as index:
        for name, bound in (("MIN_ROWS", 91), ("MAX_ROWS", 89)):
            with monkeypatch.context() as patch:
                patch.setattr(column_builds, name, bound)
                assert not index.make_arrays()
        assert index.make_arrays()


def test_a_full_disk_leaves_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_: object) -> None:
        path.with_name(f"{path.name}.half").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with twins(tmp_path, 1) as index:
        monkeypatch.setattr(column_file, "write", full)
        assert not index.make_arrays()
        assert not list(tmp_path.glob("columns-*"))
        assert index.found(with_arrays=False)


@pytest.mark.parametrize("place", [0, 9, 40, -1])
def test_a_changed_byte_is_found_and_the_file_made_again(place: int, tmp_path: Path) -> None:
    with twins(tmp_path, 2) as index:
        index.make_arrays()
        (file,) = tmp_path.glob("columns-*")
        content = bytearray(file.read_bytes())
        content[place] ^= 4
        file.write_bytes(content)
        with pytest.raises(CorruptIndex):
            ColumnFile(file)
        again = ColumnBuilds(tmp_path, 1 << 30)
        assert again.make(index._forward, most=column_builds.MAX_ROWS)
        (other,) = tmp_path.glob("columns-*")
        assert other.name != file.name


@pytest.mark.parametrize("content", [b"", b"short", bytes(2000)])
def test_what_is_no_file_of_arrays_is_corrupt(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "columns-x"
    path.write_bytes(content)
    with pytest.raises(CorruptIndex):
        ColumnFile(path)


def test_a_large_file_is_compared_by_verify_alone(tmp_path: Path) -> None:
    with twins(tmp_path, 2) as index:
        index.make_arrays()
        (file,) = tmp_path.glob("columns-*")
        content = bytearray(file.read_bytes())
        content[-1] ^= 4
        file.write_bytes(content)
        opened = ColumnFile(file, most=100)
        with pytest.raises(CorruptIndex):
            opened.verify()


POLICY = {"read": [{"roles": ["clerk"], "rows": "region = 'north'", "hide": ["text"]}]}


def filled(directory: Path) -> Iterator[list[Any]]:
    """What an owner and a clerk find: with unfolded writes, deletions, edges and a policy."""
    chance = random.Random(5)

    def row(number: int) -> dict[str, object]:
        said = " ".join(chance.choices([*WORDS, *NAMES], k=8))
        region = chance.choice(["north", "south"])
        return {"id": number, "title": chance.choice(NAMES), "text": said, "region": region}

    with redask.open(directory, embedder="hashed") as db:
        db.put("calls", [row(number) for number in range(600)])
        db.put("ships", [{"id": name, "name": name} for name in NAMES], kind="node")
        db.link("urn:reddb:node:ships/Oslo", "near", "urn:reddb:node:ships/Amrum")
        db.set_policy("calls", POLICY)
        db.add_user("mia", role="clerk")
        clerk = db.signed_in(db.make_token("mia"))

        def everything() -> list[Any]:
            every = [each.search(question) for each in (db, clerk) for question in QUESTIONS]
            return [(found.buckets, found.to_dict()) for found in every]

        yield everything()
        db.put("calls", [row(number) for number in range(590, 630)])
        db.delete(*(f"urn:reddb:row:calls/{number}" for number in range(20)))
        yield everything()
        db.put("ships", [{"id": "Bergen", "name": "Bergen"}], kind="node")
        yield everything()


def test_the_engine_finds_the_same_with_arrays_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[bool] = []
    changed = ColumnBuilds.changed

    def watched(self: ColumnBuilds, snapshot: Any) -> ChangedRows | None:
        found = changed(self, snapshot)
        used.append(found is not None)
        return found

    monkeypatch.setattr(ColumnBuilds, "changed", watched)
    with_arrays = list(filled(tmp_path / "with"))
    assert used
    assert all(used)
    monkeypatch.setattr(column_builds, "MIN_ROWS", 10**9)
    assert list(filled(tmp_path / "without")) == with_arrays
    assert not all(used)


def test_doctor_reads_the_arrays(tmp_path: Path) -> None:
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put("notes", [{"id": number, "title": f"Note {number}"} for number in range(80)])
        db.search("note")
    (file,) = (tmp_path / "db").rglob("columns-*")
    generation = Generation(file.parent, _identity(file.parent))
    generation.verify()
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(CorruptIndex):
        generation.verify()
    generation.close()


def _identity(directory: Path) -> str:
    forward = ForwardIndex(directory / "forward.sqlite")
    with forward.snapshot() as snapshot:
        found = snapshot.meta()["identity"]
    forward.close()
    return found
