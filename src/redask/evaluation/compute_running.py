"""Runs packs that need computing: `measure` asks every question of one, and counts.

The pack's database is ingested as a user's is. A question is planned with what redask tells of the
tables; a plan that is certain is run with SELECT, and its rows are compared with the gold.

    answered    a statement was certain, and ran
    failed      it was certain, and SELECT refused it
    right       answered, with the rows of the gold
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from redask.api.sync import OpenDatabase
from redask.core.errors import AskError
from redask.core.planning.direct.direct_plans import plan_directly
from redask.core.planning.plan import Certain
from redask.core.planning.plan_schema import PlanSchema, StoredValue, ValueIndex
from redask.evaluation.compute_packs import ComputePack, ComputeQuestion
from redask.evaluation.result_comparison import is_right

UNANSWERABLE, NEAR = "unanswerable", "near"


class PlannedRows(Protocol):
    """The statement for a question, when it is certain; else None."""

    def __call__(self, question: str, schema: PlanSchema, values: ValueIndex) -> str | None:
        """See the class."""


def certain(question: str, schema: PlanSchema, values: ValueIndex) -> str | None:
    """The statement of redask's own planner."""
    planned = plan_directly(question, schema, values)
    return planned.sql if isinstance(planned, Certain) else None


@dataclass(slots=True)
class ComputeTally:
    """Counts over some questions."""

    asked: int = 0
    answered: int = 0
    right: int = 0
    failed: int = 0

    @property
    def wrong(self) -> int:
        """Answered, and not right."""
        return self.answered - self.right

    def add(self, other: "ComputeTally") -> None:
        """Count those of another, too."""
        self.asked += other.asked
        self.answered += other.answered
        self.right += other.right
        self.failed += other.failed

    def figures(self) -> dict[str, float]:
        """The counts, the share answered, and of these the share right."""
        return {
            "asked": self.asked,
            "answered": self.answered,
            "right": self.right,
            "wrong": self.wrong,
            "failed": self.failed,
            "coverage": self.answered / self.asked if self.asked else 0.0,
            "precision": self.right / self.answered if self.answered else 0.0,
        }


@dataclass(frozen=True, slots=True)
class Mistake:
    """A question that was answered and should not have been so."""

    pack: str
    kind: str
    question: str
    sql: str
    gold: str
    problem: str


@dataclass(slots=True)
class ComputeReport:
    """Tallies by kind, by number of joins (`1 join`), and of what is not to be answered."""

    kinds: dict[str, ComputeTally] = field(default_factory=dict)
    joins: dict[str, ComputeTally] = field(default_factory=dict)
    refusals: dict[str, ComputeTally] = field(default_factory=dict)
    mistakes: list[Mistake] = field(default_factory=list)

    def add(self, other: "ComputeReport") -> None:
        """Count another pack, too."""
        for own, theirs in (
            (self.kinds, other.kinds),
            (self.joins, other.joins),
            (self.refusals, other.refusals),
        ):
            for name, tally in theirs.items():
                own.setdefault(name, ComputeTally()).add(tally)
        self.mistakes += other.mistakes

    def total(self) -> ComputeTally:
        """Over all that is to be answered."""
        every = ComputeTally()
        for tally in self.kinds.values():
            every.add(tally)
        return every


class _Values:
    """The values of an open database: see `ValueIndex`."""

    def __init__(self, db: OpenDatabase) -> None:
        self._db = db

    def find(self, texts: Sequence[str]) -> Mapping[str, tuple[StoredValue, ...]]:
        return self._db.find_values(texts)


def measure(db: OpenDatabase, pack: ComputePack, planner: PlannedRows) -> ComputeReport:
    """Ask every question of a pack whose database was ingested."""
    report = ComputeReport()
    schema, values = db.plan_schema(), _Values(db)
    for question in pack.questions:
        tally, mistake = _ask(db, pack, question, planner(question.text, schema, values))
        report.kinds.setdefault(question.kind, ComputeTally()).add(tally)
        report.joins.setdefault(_joins(question.joins), ComputeTally()).add(tally)
        report.mistakes += [mistake] if mistake else []
    for name, texts in ((UNANSWERABLE, pack.unanswerable), (NEAR, pack.near)):
        for text in texts:
            sql = planner(text, schema, values)
            tally = ComputeTally(1, int(sql is not None))
            report.refusals.setdefault(name, ComputeTally()).add(tally)
            if sql is not None:
                report.mistakes.append(Mistake(pack.name, name, text, sql, "", "answered"))
    return report


def _ask(
    db: OpenDatabase, pack: ComputePack, question: ComputeQuestion, sql: str | None
) -> tuple[ComputeTally, Mistake | None]:
    if sql is None:
        return ComputeTally(1), None
    found = "other rows"
    failed = False
    try:
        rows = [tuple(row.values()) for row in db.select(sql)]
        if is_right(rows, question.rows, ordered=question.ordered):
            return ComputeTally(1, 1, 1), None
    except AskError as error:
        found, failed = error.message, True
    mistake = Mistake(pack.name, question.kind, question.text, sql, question.sql, found)
    return ComputeTally(1, int(not failed), 0, int(failed)), mistake


def _joins(count: int) -> str:
    return "1 join" if count == 1 else f"{count} joins"
