"""The nouns of redask, each defined once, frozen and without behaviour.

An `Ask` goes to the engine, which reads `Source`s for a `Caller`, asks a provider with
a `Prompt` and `Knobs`, and returns an `Answer`; meanwhile it emits the events at the end
of this file. Decisions are in `redask.core.rules`.

URNs are passed in their encoded form (a `str`); `rules.urn` decodes one to an `Urn`. Text is
never normalised.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Mode(StrEnum):
    """How citations are validated."""

    STRICT = "strict"
    LENIENT = "lenient"


class Strictness(StrEnum):
    """What is asked of an answer: the words of STRICT. What `Mode` comes of it is a rule's."""

    ON = "on"
    OFF = "off"
    SUPPORTED = "supported"


class PlanChoice(StrEnum):
    """Whether an ASK may be answered by a SELECT: the words of PLAN."""

    AUTO = "auto"
    OFF = "off"
    ONLY = "only"


class Kind(StrEnum):
    """What a URN addresses, its second part: an entity, or (`query`) the result of a statement."""

    ROW = "row"
    DOCUMENT = "document"
    VECTOR = "vector"
    NODE = "node"
    EDGE = "edge"
    KV = "kv"
    QUERY = "query"


@dataclass(frozen=True, slots=True)
class Urn:
    """The decoded address of one entity; `fragment` is a document's chunk label."""

    kind: Kind
    collection: str
    id: str
    fragment: str | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """The principal that a read, an answer or an audit row belongs to.

    `attributes` are those that an identity provider said of the user, in place of what the
    database knows of a user of this name; None for whoever signed in otherwise.
    """

    tenant: str = "local"
    user: str = "local"
    role: str = "owner"
    attributes: tuple[tuple[str, object], ...] | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier question of a conversation, and what was answered."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One question with its clauses; `None` means the value in the settings."""

    question: str
    explain: bool = False
    using: tuple[str, ...] = ()
    model: str | None = None
    collections: tuple[str, ...] = ()
    limit: int = 20
    min_score: float | None = None
    depth: int = 2
    strict: Strictness | None = None
    stream: bool = False
    temperature: float | None = None
    seed: int | None = None
    cache_ttl: int | None = None
    nocache: bool = False
    plan: PlanChoice = PlanChoice.AUTO
    steps: int = 1
    evidence: bool = False
    history: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """An entity the caller may read: its URN and its payload, canonical JSON as a string."""

    urn: str
    payload: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a provider can do, in the order of the contract's table."""

    supports_citations: bool
    supports_seed: bool
    supports_temperature_zero: bool
    supports_streaming: bool


@dataclass(frozen=True, slots=True)
class Knobs:
    """Sampling parameters; `None` means not sent. Zero is a value."""

    temperature: float | None
    seed: int | None


@dataclass(frozen=True, slots=True)
class Notice:
    """One warning or error, as envelopes and audit rows list them."""

    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A well-formed marker in an answer; `span` is half-open, in code points."""

    marker: int
    span: tuple[int, int]
    source_index: int


@dataclass(frozen=True, slots=True)
class Issue:
    """What is wrong with an answer: with a marker (`malformed`, `out_of_range`) or a claim.

    It is an error where the strictness is `error_from` or more, else a warning.
    """

    kind: str
    span: tuple[int, int]
    detail: str
    error_from: Strictness = Strictness.ON


@dataclass(frozen=True, slots=True)
class Terms:
    """What to search for: words without stop words, and literals to match as written."""

    words: tuple[str, ...]
    literals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a provider is given; `user` is the rendered text, `sources` what it was made of.

    `weights` are those of the search words (IDF), so that a provider that quotes instead of
    generating need not parse the prompt; `read_as` is the question as the search read it, its
    misspelt words as the data spells them, empty where nothing was read otherwise.
    """

    system: str
    user: str
    question: str
    sources: tuple[Source, ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    read_as: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """What an ASK has used, or plans to use; `cost_usd` is `None` when no price is known."""

    prompt_tokens: int = 0
    sources_bytes: int = 0
    completion_tokens: int = 0
    elapsed_ms: int = 0
    cost_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Footnote:
    """A marker of the answer and the URN it points to."""

    marker: int
    urn: str


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of validating an answer: `ok`, errors and warnings."""

    ok: bool
    errors: tuple[Notice, ...] = ()
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """What a source says to a claim: `span` is in code points of the source's text.

    `place` is where a person would find it, by what the source's own fields tell; None if nothing.
    """

    urn: str
    span: tuple[int, int]
    text: str
    place: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A claim of an answer, the markers it cites, how it was judged, and what supports it."""

    span: tuple[int, int]
    markers: tuple[int, ...]
    verdict: str
    passages: tuple[QuotedPassage, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer. The fields are the keys of the response envelope.

    `evidence` is None unless it was asked for.
    """

    answer: str
    citations: tuple[Footnote, ...]
    sources_flat: tuple[Source, ...]
    validation: Validation
    provider: str
    model: str
    mode: Mode
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    cache_hit: bool = False
    retry_count: int = 0
    evidence: tuple[Evidence, ...] | None = None


# --- ingest: what reading files reports --------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file that was left out, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestTally:
    """What one reader did: files by outcome, and the entities of the files it read."""

    reader: str
    read: int = 0
    unchanged: int = 0
    failed: int = 0
    entities: int = 0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Files in folders that no reader is for: their ending (empty: none), how many, the first."""

    suffix: str
    count: int
    example: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did. `written` counts new and changed entities, `removed` deleted ones.

    `ignored` counts files in folders that have no reader, `left_out` by their endings; `gone`
    files that no longer exist.
    """

    tallies: tuple[IngestTally, ...]
    problems: tuple[FileProblem, ...]
    written: int = 0
    removed: int = 0
    ignored: int = 0
    gone: int = 0
    left_out: tuple[LeftOut, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """The progress of an ingest; `path` is the current file."""

    path: str
    files_done: int
    files: int
    bytes_done: int
    bytes: int
    entities: int


# --- events: what an ASK emits while it runs, in this order ----------------------------


@dataclass(frozen=True, slots=True)
class SourcesFound:
    """The sources of the answer to come; always first."""

    sources_flat: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class AnswerToken:
    """A piece of the answer, as the provider produced it."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerReset:
    """All tokens so far are void, because of a `retry` or a `failover`."""

    reason: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The end of a stream that succeeded; its audit row exists."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Failed:
    """The end of a stream that did not succeed."""

    error: Exception


Event = SourcesFound | AnswerToken | AnswerReset | Answered | Failed
Emit = Callable[[Event], Awaitable[None]]
