"""Claims with a source and whether it supports them: `read` a file, `measure` the check of claims.

    a row          {claim, source, supported}, one JSON object a line
    score          `overlap` of the judgement: how much of the claim the source holds
    thresholds     one for each verdict, chosen on the rows with an even number (from 0), where
                   balanced accuracy is best; on a tie the lowest
    figures        of the rows with an odd number: balanced_accuracy (the mean of the next two),
                   supported_found, unsupported_found
    word_overlap   the baseline: the share of the claim's words that the source has, with a
                   threshold chosen in the same way

A row is called supported when its score reaches the threshold of its verdict.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redask.core.errors import BadAsk
from redask.core.model import Source
from redask.core.rules.grounding import claims, source_text, support
from redask.evaluation import packs
from redask.evaluation.running import EvalProgress

_WORD = re.compile(r"\w+")
_FIELDS = {"claim": str, "source": str, "supported": bool}
_KINDS = {str: "text", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class SupportRow:
    """A claim, a source, and whether the source supports the claim."""

    claim: str
    source: str
    supported: bool


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """What was found of a row: the verdict, how much is held, and the truth."""

    group: str
    score: float
    supported: bool


def read(file: Path) -> tuple[SupportRow, ...]:
    """The rows of a file."""
    rows = tuple(_row(file, number, found) for number, found in packs.numbered_lines(file))
    for half, name in ((rows[::2], "first, third, …"), (rows[1::2], "second, fourth, …")):
        if len({row.supported for row in half}) < 2:
            raise BadAsk(f"{file}: the {name} rows need both supported and unsupported claims")
    return rows


def _row(file: Path, number: int, found: Any) -> SupportRow:
    for field, kind in _FIELDS.items():
        if not isinstance(found, dict) or not isinstance(found.get(field), kind):
            raise BadAsk(f"{file}, line {number}: expected {field!r}, {_KINDS[kind]}")
    return SupportRow(found["claim"], found["source"], found["supported"])


def measure(rows: Sequence[SupportRow], progress: EvalProgress) -> dict[str, dict[str, float]]:
    """The figures of the check of claims and of the baseline."""
    judged: list[ScoredRow] = []
    for done, row in enumerate(rows, start=1):
        judged.append(_judged(row))
        progress("judging", done, len(rows))
    return {"check": _figures(judged), "word_overlap": _figures([_overlap(row) for row in rows])}


def _judged(row: SupportRow) -> ScoredRow:
    """The judgement on a claim; of several sentences, the one that the source holds least of."""
    source = source_text.read(Source("", json.dumps({"text": row.source})))
    found = [support.judge(claim, [source]) for claim in claims.split(f"{row.claim} [^1]")]
    if not found:
        return ScoredRow(support.SupportVerdict.NOTHING_TO_CHECK, 0.0, row.supported)
    worst = min(found, key=lambda each: (each.verdict not in _WRONG, each.overlap))
    return ScoredRow(worst.verdict, worst.overlap, row.supported)


_WRONG = (support.SupportVerdict.UNSUPPORTED, support.SupportVerdict.CONTRADICTED)


def _overlap(row: SupportRow) -> ScoredRow:
    wanted, held = _WORD.findall(row.claim.lower()), set(_WORD.findall(row.source.lower()))
    share = sum(word in held for word in wanted) / max(1, len(wanted))
    return ScoredRow("", share, row.supported)


def _figures(rows: Sequence[ScoredRow]) -> dict[str, float]:
    thresholds, measured = _thresholds(rows[::2]), rows[1::2]
    called = [row.score >= thresholds.get(row.group, thresholds[_REST]) for row in measured]
    found = {
        truth: _share(
            [
                call is truth
                for call, row in zip(called, measured, strict=True)
                if row.supported is truth
            ]
        )
        for truth in (True, False)
    }
    return {
        "balanced_accuracy": (found[True] + found[False]) / 2,
        "supported_found": found[True],
        "unsupported_found": found[False],
    }


_REST = "rest"


def _thresholds(rows: Sequence[ScoredRow]) -> dict[str, float]:
    """The best threshold for the rows of each group, and for all: groups that are not there."""
    worth = {truth: 1 / sum(row.supported is truth for row in rows) for truth in (True, False)}
    groups: dict[str, list[ScoredRow]] = {_REST: list(rows)}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return {group: _threshold(found, worth) for group, found in groups.items()}


def _threshold(rows: Sequence[ScoredRow], worth: dict[bool, float]) -> float:
    """The lowest threshold with the best balanced accuracy: one walk over the sorted scores."""
    gain = best = 0.0  # of calling every row supported, against which others are compared
    chosen = -math.inf
    ordered = sorted(rows, key=lambda row: row.score)
    for row, following in zip(ordered, [*ordered[1:], None], strict=True):
        gain += -worth[True] if row.supported else worth[False]
        bound = following.score if following else math.inf
        if bound > row.score and gain > best + 1e-12:
            best, chosen = gain, bound
    return chosen


def _share(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits)
