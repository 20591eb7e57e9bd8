"""redask.check: the claims of any answer against the sources it cites."""

import json
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

import redask
from redask.api import checking

FERRY = "The ferry leaves at 9:15 from pier 4."


def test_a_supported_claim_comes_with_the_passage_it_rests_on() -> None:
    checked = redask.check("The ferry leaves at 9:15 [^1].", [FERRY])
    (claim,) = checked.claims
    assert (claim.verdict, claim.markers, claim.ok, checked.ok) == ("supported", (1,), True, True)
    (quote,) = claim.quotes
    assert (quote.marker, quote.urn, quote.field) == (1, None, "text")
    assert FERRY[quote.start : quote.end] == quote.text


def test_a_wrong_number_is_named() -> None:
    checked = redask.check("It is early. The ferry leaves at 10:45 [^1].", [FERRY])
    claim = checked.claims[-1]
    assert claim.verdict in ("unsupported", "contradicted")
    assert claim.tokens == ("10:45",)
    assert not checked.ok
    assert checked.answer[slice(*claim.span)].startswith("The ferry leaves at 10:45 [^1]")


def test_a_claim_without_a_marker_is_uncited_and_a_marker_without_a_source_is_an_issue() -> None:
    checked = redask.check("The ferry leaves at 9:15. It leaves from pier 4 [^2].", [FERRY])
    assert [claim.verdict for claim in checked.claims] == ["uncited", "uncited"]
    assert "out_of_range" in [issue.kind for issue in checked.issues]


def test_several_markers_in_one_bracket_are_one_each_as_in_an_ask() -> None:
    checked = redask.check("The ferry leaves at 9:15 [^1, ^2].", [FERRY, FERRY])
    assert checked.answer == "The ferry leaves at 9:15 [^1][^2]."
    assert checked.claims[0].markers == (1, 2)


def test_a_finding_is_an_issue_too_in_the_words_of_an_ask() -> None:
    checked = redask.check("The ferry leaves at 10:45 [^1]. It is blue.", [FERRY])
    kinds = [issue.kind for issue in checked.issues]
    assert kinds[0] in ("unsupported_claim", "contradicted_claim")
    assert kinds[1] == "uncited_claim"
    assert "10:45 is not in [^1]" in checked.issues[0].detail


@pytest.mark.parametrize(
    "source",
    [
        FERRY,
        {"text": FERRY},
        {"urn": None, "text": FERRY},
        {"payload": FERRY},
        {"payload": json.dumps({"text": FERRY})},
        {"payload": {"leaves": "9:15", "pier": 4, "what": "ferry"}},
    ],
)
def test_a_source_is_a_text_or_a_mapping_with_text_or_payload(source: object) -> None:
    checked = redask.check("The ferry leaves at 9:15 [^1].", [source])  # type: ignore[list-item]
    assert checked.ok


def test_a_urn_comes_back_with_the_quotations_of_its_source() -> None:
    checked = redask.check("The ferry leaves at 9:15 [^1].", [{"urn": "a:1", "text": FERRY}])
    assert [quote.urn for quote in checked.claims[0].quotes] == ["a:1"]


def test_the_result_is_frozen_and_plain_data_on_request() -> None:
    checked = redask.check("The ferry leaves at 9:15 [^1].", [FERRY])
    with pytest.raises(FrozenInstanceError):
        checked.answer = ""  # type: ignore[misc]
    plain = checked.to_dict()
    assert sorted(plain) == ["answer", "claims", "issues", "ok"]
    assert json.loads(json.dumps(plain)) == plain
    (claim,) = json.loads(json.dumps(plain))["claims"]
    assert sorted(claim) == ["claim", "instead", "markers", "quotes", "text", "tokens", "verdict"]
    assert sorted(claim["quotes"][0]) == ["end", "field", "marker", "start", "text", "urn"]


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ([1], "source 1 is neither a text nor an object"),
        ([FERRY, {}], "source 2 needs one of `text` and `payload`"),
        ([{"text": "a", "payload": "b"}], "source 1 needs one of"),
        ([{"text": 1}], "source 1 has a `text` that is not a text"),
        ([{"payload": 1}], "source 1 has a `payload` that is neither"),
        ([{"text": "a", "urn": 1}], "source 1 has an `urn` that is not a text"),
        (["\ud800"], "source 1 holds half a character"),
        ([{"payload": {"a": "\ud800"}}], "source 1 holds half a character"),
        ([{"payload": {(1, 2): 3}}], "source 1 has a `payload` without JSON"),
        (FERRY, "sources are a list"),
        ({"text": FERRY}, "sources are a list"),
    ],
)
def test_what_is_no_source_is_refused_in_plain_words(sources: object, said: str) -> None:
    with pytest.raises(redask.AskError, match=said):
        redask.check("x [^1].", sources)  # type: ignore[arg-type]


def test_what_is_no_answer_is_refused() -> None:
    with pytest.raises(redask.AskError, match="an answer is a text, not bytes"):
        redask.check(b"x", [])  # type: ignore[arg-type]
    with pytest.raises(redask.AskError, match="the answer holds half a character"):
        redask.check("\udfff", [])


def test_an_empty_payload_is_a_source_that_says_nothing() -> None:
    assert checking.fault({"payload": {}}) is None
    assert not redask.check("The ferry leaves at 9:15 [^1].", [{"payload": {}}]).ok


@given(st.text(st.characters(codec="utf-8")), st.lists(st.text(st.characters(codec="utf-8"))))
def test_no_text_is_too_odd_to_check(answer: str, sources: list[str]) -> None:
    checked = redask.check(answer, sources)
    assert checked == redask.check(answer, sources)
    for claim in checked.claims:
        assert 0 <= claim.span[0] <= claim.span[1] <= len(checked.answer)
