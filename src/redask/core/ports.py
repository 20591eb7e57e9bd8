"""What the engine needs from the outside, as Protocols: data, records, and providers.

Every read takes the `Caller`: an adapter shows nobody more than that caller may see.
Store, index and embedder are synchronous (the engine runs them in threads); a provider is
asynchronous. URNs are in their encoded form. Adapters raise `errors.AskError` only.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from redask.core.model import Answer, Caller, Capabilities, Knobs, Prompt, Source, Terms
from redask.core.rules.cost import Allow, Reject, Spent


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing to write: its URN, and its payload as canonical JSON.

    `source` and `target` are set on edges only; `vector` is an embedding given by hand.
    """

    urn: str
    payload: str
    source: str | None = None
    target: str | None = None
    vector: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the store's ordered change log; `entity` is `None` for a deletion.

    `key` is the store's own number of the entity: stable while it lives, never reused, and never
    allowed to influence an answer. `mark` says who may see the entity at all, `projections` how:
    pairs of a mark and the payload as those see it who may see that mark. The first projection is
    the whole; at most 15 follow. Nobody sees two.
    """

    seq: int
    key: int
    urn: str
    collection: str
    language: str | None
    entity: Entity | None
    mark: str = "all"
    projections: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Visibility:
    """What a caller may see, in one state of the policies.

    `projections` maps the marks of the projections this caller sees to the marks of the entities;
    None is a tenant without policies, where everybody sees everything. `denied` are collections
    whose policy gives this caller nothing.
    """

    version: int = 0
    projections: Mapping[str, str] | None = None
    denied: frozenset[str] = frozenset()


class Store(Protocol):
    """The store: what was acknowledged is there, in order, for everybody.

    `identity` tells one store from every other.
    """

    identity: str

    def put(self, entities: Sequence[Entity], caller: Caller) -> int:
        """Write all or nothing; upsert by URN; equal content changes nothing. → last sequence."""

    def delete(self, urns: Sequence[str], caller: Caller) -> int:
        """Remove entities, and the edges that touch them. → how many entities went."""

    def read(self, urns: Sequence[str], caller: Caller) -> list[Source]:
        """What of these the caller may see, as the caller may see it, in the given order."""

    def visibility(self, caller: Caller) -> Visibility:
        """What the caller may see now."""

    def watermark(self, tenant: str) -> int:
        """The sequence of the tenant's last change; 0 when there is none."""

    def changes(self, tenant: str, after: int, limit: int) -> list[Change]:
        """The next changes after a sequence, in order; only an entity's latest state counts."""


@dataclass(frozen=True, slots=True)
class Unembedded:
    """An entity without a vector: the sequence of its latest change, and what it says.

    `hidden` are the columns that a policy hides from anybody: no vector may tell of them.
    """

    seq: int
    urn: str
    payload: str
    hidden: frozenset[str] = frozenset()


class VectorStore(Protocol):
    """What embedding needs of a store: which entities wait for a vector, and a place for it."""

    def watermark(self, tenant: str) -> int:
        """The sequence of the tenant's last change; 0 when there is none."""

    def visibility(self, caller: Caller) -> Visibility:
        """What the caller may see now."""

    def vector_space(self, tenant: str) -> tuple[str, int] | None:
        """Model and dimensions of the tenant's vectors; None when it has none."""

    def unembedded(self, tenant: str, limit: int) -> list[Unembedded]:
        """The next entities (no edges) that wait for a vector, in the order of their changes."""

    def count_unembedded(self, tenant: str) -> int:
        """How many entities wait for a vector."""

    def is_embedding_pending(self, caller: Caller) -> bool:
        """Whether anything that this caller may read waits for a vector."""

    def set_vectors(
        self, embedded: Sequence[Entity], tenant: str, *, model: str, through: int
    ) -> None:
        """Give vectors to those entities that did not change after `through`.

        They say what was embedded then, and to the same people. All up to `through` is done.
        """

    def drop_vectors(self, tenant: str) -> int:
        """Forget every vector of the tenant, so that all are made anew. → how many went"""

    def claim_embedding(self, tenant: str, holder: str, now: int, until: int) -> str:
        """Take the lease, or renew it, unless somebody has it. → who has it now"""

    def release_embedding(self, tenant: str, holder: str) -> None:
        """Give the lease back, if it is this holder's."""


@dataclass(frozen=True, slots=True)
class FileLink:
    """A link in a document: from a chunk, to a place (`anchor`, may be empty) in another file."""

    source: str
    path: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Origin:
    """A file that entities came from. `path` (absolute) names it, `root` is the folder asked for.

    `choice` is the collection that was asked for; `stamp` says which content was read how, and
    is None while that is unfinished, or when something of it is missing; it is empty as long as
    the file has never been whole here.
    """

    path: str
    root: str
    choice: str | None
    stamp: str | None


@dataclass(frozen=True, slots=True)
class Load:
    """What one origin brings, in the order of the file; or a part of it, when it is much.

    With the `last` part goes whatever the origin brought earlier and no longer brings.
    """

    origin: Origin
    entities: Sequence[Entity]
    links: Sequence[FileLink] = ()
    first: bool = True
    last: bool = True


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """What a write did; `refused` maps an origin's path to that of the origin it collides with."""

    written: int
    removed: int
    refused: Mapping[str, str]


class OriginManifest(Protocol):
    """Which entities came from which file. Every entity belongs to one origin at most."""

    def known(self, place: str, caller: Caller) -> dict[str, Origin]:
        """The origins at a path or below it, by path."""

    def load(
        self, loads: Sequence[Load], caller: Caller, *, model: str | None = None
    ) -> LoadOutcome:
        """Write what these origins bring, in one transaction, but for those that collide.

        `model` names what made the vectors of these entities.
        """

    def collisions(self, origin: Origin, urns: Sequence[str], caller: Caller) -> str | None:
        """The path of another origin that one of these belongs to, or None."""

    def forget(self, paths: Sequence[str], caller: Caller) -> int:
        """Remove these origins with everything they brought. → how many entities went."""

    def unlinked(self, limit: int, caller: Caller) -> dict[str, list[FileLink]]:
        """Origins whose links are to be settled (anew), by path; empty when all are."""

    def chunks(self, path: str, caller: Caller) -> list[str]:
        """The documents that an origin brought, in their order."""

    def link(self, edges: Mapping[str, Sequence[Entity]], caller: Caller) -> LoadOutcome:
        """Settle the links of these origins: they have these edges and no others."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for. `vector` is absent when no embedder answers.

    `vector_languages` are those the vector is good for; none: for every language.
    """

    question: str
    terms: Terms
    vector: tuple[float, ...] | None = None
    collections: tuple[str, ...] = ()
    top_k: int = 20
    depth: int = 2
    vector_languages: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Found:
    """One bucket's candidates in rank order: `(urn, score)`, score from 0 to 1, ties by URN.

    `left_out` says why a bucket was not searched at all.
    """

    bucket: str
    candidates: tuple[tuple[str, float], ...]
    left_out: str = ""


class Index(Protocol):
    """The search index: a projection of the store's log, always caught up before it answers."""

    def search(self, query: Query, caller: Caller) -> tuple[Found, ...]:
        """The buckets bm25, vector and graph, in this order, of what the caller may see."""


class Embedder(Protocol):
    """Texts to vectors. `model` names weights and runtime: vectors of two models never mix.

    No `languages` means that it makes no difference between them.
    """

    model: str
    dimensions: int
    languages: frozenset[str]

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """One unit vector for each text, the same for the same text."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a provider answered. Token counts are `None` when it reported none.

    `build` is its system fingerprint or the like, where it sends one.
    """

    text: str
    model: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    build: str = ""


class Provider(Protocol):
    """A model, or what stands for one."""

    name: str
    model: str
    capabilities: Capabilities

    def narrow(self, seed: int) -> int:
        """The seed as this provider's wire can carry it."""

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What a call costs in US dollars; None when no price is known."""

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        """Answer once; hand each piece to `emit` as it comes. Cancelling closes the call."""


@runtime_checkable
class Connected(Protocol):
    """What a provider may have besides: connections to close."""

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the next call opens new ones."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One row of the audit log with its number and its hash.

    `build` is what the provider said about its system, such as a system fingerprint.
    """

    seq: int
    row: dict[str, object]
    hash: str
    build: str = ""


class AuditLog(Protocol):
    """The append-only log of calls."""

    def append(self, row: dict[str, object], build: str = "") -> Awaitable[None]:
        """Durably add one row: done when it is on disk. Raises `AuditUnavailable`."""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An accepted answer, what its prompt hashed to, and when it was stored (epoch ns)."""

    answer: Answer
    prompt_hash: str
    stored_at: int
    ttl: int


class AnswerCache(Protocol):
    """Accepted answers by their key."""

    def get(self, key: str) -> CachedAnswer | None:
        """What is stored under a key, however old."""

    def put(self, key: str, entry: CachedAnswer) -> None:
        """Store an answer; the oldest entries go when there are too many."""


@dataclass(frozen=True, slots=True)
class Account:
    """Where a call's money is booked: the tenant, the UTC day it began on, the provider."""

    tenant: str
    day: int
    provider: str


class Ledger(Protocol):
    """What each tenant has spent on each UTC day, in nano-dollars, across processes."""

    def reserve(
        self, account: Account, nanos: int, check: Callable[[Spent], Allow | Reject]
    ) -> int | Reject:
        """Ask `check` about the tenant's day so far; if it allows, set the amount aside, all
        atomically. → the reservation's number, or the refusal."""

    def settle(self, reservation: int, nanos: int) -> None:
        """Replace a reservation by what the call really cost; a second time changes nothing."""

    def add(self, account: Account, nanos: int) -> None:
        """Book what a call without a reservation cost."""


@dataclass(frozen=True, slots=True)
class SelectShape:
    """What a SELECT gives and takes: `integer real text boolean json`, before it runs."""

    columns: tuple[tuple[str, str], ...]
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableShape:
    """A collection as a caller's table, with names and types of its columns."""

    name: str
    columns: tuple[tuple[str, str], ...]
