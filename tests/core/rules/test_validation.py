"""Contract 7: the checks of an answer, every row of the decision table, the hint to the byte."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Issue, Notice, Source, Strictness
from redask.core.rules import citations, validation
from redask.core.rules.grounding import check, claim_issues
from redask.core.rules.grounding.source_text import SourceText
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
CLAIM = Notice("unsupported_claim", "third")
CLAIMED = Examined((), (Issue("unsupported_claim", (0, 8), "third", Strictness.SUPPORTED),), 3)
BOTH = Examined((), (*BAD.issues, *CLAIMED.issues), 3)
CLAIM_HINT = (
    "Your previous answer was rejected because of its claims and citation markers:\n"
    "- [unsupported_claim] third\n"
    "Say only what a source says, with its numbers, dates and names, and cite that source right "
    "after each claim; leave out a claim that no source supports.\n"
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
    found = examine(text, THREE[:count])
    assert (found.citations, found.sources_count) == (parsed.citations, count)
    assert tuple(each for each in found.issues if each.error_from is Strictness.ON) == parsed.issues


@given(st.text(alphabet="[^]0129x .`\\\n", max_size=40).filter(str.strip))
def test_the_findings_of_the_claims_come_after_the_issues_of_the_markers(text: str) -> None:
    found = examine(text, THREE)
    claims = [each for each in map(claim_issues.of, found.findings) if each]
    assert found.findings == check.examine(text, THREE)
    assert list(found.issues) == [*citations.parse(text, 3).issues, *claims]


def test_sources_are_read_once_for_several_texts() -> None:
    read: dict[int, SourceText] = {}
    examine("One [^2].", THREE, read)
    before = dict(read)
    examine("Two [^2][^3].", THREE, read)
    assert (list(before), list(read)) == ([1], [1, 2])
    assert read[1] is before[1]


def test_what_is_read_of_the_sources_are_those_cited_and_results_of_statements() -> None:
    long = tuple(Source(f"urn:reddb:row:t/{size}", "x" * size) for size in (10, 200, 3000))
    assert validation.reading_size("One [^2].", long) == len("One [^2].") + 200
    assert validation.reading_size("One [^3][^2][^3].", long) == len("One [^3][^2][^3].") + 3200
    assert validation.reading_size("One [^9] [^x].", long) == len("One [^9] [^x].")
    result = Source("urn:reddb:query:postgresql/SELECT%201", "y" * 40_000)
    assert validation.reading_size("One.", (*long, result)) == len("One.") + 40_000


def test_short_is_what_is_read_and_not_what_was_found() -> None:
    text = "One [^1]."
    bound = validation.SHORT - len(text)
    others = tuple(Source(f"urn:reddb:row:t/{n}", "x" * 9000) for n in range(9))
    assert validation.is_short(text, (Source("urn:reddb:row:t/a", "y" * bound), *others))
    assert not validation.is_short(text, (Source("urn:reddb:row:t/a", "y" * (bound + 1)), *others))
    assert validation.is_short("z" * validation.SHORT, others)
    assert not validation.is_short("z" * (validation.SHORT + 1), others)


@pytest.mark.parametrize("text", ["", " ", "\n", " \t\r\n ", "\u3000"])
def test_an_empty_or_blank_answer_is_one_malformed_issue(text: str) -> None:
    issue = Issue("malformed", (0, len(text)), "empty answer")
    assert examine(text, THREE) == Examined((), (issue,), 3)
    retry = judge(examine(text, THREE), Strictness.ON, Attempt.FIRST)
    assert isinstance(retry, Retry)
    assert "\n- [malformed] empty answer\n" in retry.hint
    assert judge(examine(text, THREE), Strictness.ON, Attempt.RETRY) == GiveUp((EMPTY,))
    assert judge(examine(text, THREE), Strictness.OFF, Attempt.FIRST) == Accept((EMPTY,))


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
    assert (kinds[:2], kinds[-1]) == (["unsupported_claim", "malformed"], "unsupported_claim")
    assert (found.issues[0].detail, found.issues[-1].detail) == ("check 1", "check 2")


def test_the_checks_are_these() -> None:
    assert [check.__name__ for check in validation.CHECKS] == ["_not_empty", "_markers", "_claims"]


@pytest.mark.parametrize(
    ("in_force", "examined", "attempt", "verdict"),
    [
        (Strictness.OFF, BAD, Attempt.FIRST, Accept(NOTICES)),
        (Strictness.OFF, BAD, Attempt.RETRY, Accept(NOTICES)),
        (Strictness.OFF, Examined((), (), 3), Attempt.FIRST, Accept()),
        (Strictness.OFF, Examined((), (), 3), Attempt.RETRY, Accept()),
        (Strictness.ON, Examined((), (), 3), Attempt.FIRST, Accept()),
        (Strictness.ON, Examined((), (), 3), Attempt.RETRY, Accept()),
        (Strictness.ON, BAD, Attempt.FIRST, Retry(HINT)),
        (Strictness.ON, BAD, Attempt.RETRY, GiveUp(NOTICES)),
        (Strictness.OFF, CLAIMED, Attempt.FIRST, Accept((CLAIM,))),
        (Strictness.ON, CLAIMED, Attempt.FIRST, Accept((CLAIM,))),
        (Strictness.ON, CLAIMED, Attempt.RETRY, Accept((CLAIM,))),
        (Strictness.ON, BOTH, Attempt.FIRST, Retry(HINT)),
        (Strictness.ON, BOTH, Attempt.RETRY, GiveUp(NOTICES)),
        (Strictness.SUPPORTED, Examined((), (), 3), Attempt.FIRST, Accept()),
        (Strictness.SUPPORTED, BAD, Attempt.FIRST, Retry(HINT)),
        (Strictness.SUPPORTED, CLAIMED, Attempt.FIRST, Retry(CLAIM_HINT)),
        (Strictness.SUPPORTED, CLAIMED, Attempt.RETRY, GiveUp((CLAIM,))),
        (Strictness.SUPPORTED, BOTH, Attempt.RETRY, GiveUp((*NOTICES, CLAIM))),
    ],
)
def test_every_row_of_the_table(
    in_force: Strictness, examined: Examined, attempt: Attempt, verdict: Accept | Retry | GiveUp
) -> None:
    assert judge(examined, in_force, attempt) == verdict


@pytest.mark.parametrize("attempt", Attempt)
def test_strict_accepts_an_answer_without_any_marker(attempt: Attempt) -> None:
    warning = Notice("uncited_claim", '"No marker at all" cites no source')
    assert judge(examine("No marker at all.", THREE), Strictness.ON, attempt) == Accept((warning,))
    refused = judge(examine("No marker at all.", THREE), Strictness.SUPPORTED, attempt)
    assert not isinstance(refused, Accept)


@pytest.mark.parametrize("attempt", Attempt)
def test_strict_accepts_valid_markers(attempt: Attempt) -> None:
    assert isinstance(judge(examine("Yes.[^1][^3]", THREE), Strictness.ON, attempt), Accept)


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        ((EMPTY,), "the answer is empty"),
        (NOTICES, "the answer cites what is not there"),
        ((CLAIM,), "the answer says what its sources do not"),
        ((*NOTICES, CLAIM), "the answer cites what is not there"),
    ],
)
def test_giving_up_says_why(errors: tuple[Notice, ...], message: str) -> None:
    assert GiveUp(errors).message == message


def test_an_attempt_is_first_or_retry_and_nothing_else() -> None:
    assert [attempt.name for attempt in Attempt] == ["FIRST", "RETRY"]


def test_the_hint_lists_the_problems_of_a_real_answer_in_order() -> None:
    verdict = judge(examine("a[^7] b[^0]", THREE[:2]), Strictness.ON, Attempt.FIRST)
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
    assert judge(examined, Strictness.OFF, attempt) == Accept(notices)


@given(EXAMINED, ATTEMPTS, st.sampled_from([Strictness.ON, Strictness.SUPPORTED]))
def test_strict_accepts_exactly_when_no_issue_is_an_error(
    examined: Examined, attempt: Attempt, in_force: Strictness
) -> None:
    verdict = judge(examined, in_force, attempt)
    levels = {Strictness.ON, in_force}
    wrong = any(issue.error_from in levels for issue in examined.issues)
    assert isinstance(verdict, Accept) == (not wrong)
    if isinstance(verdict, Accept):
        assert [notice.detail for notice in verdict.warnings] == [
            issue.detail for issue in examined.issues
        ]


@given(EXAMINED, st.sampled_from([Strictness.ON, Strictness.SUPPORTED]))
def test_the_hint_names_every_problem_and_the_range_and_giving_up_the_same_errors(
    examined: Examined, in_force: Strictness
) -> None:
    first = judge(examined, in_force, Attempt.FIRST)
    second = judge(examined, in_force, Attempt.RETRY)
    if isinstance(first, Retry) and isinstance(second, GiveUp):
        lines = [f"- [{error.kind}] {error.detail}" for error in second.errors]
        assert first.hint.split("\n")[1 : len(lines) + 1] == lines
        assert f"1..{examined.sources_count}." in first.hint
        assert first == judge(examined, in_force, Attempt.FIRST)
    else:
        assert first == second
        assert isinstance(first, Accept)


@given(EXAMINED)
def test_there_is_no_second_retry(examined: Examined) -> None:
    assert not isinstance(judge(examined, Strictness.ON, Attempt.RETRY), Retry)


# --- what a judge doubts ------------------------------------------------------------------

PORT = (Source("urn:reddb:row:t/1", '{"text": "The ferry leaves at nine. The port is red."}'),)
TOLD = examine("The port is red [^1]. The ferry leaves at ten [^1]. The ferry is red [^1].", PORT)


def test_a_doubt_is_one_more_issue_and_takes_none_back() -> None:
    assert [issue.kind for issue in TOLD.issues] == ["contradicted_claim"]
    doubted = validation.doubt(TOLD, [2, 0], "openai")
    assert doubted.issues[:1] == TOLD.issues
    assert [(issue.kind, issue.span[0]) for issue in doubted.issues[1:]] == [
        ("unsupported_claim", 0),
        ("unsupported_claim", 52),
    ]
    assert [finding.judge for finding in doubted.findings] == ["openai", "", "openai"]
    assert validation.doubt(TOLD, [], "openai") == TOLD


def test_a_doubt_is_an_error_under_supported_alone() -> None:
    doubted = validation.doubt(examine("The port is red [^1].", PORT), [0], "openai")
    assert isinstance(judge(doubted, Strictness.OFF, Attempt.FIRST), Accept)
    assert isinstance(judge(doubted, Strictness.ON, Attempt.RETRY), Accept)
    assert isinstance(judge(doubted, Strictness.SUPPORTED, Attempt.FIRST), Retry)
    assert isinstance(judge(doubted, Strictness.SUPPORTED, Attempt.RETRY), GiveUp)


def test_doubts_are_read_off_the_warnings_that_were_kept() -> None:
    doubted = validation.doubt(TOLD, [2], "openai")
    kept = judge(doubted, Strictness.ON, Attempt.FIRST)
    assert isinstance(kept, Accept)
    assert validation.doubt_again(TOLD, kept.warnings, "openai") == doubted
    assert validation.doubt_again(TOLD, kept.warnings, "groq") == TOLD
    assert validation.doubt_again(TOLD, (), "openai") == TOLD


def test_what_a_refusal_says_of_the_data_needs_no_marker() -> None:
    text = "Nothing here says what the fare is. The ferry leaves at nine. [^2]"
    assert [each.claim.markers for each in examine(text, THREE, refused=True).findings] == [(2,)]
    assert len(examine(text, THREE).findings) == 2
