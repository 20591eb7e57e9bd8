"""Chunks: never too long, along headings and blocks, with labels that stay."""

import random

from hypothesis import given
from hypothesis import strategies as st

from redask.core.token_count import estimate
from redask.ingest.readers import chunks, markdown
from redask.ingest.readers.chunks import MAX_TOKENS, Chunk


def cut(text: str) -> list[Chunk]:
    return list(chunks.cut(markdown.outline(text)))


def labels(text: str) -> list[str]:
    return [chunk.label for chunk in cut(text)]


def paragraph(number: int, words: int = 60) -> str:
    chance = random.Random(number)
    return f"p{number} " + " ".join(chance.choice(["tide", "ferry", "late"]) for _ in range(words))


def test_every_section_has_chunks_of_its_own() -> None:
    found = cut("# T\n\nintro\n\n## A\n\na1\n\na2\n\n## B\n\n### C\n\nc")
    assert found == [
        Chunk((), "top", "intro", {"line": 3}),
        Chunk(("A",), "a", "a1\n\na2", {"line": 7}),
        Chunk(("B", "C"), "b.c", "c", {"line": 15}),
    ]


def test_a_long_section_is_cut_between_blocks() -> None:
    text = "\n\n".join(paragraph(number, 100) for number in range(5))
    found = cut(f"# T\n\n## Times\n\n{text}")
    assert [chunk.label for chunk in found] == ["times", "times~2", "times~3"]
    assert "\n\n".join(chunk.text for chunk in found) == text


def test_labels_stay_when_other_sections_change() -> None:
    bodies = {name: f"## {name}\n\n{paragraph(place)}" for place, name in enumerate("ABCD")}
    before = {chunk.label: chunk.text for chunk in cut("# T\n\n" + "\n\n".join(bodies.values()))}
    bodies["B"] = "## B\n\n" + "\n\n".join(paragraph(number, 150) for number in range(9))
    del bodies["C"]
    bodies["A"] = "## New\n\nnew\n\n" + bodies["A"]
    after = {chunk.label: chunk.text for chunk in cut("# Other\n\n" + "\n\n".join(bodies.values()))}
    assert {label: before[label] for label in ("a", "d")} == {
        label: after[label] for label in ("a", "d")
    }
    assert "c" not in after
    assert {"b", "b~2", "new"} <= set(after)


def test_sections_with_the_same_heading_get_different_labels() -> None:
    assert labels("# T\n\n## X\n\na\n\n## X\n\nb\n\n## Top\n\nc") == ["x", "x-2", "top-2"]
    assert labels("# T\n\n## X\n\na\n\n## X\n\nb\n\n## X 2\n\nc") == ["x", "x-2", "x-2-2"]
    assert labels("# T\n\n## X 2\n\na\n\n## X\n\nb\n\n## X\n\nc") == ["x-2", "x", "x-3"]
    assert labels("## A\n\n### X\n\na\n\n## B\n\n### X\n\nb") == ["a.x", "b.x"]


def test_headings_of_any_script_and_none_make_labels() -> None:
    assert labels("x\n\n# Über uns!\n\na\n\n# 港口\n\nb\n\n# ???\n\nc") == [
        "top",
        "über-uns",
        "港口",
        "section",
    ]
    assert len(labels("x\n\n# " + "long " * 50 + "\n\na")[1]) <= 60


def test_long_code_keeps_its_lines_and_indentation() -> None:
    code = "```\n" + "\n".join(f"    call({number}, value)" for number in range(200)) + "\n```"
    found = cut(code)
    assert len(found) > 3
    assert all(chunk.text.startswith("```\n") and chunk.text.endswith("\n```") for chunk in found)
    inside = "\n".join(chunk.text[4:-4] for chunk in found)
    assert f"```\n{inside}\n```" == code
    lines = code.split("\n")
    starts = [(int(chunk.place["line"]), chunk.text.split("\n")[1]) for chunk in found]
    assert starts[0] == (1, "    call(0, value)")
    assert all(lines[line - 1] == first for line, first in starts[1:])


def test_a_paragraph_without_line_breaks_is_cut_behind_sentences() -> None:
    text = " ".join(f"Ferry {number} leaves the harbour at nine." for number in range(200))
    found = cut(text)
    assert all(chunk.text.endswith("nine.") for chunk in found)
    assert " ".join(chunk.text for chunk in found) == text


def test_text_without_spaces_is_cut_anyway() -> None:
    for text in ("渡轮九点开船。" * 300, "x" * 5000, "!" * 3000, "渡" * 3000):
        found = cut(text)
        assert "".join(chunk.text for chunk in found) == text
        assert all(estimate(chunk.text) <= MAX_TOKENS for chunk in found)


_PIECES = st.sampled_from(
    ["word ", "incomprehensibilities ", "12345", ". ", "\n", "\n\n", "。", "渡"]
)


@given(st.lists(_PIECES, max_size=1500).map("".join))
def test_no_chunk_is_too_long_and_no_character_gets_lost(text: str) -> None:
    found = cut(text)
    assert all(0 < estimate(chunk.text) <= MAX_TOKENS for chunk in found)
    assert "".join("".join(chunk.text.split()) for chunk in found) == "".join(text.split())
    assert len({chunk.label for chunk in found}) == len(found)


_HEADINGS = st.sampled_from(["# X", "## X", "## X 2", "### x-2", "# Top", "## Top 2", "#", "a"])


@given(st.lists(_HEADINGS, max_size=30))
def test_no_two_chunks_have_one_label(headings: list[str]) -> None:
    text = "\n\n".join(f"{heading}\n\ntext" for heading in headings)
    for front in ("", "---\ntitle: x\n---\n", "words\n\n"):
        found = labels(front + text)
        assert len(set(found)) == len(found)


def test_a_huge_line_takes_neither_time_nor_memory() -> None:
    found = cut("!" * 2_000_000)
    assert len(found) == -(-2_000_000 // MAX_TOKENS)
