"""Answers and errors in the shapes of OpenAI's chat completions."""

from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from redask.core.model import Answer, Footnote, Mode, Source, Validation
from redask.core.wire import envelope
from redask.core.wire.chat import chat_errors, chat_replies, chat_schemas
from redask.core.wire.chat.chat_replies import ChatHead

URNS = (
    "urn:reddb:document:docs/a%2Fb.md#top",
    "urn:reddb:row:notes/1'%20&x=?",
    "urn:reddb:query:postgresql/SELECT%201",
)
TEXT = "Ä [^1], \\[^2] then [^3][^9].\n```\n[^2]\n```\n"
ANSWER = Answer(
    answer=TEXT,
    citations=(Footnote(1, URNS[0]), Footnote(3, URNS[2])),
    sources_flat=tuple(Source(urn, "{}") for urn in URNS),
    validation=Validation(True),
    provider="p",
    model="m",
    mode=Mode.LENIENT,
    prompt_tokens=7,
    completion_tokens=5,
    cost_usd=0.25,
)
HEAD = ChatHead("chatcmpl-1", 1_800_000_000, "redask", "https://h", ("top_p",))


def test_each_footnote_is_annotated_where_it_stands_and_what_is_none_is_not() -> None:
    found = chat_replies.annotations(HEAD, ANSWER)
    marks = [each["url_citation"] for each in found]
    assert [TEXT[each["start_index"] : each["end_index"]] for each in marks] == ["[^1]", "[^3]"]
    assert [each["title"] for each in marks] == ["docs / a/b.md # top", "computed result"]
    moved = chat_replies.annotations(HEAD, ANSWER, 10)
    assert moved[0]["url_citation"]["start_index"] == marks[0]["start_index"] + 10


def test_an_address_is_the_view_of_the_page_with_the_urn_encoded_whole() -> None:
    sources = chat_replies.extension(HEAD, ANSWER)["sources"]
    assert [each["url"] for each in sources] == [  # type: ignore[attr-defined]
        "https://h/entity?urn=urn%3Areddb%3Adocument%3Adocs%2Fa%252Fb.md%23top",
        "https://h/entity?urn=urn%3Areddb%3Arow%3Anotes%2F1%27%2520%26x%3D%3F",
        "https://h/entity?urn=urn%3Areddb%3Aquery%3Apostgresql%2FSELECT%25201",
    ]


def test_a_completion_has_the_envelope_the_usage_and_its_schema() -> None:
    whole: Any = chat_replies.completion(HEAD, ANSWER)
    jsonschema.validate(whole, chat_schemas.completion())
    assert whole["redask"]["envelope"] == envelope.build(ANSWER)
    assert whole["redask"]["ignored"] == ["top_p"]
    assert whole["usage"] == {
        "completion_tokens": 5,
        "cost": 0.25,
        "prompt_tokens": 7,
        "total_tokens": 12,
    }
    [choice] = whole["choices"]
    assert choice["message"]["content"] == TEXT


def test_the_text_ends_with_what_is_cited_where_that_is_asked_for() -> None:
    head = ChatHead("i", 0, "redask", "https://h", (), sources_in_text=True)
    lines = chat_replies.rest(head, ANSWER).splitlines()
    assert [line.split(":")[0] for line in lines] == ["", "", "[^1]", "[^3]"]
    assert chat_replies.rest(HEAD, ANSWER) == ""


def test_a_chunk_without_a_delta_has_no_choice() -> None:
    for each in (
        chat_replies.chunk(HEAD, None, usage=chat_replies.usage(ANSWER)),
        chat_replies.chunk(HEAD, {"content": "x"}, usage=None),
        chat_replies.chunk(
            HEAD,
            {"annotations": chat_replies.annotations(HEAD, ANSWER)},
            "stop",
            redask=chat_replies.extension(HEAD, ANSWER),
        ),
    ):
        jsonschema.validate(each, chat_schemas.chunk())
    assert chat_replies.chunk(HEAD, None)["choices"] == []


def test_the_database_is_a_model() -> None:
    jsonschema.validate(chat_replies.model("acme"), chat_schemas.model())


@pytest.mark.parametrize(
    ("kind", "detail", "expected", "retry"),
    [
        ("bad_ask", "n", ("invalid_request_error", "bad_ask", "n"), True),
        ("bad_ask", "question", ("invalid_request_error", "bad_ask", "messages"), True),
        ("bad_ask", "", ("invalid_request_error", "bad_ask", None), True),
        ("not_found", "model", ("invalid_request_error", "model_not_found", "model"), True),
        ("not_found", "", ("invalid_request_error", "not_found", None), True),
        ("unauthenticated", "", ("authentication_error", "invalid_api_key", None), True),
        ("overloaded", "", ("rate_limit_error", "rate_limit_exceeded", None), True),
        ("denied", "secrets", ("permission_error", "denied", None), True),
        ("limit_exceeded", "x", ("invalid_request_error", "limit_exceeded", None), True),
        ("ungrounded", "x", ("ungrounded_error", "ungrounded", None), True),
        ("providers_exhausted", "", ("server_error", "providers_exhausted", None), True),
        ("provider_refused", "", ("server_error", "provider_refused", None), False),
        ("internal", "", ("server_error", "internal", None), False),
    ],
)
def test_errors_say_whose_fault_it_is_and_which_field(
    kind: str, detail: str, expected: tuple[str, str, str | None], retry: bool
) -> None:
    body = {"error": {"detail": detail, "kind": kind, "message": "why"}}
    found = chat_errors.of(body)
    jsonschema.validate(found, chat_schemas.error())
    error = found["error"]
    assert (error["type"], error["code"], error["param"]) == expected  # type: ignore[index]
    assert (error["message"], found["redask"]) == ("why", body)  # type: ignore[index]
    assert chat_errors.is_worth_a_retry(body) is retry
