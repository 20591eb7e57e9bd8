"""Embedding by several machines: `embed_shard` of a dump on each, then `take_vectors` here.

    redask dump shop.jsonl
    redask embed --shard 1/3 shop.jsonl --to 1.vectors       on one machine; 2/3, 3/3 on others
    redask embed 1.vectors 2.vectors 3.vectors               where the data is

A shard needs no database: the texts are those of the dump's entities, without the columns that its
policies hide. Taking in looks at what is pending in this database now, and finds vectors by the
hash of the text that would be embedded here: what changed since the dump is embedded here, and no
file can give an entity another's vector by naming it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from redask.app import App
from redask.app.dumps import read_records
from redask.core.access.policy import ClassLayout, must_own, read_policy
from redask.core.errors import BadAsk, Misconfigured
from redask.core.model import Caller, Kind
from redask.core.ports import Embedder
from redask.core.wire import json as canonical
from redask.embedding.embedding_text import embedding_text
from redask.embedding.models import REMOTE, make
from redask.embedding.stage import BATCH, EmbeddingProgress
from redask.embedding.taken_vectors import TakenVectors
from redask.embedding.vector_files import Shard, VectorFile, text_hash, writing
from redask.stores.canonical_urns import address
from redask.stores.policy_classes import hidden_columns


@dataclass(frozen=True, slots=True)
class TakenCounts:
    """How many texts have their vector from a file, and how many were embedded here."""

    taken: int
    made: int


def embed_shard(
    dump: Path,
    shard: str,
    to: Path,
    embedder: str,
    progress: EmbeddingProgress = lambda *_: None,
) -> int:
    """Embed a shard (`2/5`) of a dump's texts into a file, all or nothing. → how many texts"""
    part, model = Shard.read(shard), _local(embedder)
    wanted = {digest for digest, _ in _texts(dump, part)}  # the dump is whole and as written, too
    done = 0
    with writing(to, model, part) as file:
        rest = _once(_texts(dump, part), wanted)
        while batch := list(islice(rest, BATCH)):
            vectors = model.embed([text for _, text in batch])
            for (digest, _), vector in zip(batch, vectors, strict=True):
                if any(vector):  # a zero vector has no cosine, and is not stored
                    file.add(digest, vector)
            done += len(batch)
            progress(done, done + len(wanted))
    return done


def take_vectors(
    app: App, caller: Caller, paths: Sequence[Path], progress: EmbeddingProgress | None = None
) -> TakenCounts:
    """Embed what is pending, with the vectors of these files where they have them."""
    must_own(caller)
    stage = app.retriever.embedding
    if stage is None or isinstance(stage.embedder, REMOTE):
        raise Misconfigured(
            "vectors are taken from files for an embedder of this machine only",
            detail="embedder.name",
        )
    taken = TakenVectors(stage.embedder, [VectorFile(path, stage.embedder) for path in paths])
    stage.finish(caller.tenant, progress, taken)
    return TakenCounts(taken.taken, taken.made)


def _local(name: str) -> Embedder:
    model = make(name) if name != "openai_compatible" else None
    if model is None:
        raise BadAsk("a shard is embedded by an embedder of this machine", detail="embedder")
    return model


def _texts(dump: Path, shard: Shard) -> Iterator[tuple[bytes, str]]:
    """What would be embedded of the entities of a dump, of one shard: hash and text."""
    layouts: dict[str, ClassLayout] = {}
    for place, record in enumerate(read_records(dump), start=2):
        if record["kind"] == "policy":
            name = record["collection"]
            layouts[name] = read_policy(name, record["document"]).layout
        if record["kind"] != "entity" or record.get("vector") is not None:
            continue
        _, kind, collection = address(record["urn"])
        if kind is Kind.EDGE:
            continue
        if not isinstance(record["payload"], dict):
            raise BadAsk(f"line {place} of the dump is no record that can be stored")
        payload = canonical.text(record["payload"])
        hidden = hidden_columns(layouts.get(collection), payload)
        text = embedding_text(payload, hidden)
        if text.strip() and shard.holds(digest := text_hash(text)):
            yield digest, text


def _once(texts: Iterator[tuple[bytes, str]], wanted: set[bytes]) -> Iterator[tuple[bytes, str]]:
    """Each of the wanted texts once; those that are left in `wanted` did not come yet."""
    for digest, text in texts:
        if digest in wanted:
            wanted.discard(digest)
            yield digest, text
