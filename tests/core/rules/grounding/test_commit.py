"""What may be sent by now: a prefix of the answer, however it is cut; by sentences or at once."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules.grounding import claims
from redask.core.rules.grounding.commit import MarkerGate, SentenceGate
from redask.core.rules.grounding.marker_groups import GroupRewriter, rewrite

SAID = st.lists(
    st.sampled_from(
        [
            *(" ", "\n", "\n\n", ". ", "! ", "? ", "。", ".", ":\n", "- ", "1. ", "| a | b |\n"),
            *("|---|---|\n", "```\n", "[^1]", "[^2]", "[^9]", "[^1,2]", "[^x]", "\\", '"', "**"),
            *("The ferry", "leaves", "at nine", "Dr", "U.S.", "In", "diana", "so", "a)", "2019"),
            *("\u3000", "\r", "=== \n", "`code`", "# Title\n", "> said\n"),
        ]
    ),
    max_size=40,
).map("".join)
ANSWER = (
    "Hello! The ferry leaves at nine [^1]. A ticket costs 14 euros. [^2] Dr. Smith says so [^1]."
    "\n\nThere are three [^3]:\n- one at nine\n- two at ten. It is late.\n\n| a | b |\n|---|---|\n"
    "| 1 | 2 |\n\n12. March is near [^1]. So it is [^1].\n```\nCode. It is.\n```\nYes. [^9] No."
)


def cut(data: st.DataObject, text: str) -> list[str]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]


def with_whole_markers(pieces: list[str]) -> list[str]:
    rewriter = GroupRewriter()
    return [*(rewriter.take(piece) for piece in pieces), rewriter.end()]


def by_sentence(pieces: list[str]) -> list[str]:
    """What a gate sends of an answer in which every sentence passes."""
    gate = SentenceGate()
    sent = []
    for piece in with_whole_markers(pieces):
        due = gate.take(piece)
        if due is not None:
            start, until = gate.whole(claims.split(due))
            assert 0 <= start <= until <= len(due)
            if start < until:
                sent.append(gate.send(until))
    return [*sent, gate.end()]


def by_marker(pieces: list[str], sources: int) -> list[str]:
    gate = MarkerGate(sources)
    return [*(gate.take(piece) for piece in with_whole_markers(pieces)), gate.end()]


@given(st.data(), SAID)
def test_what_is_sent_is_the_answer_however_it_comes(data: st.DataObject, text: str) -> None:
    pieces = cut(data, text)
    assert "".join(by_sentence(pieces)) == rewrite(text)
    assert "".join(by_marker(pieces, data.draw(st.integers(0, 9)))) == rewrite(text)
    assert "".join(by_sentence(list(text))) == "".join(by_marker(list(text), 1)) == rewrite(text)


@given(SAID)
def test_whatever_is_sent_before_the_end_ends_where_a_claim_begins(text: str) -> None:
    whole = rewrite(text + "\n\nThe end.")
    begins = {0, *(claim.span[0] for claim in claims.split(whole))}
    at = 0
    for sent in by_sentence(list(text + "\n\nThe end."))[:-1]:
        assert sent
        at += len(sent)
    assert at in begins or not whole.isascii() or any(mark in whole for mark in "`=|\\")


def test_sentences_are_sent_one_by_one_with_the_markers_behind_them() -> None:
    assert by_sentence(list(ANSWER)) == by_sentence([ANSWER[n : n + 3] for n in range(0, 400, 3)])
    assert by_sentence(list(ANSWER)) == [
        "Hello! ",
        "The ferry leaves at nine [^1]. ",
        "A ticket costs 14 euros. [^2] ",
        "Dr. Smith says so [^1].\n\n",
        "There are three [^3]:\n- ",
        "one at nine\n- ",
        "two at ten. ",
        "It is late.\n\n",
        "| a | b |\n|---|---|\n",
        "| 1 | 2 |\n\n12. ",
        "March is near [^1]. ",
        "So it is [^1].\n```\nCode. It is.\n```\n",
        "Yes. [^9] No.",
    ]


def test_an_item_is_examined_with_its_lead_in_and_a_sentence_alone() -> None:
    gate = SentenceGate()
    due = gate.take("It is so [^1]. They are three [^3]:\n- one at nine\n- two at ten\n")
    assert due is not None
    assert gate.send(gate.whole(claims.split(due))[1]).endswith("- one at nine\n- ")
    due = gate.take("- three is last ")
    assert due is not None
    assert [claim.markers for claim in claims.split(due)] == [(1,), (3,), (3,), (3,), (3,)]
    gate = SentenceGate()
    due = gate.take("It is so [^1]. They are ")
    assert due is not None
    gate.send(gate.whole(claims.split(due))[1])
    assert gate.take("three [^3]. And ") == "They are three [^3]. And "


def test_a_word_that_may_still_grow_is_not_examined() -> None:
    gate = SentenceGate()
    assert gate.take("It is in the U.S. In") is None
    due = gate.take("diana it is [^1]. ")
    assert due is not None
    assert gate.whole(claims.split(due)) == (0, 0)
    assert gate.take("Or ") == "It is in the U.S. Indiana it is [^1]. Or "


def test_one_who_passes_nothing_is_sent_nothing_until_the_end() -> None:
    gate = SentenceGate()
    assert gate.take("Is it? Who ") == "Is it? Who "
    assert gate.whole(()) == (0, 0)
    assert gate.take("knows? Yes ") is not None
    assert gate.end() == "Is it? Who knows? Yes "


@pytest.mark.parametrize(
    ("pieces", "sent"),
    [
        (["One [^1]", " two."], ["One [^1]", " two.", ""]),
        (["One [^9]", " two", ". Three"], ["One ", "", "[^9] two. Three", ""]),
        (["One [^9] two", ".", " Three"], ["One ", "", "[^9] two. Three", ""]),
        (["One. [^9] Two [^1]."], ["One. [^9] Two [^1].", ""]),
        (["One. [^1] [^9]", " Two"], ["One. [^1] ", "[^9] Two", ""]),
        (["One [^9] 1.5 m", "\nTwo"], ["One ", "[^9] 1.5 m\nTwo", ""]),
        (["[^9] a。[^8] b. ", "[^7] c"], ["[^9] a。[^8] b. ", "[^7] c", ""]),
        (["One [^9].", "”", " Two"], ["One ", "", "[^9].” Two", ""]),
        (["One [^9]"], ["One ", "[^9]"]),
    ],
)
def test_a_marker_beyond_the_sources_waits_for_the_end_of_its_sentence(
    pieces: list[str], sent: list[str]
) -> None:
    gate = MarkerGate(3)
    assert [*map(gate.take, pieces), gate.end()] == sent


@pytest.mark.parametrize(
    "unit",
    ["[^9] x", "a. ", "- a b [^1]\n", "Dr. ", "? ", "x", " ", "It is [^1]. ", "| a |\n", "a", "\n"],
)
def test_the_time_is_linear(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        started = time.thread_time()
        pieces = [text[at : at + 8] for at in range(0, len(text), 8)]
        assert "".join(by_sentence(pieces)) == "".join(by_marker(pieces, 3)) == text
        return time.thread_time() - started

    seconds(2_000)
    assert seconds(64_000) < 12 * seconds(16_000) + 0.2
