"""Which passages of the cited sources a claim speaks of: `Alignment` ranks them by its words.

    share        the part of a claim's content that a passage holds; a cell has the share of its
                 whole record, as it says something about that
    passages     the PASSAGES best, rarer words first; ties in the order of the sources
    overlap      the part of the claim's content that the cited sources hold
    closeness    the mean of the overlap and the share of the best passage with its neighbour

Content are the roots of `stems.content`. A root in more than COMMON passages ranks none, so the
time does not grow with claims times passages.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from redask.core.rules.grounding.source_text import COMMON, SourceText
from redask.core.rules.grounding.stems import ROOT

PASSAGES = 4


class Aligned(NamedTuple):
    """A passage of a cited source, and the share of the claim's content that it holds."""

    source: int
    passage: int
    share: float


class Alignment:
    """The cited sources as one claim reads them."""

    def __init__(self, content: Sequence[str], cited: Sequence[SourceText]) -> None:
        self.cited = cited
        self.content = frozenset(content)
        self._records: dict[int, frozenset[str]] = {}
        ranked: list[tuple[float, int, int]] = []
        held: set[str] = set()
        for number, source in enumerate(cited):
            if len(source.passages) <= COMMON:
                for at, passage in enumerate(source.passages):
                    if shared := self.content & passage.roots:
                        held |= shared
                        ranked.append((-len(shared), number, at))
            else:
                ranked += [(-count, number, at) for at, count in self._counts(source, held)]
        ranked.sort()
        self.passages = tuple(self.place(*place) for _, *place in ranked[:PASSAGES])
        self.overlap = len(held) / len(content) if content else 1.0

    @property
    def closeness(self) -> float:
        """How much of the claim is said, and said in one place."""
        if not self.passages:
            return self.overlap
        best = self.passages[0]
        there = self.cited[best.source].passages
        around = there[max(0, best.passage - 1) : best.passage + 2]
        together = max(
            (self._share(one.roots | there[best.passage].roots) for one in around), default=0.0
        )
        return (self.overlap + max(together, best.share)) / 2

    def _counts(self, source: SourceText, held: set[str]) -> Iterable[tuple[int, int]]:
        """How much of the claim's content each passage of a long source holds."""
        counts: dict[int, int] = {}
        for root in self.content:
            holding = source.holding(root)
            if holding:
                held.add(root)
            for passage in holding[:COMMON]:
                counts[passage] = counts.get(passage, 0) + 1
        return counts.items()

    def is_copy(self, text: str) -> bool:
        """Whether a text stands in the best passage word for word."""
        if not self.passages:
            return False
        best = self.passages[0]
        wanted = " ".join(text.split())
        there = self.cited[best.source].one_line(best.passage)
        at = there.find(wanted)
        end = at + len(wanted)
        inside_word = there[at - 1 : at].isalnum() or there[end : end + 1].isalnum()
        return at >= 0 and not inside_word

    def place(self, source: int, passage: int) -> Aligned:
        """A passage with its share."""
        found = self.cited[source].passages[passage]
        roots = self._record(source) if found.named else found.roots
        return Aligned(source, passage, self._share(roots))

    def elsewhere(self, words: Sequence[str]) -> Iterator[Aligned]:
        """Passages that are not among the best: all of a short source, of a long one those that
        hold one of the words."""
        known = {(each.source, each.passage) for each in self.passages}
        for number, source in enumerate(self.cited):
            places: Iterable[int] = range(len(source.passages))
            if len(source.passages) > COMMON:
                held = [source.holding(word[:ROOT])[:COMMON] for word in words]
                places = sorted({place for each in held for place in each})
            for passage in places:
                if (number, passage) not in known:
                    yield self.place(number, passage)

    def holds(self, words: Sequence[str]) -> bool:
        """Whether the cited sources hold every one of these words."""
        return all(any(source.holds(word) for source in self.cited) for word in words)

    def _record(self, source: int) -> frozenset[str]:
        """The roots of all cells of a source."""
        known = self._records.get(source)
        if known is None:
            cells = [each.roots for each in self.cited[source].passages if each.named]
            known = self._records[source] = self.content.intersection(*[frozenset().union(*cells)])
        return known

    def _share(self, roots: frozenset[str]) -> float:
        return len(self.content & roots) / len(self.content) if self.content else 0.0
