"""Contract 6, sentence by sentence."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Citation, Issue
from redask.core.rules import citations

MAX = 2**32 - 1


def markers(text: str, sources_count: int = 9) -> list[int]:
    return [found.marker for found in citations.parse(text, sources_count).citations]


def issues(text: str, sources_count: int = 9) -> list[tuple[str, str]]:
    """Kind and text of each issue."""
    found = citations.parse(text, sources_count).issues
    return [(issue.kind, text[slice(*issue.span)]) for issue in found]


def is_plain(text: str) -> bool:
    return not markers(text) and not issues(text)


# --- markers and the shape of the result ------------------------------------------------


def test_a_citation_has_its_marker_its_span_and_the_index_of_its_source() -> None:
    parsed = citations.parse("Sky [^2] blue[^1].", 2)
    assert parsed.citations == (Citation(2, (4, 8), 1), Citation(1, (13, 17), 0))
    assert parsed.issues == ()


@pytest.mark.parametrize("sources_count", [0, 1, 7])
def test_the_source_count_goes_along(sources_count: int) -> None:
    assert citations.parse("", sources_count) == citations.Parsed((), (), sources_count)


def test_markers_repeat_freely_and_stand_in_text_order() -> None:
    assert markers("[^3][^1] [^3]\n[^2][^1]") == [3, 1, 3, 2, 1]


def test_issues_stand_one_per_occurrence_in_text_order() -> None:
    text = "[^0] [^99] [^x] [^99] [^0]"
    kinds = ["malformed", "out_of_range", "malformed", "out_of_range", "malformed"]
    assert [kind for kind, _ in issues(text)] == kinds
    assert [issue.span for issue in citations.parse(text, 1).issues] == [
        *((0, 4), (5, 10), (11, 15), (16, 21), (22, 26))
    ]


@pytest.mark.parametrize("before", ["é", "😀", "e\u0301", "\u2028", "\r\n", "\0", "\ud800"])
def test_spans_are_half_open_in_code_points(before: str) -> None:
    assert citations.parse(f"{before}[^1]", 1).citations[0].span == (len(before), len(before) + 4)


@pytest.mark.parametrize("number", [1, 9, 10, 4_294_967_294, MAX])
def test_a_canonical_decimal_up_to_2_to_the_32_minus_1_is_a_marker(number: int) -> None:
    parsed = citations.parse(f"[^{number}]", MAX)
    assert parsed.citations == (Citation(number, (0, len(str(number)) + 3), number - 1),)
    assert parsed.issues == ()


@pytest.mark.parametrize(
    "body",
    [
        *("0", "00", "01", "007", str(MAX + 1), "9999999999", "10000000000", "1" * 17, "0" * 17),
        *("1" * 4300, "1" * 4301, "9" * 100_000),
    ],
    ids=lambda body: f"{body[:12]}x{len(body)}",
)
def test_digits_that_are_no_canonical_number_in_range_are_malformed(body: str) -> None:
    assert issues(f"a[^{body}]", MAX) == [("malformed", f"[^{body}]")]
    assert markers(f"a[^{body}]", MAX) == []


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("[^01]", "the number in [^01] starts with a zero"),
        ("[^4294967296]", "the number in [^4294967296] is above 4294967295"),
        ("[^" + "9" * 21 + "]", "the number in [^" + "9" * 21 + "] is above 4294967295"),
        ("[^" + "9" * 22 + "]", "the number in [^" + "9" * 20 + "…] is above 4294967295"),
        ("[^]", "[^] is no marker: a marker is [^N] with N a source's number"),
        ("[^abc]", "[^abc] is no marker: a marker is [^N] with N a source's number"),
    ],
)
def test_the_detail_of_a_malformed_marker_shows_it_and_says_why(text: str, detail: str) -> None:
    assert citations.parse(text, 9).issues == (Issue("malformed", (0, len(text)), detail),)


# --- bodies -----------------------------------------------------------------------------


def test_an_empty_body_is_malformed() -> None:
    assert issues("[^]") == [("malformed", "[^]")]


@pytest.mark.parametrize(
    "body",
    [
        *(
            "abc",
            "-1",
            "+1",
            " 1",
            "1 ",
            "１",
            "٣",
            "²",
            "1.0",
            "1,2",
            "^1",
            "[1",
            "1\r",
            "\t",
            "`",
        ),
        *("a", "a" * 16, "１" * 16, "😀" * 16, "1\\", "0x1", "\0", "\ud800", "\u2028"),
    ],
)
def test_a_body_of_1_to_16_characters_that_are_not_all_digits_is_malformed(body: str) -> None:
    assert issues(f"x[^{body}]y") == [("malformed", f"[^{body}]")]
    assert markers(f"x[^{body}]y") == []


def test_an_opener_inside_a_short_body_makes_one_malformed_marker() -> None:
    assert issues("[^[^1]") == [("malformed", "[^[^1]")]
    assert markers("[^[^1]") == []


def test_the_body_runs_to_the_first_bracket() -> None:
    assert issues("[^a]b]") == [("malformed", "[^a]")]
    assert markers("[^1]2]") == [1]


@pytest.mark.parametrize("body", ["a" * 17, "１" * 17, "1" * 17 + "a", "a\nb", "\n", "1\n", "\n1"])
def test_a_body_longer_than_16_or_with_a_line_feed_is_plain_text(body: str) -> None:
    assert is_plain(f"[^{body}]")


@pytest.mark.parametrize(
    "text", ["[^", "[^1", "x [^12", "[^abc", "[^" + "1" * 99, "[^[^[^", "[^\\"]
)
def test_a_body_that_is_never_closed_is_plain_text(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize(
    "text", ["[1]", "[]", "^1]", "[ ^1]", "[\n^1]", "{^1}", "[^1}", "(^1)", "]"]
)
def test_what_does_not_open_with_bracket_and_caret_is_plain_text(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[^" + "a" * 17 + "[^1]", [1]),
        ("[^\n[^2]", [2]),
        ("[^1\n2][^3]", [3]),
        ("[[^4]", [4]),
        ("[^" + "a" * 17 + "] [^5]", [5]),
        ("[^" + "[^" * 30 + "6]", []),
    ],
)
def test_after_plain_text_scanning_resumes_at_the_next_character(
    text: str, found: list[int]
) -> None:
    assert markers(text) == found


def test_the_earliest_opener_that_reaches_the_bracket_takes_it() -> None:
    assert issues("[^" * 30 + "6]") == [("malformed", "[^" * 8 + "6]")]


# --- fences -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fence", ["```", "````", "```python", " ```", "\t \t```", "``` [^1]", "```\r"]
)
def test_a_fence_line_toggles_and_is_not_parsed_itself(fence: str) -> None:
    assert markers(f"[^1]\n{fence}\n[^2]\n{fence}\n[^3]") == [1, 3]


@pytest.mark.parametrize(
    "line",
    [
        "~~~",
        "``",
        "`",
        "` ``",
        "a```",
        "\\```",
        "> ```",
        "\u00a0```",
        "\r```",
        "\f```",
        "\v```",
        "[^1]```",
    ],
)
def test_any_other_line_is_no_fence(line: str) -> None:
    assert markers(f"{line}\n[^2]")[-1:] == [2]


def test_a_longer_or_shorter_fence_closes_just_the_same() -> None:
    assert markers("`````\n[^1]\n```\n[^2]\n```\n[^3]\n````\n[^4]") == [2, 4]


def test_an_unclosed_fence_hides_the_rest() -> None:
    assert is_plain("```\n[^1] [^0]\n``\n[^2]")


def test_inside_a_fence_even_a_malformed_marker_is_not_parsed() -> None:
    assert is_plain("```\n[^0] [^x] [^99]\n```")


@pytest.mark.parametrize("end", ["\r", "\u2028", "\u2029", "\x85", "\v", "\f", "\x1e"])
def test_lines_end_at_line_feed_only(end: str) -> None:
    assert markers(f"a{end}```{end}[^1]") == [1]
    assert markers(f"```{end}[^1]\n[^2]\n```\n[^3]") == [3]


def test_an_opener_does_not_reach_over_a_fence() -> None:
    assert markers("[^1\n```\n]\n```\n[^2]") == [2]


def test_a_backslash_at_the_end_of_a_line_does_not_escape_a_fence() -> None:
    assert markers("\\\n```\n[^1]\n```\\\n[^2]") == [2]


def test_inline_single_backticks_hide_nothing() -> None:
    assert markers("`[^1]` ``[^2]`` a ```[^3]```") == [1, 2, 3]


# --- escapes ----------------------------------------------------------------------------


@given(st.integers(0, 40), st.sampled_from(["1", "0", "x", ""]))
def test_an_odd_number_of_backslashes_escapes_and_an_even_number_does_not(
    count: int, body: str
) -> None:
    text = "\\" * count + f"[^{body}]"
    parsed = citations.parse(text, 1)
    spans = [*(found.span for found in parsed.citations), *(i.span for i in parsed.issues)]
    assert spans == ([] if count % 2 else [(count, len(text))])


def test_an_escape_covers_its_own_bracket_only() -> None:
    assert markers("\\[^1][^2] \\a[^3] \\\n[^4] \\[[^5]") == [2, 3, 4, 5]


def test_a_backslash_does_not_escape_the_closing_bracket() -> None:
    assert issues("[^1\\]") == [("malformed", "[^1\\]")]


def test_an_escaped_opener_inside_an_abandoned_body_stays_escaped() -> None:
    assert is_plain("[^" + "a" * 17 + "\\[^1]")


# --- out of range -----------------------------------------------------------------------


def test_a_marker_beyond_the_source_count_is_a_citation_and_an_issue() -> None:
    parsed = citations.parse("a[^4]", 3)
    assert parsed.citations == (Citation(4, (1, 5), 3),)
    assert [(issue.kind, issue.span) for issue in parsed.issues] == [("out_of_range", (1, 5))]


def test_the_detail_of_out_of_range_names_the_marker_and_the_count() -> None:
    detail = citations.parse("[^41]", 37).issues[0].detail
    assert "[^41]" in detail
    assert "37" in detail


@pytest.mark.parametrize(("number", "kinds"), [(3, []), (4, ["out_of_range"])])
def test_the_last_source_is_in_range_and_the_next_is_not(number: int, kinds: list[str]) -> None:
    assert [kind for kind, _ in issues(f"[^{number}]", 3)] == kinds


def test_without_sources_every_marker_is_out_of_range() -> None:
    assert issues("[^1]", 0) == [("out_of_range", "[^1]")]


# --- any input --------------------------------------------------------------------------

HARMLESS = st.text(st.characters(exclude_characters="[\\`"), max_size=30)


@given(st.lists(st.tuples(HARMLESS, st.integers(1, MAX))), HARMLESS, st.integers(0, 20))
def test_every_marker_in_harmless_text_is_found_where_it_was_put(
    parts: list[tuple[str, int]], end: str, sources_count: int
) -> None:
    text, put = "", []
    for before, number in parts:
        start = len(text) + len(before)
        text += f"{before}[^{number}]"
        put.append(Citation(number, (start, len(text)), number - 1))
    parsed = citations.parse(text + end, sources_count)
    assert parsed.citations == tuple(put)
    beyond = [found.span for found in put if found.marker > sources_count]
    assert [issue.span for issue in parsed.issues] == beyond


@given(st.text(st.sampled_from("[^]\\`01a \n") | st.characters(codec=None)), st.integers(0, 3))
def test_any_text_is_parsed_and_spans_slice_to_whole_markers(text: str, count: int) -> None:
    parsed = citations.parse(text, count)
    assert parsed == citations.parse(text, count)
    for found in parsed.citations:
        assert text[slice(*found.span)] == f"[^{found.marker}]"
    malformed = [issue.span for issue in parsed.issues if issue.kind == "malformed"]
    spans = sorted([found.span for found in parsed.citations] + malformed)
    for start, end in spans:
        assert text[start : start + 2] == "[^"
        assert text.index("]", start) == end - 1
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))


@given(st.text(st.sampled_from("[^]1ax \n")))
def test_whatever_stands_between_two_fences_is_hidden(text: str) -> None:
    assert is_plain(f"```\n{text}\n```")


@pytest.mark.parametrize(
    "piece",
    [
        "[^",
        "[",
        "\\",
        "`",
        "```\n",
        " ",
        " \n",
        "[^1",
        "[^]",
        "[^a\n",
        "\\[^",
        "1",
        "[^" + "1" * 99,
        "\t`",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    started = time.process_time()
    citations.parse("[^" + piece * (300_000 // len(piece)), 3)
    assert (
        time.process_time() - started < 3
    )  # seconds of this process: a busy machine does not count
