"""Contract 24: an answer is split into claims with their spans and markers."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules import citations
from redask.core.rules.grounding import claims


def texts(answer: str) -> list[str]:
    return [claim.text for claim in claims.split(answer)]


def cited(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    return [(claim.text, claim.markers) for claim in claims.split(answer)]


# --- sentences and their markers --------------------------------------------------------


def test_a_marker_covers_the_sentence_it_ends() -> None:
    assert cited("The ferry leaves at nine [^1]. It arrives at ten. [^2] It is slow.") == [
        ("The ferry leaves at nine.", (1,)),
        ("It arrives at ten.", (2,)),
        ("It is slow.", ()),
    ]


def test_markers_in_a_row_all_count_and_each_once() -> None:
    assert cited("It leaves [^2][^1], [^2].\nIt stops.[^3] [^4]") == [
        ("It leaves,.", (2, 1)),
        ("It stops.", (3, 4)),
    ]


def test_a_marker_in_the_middle_counts_for_its_sentence() -> None:
    assert cited("As [^1] says, it leaves at nine.") == [("As says, it leaves at nine.", (1,))]


def test_a_marker_before_a_lower_case_word_opens_the_next_sentence() -> None:
    assert cited("It is so. [^1] says nine.") == [("It is so. says nine.", (1,))]


def test_a_line_that_ends_in_a_marker_ends_its_claim() -> None:
    assert cited("name: Nord, status: late [^1]\ntitle: X [^2]") == [
        ("name: Nord, status: late", (1,)),
        ("title: X", (2,)),
    ]


def test_spans_are_code_points_and_include_the_markers() -> None:
    answer = "  Ça 𝔸 va. [^1] Oui, ça va."
    first, second = claims.split(answer)
    assert answer[slice(*first.span)] == "Ça 𝔸 va. [^1]"
    assert answer[slice(*second.span)] == "Oui, ça va."


@pytest.mark.parametrize(
    "answer",
    [
        "It costs 3.5 million, e.g. in Kiel.",
        "Dr. Smith of St. Ives met J. R. Tolkien in the U.S. Senate.",
        "It began c. 1600 and ended (approx. 1700).",
        "They won, vs. nobody.",
        "The office is at Av. Paulista 2022 in São Paulo.",
        "The shop is at 12 Main St. Boston.",
        "One line\ngoes on here.",
        "He said so (in 1990.) and left.",
    ],
)
def test_this_is_one_sentence(answer: str) -> None:
    assert len(texts(answer)) == 1


@pytest.mark.parametrize(
    ("answer", "count"),
    [
        ("It was in the U.S. The rest is known.", 2),
        ("The shop is on 5th Ave. The bank is on Main St. It is old.", 3),
        ("It is so! It is not... Or is it. ?", 3),
        ("It is so.\n\nIt is not", 2),
        ("他在這裡。她不在！", 2),
        ("He came. 'It is so.' She left.", 3),
        (". It is so. ", 1),
        ("The end etc.", 1),
        ("Ask Priya (ext. 4471) for it. Or call.", 2),
        ("That is the max. They left.", 2),
        ("It ended at 5. They left.", 2),
        ("It was Mr.", 1),
        ("He is J.", 1),
    ],
)
def test_sentences_are_counted(answer: str, count: int) -> None:
    assert len(texts(answer)) == count


# --- lists and tables -------------------------------------------------------------------


def test_a_marker_before_a_list_covers_its_items() -> None:
    answer = (
        "According to [^1]:\n- one thing\n- two things [^2]. And three.\n1. numbered\n\nOther text."
    )
    assert cited(answer) == [
        ("According to:", (1,)),
        ("one thing", (1,)),
        ("two things.", (2,)),
        ("And three.", (1,)),
        ("numbered", (1,)),
        ("Other text.", ()),
    ]


def test_a_lead_in_without_a_marker_is_no_claim() -> None:
    assert cited("It is so [^1]. The ports are:\n* Kiel [^1]\n* Rostock") == [
        ("It is so.", (1,)),
        ("Kiel", (1,)),
        ("Rostock", ()),
    ]


def test_an_item_goes_on_in_the_next_line() -> None:
    assert texts("- one thing\n  and more\n- two") == ["one thing\n  and more", "two"]


def test_rows_are_claims_and_header_and_rule_are_not() -> None:
    answer = "| port | berths [^2] |\n|---|:-:|\n| Kiel | 3 [^1] |\n| Rostock | 4 |\n\ntext here"
    assert cited(answer) == [
        ("| Kiel | 3 |", (1,)),
        ("| Rostock | 4 |", (2,)),
        ("text here", ()),
    ]


def test_a_lead_in_covers_a_table_too_but_not_what_follows_it() -> None:
    answer = "From [^1]:\n\n| port | berths |\n|---|---|\n| Kiel | 3 |\n- Rostock"
    assert cited(answer) == [("From:", (1,)), ("| Kiel | 3 |", (1,)), ("Rostock", ())]


def test_a_table_without_outer_pipes_and_rows_without_a_rule() -> None:
    assert texts("port | berths\n--- | ---\nKiel | 3\nno table") == ["Kiel | 3", "no table"]
    assert texts("| Kiel | 3 |\n| Rostock | 4 |") == ["| Kiel | 3 |", "| Rostock | 4 |"]
    assert texts("|---|---|\n| Kiel | 3 |") == ["| Kiel | 3 |"]


# --- what is no claim --------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "```\ncode here. [^1]\n```",
        "```\nan open fence hides the rest.",
        "> quoted words.",
        "# A heading",
        "**A heading:**",
        "__A heading__",
        "A heading\n===",
        "`code alone`",
        "Is it so?",
        "Is it „so?“",
        "***",
        "Hello there!",
        "Sure, here is what I found:",
        "I hope this helps.",
        "Thanks, Anna",
        "I found nothing in the data that answers this question.",
        "The data does not hold an answer to this question.",
        "The provided sources do not mention the price [^1].",
        "The price is not given in the data.",
        "There is no information about the price.",
        "Unfortunately, I could not find the price.",
        "The sources say nothing about it.",
    ],
)
def test_this_is_no_claim(answer: str) -> None:
    assert texts(answer) == []


@pytest.mark.parametrize(
    "answer",
    [
        "The data does not say why, but the ferry leaves at nine.",
        "Sure, it leaves at 9.",
        "The document was not given to Smith.",
        "Hello is a greeting [^1].",
        "It is so.\n---",
        "One line\nand a second\n---",
    ],
)
def test_this_is_a_claim(answer: str) -> None:
    assert len(texts(answer)) == 1


def test_a_list_item_over_a_rule_stays_an_item() -> None:
    assert texts("- Kiel\n---") == ["Kiel"]


# --- laws ----------------------------------------------------------------------------------

PIECES = st.sampled_from(
    """It is. ~Dr. ~[^1]~[^2] ~\n~\n\n~- ~```\n~> ~?~:~# ~é𝔸~. ~a.b~---\n~According to [^3]:\n"""
    """~\\~**~`x`\n~nine~ 。~| a | ~|---|\n""".split("~")
)


@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=80))
def test_spans_are_in_order_apart_and_hold_the_text(answer: str) -> None:
    end = 0
    for claim in claims.split(answer):
        assert end <= claim.span[0] < claim.span[1] <= len(answer)
        end = claim.span[1]
        here = answer[slice(*claim.span)]
        assert claim.text == here or "[^" in here


@given(st.lists(PIECES, max_size=40).map("".join))
def test_markers_are_those_of_the_citations(answer: str) -> None:
    known = {citation.marker for citation in citations.parse(answer, 9).citations}
    assert {marker for claim in claims.split(answer) for marker in claim.markers} <= known


@pytest.mark.parametrize("piece", ["7", '"', "[^1]", "a. ", "- \n", "|", "not ", "the data ", "`"])
def test_hostile_answers_take_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        taken = []
        for _ in range(3):
            began = time.process_time()
            claims.split(text)
            taken.append(time.process_time() - began)
        return min(taken)  # garbage is looked for at any time

    assert seconds(400_000) < 60 * max(seconds(40_000), 0.01)  # quadratic: 100 times
