"""A quotation holds our markers and no other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules import citations
from redask.providers.extractive.quotation import cite
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


@given(st.lists(st.sampled_from(NASTY), max_size=12).map("".join) | st.text())
def test_exactly_our_markers_are_found(text: str) -> None:
    answer = f"{cite(one_line(text), [2])}\n{cite(one_line(text), [1, 3])}"
    parsed = citations.parse(answer, 3)
    assert [citation.marker for citation in parsed.citations] == [2, 1, 3]
    assert parsed.issues == ()
