"""A quotation holds our markers and no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules import citations
from redask.core.rules.grounding import claims
from redask.providers.extractive.quotation import Quotation, cite, write
from redask.providers.extractive.text_blocks import one_line

NASTY = ["[^7]", "[^0]", "[^abc]", "[^", "]", "\\", "`", "```", "[", "^", "1", " ", "~~~", "\u200b"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("It is so.", "It is so. [^3]"),
        ("see [^7]", r"see \[^7] [^3]"),
        (r"see \[^7]", r"see \[^7] [^3]"),
        (r"see \\[^7]", r"see \\\[^7] [^3]"),
        ("```sh", "\\```sh [^3]"),
        ("ends in \\", "ends in \\ [^3]"),
        ("open [^1", "open \\[^1 [^3]"),
    ],
)
def test_what_could_be_read_as_a_marker_or_a_fence_is_escaped(line: str, expected: str) -> None:
    assert cite(line, [3]) == expected


def test_markers_of_several_sources_are_adjacent() -> None:
    assert cite("So.", [1, 12]) == "So. [^1][^12]"


def test_each_sentence_has_the_markers() -> None:
    assert cite("It is so. He left.", [1]) == "It is so. [^1] He left. [^1]"
    assert cite("… It is so. …", [1]) == "… It is so. … [^1]"


def test_code_follows_below_the_markers_as_it_is() -> None:
    told = write(Quotation("Run this:", (3,), "```sh\nmake  a[^7]\n\nmake b\n```"))
    assert told == "Run this: [^3]\n```sh\nmake  a[^7]\n\nmake b\n```"
    assert [one.marker for one in citations.parse(told, 3).citations] == [3]
    assert [(one.text, one.markers) for one in claims.split(told)] == [("Run this:", (3,))]


@pytest.mark.parametrize("lead", ["Two hooks:", "Two hooks...", "Two hooks.", "Two hooks"])
def test_the_markers_of_a_lead_in_are_those_of_each_item(lead: str) -> None:
    told = write(Quotation(lead, (1, 2), "- a [^9]. And so on.\n    - b\n```\nc\n```"))
    assert told == "Two hooks [^1][^2]:\n- a \\[^9]. And so on.\n    - b\n```\nc\n```"
    assert [one.markers for one in claims.split(told)] == [(1, 2)] * 4
    assert citations.parse(told, 2).issues == ()


def test_a_table_has_its_markers_in_the_lead_in_or_the_header() -> None:
    header, row = "| what | euro |\n| --- | --- |", "| ferry | 14 |"
    told = write(Quotation("Prices:", (1,), f"{header}\n{row}"))
    assert told == f"Prices [^1]:\n\n{header}\n{row}"
    assert [one.markers for one in claims.split(told)] == [(1,), (1,)]
    told = write(Quotation(row, (2,), header=header))
    assert told == f"| what | euro [^2] |\n| --- | --- |\n{row}"
    assert [(one.text, one.markers) for one in claims.split(told)] == [(row, (2,))]


@given(st.lists(st.sampled_from(NASTY), max_size=12).map("".join) | st.text())
def test_exactly_our_markers_are_found(text: str) -> None:
    answer = f"{cite(one_line(text), [2])}\n{cite(one_line(text), [1, 3])}"
    parsed = citations.parse(answer, 3)
    assert [citation.marker for citation in parsed.citations] == [2, 1, 3]
    assert parsed.issues == ()
