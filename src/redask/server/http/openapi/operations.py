"""The pieces of the OpenAPI document: an `operation` of a route, its parameters and its content."""

from collections.abc import Mapping
from typing import Any

from redask.core.wire.outcomes import OUTCOMES
from redask.core.wire.schema_parts import TEXT
from redask.server.http.openapi.examples import EXAMPLES

JSON = "application/json"


def operation(
    name: str,
    tag: str,
    summary: str,
    body: Mapping[str, object] | None,
    result: Mapping[str, object],
    *,
    parameters: list[dict[str, object]] | None = None,
    failure: str = "Failure",
) -> dict[str, Any]:
    statuses = sorted({404, 405} | {outcome.http for outcome in OUTCOMES.values()} - {499})
    failures = {str(status): {"$ref": f"#/components/responses/{failure}"} for status in statuses}
    made: dict[str, Any] = {
        "operationId": name,
        "tags": [tag],
        "summary": summary,
        "responses": {"200": content("Done.", result), **failures},
    }
    if parameters:
        made["parameters"] = [_with_example(name, each) for each in parameters]
    if body is not None:
        taken = {"schema": body, "examples": {"example": {"value": EXAMPLES[name]}}}
        made["requestBody"] = {"required": True, "content": {JSON: taken}}
    return made


def open_operation(name: str, summary: str, done: dict[str, object]) -> dict[str, Any]:
    """An operation that needs no token."""
    return {
        "operationId": name,
        "tags": ["server"],
        "summary": summary,
        "security": [],
        "responses": {"200": done, "405": {"$ref": "#/components/responses/Failure"}},
    }


def content(description: str, shown: Mapping[str, object]) -> dict[str, object]:
    return {"description": description, "content": {JSON: {"schema": shown}}}


def _with_example(name: str, parameter: dict[str, object]) -> dict[str, object]:
    value = EXAMPLES.get(f"{name}.{parameter['name']}")
    return parameter if value is None else {**parameter, "example": value}


def path(name: str, text: str, kind: Mapping[str, object]) -> dict[str, object]:
    return {"name": name, "in": "path", "required": True, "description": text, "schema": kind}


def query(name: str, text: str, most: int, **more: object) -> dict[str, object]:
    kind = {"type": "integer", "minimum": 1, "maximum": most, **more}
    return {"name": name, "in": "query", "required": False, "description": text, "schema": kind}


def log_name() -> dict[str, object]:
    """Which log is meant, as a parameter."""
    kind = {**TEXT, "enum": ["ask", "access"], "default": "ask"}
    text = "The log of asks, or the one of other reads and of administration."
    return {"name": "log", "in": "query", "required": False, "description": text, "schema": kind}
