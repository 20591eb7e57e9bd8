"""Contract 24: what is wrong with a claim, as an issue that quotes it and names the tokens."""

import pytest

from redask.core.model import Issue, Strictness
from redask.core.rules.grounding import check, claim_issues
from redask.core.rules.grounding.check import Finding
from redask.core.rules.grounding.claims import Claim
from redask.core.rules.grounding.support import Judgement, SupportVerdict

FERRY = Claim((3, 40), (1,), "The ferry leaves at midnight.")


def found(
    verdict: SupportVerdict, *tokens: str, instead: tuple[str, ...] = (), claim: Claim = FERRY
) -> Finding:
    return Finding(claim, Judgement(verdict, tokens, instead))


@pytest.mark.parametrize("verdict", [SupportVerdict.SUPPORTED, SupportVerdict.NOTHING_TO_CHECK])
def test_nothing_is_wrong_with_a_claim_that_is_supported(verdict: SupportVerdict) -> None:
    assert claim_issues.of(found(verdict)) is None


@pytest.mark.parametrize(
    ("finding", "kind", "detail"),
    [
        (
            found(SupportVerdict.UNCITED),
            "uncited_claim",
            '"The ferry leaves at midnight" cites no source',
        ),
        (
            found(SupportVerdict.UNSUPPORTED, "midnight"),
            "unsupported_claim",
            '"The ferry leaves at midnight": midnight is not in [^1]',
        ),
        (
            found(SupportVerdict.UNSUPPORTED, "midnight", "ferry"),
            "unsupported_claim",
            '"The ferry leaves at midnight": midnight, ferry are not in [^1]',
        ),
        (
            found(SupportVerdict.UNSUPPORTED),
            "unsupported_claim",
            '"The ferry leaves at midnight": this is not in [^1]',
        ),
        (
            found(SupportVerdict.CONTRADICTED, "midnight", instead=("nine", "ten")),
            "contradicted_claim",
            '"The ferry leaves at midnight": midnight is not in [^1]; the source says nine, ten',
        ),
        (
            found(
                SupportVerdict.CONTRADICTED,
                "two",
                instead=("one",),
                claim=Claim((3, 40), (2, 7), "Two."),
            ),
            "contradicted_claim",
            '"Two": two is not in [^2], [^7]; the sources say one',
        ),
    ],
)
def test_the_detail_quotes_the_claim_and_names_the_tokens(
    finding: Finding, kind: str, detail: str
) -> None:
    assert claim_issues.of(finding) == Issue(kind, (3, 40), detail, Strictness.SUPPORTED)


def test_a_long_claim_and_many_tokens_are_cut_and_nothing_unprintable_is_shown() -> None:
    claim = Claim((0, 9), (1,), "a\nb\u2028\x07" + "x" * 5000)
    issue = claim_issues.of(found(SupportVerdict.UNSUPPORTED, *"0123456789", claim=claim))
    assert issue is not None
    quoted = issue.detail.partition('"')[2].rpartition('"')[0]
    assert quoted.startswith("a b \\x07xxx")
    assert quoted.isprintable()
    assert issue.detail.endswith(": 0, 1, 2, 3, 4, 5, 6, 7, … are not in [^1]")
    assert len(issue.detail) < 200


def test_a_doubt_names_the_judge_and_what_is_cited() -> None:
    doubted = check.doubted(found(SupportVerdict.SUPPORTED), "open\x07ai")
    detail = '"The ferry leaves at midnight": the judge open\\x07ai finds no support in [^1]'
    expected = Issue("unsupported_claim", (3, 40), detail, Strictness.SUPPORTED)
    assert claim_issues.of(doubted) == expected
