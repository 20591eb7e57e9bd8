"""Is the answer acceptable? `examine` it, then `judge`: Accept, Retry once with a hint, or GiveUp.

CHECKS are what an answer is examined for, in this order; each takes the answer and its sources
and returns its issues. A new check is an entry there: fresh and cached answers both come here.

    mode      issues   attempt   verdict
    lenient   any      any       Accept (the issues become warnings)
    strict    none     any       Accept (also without any marker: claims are another check)
    strict    some     FIRST     Retry(hint)
    strict    some     RETRY     GiveUp(errors)

There is no third attempt: `Attempt` has two members, and the budget belongs to the ASK, so
after a retry a later provider of the failover list gets the plain prompt and is judged as
RETRY. The hint is byte-stable and goes before the user message of the same prompt.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from redask.core.model import Citation, Issue, Mode, Notice, Source
from redask.core.rules import citations


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer's text and the markers that were found in it."""

    text: str
    markers: citations.Parsed


_EMPTY = "empty answer"
Check = Callable[[ReadAnswer, Sequence[Source]], tuple[Issue, ...]]


def _not_empty(answer: ReadAnswer, _: Sequence[Source]) -> tuple[Issue, ...]:
    if answer.text.strip():
        return ()
    return (Issue("malformed", (0, len(answer.text)), _EMPTY),)


def _markers(answer: ReadAnswer, _: Sequence[Source]) -> tuple[Issue, ...]:
    return answer.markers.issues


CHECKS: tuple[Check, ...] = (_not_empty, _markers)


@dataclass(frozen=True, slots=True)
class Examined:
    """What an answer cites, and what is wrong with it, in the order of the checks."""

    citations: tuple[Citation, ...]
    issues: tuple[Issue, ...]
    sources_count: int


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

    @property
    def message(self) -> str:
        """What is wrong, in one sentence."""
        if any(error.detail == _EMPTY for error in self.errors):
            return "the answer is empty"
        return "the answer cites what is not there"


Verdict = Accept | Retry | GiveUp


def examine(text: str, sources: Sequence[Source]) -> Examined:
    """The citations and issues of an answer that was made from these sources."""
    answer = ReadAnswer(text, citations.parse(text, len(sources)))
    issues = tuple(issue for check in CHECKS for issue in check(answer, sources))
    return Examined(answer.markers.citations, issues, len(sources))


def judge(examined: Examined, mode: Mode, attempt: Attempt) -> Verdict:
    """The verdict on an examined answer."""
    notices = tuple(Notice(issue.kind, issue.detail) for issue in examined.issues)
    if mode is Mode.LENIENT or not notices:
        return Accept(notices)
    if attempt is Attempt.RETRY:
        return GiveUp(notices)
    return Retry(_hint(notices, examined.sources_count))


def _hint(notices: tuple[Notice, ...], sources_count: int) -> str:
    problems = "\n".join(f"- [{notice.kind}] {notice.detail}" for notice in notices)
    return (
        "Your previous answer was rejected because of its citation markers:\n"
        f"{problems}\n"
        f"Valid markers are [^N] with N in 1..{sources_count}. Write the whole answer again. "
        "Drop a marker rather than invent one, and do not renumber the sources.\n"
    )
