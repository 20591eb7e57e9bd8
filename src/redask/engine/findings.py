"""What an ASK is answered from: `SourceFinder(…).find(ask, caller)`, all of it in one thread.

compute      a question that needs it: the result of a statement, and rows behind it; else
retrieve     the sources of the question that this caller may see, best first
trim         from the tail, until the rest fits into the limits; with a warning
fingerprint  of the sources that are left
prompt       made of them; its size is what the limits and the price are checked with

A question that needs computing and could not be planned is refused, with what is missing, unless
the best source is a document that has all its words: that can be quoted.
"""

from dataclasses import dataclass, field, replace

from redask.core.model import Ask, Caller, Notice, Prompt, Source, Usage
from redask.core.rules import cost, fingerprint, fusion, prompt
from redask.core.rules.grounding import stems
from redask.core.rules.grounding.refused_answers import Refusal
from redask.engine.computing import Computed, Computing, QueryPlan, Uncomputed
from redask.engine.retrieval import Hits, Retriever

_COUNTING = {"many", "much", "number"}
_MOST_SIZES = 100_000  # remembered sizes of sources


@dataclass(frozen=True, slots=True)
class Findings:
    """What retrieval brought, trimmed to the limits, and the prompt made of it."""

    hits: Hits
    sources: tuple[Source, ...]
    fingerprint: str
    prompt: Prompt
    size: Usage
    warnings: tuple[Notice, ...]
    query: QueryPlan | None = None
    refusal: Refusal | None = None
    is_final: bool = False  # nobody else is asked for a statement


@dataclass(slots=True)
class SourceFinder:
    """Finds sources within the limits; remembers how long each is in a prompt."""

    retriever: Retriever
    computing: Computing
    limits: cost.Limits
    _sizes: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)

    def find(self, ask: Ask, caller: Caller) -> Findings:
        """Compute or retrieve, drop from the tail what does not fit, and make the prompt."""
        return self.find_with(self.computing.compute(ask, caller), ask, caller)

    def find_with(
        self, computed: Computed | Uncomputed | None, ask: Ask, caller: Caller
    ) -> Findings:
        """The same, when it is known already whether the question is computed."""
        query = None if computed is None else computed.query
        if isinstance(computed, Computed) or (computed is not None and computed.final):
            self.retriever.check_collections(ask, caller)  # a search does so itself
        if isinstance(computed, Computed):
            return self._made(self.retriever.redacted(_as_hits(computed.sources)), ask, query)
        if computed is not None and computed.final:
            hits = self.retriever.redacted(_as_hits(computed.sources))
            return replace(self._made(hits, ask, query, computed.refusal), is_final=True)
        hits = self.retriever.find_for_provider(ask, caller)
        if computed is None or _is_quotable(hits, ask.question):
            return self._made(hits, ask)
        nearest = self.retriever.redacted(_as_hits(computed.sources))
        return self._made(nearest, ask, query, computed.refusal)

    def _made(
        self,
        hits: Hits,
        ask: Ask,
        query: QueryPlan | None = None,
        refusal: Refusal | None = None,
    ) -> Findings:
        """The findings made of hits, trimmed to the limits."""
        versions = [fingerprint.content_version(source.payload) for source in hits.sources]
        sizes = [self._size(*each) for each in zip(hits.sources, versions, strict=True)]
        frame = prompt.frame_tokens(ask.question)
        kept = cost.fit(sizes, frame, self.limits)
        sources = hits.sources[:kept]
        warnings = (*hits.warnings, *hits.notices(kept))
        if kept < len(hits.sources):
            detail = f"{kept} of {len(hits.sources)} sources fit into the limits"
            warnings = (Notice("sources_trimmed", detail), *warnings)
        pairs = zip((source.urn for source in sources), versions, strict=False)
        size = Usage(
            prompt_tokens=frame + sum(tokens_ for tokens_, _ in sizes[:kept]),
            sources_bytes=sum(bytes_ for _, bytes_ in sizes[:kept]),
        )
        made = prompt.assemble(ask.question, sources)
        print_ = fingerprint.of(pairs)
        return Findings(hits, sources, print_, made, size, warnings, query, refusal)

    def _size(self, source: Source, version: int) -> tuple[int, int]:
        """The estimated tokens of one source in a prompt, and its bytes, remembered."""
        known = self._sizes.get((source.urn, version))
        if known is None:
            if len(self._sizes) >= _MOST_SIZES:
                self._sizes.clear()
            known = prompt.source_tokens(source), len(source.payload.encode())
            self._sizes[source.urn, version] = known
        return known


def _as_hits(sources: tuple[Source, ...]) -> Hits:
    """Sources that were computed, not searched for."""
    return Hits(tuple(fusion.Fused(source.urn, 0.0) for source in sources), sources, (), ())


def _is_quotable(hits: Hits, question: str) -> bool:
    """Whether the best source is a text that has every word of the question."""
    if not hits.sources or not hits.sources[0].urn.startswith("urn:reddb:document:"):
        return False
    asked = set(stems.content(stems.forms(question))) - _COUNTING
    return asked <= set(stems.content(stems.forms(hits.sources[0].payload)))
