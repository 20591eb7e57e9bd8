"""The expected answer type of a question, and whether a text has one."""

import pytest

from redask.providers.extractive import expected_answer
from redask.providers.extractive.expected_answer import AnswerShape, AnswerType


@pytest.mark.parametrize(
    ("question", "answer_type"),
    [
        ("Who wrote it?", AnswerType.NAME),
        ("In which country is it?", AnswerType.NAME),
        ("where is it", AnswerType.NAME),
        ("When did it end?", AnswerType.DATE),
        ("In what year did it end?", AnswerType.DATE),
        ("How many are there?", AnswerType.NUMBER),
        ("What percentage is it?", AnswerType.NUMBER),
        ("What is the default timeout?", AnswerType.VALUE),
        ("What is the largest limit of rows?", AnswerType.VALUE),
        ("On which port does it run by default?", AnswerType.VALUE),
        ("Which Python versions does it support?", AnswerType.VERSION),
        ("What is it when it rains?", None),
        ("How does it work?", None),
        ("Why who?", None),
        ("Wer hat es geschrieben?", None),
        ("", None),
    ],
)
def test_the_first_question_word_decides(question: str, answer_type: AnswerType | None) -> None:
    assert expected_answer.of(question) is answer_type


@pytest.mark.parametrize(
    ("answer_type", "text", "expected"),
    [
        (AnswerType.NAME, "It was Rollo.", 1.0),
        (AnswerType.NAME, "Nobody knows the ferry.", 0.0),
        (AnswerType.NAME, "We met Ana.", 0.0),
        (AnswerType.NAME, "Then The End", 1.0),
        (AnswerType.NAME, "Then The", 0.0),
        (AnswerType.DATE, "It ended in 1748.", 1.0),
        (AnswerType.DATE, "It ended in May.", 1.0),
        (AnswerType.DATE, "It ended at 9.", 0.5),
        (AnswerType.DATE, "It ended in 1999.", 0.0),
        (AnswerType.NUMBER, "There are 7,200.", 1.0),
        (AnswerType.NUMBER, "There are two.", 1.0),
        (AnswerType.NUMBER, "There are some.", 0.0),
        (AnswerType.VALUE, "The default is five seconds.", 1.0),
        (AnswerType.VALUE, "Set `timeout=5` for that (#12).", 0.5),
        (AnswerType.VALUE, "It is off.", 0.5),
        (AnswerType.VALUE, "There is one for all of it, maybe.", 1.0),
        (AnswerType.VALUE, "There is some.", 0.0),
        (None, "It was Rollo in 1748.", 0.0),
    ],
)
def test_words_of_the_question_are_not_its_answer(
    answer_type: AnswerType | None, text: str, expected: float
) -> None:
    assert expected_answer.found(answer_type, text, {"ana", "1999"}) == expected


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Why did Zoltan and Ana-Maria leave?", ["Zoltan", "Ana-Maria"]),
        ("What is the status of order 9999?", ["9999"]),
        ("What Is The Refund Policy?", ["Refund", "Policy"]),
        ("“Who is Ana?”", ["Ana"]),
        ("Does the ferry run in Kafka mode?", ["Kafka"]),
        ("Island of Amrum", []),
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


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("How do I stream a response?", AnswerShape.STEPS),
        ("how to install it", AnswerShape.STEPS),
        ("Show me an example of basic auth", AnswerShape.STEPS),
        ("Which command starts it?", AnswerShape.STEPS),
        ("List all the types", AnswerShape.LIST),
        ("Which event hooks are there?", AnswerShape.LIST),
        ("Which methods stream it?", AnswerShape.LIST),
        ("What is the difference between a and b?", AnswerShape.LIST),
        ("What changed in 0.28?", AnswerShape.LIST),
        ("What does NO_PROXY do?", None),
        ("What verifies it?", None),
        ("Which class is it?", None),
        ("How does it work?", None),
        ("How many are there?", None),
    ],
)
def test_the_shape_of_an_answer_is_told_by_the_question(
    question: str, shape: AnswerShape | None
) -> None:
    assert expected_answer.shape(question) is shape
