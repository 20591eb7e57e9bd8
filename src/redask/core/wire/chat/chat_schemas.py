"""JSON Schemas of chat completions, for OpenAPI: what is read of a request, and what is sent.

A request may have any other key of that API: it is ignored, and named in the reply.
"""

from typing import Any

from redask.core.wire import data_schemas, schema
from redask.core.wire.chat.chat_turns import ROLES
from redask.core.wire.schema_parts import BOOLEAN, COUNT, NUMBER, TEXT, items_of, or_null, shape

_MARKED: dict[str, object] = {"type": "integer", "minimum": 1}
_ANY: dict[str, object] = {"type": "object", "additionalProperties": True}
_ONLY: dict[str, list[object]] = {
    "n": [1],
    "tool_choice": ["none", "auto"],
    "function_call": ["none", "auto"],
    "logprobs": [False],
    "modalities": [["text"]],
}


def request() -> dict[str, object]:
    """A conversation whose last message is the question."""
    part = _open(shape("ChatPart", {"type": TEXT, "text": TEXT}, ("type",)))
    content = {"anyOf": [TEXT, items_of(part), {"type": "null"}]}
    role = {**TEXT, "enum": list(ROLES)}
    message = _open(shape("ChatMessage", {"role": role, "content": content}, ("role",)))
    only = {name: {"enum": [*values, None]} for name, values in _ONLY.items()}
    text = or_null(_open(shape("ChatFormat", {"type": {"const": "text"}})))
    usage = or_null(_open(shape("ChatStreamOptions", {"include_usage": or_null(BOOLEAN)}, ())))
    seed = {"type": ["integer", "null"], "minimum": 0, "maximum": 2**64 - 1}
    properties = {
        "model": {**TEXT, "description": "The name that /v1/models lists."},
        "messages": {**items_of(message), "minItems": 1},
        "stream": or_null(BOOLEAN),
        "stream_options": usage,
        "seed": {**seed, "description": "The clause SEED."},
        "response_format": text,
        "audio": {"type": "null"},
        **only,
        "redask": or_null(_own_request()),
    }
    return _open(shape("ChatCompletionRequest", properties, ("model", "messages")))


def completion() -> dict[str, object]:
    """An answer."""
    message = shape(
        "ChatAnswer",
        {
            "annotations": items_of(_annotation()),
            "content": TEXT,
            "refusal": {"type": "null"},
            "role": {**TEXT, "enum": ["assistant"]},
        },
    )
    return shape(
        "ChatCompletion",
        {
            "choices": items_of(_choice("ChatChoice", {"message": message})),
            **_head("chat.completion"),
            "redask": _extension(),
            "usage": _usage(),
        },
    )


def chunk() -> dict[str, object]:
    """A part of a stream; the last one is the text `[DONE]`."""
    properties = {"annotations": items_of(_annotation()), "content": TEXT, "role": TEXT}
    choice = _choice("ChatChunkChoice", {"delta": shape("ChatDelta", properties, ())})
    head = {"choices": items_of(choice), **_head("chat.completion.chunk")}
    more = {"redask": _ANY, "usage": or_null(_usage())}
    return shape("ChatCompletionChunk", {**head, **more}, tuple(head))


def models() -> dict[str, object]:
    """The list of the one model."""
    return shape("Models", {"data": items_of(model()), "object": {"const": "list"}})


def model() -> dict[str, object]:
    """The database as a model."""
    properties = {"created": COUNT, "id": TEXT, "object": {"const": "model"}, "owned_by": TEXT}
    return shape("Model", properties)


def error() -> dict[str, object]:
    """An error, and the same as other routes send it."""
    found = shape(
        "ChatErrorDetail", {"code": TEXT, "message": TEXT, "param": or_null(TEXT), "type": TEXT}
    )
    return shape("ChatError", {"error": found, "redask": data_schemas.error()})


def _own_request() -> dict[str, object]:
    asked: Any = schema.ask()
    options = asked["properties"]["options"]
    taken = {name: each for name, each in options["properties"].items() if name != "history"}
    chosen = {**options, "title": "ChatOptions", "properties": taken}
    described = {
        **BOOLEAN,
        "description": "Whether the text ends with the sources; else by the server's settings.",
    }
    return shape("ChatExtension", {"options": chosen, "sources_in_text": described}, ())


def _extension() -> dict[str, object]:
    source = shape("ChatSource", {"name": TEXT, "number": _MARKED, "url": TEXT, "urn": TEXT})
    return shape(
        "ChatReplyExtension",
        {"envelope": schema.envelope(), "ignored": items_of(TEXT), "sources": items_of(source)},
    )


def _annotation() -> dict[str, object]:
    cited = shape(
        "UrlCitation", {"end_index": COUNT, "start_index": COUNT, "title": TEXT, "url": TEXT}
    )
    return shape("ChatAnnotation", {"type": {"const": "url_citation"}, "url_citation": cited})


def _choice(title: str, said: dict[str, object]) -> dict[str, object]:
    finish = {"enum": ["stop", None]}
    return shape(
        title, {"finish_reason": finish, "index": COUNT, "logprobs": {"type": "null"}, **said}
    )


def _head(kind: str) -> dict[str, object]:
    return {"created": COUNT, "id": TEXT, "model": TEXT, "object": {"const": kind}}


def _usage() -> dict[str, object]:
    counts = dict.fromkeys(("completion_tokens", "prompt_tokens", "total_tokens"), COUNT)
    return shape("ChatUsage", {**counts, "cost": {**NUMBER, "minimum": 0}})


def _open(closed: dict[str, Any]) -> dict[str, Any]:
    """The same shape, which may have other keys."""
    return {**closed, "additionalProperties": True}
