"""How an ask ended, by its audit row: `outcome_of`. Why it was refused: `reason_of`.

    answered    the answer was accepted, and says something
    refused     it was accepted, and says that the data does not hold an answer
    failed      there was none: an error, or the checks rejected it
    cancelled   whoever asked left before

A refusal is an answer like any other in the row itself (`validation_ok` true, no errors); its
reason stands beside the row, and rows that were written before redask kept it count as answered.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from redask.core.errors import Cancelled
from redask.core.model import Notice
from redask.core.rules.grounding.refused_answers import REFUSED

NO_SOURCES = "no_sources"


class AskOutcome(StrEnum):
    """How an ask ended."""

    ANSWERED = "answered"
    REFUSED = "refused"
    FAILED = "failed"
    CANCELLED = "cancelled"


def outcome_of(row: Mapping[str, Any], refused: str) -> AskOutcome:
    """The outcome that a row tells, with the reason beside it; erased errors are unknown ones."""
    if row["validation_ok"]:
        return AskOutcome.REFUSED if refused else AskOutcome.ANSWERED
    kinds = [each["kind"] for each in row["errors"] or ()]
    return AskOutcome.CANCELLED if Cancelled.kind in kinds else AskOutcome.FAILED


def reason_of(warnings: Iterable[Notice]) -> str:
    """The reason of a refusal with these warnings, one word of no question; empty: none is."""
    for each in warnings:
        if each.kind == NO_SOURCES:
            return NO_SOURCES
        if each.kind == REFUSED:
            return each.detail.partition(":")[0]
    return ""
