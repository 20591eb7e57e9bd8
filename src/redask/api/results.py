"""What the Python API gives back: plain data that can show itself as the transports show it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from redask.core.model import Answer, IngestReport, Notice
from redask.core.ports import Found
from redask.core.wire import envelope


class CitedAnswer(Answer):
    """An Answer that can show its envelope."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """The response envelope, as plain data."""
        return envelope.build(self)


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One search result: the URN, the fused score, and the payload as the caller may see it."""

    urn: str
    score: float
    payload: str


@dataclass(frozen=True, slots=True)
class SearchResult(Sequence[SearchHit]):
    """The hits, best first, and the buckets they were fused from."""

    hits: tuple[SearchHit, ...]
    buckets: tuple[Found, ...]
    warnings: tuple[Notice, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about this search: buckets that were left out, and warnings."""
        left_out = (f"{each.bucket} {each.left_out}" for each in self.buckets if each.left_out)
        return (*left_out, *(f"{each.kind}: {each.detail}" for each in self.warnings))

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


class IngestSummary(IngestReport):
    """What an ingest did; `ok` when no file was left out."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """Whether every file could be read."""
        return not self.problems

    def to_dict(self) -> dict[str, object]:
        """The summary as plain data."""
        return {
            "gone": self.gone,
            "ignored": self.ignored,
            "ok": self.ok,
            "problems": [asdict(problem) for problem in self.problems],
            "readers": [asdict(tally) for tally in self.tallies],
            "removed": self.removed,
            "written": self.written,
        }
