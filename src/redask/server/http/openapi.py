"""The OpenAPI document, made from the same schemas that the other transports publish."""

from functools import cache
from typing import Any

from redask import __version__
from redask.core.wire import schema
from redask.core.wire.outcomes import OUTCOMES

_TEXT: dict[str, object] = {"type": "string"}
_ANY: dict[str, object] = {"type": "object"}
_FIGURES = {"description": "Done.", "content": {"text/plain": {"schema": _TEXT}}}
_FRAMES = ["sources", "answer_token", "answer_reset", "validation", "error"]
_URN = {"name": "urn", "in": "path", "required": True, "schema": {**_TEXT, "pattern": "^urn:"}}
_COLLECTION = {"name": "collection", "in": "path", "required": True, "schema": _TEXT}


@cache
def document() -> dict[str, object]:
    """The whole document."""
    ask, answer = schema.ask(), schema.envelope()
    paths = {
        "/v1/ask": {"post": _streamed(_operation("Answer a question.", _with_stream(ask), answer))},
        "/v1/explain": {"post": _operation("Show what an ask would do.", ask, schema.plan())},
        "/v1/search": {"post": _operation("Find what the data holds.", ask, schema.hits())},
        "/v1/query": {
            "post": _operation(
                "Run ASK, EXPLAIN ASK or SELECT.",
                _object({"statement": _TEXT, "params": {"type": "array"}}, ["statement"]),
                _list("rows"),
            )
        },
        "/v1/collections/{collection}/entities": {
            "put": _operation(
                "Write rows.",
                _object({"rows": {"type": "array", "items": _ANY}, "kind": _TEXT}, ["rows"]),
                _object({"urns": {"type": "array", "items": _TEXT}}, ["urns"]),
                [_COLLECTION],
            )
        },
        "/v1/sources/{urn}": {
            "get": _operation(
                "One source.",
                None,
                _object({"payload": _TEXT, "urn": _TEXT}, ["payload", "urn"]),
                [_URN],
            )
        },
        "/v1/audit": {
            "get": _operation(
                "Audit rows, newest first.",
                None,
                _list("rows"),
                [_query("limit", 1000), _query("before", 2**63 - 1)],
            )
        },
        "/healthz": {"get": _operation("Whether the server runs.", None, _ANY)},
        "/metrics": {"get": {"summary": "Figures for Prometheus.", "responses": {"200": _FIGURES}}},
        "/openapi.json": {"get": _operation("This document.", None, _ANY)},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "redask", "version": __version__},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
        "paths": paths,
    }


def _operation(
    summary: str,
    body: dict[str, object] | None,
    result: dict[str, object],
    parameters: list[dict[str, object]] | None = None,
) -> dict[str, Any]:
    statuses = sorted({404, 405} | {outcome.http for outcome in OUTCOMES.values()} - {499})
    failures = {str(status): _content("An error.", _error()) for status in statuses}
    made: dict[str, object] = {
        "summary": summary,
        "responses": {"200": _content("Done.", result), **failures},
    }
    if parameters:
        made["parameters"] = parameters
    if body is not None:
        made["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return made


def _content(description: str, shape: dict[str, object]) -> dict[str, object]:
    return {"description": description, "content": {"application/json": {"schema": shape}}}


def _error() -> dict[str, object]:
    parts = _object(
        {"detail": _TEXT, "kind": _TEXT, "message": _TEXT}, ["detail", "kind", "message"]
    )
    return {"type": "object", "properties": {"error": parts}, "required": ["error"]}


def _object(properties: dict[str, object], required: list[str]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _list(name: str) -> dict[str, object]:
    return _object({name: {"type": "array", "items": _ANY}}, [name])


def _query(name: str, most: int) -> dict[str, object]:
    shape = {"type": "integer", "minimum": 1, "maximum": most}
    return {"name": name, "in": "query", "required": False, "schema": shape}


def _streamed(operation: dict[str, Any]) -> dict[str, object]:
    """The same, which may also answer as server-sent events."""
    event = _object({"data": _TEXT, "event": {**_TEXT, "enum": _FRAMES}}, ["data", "event"])
    operation["responses"]["200"]["content"]["text/event-stream"] = {"schema": event}
    return operation


def _with_stream(shape: dict[str, object]) -> dict[str, object]:
    properties = shape["properties"]
    assert isinstance(properties, dict)
    return {**shape, "properties": {**properties, "stream": {"type": "boolean"}}}
