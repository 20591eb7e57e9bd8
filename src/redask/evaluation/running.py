"""Runs a pack against a database: `retrieval` and `answers` measure, question by question.

The pack is loaded into a database of its own (in a directory the caller gives), then every
question takes the same search and the same ASK as a user's.
"""

from collections.abc import Callable
from dataclasses import dataclass

from redask.api.sync import OpenDatabase
from redask.core.rules import urn
from redask.core.rules.grounding import refused_answers
from redask.evaluation import answers as gold
from redask.evaluation import ranking
from redask.evaluation.citation_quality import CitationTally
from redask.evaluation.packs import Pack, Question

COLLECTION = "passages"
FUSED = "fused"
_BATCH = 1000
_REFUSALS = (refused_answers.REFUSED, "no_sources")
EvalProgress = Callable[[str, int, int], None]


def load(db: OpenDatabase, pack: Pack, progress: EvalProgress) -> None:
    """Put the passages of a pack."""
    for start in range(0, len(pack.passages), _BATCH):
        db.put(COLLECTION, pack.passages[start : start + _BATCH], kind="document")
        done = min(start + _BATCH, len(pack.passages))
        progress("loading", done, len(pack.passages))


def retrieval(
    db: OpenDatabase, pack: Pack, progress: EvalProgress, depth: int
) -> dict[str, dict[str, float]]:
    """The metrics of each bucket and of the fused list."""
    measured: dict[str, list[dict[str, float]]] = {}
    asked = [question for question in pack.questions if question.evidence]
    for done, question in enumerate(asked, start=1):
        found = db.search(question.text, limit=20, depth=depth)
        rankings = {bucket.bucket: [u for u, _ in bucket.candidates] for bucket in found.buckets}
        rankings[FUSED] = [hit.urn for hit in found]
        for name, ranked in rankings.items():
            passages = [urn.decode(each).id for each in ranked]
            measured.setdefault(name, []).append(ranking.measure(passages, question.evidence))
        progress("searching", done, len(asked))
    return {name: ranking.mean(values) for name, values in measured.items()}


@dataclass(slots=True)
class _Tally:
    """Counts over questions of one kind."""

    asked: int = 0
    contains: int = 0
    words: float = 0.0
    cites: int = 0
    cites_all: int = 0
    cited: int = 0
    cited_gold: int = 0
    characters: int = 0
    refused: int = 0

    def rates(self) -> dict[str, float]:
        """The mean of each over questions; of the precision over citations, 1 without any."""
        return {
            "contains_gold": self.contains / self.asked,
            "gold_words": self.words / self.asked,
            "cites_gold": self.cites / self.asked,
            "cites_all_gold": self.cites_all / self.asked,
            "gold_precision": self.cited_gold / self.cited if self.cited else 1.0,
            "characters": self.characters / self.asked,
            "refused": self.refused / self.asked,
        }


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """The means of `evaluation.answers` and refusals; precision and recall of citations."""

    rates: dict[str, dict[str, float]]
    citations: dict[str, float | None]


def answers(db: OpenDatabase, pack: Pack, progress: EvalProgress) -> AnswerFigures:
    """The figures of the answers to a pack's questions."""
    citations = CitationTally()
    tallies = {"answerable": _Tally(), "unanswerable": _Tally()}
    for done, question in enumerate(pack.questions, start=1):
        tally = tallies["answerable" if question.answerable else "unanswerable"]
        _count(tally, citations, db, question)
        progress("asking", done, len(pack.questions))
    rates = {name: tally.rates() for name, tally in tallies.items() if tally.asked}
    return AnswerFigures(rates, citations.rates())


def _count(tally: _Tally, citations: CitationTally, db: OpenDatabase, question: Question) -> None:
    answer = db.ask(question.text)
    citations.add(answer.answer, answer.sources_flat)
    cited = {urn.decode(note.urn).id for note in answer.citations}
    tally.asked += 1
    tally.refused += any(note.kind in _REFUSALS for note in answer.validation.warnings)
    tally.cites += gold.cites(cited, question.evidence)
    tally.cites_all += gold.cites_all(cited, question.evidence)
    tally.cited += len(cited)
    tally.cited_gold += len(cited & question.evidence.keys())
    tally.contains += _holds_gold(answer.answer, question)
    tally.words += gold.gold_words(answer.answer, question.answers)
    tally.characters += len(answer.answer)


def _holds_gold(answer: str, question: Question) -> bool:
    if question.sentences:
        return gold.contains_sentence(answer, question.sentences)
    return gold.contains_answer(answer, question.answers)
