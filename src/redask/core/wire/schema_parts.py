"""The pieces that JSON Schemas are made of: `shape`, `items_of`, and the plain types.

A `title` names a shape: OpenAPI makes a component of it, and generated clients a model.
"""

from collections.abc import Mapping
from typing import Any

TEXT: dict[str, object] = {"type": "string"}
COUNT: dict[str, object] = {"type": "integer", "minimum": 0}
NUMBER: dict[str, object] = {"type": "number"}
BOOLEAN: dict[str, object] = {"type": "boolean"}
MODE: dict[str, object] = {"type": "string", "enum": ["strict", "lenient"]}
MARKER: dict[str, object] = {"type": "integer", "minimum": 1}
# what JavaScript would round is a text of digits where a browser may read it
WIDE: dict[str, object] = {"type": ["integer", "string"]}


def shape(
    title: str,
    properties: Mapping[str, object],
    required: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """An object with these keys and no others; all of them are required, unless told."""
    return {
        "title": title,
        "type": "object",
        "properties": dict(properties),
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }


def items_of(each: Mapping[str, object]) -> dict[str, object]:
    """A list of such items."""
    return {"type": "array", "items": dict(each)}


def or_null(kind: Mapping[str, object]) -> dict[str, object]:
    """The same, or null."""
    return {"anyOf": [dict(kind), {"type": "null"}]}
