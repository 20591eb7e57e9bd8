"""Contract 7: every row of the decision table, and the hint to the byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Issue, Mode, Notice
from redask.core.rules import citations
from redask.core.rules.citations import Parsed
from redask.core.rules.validation import Accept, Attempt, GiveUp, Retry, judge

BAD = Parsed((), (Issue("malformed", (0, 4), "first"), Issue("out_of_range", (4, 8), "second")), 3)
NOTICES = (Notice("malformed", "first"), Notice("out_of_range", "second"))
HINT = (
    "Your previous answer was rejected because of its citation markers:\n"
    "- [malformed] first\n"
    "- [out_of_range] second\n"
    "Valid markers are [^N] with N in 1..3. Write the whole answer again. "
    "Drop a marker rather than invent one, and do not renumber the sources.\n"
)
PARSED = st.builds(
    lambda texts, count: citations.parse("".join(texts), count),
    st.lists(st.sampled_from(["[^1]", "[^0]", "[^9]", "[^x]", "word ", "\n"])),
    st.integers(0, 3),
)
ATTEMPTS = st.sampled_from(Attempt)


@pytest.mark.parametrize(
    ("mode", "parsed", "attempt", "verdict"),
    [
        (Mode.LENIENT, BAD, Attempt.FIRST, Accept(NOTICES)),
        (Mode.LENIENT, BAD, Attempt.RETRY, Accept(NOTICES)),
        (Mode.LENIENT, Parsed((), (), 3), Attempt.FIRST, Accept()),
        (Mode.LENIENT, Parsed((), (), 3), Attempt.RETRY, Accept()),
        (Mode.STRICT, Parsed((), (), 3), Attempt.FIRST, Accept()),
        (Mode.STRICT, Parsed((), (), 3), Attempt.RETRY, Accept()),
        (Mode.STRICT, BAD, Attempt.FIRST, Retry(HINT)),
        (Mode.STRICT, BAD, Attempt.RETRY, GiveUp(NOTICES)),
    ],
)
def test_every_row_of_the_table(
    mode: Mode, parsed: Parsed, attempt: Attempt, verdict: Accept | Retry | GiveUp
) -> None:
    assert judge(parsed, mode, attempt) == verdict


@pytest.mark.parametrize("attempt", Attempt)
def test_strict_accepts_an_answer_without_any_marker(attempt: Attempt) -> None:
    assert judge(citations.parse("No marker at all.", 3), Mode.STRICT, attempt) == Accept()


@pytest.mark.parametrize("attempt", Attempt)
def test_strict_accepts_valid_markers(attempt: Attempt) -> None:
    assert judge(citations.parse("Yes.[^1][^3]", 3), Mode.STRICT, attempt) == Accept()


def test_an_attempt_is_first_or_retry_and_nothing_else() -> None:
    assert [attempt.name for attempt in Attempt] == ["FIRST", "RETRY"]


def test_the_hint_lists_the_problems_of_a_real_answer_in_order() -> None:
    verdict = judge(citations.parse("a[^7] b[^0]", 2), Mode.STRICT, Attempt.FIRST)
    assert isinstance(verdict, Retry)
    assert verdict.hint.splitlines()[1:3] == [
        "- [out_of_range] [^7] points beyond the 2 sources",
        "- [malformed] the number in [^0] starts with a zero",
    ]
    assert "1..2" in verdict.hint


@given(PARSED, ATTEMPTS)
def test_lenient_always_accepts_and_turns_issues_into_warnings(
    parsed: Parsed, attempt: Attempt
) -> None:
    notices = tuple(Notice(issue.kind, issue.detail) for issue in parsed.issues)
    assert judge(parsed, Mode.LENIENT, attempt) == Accept(notices)


@given(PARSED, ATTEMPTS)
def test_strict_accepts_without_warnings_exactly_when_there_is_no_issue(
    parsed: Parsed, attempt: Attempt
) -> None:
    accepted = judge(parsed, Mode.STRICT, attempt) == Accept()
    assert accepted == (not parsed.issues)


@given(PARSED)
def test_the_hint_names_every_problem_and_the_range_and_giving_up_the_same_errors(
    parsed: Parsed,
) -> None:
    first = judge(parsed, Mode.STRICT, Attempt.FIRST)
    second = judge(parsed, Mode.STRICT, Attempt.RETRY)
    if isinstance(first, Retry) and isinstance(second, GiveUp):
        lines = [f"- [{error.kind}] {error.detail}" for error in second.errors]
        assert first.hint.split("\n")[1 : len(lines) + 1] == lines
        assert f"1..{parsed.sources_count}." in first.hint
        assert first == judge(parsed, Mode.STRICT, Attempt.FIRST)
    else:
        assert first == second == Accept()


@given(PARSED)
def test_there_is_no_second_retry(parsed: Parsed) -> None:
    assert not isinstance(judge(parsed, Mode.STRICT, Attempt.RETRY), Retry)
