"""What an ASK is answered from: `SourceFinder(…).find(ask, caller)`, all of it in one thread.

retrieve     the sources of the question that this caller may see, best first
trim         from the tail, until the rest fits into the limits; with a warning
fingerprint  of the sources that are left
prompt       made of them; its size is what the limits and the price are checked with
"""

from dataclasses import dataclass, field

from redask.core.model import Ask, Caller, Notice, Prompt, Source, Usage
from redask.core.rules import cost, fingerprint, prompt
from redask.engine.retrieval import Hits, Retriever

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


@dataclass(slots=True)
class SourceFinder:
    """Finds sources within the limits; remembers how long each is in a prompt."""

    retriever: Retriever
    limits: cost.Limits
    _sizes: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)

    def find(self, ask: Ask, caller: Caller) -> Findings:
        """Retrieve, drop from the tail what does not fit, and make the prompt."""
        hits = self.retriever.find_for_provider(ask, caller)
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
        return Findings(hits, sources, fingerprint.of(pairs), made, size, warnings)

    def _size(self, source: Source, version: int) -> tuple[int, int]:
        """The estimated tokens of one source in a prompt, and its bytes, remembered."""
        known = self._sizes.get((source.urn, version))
        if known is None:
            if len(self._sizes) >= _MOST_SIZES:
                self._sizes.clear()
            known = prompt.source_tokens(source), len(source.payload.encode())
            self._sizes[source.urn, version] = known
        return known
