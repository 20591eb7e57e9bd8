"""The OpenAPI document, made from the same schemas that the other transports publish.

Every shape that has a title is a component, so that a generated client has a model for it. Every
operation has an id, which such a client makes a function of, and an example that works on the
sample data of `redask demo`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from redask import __version__
from redask.core.wire import data_schemas, schema
from redask.core.wire.outcomes import OUTCOMES
from redask.core.wire.schema_parts import TEXT, shape
from redask.server.http.examples import EXAMPLES

_ANY: dict[str, object] = {"type": "object"}
_FRAMES = ["sources", "answer_token", "answer_reset", "validation", "error"]
_HEALTH = shape("Health", {"status": {**TEXT, "enum": ["ok", "starting", "stopping", "closed"]}})
_JSON = "application/json"


@cache
def document() -> dict[str, object]:
    """The whole document."""
    components: dict[str, object] = {}
    paths = _named(_paths(), components)
    failure = _named(_content("An error.", data_schemas.error()), components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "redask",
            "version": __version__,
            "description": "Ask a question over your own data; get an answer you can check.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The server that sent this document."}],
        "tags": [{"name": each} for each in ("ask", "data", "audit", "server")],
        "components": {
            "responses": {"Failure": failure},
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
        "paths": paths,
    }


def _paths() -> dict[str, Any]:
    ask, answer = schema.ask(), schema.envelope()
    limit = _query("limit", "At most so many rows.", 1000, default=20)
    before = _query("before", "Only rows with a smaller `seq`.", 2**63 - 1)
    urn = _path("urn", "Percent-encoded once more than it is.", data_schemas.urn_text())
    collection = _path("collection", "Its name.", data_schemas.collection_name())
    return {
        "/v1/ask": {"post": _streamed(_operation("ask", "ask", "Answer a question.", ask, answer))},
        "/v1/explain": {
            "post": _operation("explain", "ask", "Show what an ask would do.", ask, schema.plan())
        },
        "/v1/search": {
            "post": _operation("search", "ask", "Find what the data holds.", ask, schema.hits())
        },
        "/v1/query": {
            "post": _operation(
                "query",
                "data",
                "Run ASK, EXPLAIN ASK or SELECT.",
                data_schemas.statement(),
                data_schemas.rows(),
            )
        },
        "/v1/collections/{collection}/entities": {
            "put": _operation(
                "putEntities",
                "data",
                "Write rows, all or none.",
                data_schemas.put(),
                data_schemas.written(),
                parameters=[collection],
            )
        },
        "/v1/sources/{urn}": {
            "get": _operation(
                "getSource", "data", "One source.", None, schema.source(), parameters=[urn]
            )
        },
        "/v1/audit": {
            "get": _operation(
                "listAudit",
                "audit",
                "Audit rows, newest first.",
                None,
                data_schemas.audit(),
                parameters=[limit, before],
            )
        },
        "/healthz": {"get": _health()},
        "/metrics": {
            "get": _open(
                "getMetrics",
                "Figures for Prometheus.",
                {"description": "Done.", "content": {"text/plain": {"schema": TEXT}}},
            )
        },
        "/openapi.json": {"get": _open("getOpenapi", "This document.", _content("Done.", _ANY))},
    }


def _operation(
    name: str,
    tag: str,
    summary: str,
    body: Mapping[str, object] | None,
    result: Mapping[str, object],
    *,
    parameters: list[dict[str, object]] | None = None,
) -> dict[str, Any]:
    statuses = sorted({404, 405} | {outcome.http for outcome in OUTCOMES.values()} - {499})
    failures = {str(status): {"$ref": "#/components/responses/Failure"} for status in statuses}
    made: dict[str, Any] = {
        "operationId": name,
        "tags": [tag],
        "summary": summary,
        "responses": {"200": _content("Done.", result), **failures},
    }
    if parameters:
        made["parameters"] = [_with_example(name, each) for each in parameters]
    if body is not None:
        content = {"schema": body, "examples": {"example": {"value": EXAMPLES[name]}}}
        made["requestBody"] = {"required": True, "content": {_JSON: content}}
    return made


def _open(name: str, summary: str, done: dict[str, object]) -> dict[str, Any]:
    """An operation that needs no token."""
    return {
        "operationId": name,
        "tags": ["server"],
        "summary": summary,
        "security": [],
        "responses": {"200": done, "405": {"$ref": "#/components/responses/Failure"}},
    }


def _health() -> dict[str, Any]:
    made = _open("getHealth", "Whether every port is open.", _content("All are.", _HEALTH))
    made["responses"]["503"] = _content("Not yet, or not any more.", _HEALTH)
    return made


def _content(description: str, shown: Mapping[str, object]) -> dict[str, object]:
    return {"description": description, "content": {_JSON: {"schema": shown}}}


def _with_example(name: str, parameter: dict[str, object]) -> dict[str, object]:
    value = EXAMPLES.get(f"{name}.{parameter['name']}")
    return parameter if value is None else {**parameter, "example": value}


def _path(name: str, text: str, kind: Mapping[str, object]) -> dict[str, object]:
    return {"name": name, "in": "path", "required": True, "description": text, "schema": kind}


def _query(name: str, text: str, most: int, **more: object) -> dict[str, object]:
    kind = {"type": "integer", "minimum": 1, "maximum": most, **more}
    return {"name": name, "in": "query", "required": False, "description": text, "schema": kind}


def _streamed(operation: dict[str, Any]) -> dict[str, Any]:
    """The same, which may also answer as server-sent events."""
    body = operation["requestBody"]["content"][_JSON]
    taken = body["schema"]
    stream = {"type": "boolean", "description": "Send the answer while it is written."}
    body["schema"] = {
        **taken,
        "title": "StreamableAskRequest",
        "properties": {**taken["properties"], "stream": stream},
    }
    frame = shape("StreamFrame", {"data": TEXT, "event": {**TEXT, "enum": _FRAMES}})
    operation["responses"]["200"]["content"]["text/event-stream"] = {"schema": frame}
    return operation


def _named(value: Any, components: dict[str, object]) -> Any:
    """The same, with a reference for every shape that has a title."""
    if isinstance(value, list | tuple):
        return [_named(each, components) for each in value]
    if not isinstance(value, Mapping):
        return value
    found = {key: _named(each, components) for key, each in value.items()}
    title = found.get("title")
    if not isinstance(title, str) or "type" not in found:
        return found
    known = components.setdefault(title, found)
    assert known == found, f"two shapes are called {title}"
    return {"$ref": f"#/components/schemas/{title}"}
