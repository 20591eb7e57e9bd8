"""What a question asks for, and whether a text has it."""

import pytest

from redask.providers.extractive import expected_answer
from redask.providers.extractive.expected_answer import Sought


@pytest.mark.parametrize(
    ("question", "sought"),
    [
        ("Who wrote it?", Sought.NAME),
        ("In which country is it?", Sought.NAME),
        ("where is it", Sought.NAME),
        ("When did it end?", Sought.DATE),
        ("In what year did it end?", Sought.DATE),
        ("How many are there?", Sought.NUMBER),
        ("What percentage is it?", Sought.NUMBER),
        ("What is it when it rains?", None),
        ("How does it work?", None),
        ("Why who?", None),
        ("Wer hat es geschrieben?", None),
        ("", None),
    ],
)
def test_the_first_question_word_decides(question: str, sought: Sought | None) -> None:
    assert expected_answer.of(question) is sought


@pytest.mark.parametrize(
    ("sought", "text", "expected"),
    [
        (Sought.NAME, "It was Rollo.", 1.0),
        (Sought.NAME, "Nobody knows the ferry.", 0.0),
        (Sought.NAME, "We met Ana.", 0.0),
        (Sought.NAME, "Then The End", 1.0),
        (Sought.NAME, "Then The", 0.0),
        (Sought.DATE, "It ended in 1748.", 1.0),
        (Sought.DATE, "It ended in May.", 1.0),
        (Sought.DATE, "It ended at 9.", 0.5),
        (Sought.DATE, "It ended in 1999.", 0.0),
        (Sought.NUMBER, "There are 7,200.", 1.0),
        (Sought.NUMBER, "There are two.", 1.0),
        (Sought.NUMBER, "There are some.", 0.0),
        (None, "It was Rollo in 1748.", 0.0),
    ],
)
def test_what_is_found_is_not_what_was_said(
    sought: Sought | None, text: str, expected: float
) -> None:
    assert expected_answer.found(sought, text, {"ana", "1999"}) == expected


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Why did Zoltan and Ana-Maria leave?", ["Zoltan", "Ana-Maria"]),
        ("What is the status of order 9999?", ["9999"]),
        ("What Is The Refund Policy?", ["Refund", "Policy"]),
        ("“Who is Ana?”", ["Ana"]),
        ("Who needs 12 of 1,000 or 3.1415?", []),
        ("Wie viele Einwohner hat Berlin?", []),
        ("Welche Bestellung hat Nummer 9999?", ["9999"]),
        ("Ana?", []),
        ("", []),
    ],
)
def test_names_are_capitalised_in_english_and_numbers_are_long(
    question: str, names: list[str]
) -> None:
    assert expected_answer.names(question) == names
