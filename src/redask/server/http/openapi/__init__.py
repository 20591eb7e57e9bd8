"""The OpenAPI document, made from the same schemas that the other transports publish.

Every shape that has a title is a component, so that a generated client has a model for it. Every
operation has an id, which such a client makes a function of, and an example that works on the
sample data of `redask demo`.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from redask import __version__
from redask.core.wire import administration_schemas, data_schemas, schema
from redask.core.wire.chat import chat_schemas
from redask.core.wire.schema_parts import TEXT, shape
from redask.server.http.openapi.administration_paths import administration_paths
from redask.server.http.openapi.chat_paths import chat_paths
from redask.server.http.openapi.operations import (
    JSON,
    content,
    log_name,
    open_operation,
    operation,
    path,
    query,
)
from redask.server.readiness import STATES

_ANY: dict[str, object] = {"type": "object"}
_FRAMES = ["sources", "answer_token", "answer_reset", "validation", "error"]
_HEALTH = shape("Health", {"status": {**TEXT, "enum": ["ok", "starting", "stopping", "closed"]}})
_READINESS = shape(
    "Readiness",
    {
        "lag_bytes": {"type": "integer", "minimum": 0},
        "ready": {"type": "boolean"},
        "reasons": {
            "type": "array",
            "items": {**TEXT, "enum": [*STATES, "starting", "stopping", "closed"]},
        },
    },
    required=("ready", "reasons"),
)


@cache
def document() -> dict[str, object]:
    """The whole document."""
    components: dict[str, object] = {}
    paths = _named(_paths(), components)
    failures = {
        "ChatFailure": content("An error.", chat_schemas.error()),
        "Failure": content("An error.", data_schemas.error()),
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "redask",
            "version": __version__,
            "description": "Ask a question over your own data; get an answer you can check.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The server that sent this document."}],
        "tags": [{"name": each} for each in ("ask", "data", "access", "audit", "server")],
        "components": {
            "responses": _named(failures, components),
            "schemas": dict(sorted(components.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
        "paths": paths,
    }


def _paths() -> dict[str, Any]:
    ask, answer = schema.ask(), schema.envelope()
    limit = query("limit", "At most so many rows.", 1000, default=20)
    before = query("before", "Only rows with a smaller `seq`.", 2**63 - 1)
    log = log_name()
    urn = path("urn", "Percent-encoded once more than it is.", data_schemas.urn_text())
    collection = path("collection", "Its name.", data_schemas.collection_name())
    return {
        "/v1/ask": {"post": _streamed(operation("ask", "ask", "Answer a question.", ask, answer))},
        **chat_paths(),
        "/v1/explain": {
            "post": operation("explain", "ask", "Show what an ask would do.", ask, schema.plan())
        },
        "/v1/search": {
            "post": operation(
                "search",
                "ask",
                "Find what the data holds.",
                administration_schemas.search(),
                administration_schemas.ranked_hits(),
            )
        },
        "/v1/query": {
            "post": operation(
                "query",
                "data",
                "Run ASK, EXPLAIN ASK or SELECT.",
                data_schemas.statement(),
                data_schemas.rows(),
            )
        },
        "/v1/collections/{collection}/entities": {
            "put": operation(
                "putEntities",
                "data",
                "Write rows, all or none.",
                data_schemas.put(),
                data_schemas.written(),
                parameters=[collection],
            )
        },
        "/v1/sources/{urn}": {
            "get": operation(
                "getSource", "data", "One source.", None, schema.source(), parameters=[urn]
            )
        },
        "/v1/audit": {
            "get": operation(
                "listAudit",
                "audit",
                "Audit rows, newest first.",
                None,
                data_schemas.audit(),
                parameters=[limit, before, log],
            )
        },
        **_server_paths(),
        **administration_paths(),
    }


def _server_paths() -> dict[str, Any]:
    return {
        "/healthz": {"get": _health()},
        "/readyz": {"get": _readiness()},
        "/metrics": {
            "get": open_operation(
                "getMetrics",
                "Figures for Prometheus.",
                {"description": "Done.", "content": {"text/plain": {"schema": TEXT}}},
            )
        },
        "/openapi.json": {
            "get": open_operation("getOpenapi", "This document.", content("Done.", _ANY))
        },
    }


def _health() -> dict[str, Any]:
    made = open_operation("getHealth", "Whether every port is open.", content("All are.", _HEALTH))
    made["responses"]["503"] = content("Not yet, or not any more.", _HEALTH)
    return made


def _readiness() -> dict[str, Any]:
    shown = content("Yes.", _READINESS)
    made = open_operation("getReadiness", "Whether to send questions here.", shown)
    made["responses"]["503"] = content("Not now.", _READINESS)
    return made


def _streamed(asking: dict[str, Any]) -> dict[str, Any]:
    """The same, which may also answer as server-sent events."""
    body = asking["requestBody"]["content"][JSON]
    taken = body["schema"]
    stream = {"type": "boolean", "description": "Send the answer while it is written."}
    body["schema"] = {
        **taken,
        "title": "StreamableAskRequest",
        "properties": {**taken["properties"], "stream": stream},
    }
    frame = shape("StreamFrame", {"data": TEXT, "event": {**TEXT, "enum": _FRAMES}})
    asking["responses"]["200"]["content"]["text/event-stream"] = {"schema": frame}
    return asking


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
