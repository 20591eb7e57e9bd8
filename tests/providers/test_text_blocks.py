"""Text becomes the blocks that a reader sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.providers.extractive import text_blocks
from redask.providers.extractive.text_blocks import TextBlockKind


def blocks(text: str) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in text_blocks.find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One\ntwo\n\nthree", [("text", "One two"), ("text", "three")]),
        ("# Head\nbody", [("heading", "Head"), ("text", "body")]),
        ("- a\n  more\n* b\n2. c", [("item", "a more"), ("item", "b"), ("item", "c")]),
        (
            "Run:\n```sh\na  b\n\n c\n```\nend",
            [("text", "Run:"), ("code", "a  b\n\n c"), ("text", "end")],
        ),
        ("~~~\n```\n~~~", [("code", "```")]),
        ("````\n```\n````", [("code", "```")]),
        ("```\nnever closed", [("code", "never closed")]),
        ("```\n\n```", []),
        (
            "Like so:\n\n    make\n\n    test\nend",
            [("text", "Like so:"), ("code", "make\n\ntest"), ("text", "end")],
        ),
        ("Not so.\n\n    make", [("text", "Not so."), ("text", "make")]),
        ("- item:\n\n    make", [("item", "item:"), ("text", "make")]),
        ('!!! tip "x"\n    Mind it.', [("text", "Mind it.")]),
        ("a\x00b\r\n```\n\ta\x1bb\r\n```", [("text", "a b"), ("code", "a b")]),
        ("", []),
    ],
)
def test_blocks_are_those_of_markdown(text: str, expected: list[tuple[str, str]]) -> None:
    assert blocks(text) == expected


def test_a_row_has_the_header_of_its_table() -> None:
    found = list(text_blocks.find("| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n\n| 5 | 6 |"))
    assert [(block.text, block.header) for block in found] == [
        ("| 1 | 2 |", "| a | b |\n|---|:-:|"),
        ("| 3 | 4 |", "| a | b |\n|---|:-:|"),
        ("| 5 | 6 |", ""),
    ]
    again = list(text_blocks.find("| a |\n|---|\n| 1 |\ntext\n| 2 |"))
    assert [block.header for block in again][-1] == ""


def test_items_keep_their_marks_and_depth_and_code_its_language() -> None:
    found = list(text_blocks.find("* a\n    * b\n\n```python title=x\nc\n```\n```{.no}\nd\n```"))
    assert [(block.kind, block.mark) for block in found] == [
        (TextBlockKind.ITEM, "* "),
        (TextBlockKind.ITEM, "    * "),
        (TextBlockKind.CODE, "python"),
        (TextBlockKind.CODE, ""),
    ]


@given(st.text(alphabet=st.sampled_from("ab `~|-#*>:!\n\t\r\x00.1 "), max_size=80))
def test_any_text_has_blocks_on_one_line_but_for_code(text: str) -> None:
    for block in text_blocks.find(text):
        assert block.text
        lines = block.text.split("\n")
        assert block.kind is TextBlockKind.CODE or len(lines) == 1
        assert lines[0].strip() or len(lines) > 1
        assert "\r" not in block.text


@pytest.mark.parametrize("unit", ["```\n", "a:\n\n    b\n", "- a\n", "|-\n", "| a\n", "\n", "    "])
def test_a_megabyte_of_anything_has_blocks(unit: str) -> None:
    assert sum(1 for _ in text_blocks.find(unit * (1_000_000 // len(unit)))) >= 0
