"""Contract 24: several markers in one bracket become one each, outside code, however they come."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules import citations
from redask.core.rules.grounding.marker_groups import GroupRewriter, rewrite

TEXTS = st.lists(
    st.sampled_from([*"[^]12, \\`\n\tx", "[^", "[^1,", "```", "\n```\n", "^2]", "[^1, ^2]"]),
    max_size=40,
).map("".join)


def in_pieces(pieces: list[str]) -> list[str]:
    rewriter = GroupRewriter()
    return [*(rewriter.take(piece) for piece in pieces), rewriter.end()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[^1, ^2]", "[^1][^2]"),
        ("[^1,2]", "[^1][^2]"),
        ("At nine [^1,^2 , 13].", "At nine [^1][^2][^13]."),
        ("[^1\t,\t2]", "[^1][^2]"),
        ("[^1,0]", "[^1][^0]"),
        (f"[^{', '.join('7' * 32)}]", "[^7]" * 32),
        ("[^1][^2]", "[^1][^2]"),
        ("\\\\[^1,2]", "\\\\[^1][^2]"),
        ("a `[^1,2]`", "a `[^1][^2]`"),
        ("``\n[^1,2]", "``\n[^1][^2]"),
        ("x ```\n[^1,2]", "x ```\n[^1][^2]"),
        ("```\n[^1,2]\n```\n[^1,2]", "```\n[^1,2]\n```\n[^1][^2]"),
        ("~~~\n[^1,2]", "~~~\n[^1][^2]"),
        ("\\\n[^1,2]", "\\\n[^1][^2]"),
    ],
)
def test_a_group_becomes_one_marker_each(text: str, expected: str) -> None:
    assert rewrite(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[^1]",
        "[^1,]",
        "[^,1]",
        "[^1;2]",
        "[^1-3]",
        "[^1 2]",
        "[^1,\n2]",
        "[^1   , 2]",
        "[^1, a]",
        "[^1,12345678901]",
        f"[^{','.join('7' * 33)}]",
        "[1, 2]",
        "[^１,2]",
        "\\[^1,2]",
        "\\\\\\[^1,2]",
        "[^[^1,2]",
        " \t````js\n[^1,2]",
        "```\n[^1,2]\n `` \n[^1,2]",
        "[^1,2",
        "[^1, 2\\",
    ],
)
def test_what_is_no_group_stays(text: str) -> None:
    assert rewrite(text) == text
    assert "".join(in_pieces(list(text))) == text


@given(st.data(), TEXTS)
def test_however_it_is_cut_the_whole_is_the_same(data: st.DataObject, text: str) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    bounds = [0, *cuts, len(text)]
    pieces = [text[start:end] for start, end in pairwise(bounds)]
    assert "".join(in_pieces(pieces)) == "".join(in_pieces(list(text))) == rewrite(text)


@given(TEXTS)
def test_a_second_time_changes_nothing_and_no_short_marker_is_cut_in_two(text: str) -> None:
    once = rewrite(text)
    assert rewrite(once) == once
    for piece in in_pieces(list(text))[:-1]:
        assert not re.search(r"\[\^[0-9]{0,10}$", piece) or "`" in text or "\\" in text


@given(TEXTS)
def test_what_was_a_marker_still_is_one_in_the_same_order(text: str) -> None:
    before = [each.marker for each in citations.parse(text, 9).citations]
    after = iter(each.marker for each in citations.parse(rewrite(text), 9).citations)
    assert all(marker in after for marker in before)


def test_what_is_not_complete_is_held_and_nothing_else() -> None:
    rewriter = GroupRewriter()
    taken = [rewriter.take(piece) for piece in ("at nine ", "[", "^1", ", ^", "2", "] or ", "[^x")]
    assert [*taken, rewriter.end()] == ["at nine ", "", "", "", "", "[^1][^2] or ", "", "[^x"]


@pytest.mark.parametrize("unit", ["[^1,", "[^1, 2]", "[", "\\", "`", " ", "\n", "[^1,1,1,1,1,1"])
def test_the_time_is_linear_whole_and_in_pieces(unit: str) -> None:
    text = (unit * 150_000)[:150_000] + "[^1,2]"
    started = time.perf_counter()
    assert "".join(in_pieces([text[at : at + 7] for at in range(0, len(text), 7)])) == rewrite(text)
    assert time.perf_counter() - started < 10
