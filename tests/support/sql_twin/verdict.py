"""Two results of one statement, compared: `judge` gives a `Verdict`.

equal            the same names, types, parameters and rows; or refused by both, same SQLSTATE
sqlstate         refused by both, with another SQLSTATE
refused          we refuse what PostgreSQL answers
different        anything else, also an answer where PostgreSQL refuses: the run fails
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from redask.core.sql.types import SqlType
from sql_twin.cases import Case
from sql_twin.cells import Cell
from sql_twin.order import is_total

CRASHED = "crash"  # where an SQLSTATE stands: something other than an AskError was raised


class Outcome(StrEnum):
    EQUAL = "equal"
    BOTH = "refused by both"
    SQLSTATE = "other SQLSTATE"
    REFUSED = "refused here"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Rows:
    """What a statement gave."""

    columns: tuple[tuple[str, SqlType], ...]
    rows: tuple[tuple[Cell, ...], ...]
    parameters: tuple[SqlType, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a statement gave nothing."""

    sqlstate: str
    message: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome, and in one line why."""

    outcome: Outcome
    why: str = ""


def judge(case: Case, ours: Rows | Refusal, theirs: Rows | Refusal) -> Verdict:
    """Compare what we gave with what PostgreSQL gave."""
    if isinstance(ours, Refusal) and ours.sqlstate == CRASHED:
        return Verdict(Outcome.DIFFERENT, ours.message)
    if isinstance(ours, Refusal) and isinstance(theirs, Refusal):
        if ours.sqlstate == theirs.sqlstate:
            return Verdict(Outcome.BOTH, theirs.sqlstate)
        why = f"{_said(ours)} | PostgreSQL: {_said(theirs)}"
        return Verdict(Outcome.SQLSTATE, why)
    if isinstance(ours, Refusal):
        return Verdict(Outcome.REFUSED, _said(ours))
    if isinstance(theirs, Refusal):
        why = f"answered {_some(ours.rows)} | PostgreSQL: {_said(theirs)}"
        return Verdict(Outcome.DIFFERENT, why)
    why = _difference(case, ours, theirs)
    return Verdict(Outcome.DIFFERENT, why) if why else Verdict(Outcome.EQUAL)


def _difference(case: Case, ours: Rows, theirs: Rows) -> str:
    """The first thing that differs, or nothing."""
    names, types = [name for name, _ in ours.columns], [kind for _, kind in ours.columns]
    real_names = [name for name, _ in theirs.columns]
    real_types = [kind for _, kind in theirs.columns]
    if names != real_names:
        return f"names {names} | PostgreSQL: {real_names}"
    if types != real_types:
        return f"types {_texts(types)} | PostgreSQL: {_texts(real_types)}"
    if ours.parameters != theirs.parameters:
        wanted = _texts(theirs.parameters)
        return f"parameters {_texts(ours.parameters)} | PostgreSQL: {wanted}"
    if case.ordered or is_total(case.sql):
        if ours.rows == theirs.rows:
            return ""
        pairs = enumerate(zip(ours.rows, theirs.rows, strict=False))
        shortest = min(len(ours.rows), len(theirs.rows))
        at = next((at for at, (one, two) in pairs if one != two), shortest)
        return (
            f"row {at + 1} of {len(ours.rows)} {_some(ours.rows[at : at + 1])}"
            f" | PostgreSQL: of {len(theirs.rows)} {_some(theirs.rows[at : at + 1])}"
        )
    counted, real = Counter(ours.rows), Counter(theirs.rows)
    if counted == real:
        return ""
    extra, missing = list((counted - real).elements()), list((real - counted).elements())
    return (
        f"{len(ours.rows)} rows, only here {_some(extra)}"
        f" | PostgreSQL: {len(theirs.rows)}, only there {_some(missing)}"
    )


def _texts(types: Iterable[SqlType]) -> str:
    return "(" + ", ".join(map(str, types)) + ")"


def _said(refusal: Refusal) -> str:
    return f"{refusal.sqlstate} {refusal.message}"


def _some(rows: Sequence[tuple[Cell, ...]], most: int = 2) -> str:
    shown = ["(" + ", ".join(map(_shown, row)) + ")" for row in rows[:most]]
    return " ".join(shown) or "nothing"


def _shown(cell: Cell) -> str:
    if cell is None:
        return "NULL"
    if isinstance(cell, tuple):
        return "{" + ",".join(map(_shown, cell)) + "}"
    return cell if len(cell) < 80 else cell[:77] + "…"
