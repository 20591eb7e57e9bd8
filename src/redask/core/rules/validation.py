"""Is the answer acceptable? `judge` it: Accept, Retry once with a hint, or GiveUp.

    mode      issues   attempt   verdict
    lenient   any      any       Accept (the issues become warnings)
    strict    none     any       Accept (also without any marker: claims are another check)
    strict    some     FIRST     Retry(hint)
    strict    some     RETRY     GiveUp(errors)

There is no third attempt: `Attempt` has two members, and the budget belongs to the ASK, so
after a retry a later provider of the failover list gets the plain prompt and is judged as
RETRY. The hint is byte-stable and goes before the user message of the same prompt.
"""

from dataclasses import dataclass
from enum import Enum

from redask.core.model import Mode, Notice
from redask.core.rules.citations import Parsed


class Attempt(Enum):
    """How often this ASK may still be answered wrong."""

    FIRST = 1
    RETRY = 2


@dataclass(frozen=True, slots=True)
class Accept:
    """The answer stands; in lenient mode `warnings` says what is odd about it."""

    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class Retry:
    """Ask once more, with this hint before the user message."""

    hint: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The answer is refused for these reasons."""

    errors: tuple[Notice, ...]


Verdict = Accept | Retry | GiveUp


def judge(parsed: Parsed, mode: Mode, attempt: Attempt) -> Verdict:
    """The verdict on a parsed answer."""
    notices = tuple(Notice(issue.kind, issue.detail) for issue in parsed.issues)
    if mode is Mode.LENIENT or not notices:
        return Accept(notices)
    if attempt is Attempt.RETRY:
        return GiveUp(notices)
    return Retry(_hint(notices, parsed.sources_count))


def _hint(notices: tuple[Notice, ...], sources_count: int) -> str:
    problems = "\n".join(f"- [{notice.kind}] {notice.detail}" for notice in notices)
    return (
        "Your previous answer was rejected because of its citation markers:\n"
        f"{problems}\n"
        f"Valid markers are [^N] with N in 1..{sources_count}. Write the whole answer again. "
        "Drop a marker rather than invent one, and do not renumber the sources.\n"
    )
