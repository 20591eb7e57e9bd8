"""A quotation brings the name that it stands for."""

import pytest
from quotable import ask, document

from redask.providers.extractive import naming
from redask.providers.extractive.excerpts import Excerpt, QuotableSource
from redask.providers.extractive.word_forms import Tokenizer


def line(
    *texts: str,
    name: str = "",
    headings: tuple[str, ...] = (),
    question: str = "",
    missing: tuple[str, ...] = (),
) -> str:
    passage = QuotableSource("", tuple(map(Excerpt, texts)), name, headings)
    tokens = Tokenizer().tokens
    shares = {token: 0.2 for word in missing for token in tokens(word)}
    return naming.named(passage, len(texts) - 1, question, shares, tokens)


def test_a_pronoun_brings_the_sentence_before_it_if_that_has_the_name() -> None:
    assert line("Iqbal was here.", "He left.", name="Iqbal") == "Iqbal was here. He left."
    assert line("Iqbal was here.", "He left.") == "Iqbal was here. He left."


@pytest.mark.parametrize(
    "before", ["It rained.", "They came. " + "Iqbal " * 60 + ".", "Nobody was here.", "Iqbal"]
)
def test_or_else_the_title_in_brackets(before: str) -> None:
    assert line(before, "He left.", name="Iqbal") == "[Iqbal] He left."
    assert line("He left.", name="Iqbal") == "[Iqbal] He left."


def test_the_battle_of_the_title_brings_the_title() -> None:
    name = "Battle of Hastings"
    assert line("The battle lasted for a whole long day, we hear.", name=name).startswith(
        f"[{name}]"
    )
    assert not line("The sea lies south of the field, as we hear now.", name=name).startswith("[")
    whole = "The battle of Hastings lasted for a whole day, we hear."
    assert line(whole, name=name) == whole


def test_question_words_that_the_line_lacks_bring_the_heading_that_has_them() -> None:
    text = "It is an elegant cache of all that was ever sent here."
    told = line(text, name="Packages", headings=("Plugins", "Hishel"), missing=("Hishel",))
    assert told == f"[Hishel] {text}"
    respelt = "Johanna Elisabeth of Gottorp was the regent for her minor son."
    assert line(respelt, name="Joanna Elisabeth of Gottorp", missing=("Joanna",)) == respelt


def test_a_date_that_is_asked_for_comes_from_the_heading() -> None:
    headings = ("0.25.0 (11th September, 2023)", "Removed")
    text = "Drop support for the versions of Python that are too old."
    asked = "When was support for Python 3.7 dropped?"
    assert line(text, headings=headings, question=asked) == f"[{headings[0]}] {text}"
    dated = "Drop support for Python in 2023, as was announced long ago."
    assert line(dated, headings=headings, question=asked) == dated


def test_few_words_bring_their_heading() -> None:
    assert line("WebSocket support.", headings=("httpx-ws",)) == "[httpx-ws] WebSocket support."


@pytest.mark.parametrize("name", ["", "x" * 81, "Yahoo! Inc", "What now?", "a] b"])
def test_what_cannot_stand_in_brackets_does_not(name: str) -> None:
    assert line("He left.", name=name) == "He left."


def test_a_heading_a_record_and_a_row_stand_for_themselves() -> None:
    assert line("0.1 (2024)", headings=("0.1 (2024)",)) == "0.1 (2024)"
    tokens = Tokenizer().tokens
    for excerpt in (Excerpt("it: 1", fields=("it: 1",)), Excerpt("| it |", header="| a |\n|---|")):
        passage = QuotableSource("", (excerpt,), "Name")
        assert naming.named(passage, 0, "", {}, tokens) == excerpt.text


def test_the_name_is_brought_once() -> None:
    source = document(1, "He studied in Munich for years. His thesis was on Munich.", "Iqbal")
    answer = ask("Where did Iqbal study, in Munich?", source)
    assert answer.count("[Iqbal]") == 1
