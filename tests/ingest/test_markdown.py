"""Markdown in sections, and where its links lead."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.ingest.readers import markdown

Sections = list[tuple[tuple[str, ...], list[str]]]


def sections(text: str) -> Sections:
    return [
        (each.headings, [block.text for block in each.blocks])
        for each in markdown.outline(text).sections
        if each.blocks
    ]


def test_a_first_heading_above_all_others_is_the_title_and_no_part_of_the_paths() -> None:
    found = markdown.outline(
        "# Ferries\n\nIntro.\n\n## Times\n\nAt nine.\n\n### Sunday\n\nNever.\n"
    )
    assert found.title == "Ferries"
    assert [(each.headings, [block.text for block in each.blocks]) for each in found.sections] == [
        ((), ["Intro."]),
        (("Times",), ["At nine."]),
        (("Times", "Sunday"), ["Never."]),
    ]


def test_without_one_highest_heading_there_is_no_title() -> None:
    for text in ("# A\n\na\n\n# B\n\nb", "words first\n\n# A\n\na"):
        assert markdown.outline(text).title == ""
    assert sections("# A\n\na\n\n# B\n\nb") == [(("A",), ["a"]), (("B",), ["b"])]


def test_front_matter_names_the_title_and_stays_as_text() -> None:
    text = '---\ntitle: "Ferry times"\ntags: sea\n---\n# Other\n\nAt nine.'
    assert markdown.outline(text).title == "Ferry times"
    assert sections(text) == [((), ['title: "Ferry times"\ntags: sea', "At nine."])]


def test_a_rule_at_the_beginning_is_no_front_matter() -> None:
    assert sections("---\n\nAt nine.") == [((), ["---", "At nine."])]


def test_underlined_lines_are_headings_and_rules_are_not() -> None:
    assert sections("A\n===\n\na\n\nB\n---\n\nb") == [((), ["a"]), (("B",), ["b"])]
    assert sections("- item\n---\n\nb") == [((), ["- item\n---", "b"])]


def test_marks_in_code_are_no_headings() -> None:
    text = "# A\n\n```sh\n# no heading\n\nstill code\n```\n\nafter\n\n~~~\n## none\n~~~\n"
    assert sections(text) == [
        ((), ["```sh\n# no heading\n\nstill code\n```", "after", "~~~\n## none\n~~~"])
    ]


def test_an_open_fence_runs_to_the_end() -> None:
    assert sections("```\n# x\n\ny") == [((), ["```\n# x\n\ny"])]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("## Times ##", "Times"),
        ("## The `ask` *command*", "The ask command"),
        ("## [Times](a.md) {#times}", "Times"),
        ("##\tTabbed", "Tabbed"),
    ],
)
def test_headings_lose_their_marks(line: str, name: str) -> None:
    assert sections(f"x\n\n{line}\n\nbody")[-1] == ((name,), ["body"])


def test_what_only_looks_like_a_heading_is_text() -> None:
    for line in ("#hashtag", "####### seven", "    # code"):
        assert sections(line) == [((), [line])]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see [a](b.md) and [c](../d.md#times)", [("b.md", ""), ("../d.md", "times")]),
        ("[a](<b c.md>)", [("b c.md", "")]),
        ("[a](b%20c.md)", [("b c.md", "")]),
        ('[a](b.md "title")', [("b.md", "")]),
        ("[a](b_(c).md)", [("b_(c).md", "")]),
        ("[a][1]\n\n[1]: b.md", [("b.md", "")]),
        ('<a class="x" href="b.html#y">b</a>', [("b.html", "y")]),
        ("[a](https://example.org/b.md) [m](mailto:x@y) [p](//host/b)", []),
        ("[a](#here)", [("", "here")]),
        ("[a](b.md?raw=1)", [("b.md", "")]),
        ("nothing (here) [at] all", []),
    ],
)
def test_links_lead_to_paths_and_anchors(text: str, found: list[tuple[str, str]]) -> None:
    assert list(markdown.links(text)) == found


@given(st.text(alphabet="#-=`~ \n\tab|\"'", max_size=200))
def test_no_word_gets_lost(text: str) -> None:
    found = markdown.outline(text)
    headings = dict.fromkeys("".join(each.headings) for each in found.sections)
    blocks = [block.text for each in found.sections for block in each.blocks]
    kept = "".join([found.title, *headings, *blocks])
    assert all(letter in kept for letter in "ab" if letter in text)


@pytest.mark.parametrize(
    "unit", ["# ", "[", "](", "```\n", "- ", "a\n---\n", "<a href=", "*`", "<!--", "<!---->"]
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    markdown.outline(text)
    assert sum(1 for _ in markdown.links(text)) >= 0


def test_comments_are_left_out_but_not_in_code() -> None:
    text = "# Ferry <!-- a -->\n\nAt <!-- b --> nine\n<!-- c -->\nsharp.\n\n<!-- d\n# no\n-->\n\n"
    assert sections(f"{text}```html\n<!-- e -->\n```\n") == [
        ((), ["At  nine\nsharp.", "```html\n<!-- e -->\n```"])
    ]
    assert sections("a <!-- b\nc --> d <!-- e\n-->f") == [((), ["a \n d \nf"])]
    assert sections(f"a <!--{2000 * '-'}--> b <!----> c") == [((), ["a  b  c"])]
    assert sections(f"a <!--{2001 * 'x'}--> b\nc --> d") == [((), ["a \n d"])]  # too long


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```{note}\nMind the gap.\n```", "Note:\nMind the gap."),
        ("~~~{warning} High tide\nWait.\n~~~", "Warning: High tide\nWait."),
        (":::tip\nGo early.\n:::", "Tip:\nGo early."),
        ("> [!IMPORTANT]\n> Pay.", "> Important:\n> Pay."),
        ("```{code-block} python\nx = 1\n```", "```python\nx = 1\n```"),
        ("```{r}\nx\n```", "```r\nx\n```"),
        ("::: {.wide}\nText.\n:::", "Text."),
        (":::{figure}\nA ferry.\n:::", "A ferry."),
        ("(a-target)=\nSee {func}`leave` there.", "See `leave` there."),
        ("```\n{func}`leave`\n```", "```\n{func}`leave`\n```"),
    ],
)
def test_notes_are_text_and_code_of_a_directive_is_code(text: str, expected: str) -> None:
    assert sections(text) == [((), [expected])]
