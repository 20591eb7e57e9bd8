"""The schemas of chat completions: what a request may have, and what a reply has."""

from typing import Any

from redask.core.wire.chat import chat_schemas


def test_a_request_may_have_keys_of_that_api_that_are_ignored() -> None:
    asked: Any = chat_schemas.request()
    assert asked["additionalProperties"] is True
    assert asked["required"] == ["model", "messages"]
    options = asked["properties"]["redask"]
    assert "history" not in str(options)  # that is the conversation itself


def test_replies_are_closed_shapes() -> None:
    made: list[Any] = [
        chat_schemas.completion(),
        chat_schemas.chunk(),
        chat_schemas.models(),
        chat_schemas.model(),
        chat_schemas.error(),
    ]
    assert [each["title"] for each in made] == [
        "ChatCompletion",
        "ChatCompletionChunk",
        "Models",
        "Model",
        "ChatError",
    ]
    assert all(each["additionalProperties"] is False for each in made)
