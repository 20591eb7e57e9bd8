"""redask with default settings: three buckets, the audit row on disk before the answer returns.

Two things stand in for what costs time elsewhere: an embedder that knows every vector already (a
row of its own among EMBEDDERS), and a provider that answers at once. All else is the default,
sources limited to ten.
"""

import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import redask
from peers import contest
from peers.contest import CitedReply, Known, Passage
from redask.core.model import Capabilities, Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import urn
from redask.core.settings import Settings
from redask.embedding import models
from redask.embedding.models.minilm import MiniLm
from redask.engine import telemetry

PACKAGES = ("redask",)
NOTE = "words, vectors, graph; validated, audited"
_COLLECTION = "passages"
_BATCH = 2_000
_CAN = Capabilities(True, True, True, True)


class LookedUp:
    """MiniLM's vectors, known beforehand."""

    languages = MiniLm.languages
    dimensions = MiniLm.dimensions
    model = "looked-up"

    def __init__(self, known: Known) -> None:
        self._known = known

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        return [tuple(self._known.floats(text)) for text in map(self._known.name_of, texts)]


class AtOnce:
    """A provider that takes no time and cites the first source."""

    name = "at_once"
    model = "at-once-1"
    capabilities = _CAN

    def narrow(self, seed: int) -> int:
        return seed

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 0.0 * (prompt_tokens + completion_tokens)

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        del knobs, max_tokens, emit
        return Completion(f"{contest.SENTENCE} [^1]", self.model, len(prompt.user) // 4, 10)


def build(home: Path, passages: Sequence[Passage], known: Known) -> None:
    with _database(home, known) as db:
        for start in range(0, len(passages), _BATCH):
            rows = [
                {"id": each.id, "text": each.text, "title": each.title}
                for each in passages[start : start + _BATCH]
            ]
            db.put(_COLLECTION, rows, kind="document")
        db.catch_up()  # which has all the time it needs


def open_up(home: Path, known: Known) -> "OurDatabase":
    return OurDatabase(home, known)


class OurDatabase:
    """redask, open; `parts` are the seconds of each step, question by question."""

    options: dict[str, object] = {}  # noqa: RUF012 - never written to

    def __init__(self, home: Path, known: Known) -> None:
        self.parts: dict[str, list[float]] = defaultdict(list)
        telemetry.step = self._timed
        self._db = _database(home, known)

    def ask(self, question: str) -> CitedReply:
        answer = self._db.ask(question, using=AtOnce.name, limit=contest.SOURCES, **self.options)
        cited = tuple(urn.decode(note.urn).id for note in answer.citations)
        sources = tuple(urn.decode(source.urn).id for source in answer.sources_flat)
        return CitedReply(answer.answer, cited, sources)

    def insert(self, passage: Passage) -> None:
        row = {"id": passage.id, "text": passage.text, "title": passage.title}
        self._db.put(_COLLECTION, [row], kind="document")

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.parts[name].append(time.perf_counter() - started)


def _database(home: Path, known: Known) -> redask.OpenDatabase:
    row = models.EmbedderRow("looked_up", "for this run", lambda _: LookedUp(known))
    models.EMBEDDERS = (*models.EMBEDDERS, row)
    return redask.open(
        home / "data",
        embedder=row.name,
        settings=Settings(capabilities=MappingProxyType({AtOnce.name: _CAN})),
        providers={AtOnce.name: AtOnce()},
    )
