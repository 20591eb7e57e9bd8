"""rules.auditing.replay_verdict and replay_report: each kind of change has its verdict."""

from dataclasses import replace

import pytest

from redask.core.rules.auditing import replay_report
from redask.core.rules.auditing.provenance import AnswerSetup, DataState, SourceFacts
from redask.core.rules.auditing.replay_report import (
    ReplayedAnswer,
    ReplayedSource,
    ReplayReport,
    payload_diff,
    text_diff,
)
from redask.core.rules.auditing.replay_verdict import (
    Made,
    ReplayVerdict,
    SourceChange,
    changed_settings,
    differences,
    drifted,
    source_changes,
    stale_sources,
    verdict_of,
)

STATE = DataState("seen", 7, "3:abc", "4.1", "minilm 384")
FOUND = SourceFacts((10, 20), (11, 21), "f", "p", STATE)
SETUP = AnswerSetup("template", "0.1.0", {"ask.strict": "off"})
THEN = Made("support", ("a", "b"), FOUND, SETUP)


def found(**changes: object) -> Made:
    return replace(THEN, found=replace(FOUND, **changes))  # type: ignore[arg-type]


def state(**changes: object) -> Made:
    return found(state=replace(STATE, **changes))  # type: ignore[arg-type]


def setup(**changes: object) -> Made:
    return replace(THEN, setup=replace(SETUP, **changes))  # type: ignore[arg-type]


def both(one: Made, other: Made) -> Made:
    """What one says of the sources, and the other of the setup."""
    return replace(one, setup=other.setup)


P, T, X, S, D = (
    *(ReplayVerdict.POLICY, ReplayVerdict.PROMPT, ReplayVerdict.INDEX),
    *(ReplayVerdict.SETTINGS, ReplayVerdict.SOURCES),
)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (THEN, ()),
        (state(watermark=99), ()),
        (state(write="9:other"), ()),  # something was written, and the prompt is the same
        (setup(redask="9.9"), ()),
        (replace(THEN, role="sales"), (P,)),
        (state(visibility="less"), (P,)),
        (setup(template="other"), (T,)),
        (state(index="5.1"), (X,)),
        (state(embedder=""), (X,)),
        (state(index="", embedder=""), ()),  # computed now: whether that matters, sources tell
        (setup(settings={}), (S,)),
        (replace(THEN, urns=("b", "a")), (D,)),
        (replace(THEN, urns=("a", "c")), (D,)),
        (found(versions=(10, 22)), (D,)),
        (found(prompt="q"), (T,)),  # nothing was written, and the prompt is another
        (found(prompt="q", state=replace(STATE, write="9:x")), (D,)),
        (both(found(prompt="q"), setup(settings={})), (S,)),
        (both(state(visibility="x", index="5.1"), setup(template="x", settings={})), (P, T, X, S)),
    ],
)
def test_each_kind_of_change_has_its_verdict(
    now: Made, expected: tuple[ReplayVerdict, ...]
) -> None:
    assert differences(THEN, now) == expected
    assert verdict_of(expected) == (expected[0] if expected else ReplayVerdict.EQUAL)
    assert len(replay_report.reasons(THEN, now, expected, "mia")) == len(expected)


def test_a_model_drifts_only_over_the_same_prompt() -> None:
    assert drifted(True, ("a", "b"))
    assert not drifted(True, ("a", "a"))
    assert not drifted(False, ("a", "b"))
    assert not drifted(None, ("a", "b"))


def test_what_became_of_each_source_is_told() -> None:
    then = Made("r", tuple("abcdefg"), _facts((1, 2, 3, 4, 5, 6, 7)), SETUP)
    shown = SourceFacts((1, 20, 33, 8, 4), (1, 20, 3, 8, 4), "f", "p", STATE)
    now = Made("r", ("a", "b", "c", "new", "d"), shown, SETUP)
    assert source_changes(then, now, {"e": 5, "f": 66}) == (
        ("b", SourceChange.CHANGED),
        ("c", SourceChange.SHOWN_OTHERWISE),
        ("d", SourceChange.MOVED),
        ("e", SourceChange.LEFT_OUT),
        ("f", SourceChange.CHANGED),
        ("g", SourceChange.GONE),
        ("new", SourceChange.ADDED),
    )
    assert source_changes(then, then, {}) == ()


def test_cited_sources_are_stale_if_they_changed_or_are_gone() -> None:
    assert stale_sources([("a", 1), ("b", 2), ("c", 3)], {"a": 1, "b": 9}) == (
        ("b", SourceChange.CHANGED),
        ("c", SourceChange.GONE),
    )


def test_changed_settings_are_named_in_order() -> None:
    now = replace(SETUP, settings={"b": "1", "a": "2"})
    assert changed_settings(SETUP, now) == ("a", "ask.strict", "b")


def test_reasons_name_the_role_the_embedder_and_what_was_found_besides() -> None:
    def why(now: Made) -> str:
        [told] = replay_report.reasons(THEN, now, differences(THEN, now), "mia")
        return told

    assert why(replace(THEN, role="sales")) == "mia had the role support, and has sales"
    assert why(state(visibility="x")) == "what mia may read is not what it was"
    assert "minilm 384 was searched then, index 4.1 with no embedder now" in why(state(embedder=""))
    assert "besides" in why(found(prompt="q", state=replace(STATE, write="9:x")))
    assert why(found(versions=(1, 2))) == "the sources are not what they were"
    assert why(setup(settings={})) == "not as they were: ask.strict"


def test_a_report_is_plain_data() -> None:
    source = ReplayedSource("urn", SourceChange.CHANGED, "-a\n+b")
    answer = ReplayedAnswer(False, "now", "-then\n+now")
    report = ReplayReport(3, D, (D,), ("why",), False, (source,), 1, answer)
    assert report.plain() == {
        "answer": {"diff": "-then\n+now", "same": False, "text": "now"},
        "changes": ["sources_changed"],
        "hidden": 1,
        "reasons": ["why"],
        "same_prompt": False,
        "seq": 3,
        "sources": [{"change": "changed", "diff": "-a\n+b", "urn": "urn"}],
        "verdict": "sources_changed",
    }
    assert ReplayReport(3, ReplayVerdict.EQUAL).plain()["answer"] is None


def test_payloads_and_texts_are_compared_line_by_line_unless_they_are_too_long() -> None:
    compared = payload_diff('{"a":1,"b":2}', '{"a":1,"b":3}')
    assert [line for line in compared.splitlines() if line[0] in "+-"][2:] == [
        '- "b": 2',
        '+ "b": 3',
    ]
    assert text_diff("same", "same") == ""
    assert text_diff("a\n" * 2001, "b") == ""


def _facts(versions: tuple[int, ...]) -> SourceFacts:
    return SourceFacts(versions, versions, "f", "p", STATE)
