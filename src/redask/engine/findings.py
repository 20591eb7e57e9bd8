"""What an ASK is answered from: `SourceFinder(…).find(ask, caller)`, all of it in one thread.

compute      a question that needs it: the result of a statement, and rows behind it; else
retrieve     the sources of the question that this caller may see, best first
show         without nulls and digests; what is too large, around what matches the question
trim         from the tail, until the rest fits into the limits; with a warning
fingerprint  of the sources that are left
prompt       made of them; its size is what the limits and the price are checked with

A question that needs computing and could not be planned is refused, with what is missing, unless
the best source is a document that has all its words: that can be quoted. A count of what no table
names is refused unless the best source is a document.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from redask.core.model import Ask, Caller, Notice, Prompt, Source, Usage
from redask.core.rules import caching, cost, fingerprint, fusion, prompt, validation
from redask.core.rules.auditing.provenance import DataState, SourceFacts
from redask.core.rules.grounding import stems
from redask.core.rules.grounding.refused_answers import Refusal
from redask.core.rules.grounding.source_text import SourceText
from redask.core.rules.prompting import relative_time, shown_payloads, source_excerpts
from redask.core.rules.validation import Examined
from redask.core.wire import query_source
from redask.engine.computing import Computed, Computing, QueryPlan, Uncomputed
from redask.engine.retrieval import Hits, Retriever

_COUNTING = {"many", "much", "number"}
_MOST_SIZES = 100_000  # remembered sizes of sources


@dataclass(frozen=True, slots=True)
class Findings:
    """What retrieval brought, trimmed to the limits, and the prompt made of it."""

    hits: Hits
    sources: tuple[Source, ...]
    facts: SourceFacts
    prompt: Prompt
    size: Usage
    warnings: tuple[Notice, ...]
    query: QueryPlan | None = None
    refusal: Refusal | None = None
    is_final: bool = False  # nobody else is asked for a statement
    today: str = ""  # the date that the prompt tells
    is_live: bool = False  # computed where attached tables are: a write here is no sign of change

    @property
    def fingerprint(self) -> str:
        """Of the sources."""
        return self.facts.fingerprint


class AskWork(Protocol):
    """What of an ASK may be long: done here (`SourceFinder`) or in a process that can be ended."""

    def find(self, ask: Ask, caller: Caller) -> Findings:
        """Compute or retrieve, drop from the tail what does not fit, and make the prompt."""

    def find_with(
        self, computed: Computed | Uncomputed | None, ask: Ask, caller: Caller
    ) -> Findings:
        """The same, when it is known already whether the question is computed."""

    def at(self, moment: int) -> "AskWork":
        """The same at a moment (epoch ns): a prompt that tells the date tells that one."""

    def search(self, ask: Ask, caller: Caller) -> Hits:
        """What the data holds on a question, without a prompt."""

    def outline(self, ask: Ask, caller: Caller) -> dict[str, object]:
        """How a question would be computed; nothing is run."""

    def examine(
        self,
        text: str,
        sources: Sequence[Source],
        read: dict[int, SourceText] | None = None,
        question: str = "",
        *,
        refused: bool = False,
    ) -> Examined:
        """What is found in an answer: see `validation.examine`."""


@dataclass(slots=True)
class SourceFinder:
    """Finds sources within the limits; remembers how long each is in a prompt."""

    retriever: Retriever
    computing: Computing
    limits: cost.Limits
    clock: Callable[[], int]
    _sizes: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)

    def find(self, ask: Ask, caller: Caller) -> Findings:
        """Compute or retrieve, drop from the tail what does not fit, and make the prompt."""
        return self.find_with(self.computing.compute(ask, caller), ask, caller)

    def at(self, moment: int) -> "SourceFinder":
        """The same at a moment."""
        return replace(self, clock=lambda: moment)

    def search(self, ask: Ask, caller: Caller) -> Hits:
        """What the data holds on a question, without a prompt."""
        return self.retriever.find(ask, caller)

    def outline(self, ask: Ask, caller: Caller) -> dict[str, object]:
        """How a question would be computed; nothing is run."""
        return self.computing.outline(ask, caller)

    def examine(
        self,
        text: str,
        sources: Sequence[Source],
        read: dict[int, SourceText] | None = None,
        question: str = "",
        *,
        refused: bool = False,
    ) -> Examined:
        """What is found in an answer: see `validation.examine`."""
        return validation.examine(text, sources, read, question, refused=refused)

    def find_with(
        self, computed: Computed | Uncomputed | None, ask: Ask, caller: Caller
    ) -> Findings:
        """The same, when it is known already whether the question is computed."""
        query = None if computed is None else computed.query
        if isinstance(computed, Computed) or (computed is not None and computed.final):
            state = self.retriever.entered(ask, caller)  # a search does so itself
            hits = self.retriever.redacted(_as_hits(computed.sources, state))
            if isinstance(computed, Computed):
                return replace(self._made(hits, ask, query), is_live=computed.live)
            made = self._made(hits, ask, query, computed.refusal)
            return replace(made, is_final=True, is_live=computed.live)
        hits = self.retriever.find_for_provider(ask, caller)
        if computed is None or _is_quotable(hits, ask.question, computed.named):
            return self._made(hits, ask)
        nearest = self.retriever.redacted(_as_hits(computed.sources, hits.state))
        return self._made(nearest, ask, query, computed.refusal)

    def _made(
        self,
        hits: Hits,
        ask: Ask,
        query: QueryPlan | None = None,
        refusal: Refusal | None = None,
    ) -> Findings:
        """The findings made of hits, trimmed to the limits."""
        today = self._today() if relative_time.is_relative(ask.question) else ""
        every = hits.sources
        system = _system(len(every), hits, today)
        frame = prompt.frame_tokens(ask.question, system)
        shown = tuple(_shown(source, ask.question) for source in every)
        shown, versions, sizes, cut = self._excerpted(shown, ask.question, frame)
        kept = cost.fit(sizes, frame, self.limits)
        sources = shown[:kept]
        warnings = (*hits.warnings, *hits.notices(kept))
        if kept < len(every) or any(cut[:kept]):
            detail = f"{kept} of {len(every)} sources fit into the limits"
            if any(cut[:kept]):
                detail += f", {sum(cut[:kept])} of them in an excerpt"
            warnings = (Notice("sources_trimmed", detail), *warnings)
        size = Usage(
            prompt_tokens=frame + sum(tokens_ for tokens_, _ in sizes[:kept]),
            sources_bytes=sum(bytes_ for _, bytes_ in sizes[:kept]),
        )
        system, read_as = _system(kept, hits, today), hits.read_as(ask.question)
        made = prompt.assemble(ask.question, sources, system, read_as=read_as)
        facts = _facts(hits, sources, versions[:kept], made)
        return Findings(hits, sources, facts, made, size, warnings, query, refusal, today=today)

    def _excerpted(
        self, sources: tuple[Source, ...], question: str, frame: int
    ) -> tuple[tuple[Source, ...], list[int], list[tuple[int, int]], list[bool]]:
        """The sources, those that would drop others cut; with versions, sizes and which are cut."""
        versions = [fingerprint.content_version(source.payload) for source in sources]
        sizes = [self._size(*each) for each in zip(sources, versions, strict=True)]
        most = cost.share_of_room(sizes, frame, self.limits)
        shown, cut = list(sources), [False] * len(sources)
        for at, size in enumerate(sizes):
            if size[0] <= most[0] and size[1] <= most[1]:
                continue
            shown[at] = source_excerpts.excerpt(sources[at], question, *most)
            cut[at] = shown[at] is not sources[at]
            versions[at] = fingerprint.content_version(shown[at].payload)
            sizes[at] = self._size(shown[at], versions[at])
        return tuple(shown), versions, sizes, cut

    def _today(self) -> str:
        return datetime.fromtimestamp(self.clock() // 10**9, UTC).date().isoformat()

    def _size(self, source: Source, version: int) -> tuple[int, int]:
        """The estimated tokens of one source in a prompt, and its bytes, remembered."""
        known = self._sizes.get((source.urn, version))
        if known is None:
            if len(self._sizes) >= _MOST_SIZES:
                self._sizes.clear()
            known = prompt.source_tokens(source), len(source.payload.encode())
            self._sizes[source.urn, version] = known
        return known


def _facts(
    hits: Hits, sources: tuple[Source, ...], versions: Sequence[int], made: Prompt
) -> SourceFacts:
    """What was found, in hashes; `versions` are those of the sources as they are shown."""
    read = (
        version if shown.payload == whole.payload else fingerprint.content_version(whole.payload)
        for shown, whole, version in zip(sources, hits.sources, versions, strict=False)
    )
    print_ = fingerprint.of(zip((source.urn for source in sources), versions, strict=True))
    hashed = caching.prompt_hash(made)
    return SourceFacts(tuple(versions), tuple(read), print_, hashed, hits.state)


def _shown(source: Source, question: str) -> Source:
    """A source as prompt and answer show it; the result of a statement is as it was made."""
    if query_source.statement_of(source.urn) is not None:
        return source
    return Source(source.urn, shown_payloads.shown(source.payload, question))


def _system(kept: int, hits: Hits, today: str) -> str:
    """The system part: how many of the sources that were found, and rows of a result."""
    found = {urn for bucket in hits.buckets for urn, _ in bucket.candidates}
    found.update(source.urn for source in hits.sources)
    rows = query_source.rows_shown(hits.sources[0]) if hits.sources else None
    return prompt.system_part(kept, len(found), rows=rows, today=today)


def _as_hits(sources: tuple[Source, ...], state: DataState) -> Hits:
    """Sources that were computed, not searched for."""
    fused = tuple(fusion.Fused(source.urn, 0.0) for source in sources)
    return Hits(fused, sources, (), (), state)


def _is_quotable(hits: Hits, question: str, named: bool) -> bool:
    """Whether the best source is a text, with every word of a question that names a table."""
    if not hits.sources or not hits.sources[0].urn.startswith("urn:reddb:document:"):
        return False
    if not named:
        return True
    asked = set(stems.content(stems.forms(question))) - _COUNTING
    return asked <= set(stems.content(stems.forms(hits.sources[0].payload)))
