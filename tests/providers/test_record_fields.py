"""Of a record the field that is asked for comes first, and alone with what names the record."""

import pytest

from redask.providers.extractive.record_fields import MAX_LENGTH, MOST_FIELDS, shown
from redask.providers.extractive.word_forms import Tokenizer

FIELDS = ("name: Nordfracht", "city: Kiel", "hire_date: 2002", "id: 3", "manager: Ines Holm")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is the manager of Nordfracht?", "manager: Ines Holm, name: Nordfracht"),
        ("What is the hire date of number 3?", "hire_date: 2002, name: Nordfracht, id: 3"),
        ("manager and city of Nordfracht", "city: Kiel, manager: Ines Holm, name: Nordfracht"),
        ("What is known of Nordfracht?", ", ".join(FIELDS)),
        ("Which city is Kiel?", ", ".join(FIELDS)),  # its value is in the question
    ],
)
def test_what_the_question_names_is_shown(question: str, expected: str) -> None:
    tokens = Tokenizer().tokens
    assert shown(FIELDS, tokens(question), tokens) == expected


def test_of_a_wide_record_a_few_fields_are_shown_those_with_question_words_first() -> None:
    fields = [f"column{n}: filler" for n in range(9)] + ["harbour: Husum mole"]
    tokens = Tokenizer().tokens
    told = shown(fields, tokens("Husum"), tokens)
    assert told.count(": ") == MOST_FIELDS
    assert told.endswith("harbour: Husum mole")
    long = [f"c{n}: " + "x" * 200 for n in range(4)]
    assert shown(long, [], tokens) == long[0]
    assert len(long[0]) < MAX_LENGTH
