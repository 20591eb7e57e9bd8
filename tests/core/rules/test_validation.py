"""Contract 7: the checks of an answer, every row of the decision table, the hint to the byte."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Issue, Mode, Notice, Source
from redask.core.rules import citations, validation
from redask.core.rules.validation import Accept, Attempt, Examined, GiveUp, Retry, examine, judge

BAD = Examined(
    (), (Issue("malformed", (0, 4), "first"), Issue("out_of_range", (4, 8), "second")), 3
)
THREE = tuple(Source(f"urn:reddb:row:t/{number}", "{}") for number in range(3))
NOTICES = (Notice("malformed", "first"), Notice("out_of_range", "second"))
HINT = (
    "Your previous answer was rejected because of its citation markers:\n"
    "- [malformed] first\n"
    "- [out_of_range] second\n"
    "Valid markers are [^N] with N in 1..3. Write the whole answer again. "
    "Drop a marker rather than invent one, and do not renumber the sources.\n"
)
EXAMINED = st.builds(
    lambda texts, count: examine("".join(texts), THREE[:count]),
    st.lists(st.sampled_from(["[^1]", "[^0]", "[^9]", "[^x]", "word ", "\n"])),
    st.integers(0, 3),
)
ATTEMPTS = st.sampled_from(Attempt)
EMPTY = Notice("malformed", "empty answer")


@given(st.text(alphabet="[^]0129x `\\\n", max_size=40).filter(str.strip), st.integers(0, 3))
def test_the_citations_and_issues_of_an_answer_are_those_of_its_markers(
    text: str, count: int
) -> None:
    parsed = citations.parse(text, count)
    expected = Examined(parsed.citations, parsed.issues, count)
    assert examine(text, THREE[:count]) == expected


@pytest.mark.parametrize("text", ["", " ", "\n", " \t\r\n ", "\u3000"])
def test_an_empty_or_blank_answer_is_one_malformed_issue(text: str) -> None:
    issue = Issue("malformed", (0, len(text)), "empty answer")
    assert examine(text, THREE) == Examined((), (issue,), 3)
    retry = judge(examine(text, THREE), Mode.STRICT, Attempt.FIRST)
    assert isinstance(retry, Retry)
    assert "\n- [malformed] empty answer\n" in retry.hint
    assert judge(examine(text, THREE), Mode.STRICT, Attempt.RETRY) == GiveUp((EMPTY,))
    assert judge(examine(text, THREE), Mode.LENIENT, Attempt.FIRST) == Accept((EMPTY,))


def test_every_check_is_asked_in_order_with_the_answer_and_its_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, int, tuple[Source, ...]]] = []

    def check(answer: validation.ReadAnswer, sources: Sequence[Source]) -> tuple[Issue, ...]:
        asked.append((answer.text, len(answer.markers.citations), tuple(sources)))
        return (Issue("unsupported_claim", (0, 1), f"check {len(asked)}"),)

    monkeypatch.setattr(validation, "CHECKS", (check, *validation.CHECKS, check))
    found = examine("a[^1] b[^0]", THREE)
    assert asked == [("a[^1] b[^0]", 1, THREE)] * 2
    kinds = [issue.kind for issue in found.issues]
    assert kinds == ["unsupported_claim", "malformed", "unsupported_claim"]
    assert [issue.detail for issue in found.issues][::2] == ["check 1", "check 2"]


def test_the_checks_are_these() -> None:
    assert [check.__name__ for check in validation.CHECKS] == ["_not_empty", "_markers"]


@pytest.mark.parametrize(
    ("mode", "examined", "attempt", "verdict"),
    [
        (Mode.LENIENT, BAD, Attempt.FIRST, Accept(NOTICES)),
        (Mode.LENIENT, BAD, Attempt.RETRY, Accept(NOTICES)),
        (Mode.LENIENT, Examined((), (), 3), Attempt.FIRST, Accept()),
        (Mode.LENIENT, Examined((), (), 3), Attempt.RETRY, Accept()),
        (Mode.STRICT, Examined((), (), 3), Attempt.FIRST, Accept()),
        (Mode.STRICT, Examined((), (), 3), Attempt.RETRY, Accept()),
        (Mode.STRICT, BAD, Attempt.FIRST, Retry(HINT)),
        (Mode.STRICT, BAD, Attempt.RETRY, GiveUp(NOTICES)),
    ],
)
def test_every_row_of_the_table(
    mode: Mode, examined: Examined, attempt: Attempt, verdict: Accept | Retry | GiveUp
) -> None:
    assert judge(examined, mode, attempt) == verdict


@pytest.mark.parametrize("attempt", Attempt)
def test_strict_accepts_an_answer_without_any_marker(attempt: Attempt) -> None:
    assert judge(examine("No marker at all.", THREE), Mode.STRICT, attempt) == Accept()


@pytest.mark.parametrize("attempt", Attempt)
def test_strict_accepts_valid_markers(attempt: Attempt) -> None:
    assert judge(examine("Yes.[^1][^3]", THREE), Mode.STRICT, attempt) == Accept()


def test_an_attempt_is_first_or_retry_and_nothing_else() -> None:
    assert [attempt.name for attempt in Attempt] == ["FIRST", "RETRY"]


def test_the_hint_lists_the_problems_of_a_real_answer_in_order() -> None:
    verdict = judge(examine("a[^7] b[^0]", THREE[:2]), Mode.STRICT, Attempt.FIRST)
    assert isinstance(verdict, Retry)
    assert verdict.hint.splitlines()[1:3] == [
        "- [out_of_range] [^7] points beyond the 2 sources",
        "- [malformed] the number in [^0] starts with a zero",
    ]
    assert "1..2" in verdict.hint


@given(EXAMINED, ATTEMPTS)
def test_lenient_always_accepts_and_turns_issues_into_warnings(
    examined: Examined, attempt: Attempt
) -> None:
    notices = tuple(Notice(issue.kind, issue.detail) for issue in examined.issues)
    assert judge(examined, Mode.LENIENT, attempt) == Accept(notices)


@given(EXAMINED, ATTEMPTS)
def test_strict_accepts_without_warnings_exactly_when_there_is_no_issue(
    examined: Examined, attempt: Attempt
) -> None:
    accepted = judge(examined, Mode.STRICT, attempt) == Accept()
    assert accepted == (not examined.issues)


@given(EXAMINED)
def test_the_hint_names_every_problem_and_the_range_and_giving_up_the_same_errors(
    examined: Examined,
) -> None:
    first = judge(examined, Mode.STRICT, Attempt.FIRST)
    second = judge(examined, Mode.STRICT, Attempt.RETRY)
    if isinstance(first, Retry) and isinstance(second, GiveUp):
        lines = [f"- [{error.kind}] {error.detail}" for error in second.errors]
        assert first.hint.split("\n")[1 : len(lines) + 1] == lines
        assert f"1..{examined.sources_count}." in first.hint
        assert first == judge(examined, Mode.STRICT, Attempt.FIRST)
    else:
        assert first == second == Accept()


@given(EXAMINED)
def test_there_is_no_second_retry(examined: Examined) -> None:
    assert not isinstance(judge(examined, Mode.STRICT, Attempt.RETRY), Retry)
