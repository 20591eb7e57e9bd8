"""What the Python API gives back: plain data that can show itself as the transports show it.

`print` shows what people read: an answer with its footnotes, the hits of a search. `repr` is short,
and holds no more than the beginning of a payload.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from redask.core.model import Answer, IngestReport, Notice
from redask.core.ports import Found
from redask.core.wire import envelope, plain_text

_SHOWN = 80  # characters of a text in a repr
_NAMED = 3  # hits in a repr


class CitedAnswer(Answer):
    """An Answer that can show its envelope, and itself with its footnotes."""

    __slots__ = ()

    def __str__(self) -> str:
        notes = [f"[^{n}] {urn}\n     {said}" for n, urn, said in plain_text.footnotes(self)]
        return "\n\n".join([self.answer, "\n".join(notes)]) if notes else self.answer

    def __repr__(self) -> str:
        warned = [each.kind for each in self.validation.warnings]
        return (
            f"CitedAnswer({plain_text.cut(self.answer, _SHOWN)!r}, "
            f"citations={[note.marker for note in self.citations]}, "
            f"sources={len(self.sources_flat)}, provider={self.provider!r}"
            f"{f', warnings={warned}' if warned else ''})"
        )

    def to_dict(self) -> dict[str, object]:
        """The response envelope, as plain data."""
        return envelope.build(self)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One search result: the URN, the fused score, and the payload as the caller may see it."""

    urn: str
    score: float
    payload: str

    def __repr__(self) -> str:
        said = plain_text.cut(self.payload, _SHOWN)
        return f"SearchHit(urn={self.urn!r}, score={self.score:.5f}, payload={said!r})"


@dataclass(frozen=True, slots=True)
class SearchResult(Sequence[SearchHit]):
    """The hits, best first, the buckets they were fused from, what each of those weighs and why."""

    hits: tuple[SearchHit, ...]
    buckets: tuple[Found, ...]
    warnings: tuple[Notice, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about this search: buckets that were left out, and warnings."""
        left_out = (f"{each.bucket} {each.left_out}" for each in self.buckets if each.left_out)
        return (*left_out, *(f"{each.kind}: {each.detail}" for each in self.warnings))

    def __str__(self) -> str:
        shown = (
            f"{rank:3}  {hit.score:.5f}  {hit.urn}\n     {plain_text.snippet(hit.payload)}"
            for rank, hit in enumerate(self.hits, start=1)
        )
        return "\n".join(shown) or "nothing found"

    def __repr__(self) -> str:
        named = [hit.urn for hit in self.hits[:_NAMED]]
        more = ["…"] if len(self.hits) > _NAMED else []
        count = f"{len(self.hits)} hit{'' if len(self.hits) == 1 else 's'}"
        return f"SearchResult({': '.join([count, ', '.join(named + more)]) if named else count})"

    def __getitem__(self, index: Any) -> Any:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def to_dict(self) -> dict[str, object]:
        """The hits as plain data."""
        return {
            "hits": [
                {"payload": hit.payload, "score": hit.score, "urn": hit.urn} for hit in self.hits
            ]
        }

    def ranks(self) -> list[dict[str, object]]:
        """How each bucket ranked, before they were fused, as plain data."""
        return [
            {
                "bucket": each.bucket,
                "left_out": each.left_out,
                "reason": self.reasons.get(each.bucket, ""),
                "urns": [urn for urn, _ in each.candidates],
                "weight": self.weights.get(each.bucket, 1.0),
            }
            for each in self.buckets
        ]


class IngestSummary(IngestReport):
    """What an ingest did; `ok` when no file was left out."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """Whether every file could be read."""
        return not self.problems

    def without_folder(self, folder: str) -> "IngestSummary":
        """The same, with paths in this folder as names."""
        named = tuple(
            replace(each, path=each.path.removeprefix(f"{folder}{os.sep}"))
            for each in self.problems
        )
        return replace(self, problems=named)

    def to_dict(self) -> dict[str, object]:
        """The summary as plain data."""
        return {
            "gone": self.gone,
            "ignored": self.ignored,
            "left_out": [asdict(each) for each in self.left_out],
            "ok": self.ok,
            "problems": [asdict(problem) for problem in self.problems],
            "readers": [asdict(tally) for tally in self.tallies],
            "removed": self.removed,
            "written": self.written,
        }
