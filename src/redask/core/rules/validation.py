"""Is the answer acceptable? `examine` it, then `judge`: Accept, Retry once with a hint, or GiveUp.

CHECKS are what an answer is examined for, in this order; each takes the answer and its sources
and returns its issues. A new check is an entry there: fresh and cached answers both come here.
An issue is an error where the strictness in force is as high as its `error_from`, else a warning:

    in force     markers, empty   claims       uncited_claim, unsupported_claim,
    OFF          warnings         warnings     contradicted_claim
    ON           errors           warnings
    SUPPORTED    errors           errors

A model as judge comes after the checks, of an answer that they accept: what it doubts are further
claims without support (`doubt`). It takes nothing back that a check has found.

    errors   attempt   verdict
    none     any       Accept(warnings); under ON also without any marker, with `uncited_claim`
    some     FIRST     Retry(hint)
    some     RETRY     GiveUp(errors)

There is no third attempt: `Attempt` has two members, and the budget belongs to the ASK, so
after a retry a later provider of the failover list gets the plain prompt and is judged as
RETRY. The hint is byte-stable and goes before the user message of the same prompt.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from redask.core.model import Citation, Issue, Notice, Source, Strictness
from redask.core.rules import citations
from redask.core.rules.grounding import check, claim_issues, query_cells, refused_answers
from redask.core.rules.grounding.check import Finding
from redask.core.rules.grounding.source_text import SourceText


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer's text, the markers that were found in it, and what was found of its claims."""

    text: str
    markers: citations.Parsed
    findings: tuple[Finding, ...] = ()


SHORT = 4096  # characters of an answer and of what it is compared with
_EMPTY = "empty answer"
_MARKERS, _CLAIMS = "citation markers", "claims and citation markers"
_SAY = (
    "Say only what a source says, with its numbers, dates and names, and cite that source right "
    "after each claim; leave out a claim that no source supports.\n"
)
_HEIGHT = {Strictness.OFF: 0, Strictness.ON: 1, Strictness.SUPPORTED: 2}
Check = Callable[[ReadAnswer, Sequence[Source]], tuple[Issue, ...]]


def _not_empty(answer: ReadAnswer, _: Sequence[Source]) -> tuple[Issue, ...]:
    if answer.text.strip():
        return ()
    return (Issue("malformed", (0, len(answer.text)), _EMPTY),)


def _markers(answer: ReadAnswer, _: Sequence[Source]) -> tuple[Issue, ...]:
    return answer.markers.issues


def _claims(answer: ReadAnswer, _: Sequence[Source]) -> tuple[Issue, ...]:
    return tuple(filter(None, map(claim_issues.of, answer.findings)))


CHECKS: tuple[Check, ...] = (_not_empty, _markers, _claims)


@dataclass(frozen=True, slots=True)
class Examined:
    """What an answer cites and claims, and what is wrong with it, in the order of the checks."""

    citations: tuple[Citation, ...]
    issues: tuple[Issue, ...]
    sources_count: int
    findings: tuple[Finding, ...] = ()


class Attempt(Enum):
    """How often this ASK may still be answered wrong."""

    FIRST = 1
    RETRY = 2


@dataclass(frozen=True, slots=True)
class Accept:
    """The answer stands; `warnings` says what is odd about it."""

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
        if all(error.kind.endswith("_claim") for error in self.errors):
            return "the answer says what its sources do not"
        return "the answer cites what is not there"


Verdict = Accept | Retry | GiveUp


def examine(
    text: str,
    sources: Sequence[Source],
    read: dict[int, SourceText] | None = None,
    question: str = "",
    *,
    refused: bool = False,
) -> Examined:
    """The citations and issues of an answer that was made from these sources to a question.

    `read` keeps the sources that were read, for whoever examines more than one text with them.
    What a refusal says of the data as a whole needs no marker; what it cites is held to it.
    """
    markers = citations.parse(text, len(sources))
    findings = check.examine(text, sources, read, question)
    if refused or refused_answers.is_model_refusal(text):
        findings = tuple(each for each in findings if each.claim.markers)
    answer = ReadAnswer(text, markers, findings)
    issues = tuple(issue for each in CHECKS for issue in each(answer, sources))
    return Examined(markers.citations, issues, len(sources), answer.findings)


def is_short(text: str, sources: Sequence[Source]) -> bool:
    """Whether `examine` takes less than a millisecond, by what it reads."""
    return len(text) <= SHORT and reading_size(text, sources) <= SHORT


def reading_size(text: str, sources: Sequence[Source]) -> int:
    """How many characters `examine` reads: the answer's, and those of what it is compared with."""
    cited = {each.source_index for each in citations.parse(text, len(sources)).citations}
    return len(text) + sum(
        len(source.payload)
        for index, source in enumerate(sources)
        if index in cited or query_cells.is_query(source)
    )


def doubt(examined: Examined, numbers: Collection[int], judge: str) -> Examined:
    """The same answer, after a judge found no support for the claims with these numbers."""
    findings = tuple(
        check.doubted(finding, judge) if number in numbers else finding
        for number, finding in enumerate(examined.findings)
    )
    doubts = filter(None, (claim_issues.of(findings[number]) for number in sorted(numbers)))
    return replace(examined, findings=findings, issues=(*examined.issues, *doubts))


def doubt_again(examined: Examined, warnings: Collection[Notice], judge: str) -> Examined:
    """A kept answer with what its judge found, which is read off the warnings kept with it."""
    asked_about = check.judgeable(examined.findings, examined.sources_count)
    doubted = [
        number
        for number in asked_about
        if (issue := claim_issues.of(check.doubted(examined.findings[number], judge)))
        and Notice(issue.kind, issue.detail) in warnings
    ]
    return doubt(examined, doubted, judge)


def judge(examined: Examined, in_force: Strictness, attempt: Attempt) -> Verdict:
    """The verdict on an examined answer."""
    notices = tuple(Notice(issue.kind, issue.detail) for issue in examined.issues)
    errors = tuple(
        notice
        for issue, notice in zip(examined.issues, notices, strict=True)
        if _HEIGHT[issue.error_from] <= _HEIGHT[in_force]
    )
    if not errors:
        return Accept(notices)
    if attempt is Attempt.RETRY:
        return GiveUp(errors)
    return Retry(_hint(errors, examined.sources_count))


def _hint(errors: tuple[Notice, ...], sources_count: int) -> str:
    problems = "\n".join(f"- [{error.kind}] {error.detail}" for error in errors)
    claims = any(error.kind.endswith("_claim") for error in errors)
    return (
        f"Your previous answer was rejected because of its {_CLAIMS if claims else _MARKERS}:\n"
        f"{problems}\n"
        f"{_SAY if claims else ''}"
        f"Valid markers are [^N] with N in 1..{sources_count}. Write the whole answer again. "
        "Drop a marker rather than invent one, and do not renumber the sources.\n"
    )
