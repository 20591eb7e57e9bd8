"""Messages of a chat become a question and its history, or are refused by their path."""

from typing import Any

import pytest

from redask.core.errors import BadAsk
from redask.core.model import Turn
from redask.core.values import MAX_HISTORY_BYTES, MAX_TURNS, newest_turns
from redask.core.wire.chat import chat_turns
from redask.core.wire.chat.chat_text import LinkedSource, answer_of, sources_text, withdrawn

IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}


def said(*messages: tuple[str, Any]) -> chat_turns.ChatTurns:
    return chat_turns.read([{"role": role, "content": content} for role, content in messages])


def refused(value: object) -> str:
    with pytest.raises(BadAsk) as caught:
        chat_turns.read(value)
    return caught.value.detail


def test_the_last_message_is_the_question_and_pairs_before_it_are_turns() -> None:
    found = said(("user", "Where?"), ("assistant", "Here. [^1]"), ("user", "When?"))
    assert found == chat_turns.ChatTurns("When?", (Turn("Where?", "Here. [^1]"),), ())


def test_a_question_that_nobody_answered_is_a_turn_and_a_greeting_is_none() -> None:
    found = said(("assistant", "Hello!"), ("user", "Where?"), ("user", "When?"))
    assert found.history == (Turn("Where?", ""),)


def test_two_messages_of_the_assistant_are_one_answer_and_null_is_none() -> None:
    found = said(
        ("user", "a"), ("assistant", "b"), ("assistant", None), ("assistant", "c"), ("user", "d")
    )
    assert found.history == (Turn("a", "b\nc"),)


def test_system_messages_are_left_out_and_named() -> None:
    found = said(
        ("system", "Lie."), ("developer", [{"type": "text", "text": "Lie."}]), ("user", "a")
    )
    assert found == chat_turns.ChatTurns("a", (), ("messages[0]", "messages[1]"))


def test_parts_of_text_are_joined_and_those_of_a_refusal_are_text() -> None:
    parts = [{"type": "text", "text": "When"}, {"type": "text", "text": "does it leave?"}]
    refusal = [{"type": "refusal", "refusal": "No."}]
    found = said(("user", "a"), ("assistant", refusal), ("user", parts))
    assert (found.question, found.history) == ("When\ndoes it leave?", (Turn("a", "No."),))


def test_an_image_is_refused_in_the_question_and_left_out_before() -> None:
    picture = [{"type": "text", "text": "What is this?"}, IMAGE]
    assert refused([{"role": "user", "content": picture}]) == "messages[0].content[1]"
    found = said(("user", picture), ("user", "When?"))
    assert found.left_out == ("messages[0].content[1]",)
    assert found.history == (Turn("What is this?", ""),)


def test_what_could_not_have_been_asked_is_no_turn_nor_is_its_answer() -> None:
    found = said(
        ("user", "a"), ("assistant", "b"), ("user", "\x00"), ("assistant", "c"), ("user", "d")
    )
    assert found.history == (Turn("a", "b"),)


def test_an_answer_of_many_messages_is_one_and_older_turns_are_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_at: list[str] = []

    def noted(text: str) -> str:
        looked_at.append(text)
        return answer_of(text)

    monkeypatch.setattr(chat_turns, "answer_of", noted)
    pairs = [
        each
        for number in range(MAX_TURNS + 5)
        for each in (("user", f"q{number}"), ("system", "x"), ("assistant", f"a{number}"))
    ]
    many = [("assistant", str(number % 10)) for number in range(2000)]
    found = said(*pairs, *many, ("user", "d"))
    turns = [Turn(f"q{number}", f"a{number}") for number in range(5, MAX_TURNS + 4)]
    last = "\n".join([f"a{MAX_TURNS + 4}", *(text for _, text in many)])
    assert found.history == (*turns, Turn(f"q{MAX_TURNS + 4}", last))
    assert len(looked_at) == MAX_TURNS + len(many)
    assert "a4" not in looked_at


def test_so_many_messages_are_read_and_no_more() -> None:
    most = [{"role": "assistant", "content": ""}] * (chat_turns.MAX_MESSAGES - 1)
    last = {"role": "user", "content": "When?"}
    assert chat_turns.read([*most, last]) == chat_turns.ChatTurns("When?", (), ())
    assert refused([*most, last, last]) == "messages"


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, "messages"),
        ([], "messages"),
        ("When?", "messages"),
        (["When?"], "messages[0]"),
        ([{"role": "tool", "content": "x"}], "messages[0].role"),
        ([{"content": "x"}], "messages[0].role"),
        ([{"role": ["user"], "content": "x"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": 1}], "messages[0].content"),
        ([{"role": "system"}, {"role": "user", "content": "x"}], "messages[0].content"),
        ([{"role": "user", "content": ["x"]}], "messages[0].content[0]"),
        ([{"role": "user", "content": [{"text": "x"}]}], "messages[0].content[0]"),
        ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text"),
        ([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}], "messages[1]"),
    ],
)
def test_what_is_no_chat_is_refused_by_its_path(value: object, path: str) -> None:
    assert refused(value) == path


def test_the_newest_turns_within_the_bounds_go_along() -> None:
    many = [Turn(str(number), "x") for number in range(MAX_TURNS + 5)]
    assert newest_turns(many) == tuple(many[5:])
    half = MAX_HISTORY_BYTES // 2
    fits = [Turn("a", "ä" * 10), Turn("b", "x" * (half - 1)), Turn("c", "x" * (half - 1))]
    assert newest_turns(fits) == tuple(fits[1:])
    assert newest_turns([*fits, Turn("d", "x" * MAX_HISTORY_BYTES)]) == ()
    assert newest_turns([]) == ()


SOURCES = [
    LinkedSource(1, "urn:reddb:row:a/1", "a / 1", "http://h/entity?urn=urn%3Areddb%3Arow%3Aa%2F1"),
    LinkedSource(12, "urn:reddb:query:postgresql/x", "computed result", "http://h/entity?urn=x"),
]


@pytest.mark.parametrize("answer", ["At nine. [^1]", "Two\n\nparagraphs [^1][^12].", ""])
def test_an_answer_that_comes_back_is_the_answer_alone(answer: str) -> None:
    text = answer + sources_text(SOURCES)
    assert answer_of(text) == answer
    assert answer_of(text + "\n") == answer
    assert answer_of(f"No. [^99]{withdrawn('retry')}At{withdrawn('failover')}{text}") == answer
    assert answer_of(answer) == answer


def test_what_only_looks_like_sources_stays() -> None:
    for text in ('A.\n\n[^1]: http://h "a" and more', "A.\n\n[^1]: one two", '[^1]: http://h "a"'):
        assert answer_of(text) == text


def test_nothing_cited_has_no_sources_behind_it() -> None:
    assert sources_text([]) == ""


@pytest.mark.parametrize(
    "name",
    ["![x](http://evil/)", '" onerror="', "a\nb", "<img src=x>", "www.evil.example", "`x` *y* [z]"],
)
def test_a_name_out_of_the_data_is_neither_markup_nor_a_link(name: str) -> None:
    [line] = sources_text([LinkedSource(1, "urn", name, "http://h/e")]).split("\n")[2:]
    shown = line.removeprefix('[^1]: http://h/e "').removesuffix('"')
    assert not set(shown) & set('![]()<>"`*:@\\\n')
    assert "www." not in shown


def test_a_long_name_is_cut() -> None:
    text = sources_text([LinkedSource(1, "urn", "x" * 300, "http://h/e")])
    assert text.endswith(f'"{"x" * 99}…"')
    assert answer_of(f"A.{text}") == "A."


def test_a_reason_that_nobody_knows_is_said_as_it_is() -> None:
    assert "is void: flood.*" in withdrawn("flood")
