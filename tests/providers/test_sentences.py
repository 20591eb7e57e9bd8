"""Running text becomes sentences, whatever the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.providers.extractive.sentences import MAX_LENGTH, MAX_LINES, split
from redask.providers.extractive.text_blocks import one_line


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in split(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We left! Why?", ["It rained.", "We left!", "Why?"]),
        ("Dr. Smith saw No. 7. He left.", ["Dr. Smith saw No. 7.", "He left."]),
        ("Ask Priya (ext. 4471) for it. Or call.", ["Ask Priya (ext. 4471) for it.", "Or call."]),
        ("J. R. R. Tolkien wrote. He slept.", ["J. R. R. Tolkien wrote.", "He slept."]),
        (
            "In the U.S. Senate. In the U.S. The end.",
            ["In the U.S. Senate.", "In the U.S.", "The end."],
        ),
        ("A function of n. Since then.", ["A function of n.", "Since then."]),
        ("Built c. 700 BC. See chap. 3.", ["Built c. 700 BC.", "See chap. 3."]),
        ("It costs 3.50 euros. Fine.", ["It costs 3.50 euros.", "Fine."]),
        ("approx. four e.g. this one.", ["approx. four e.g. this one."]),
        ("“It is.” He left.", ["“It is.”", "He left."]),
        (
            "It fell.[3] He left.[citation needed] End.",
            ["It fell.[3]", "He left.[citation needed]", "End."],
        ),
        ("It fell ... and rose.", ["It fell ... and rose."]),
        ("It fell... Then it rose.", ["It fell...", "Then it rose."]),
        ("船九点开。票价十四欧元！你来吗？", ["船九点开。", "票价十四欧元！", "你来吗？"]),
        ("Wrapped at\nsome column.  Next\tone.", ["Wrapped at some column.", "Next one."]),
        ("One\n\nTwo", ["One", "Two"]),
        (
            "- first\n- second\n* third\n1. fourth\n> fifth",
            ["first", "second", "third", "fourth", "fifth"],
        ),
        ("| a | b |\n| c | d |", ["| a | b |", "| c | d |"]),
        ("Run this:\n```sh\nmake demo\n```\nDone.", ["Run this:", "Done."]),
        ("No end", ["No end"]),
        ("", []),
        (" \n\t ", []),
        ("?! ... --", []),
    ],
)
def test_sentences_end_where_readers_see_an_end(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_a_heading_is_a_sentence_and_the_heading_of_those_below() -> None:
    found = split("Before.\n# Refunds\nWithin 30 days. Always.\n## Gifts\n\nNever.")
    assert [(one.text, one.heading) for one in found] == [
        ("Before.", ""),
        ("Refunds", ""),
        ("Within 30 days.", "Refunds"),
        ("Always.", "Refunds"),
        ("Gifts", ""),
        ("Never.", "Gifts"),
    ]


def test_code_belongs_to_the_paragraph_that_introduces_it() -> None:
    found = split("Install it. Then run:\n\n```sh\nmake  demo\n\nmake test\n```\n\nDone.")
    code = "```sh\nmake  demo\n\nmake test\n```"
    assert [(one.text, one.below, one.leads, one.leader) for one in found] == [
        ("Install it.", code, False, "Then run:"),
        ("Then run:", code, True, ""),
        ("Done.", "", False, ""),
    ]


def test_code_that_nothing_introduces_is_a_sentence_without_text() -> None:
    found = split("```\na\n```\n```\nb\n```\n# Head\n```\nc\n```")
    assert [(one.text, one.below, one.heading) for one in found] == [
        ("", "```\na\n```", ""),
        ("", "```\nb\n```", ""),
        ("Head", "```\nc\n```", ""),
    ]


def test_long_code_is_cut_and_code_with_a_fence_in_it_is_left_out() -> None:
    (one,) = split("Run:\n```\n" + "x\n" * 99 + "```")
    assert one.below.count("\n") == MAX_LINES + 2
    assert one.below.endswith("x\n…\n```")
    (one,) = split("Run:\n```\n" + "y" * 2000 + "\n```")
    assert one.below == "```\n…\n```"
    (one,) = split("Run:\n~~~\n ```\n~~~")
    assert (one.below, one.leads) == ("", False)


def test_a_list_belongs_to_its_lead_in_with_the_code_behind_it() -> None:
    found = split("Two. They are:\n\n- a: first\n- b\n\n```\ncode\n```\n\nEnd.")
    listed = "- a: first\n- b\n```\ncode\n```"
    assert [(one.text, one.lead, one.below) for one in found] == [
        ("Two.", "", listed),
        ("They are:", "", listed),
        ("a: first", "They are:", ""),
        ("b", "They are:", ""),
        ("End.", "", ""),
    ]


def test_an_item_has_the_items_that_are_indented_more() -> None:
    found = split("* a\n    * b\n        * c\n    * d\n* e:\n```\nf\n```")
    assert [(one.text, one.below) for one in found] == [
        ("a", "    * b\n        * c\n    * d"),
        ("b", "        * c"),
        ("c", ""),
        ("d", ""),
        ("e:", "```\nf\n```"),
    ]


def test_a_long_list_is_cut_and_an_item_is_one_piece_unless_it_is_long() -> None:
    found = split("All:\n" + "- one. Two.\n" * 99)
    assert found[0].below.count("\n") == MAX_LINES
    assert found[0].below.endswith("\n- …")
    assert found[1].text == "one. Two."
    assert split("- " + "One more. " * 40)[0].text == "One more."


def test_a_table_belongs_to_its_lead_in_and_its_header_to_each_row() -> None:
    found = split("Prices:\n\n| what | euro |\n| --- | --- |\n| ferry | 14 |")
    header = "| what | euro |\n| --- | --- |"
    assert [(one.text, one.below, one.header) for one in found] == [
        ("Prices:", f"{header}\n| ferry | 14 |", ""),
        ("| ferry | 14 |", "", header),
    ]


def test_a_long_sentence_is_cut_at_spaces_and_marked() -> None:
    found = texts("word " * 300)
    assert len(found) == 4
    assert all(len(piece) <= MAX_LENGTH for piece in found)
    assert found[0].endswith("word …")
    assert found[1].startswith("… word")
    assert sum(piece.count("word") for piece in found) == 300


def test_a_long_word_is_cut_anywhere_and_nothing_is_lost() -> None:
    found = texts("x" * 1234)
    assert all(len(piece) <= MAX_LENGTH for piece in found)
    assert sum(piece.count("x") for piece in found) == 1234


def test_control_characters_and_lone_surrogates_become_spaces() -> None:
    assert one_line("a\x00b\x1b[31mc\u2028d\x85e\ud800f\x7fg") == "a b [31mc d e f g"


@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_every_sentence_is_one_encodable_line_with_a_word(text: str) -> None:
    for sentence in split(text):
        assert sentence.text.strip() == sentence.text
        assert len(sentence.text.splitlines()) == 1
        assert len(sentence.text) <= MAX_LENGTH
        assert sentence.text.encode()
        assert any(letter.isalnum() or letter == "_" for letter in sentence.text)


@given(st.lists(st.sampled_from(["a", "B", ". ", "! ", "? ", "Dr. ", "U.S. ", "\n", "\n\n", "é"])))
def test_no_word_is_lost(parts: list[str]) -> None:
    text = "".join(parts)
    letters = [letter for letter in text if letter.isalnum()]
    assert [letter for one in texts(text) for letter in one if letter.isalnum()] == letters


@pytest.mark.parametrize(
    "unit", ["a", "!?", ". ", "\\", "`", "# a\n", "Aa ", "A.B.", "船", "e\u0301"]
)
def test_a_megabyte_of_anything_is_split(unit: str) -> None:
    found = split(unit * (1_000_000 // len(unit)))
    assert all(len(sentence.text) <= MAX_LENGTH for sentence in found)
