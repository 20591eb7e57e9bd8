"""What is told of a replay and of stale answers; and what differs between two texts."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redask.core.rules.auditing.provenance import DataState
from redask.core.rules.auditing.replay_verdict import (
    Made,
    ReplayVerdict,
    SourceChange,
    changed_settings,
)

_MOST_LINES = 2000  # of a text that is compared line by line


@dataclass(frozen=True, slots=True)
class ReplayedSource:
    """A source that is not as it was; `diff` where its payload of then is still kept."""

    urn: str
    change: SourceChange
    diff: str = ""


@dataclass(frozen=True, slots=True)
class ReplayedAnswer:
    """What a provider answered now; `diff` where the answer of then is still kept."""

    same: bool
    text: str
    diff: str = ""


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The verdict on a row, all that differs, and why, in sentences.

    `same_prompt` is None where no prompt was made; `hidden` counts sources that are new, and that
    whoever replays may not read.
    """

    seq: int
    verdict: ReplayVerdict
    changes: tuple[ReplayVerdict, ...] = ()
    reasons: tuple[str, ...] = ()
    same_prompt: bool | None = None
    sources: tuple[ReplayedSource, ...] = ()
    hidden: int = 0
    answer: ReplayedAnswer | None = None

    def plain(self) -> dict[str, object]:
        """As plain data."""
        answer = self.answer
        told = None
        if answer is not None:
            told = {"diff": answer.diff, "same": answer.same, "text": answer.text}
        return {
            "answer": told,
            "changes": [each.value for each in self.changes],
            "hidden": self.hidden,
            "reasons": list(self.reasons),
            "same_prompt": self.same_prompt,
            "seq": self.seq,
            "sources": [
                {"change": each.change.value, "diff": each.diff, "urn": each.urn}
                for each in self.sources
            ],
            "verdict": self.verdict.value,
        }


@dataclass(frozen=True, slots=True)
class StaleAnswer:
    """An audit row with its number, and those of its cited sources that changed or are gone."""

    seq: int
    row: Mapping[str, Any]
    sources: tuple[tuple[str, SourceChange], ...]


@dataclass(frozen=True, slots=True)
class StaleReport:
    """The stale ones of so many rows; of `unknown` nothing is kept of how they were made.

    `next` is the number before which to look on; None: these were all.
    """

    answers: tuple[StaleAnswer, ...]
    rows: int
    unknown: int
    next: int | None


def reasons(then: Made, now: Made, changes: Sequence[ReplayVerdict], user: str) -> tuple[str, ...]:
    """A sentence for each that differs."""
    before, after = then.found.state, now.found.state
    told = {
        ReplayVerdict.POLICY: f"what {user} may read is not what it was"
        if then.role == now.role
        else f"{user} had the role {then.role}, and has {now.role}",
        ReplayVerdict.PROMPT: f"prompts are written otherwise (redask {then.setup.redask} then, "
        f"{now.setup.redask} now)",
        ReplayVerdict.INDEX: f"{_searched(before)} was searched then, {_searched(after)} now",
        ReplayVerdict.SETTINGS: "not as they were: "
        + ", ".join(changed_settings(then.setup, now.setup)),
        ReplayVerdict.SOURCES: "the sources are not what they were"
        if (then.urns, then.found.versions) != (now.urns, now.found.versions)
        else "the sources are the same, and what was found besides them is not",
    }
    return tuple(told[each] for each in changes)


def _searched(state: DataState) -> str:
    return f"index {state.index} with {state.embedder or 'no embedder'}"


def payload_diff(before: str, after: str) -> str:
    """What differs between two payloads, line by line; empty where they are too long."""
    return _diff(*(_lines(each) for each in (before, after)))


def text_diff(before: str, after: str) -> str:
    """What differs between two texts, line by line; empty where they are too long."""
    return _diff(before.splitlines(), after.splitlines())


def _lines(payload: str) -> list[str]:
    return json.dumps(json.loads(payload), indent=1, ensure_ascii=False).splitlines()


def _diff(before: Sequence[str], after: Sequence[str]) -> str:
    if max(len(before), len(after)) > _MOST_LINES:
        return ""
    compared = difflib.unified_diff(before, after, "then", "now", lineterm="", n=0)
    return "\n".join(compared)
