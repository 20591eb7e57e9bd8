"""A payload, read once: `read(urn, payload)` checks it and gives its top-level values.

    refused with BadAsk                       why
    not a JSON object, NaN, nested too deep   a collection is also a table
    more than 8 MiB of UTF-8                  one value must not choke a search or a prompt
    NUL in any text                           PostgreSQL text cannot carry it
    lone surrogates                           they have no UTF-8
    an escape that is not canonical           equal content must be equal text

That keys are sorted and floats are written canonically is the writer's duty (`rows` does
it): checking that for every entity would cost as much as writing it.

`shape` is what a table needs to know of it: the columns and what each is to SQL: `integer`
(64 bits, signed), `real`, `text`, `boolean`, `json` (lists and objects), `null`. A larger
integer is text, so that no digit is lost. The place of a row (`core.places`) is no column.
"""

import json
from typing import NoReturn

from redask.core import places
from redask.core.errors import BadAsk, NotCanonical
from redask.core.wire.json import MAX_DEPTH, text

MAX_PAYLOAD_BYTES = 8 * 1024 * 1024

_MAX_BITS = 63
_TYPES: dict[type, str] = {
    str: "text",
    int: "integer",
    float: "real",
    bool: "boolean",
    type(None): "null",
    dict: "json",
    list: "json",
}

Shape = tuple[tuple[str, str], ...]


def read(urn: str, payload: str) -> dict[str, object]:
    """The object that the payload of `urn` is."""
    fault = _text_fault(payload)
    if fault:
        raise BadAsk(f"the payload of {urn} {fault}", detail=urn)
    try:
        content, end = _decode(payload)
    except (ValueError, RecursionError) as error:
        raise BadAsk(f"the payload of {urn} is not JSON: {error}", detail=urn) from None
    if not isinstance(content, dict) or end != len(payload):
        raise BadAsk(f"the payload of {urn} is not a JSON object", detail=urn)
    # Both are rare: canonical JSON escapes control characters only.
    if "\\u" in payload or payload.count("[") + payload.count("{") > MAX_DEPTH:
        _check_closely(urn, payload, content)
    return content


def stored_content(payload: str) -> dict[str, object]:
    """What a payload that was stored holds; nothing, if it is damaged."""
    try:
        found = json.loads(payload)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def holds_nul(value: object) -> bool:
    """Whether any text in the value, keys included, holds NUL."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any("\0" in key or holds_nul(item) for key, item in value.items())
    return isinstance(value, list | tuple) and any(map(holds_nul, value))


def shape(content: dict[str, object]) -> Shape:
    """Each column of an entity with its type."""
    return tuple(
        [  # a list first: a generator takes twice as long
            (name, "text" if type(value) is int and _is_long(value) else _TYPES[type(value)])
            for name, value in places.columns(content).items()
        ]
    )


def _is_long(value: int) -> bool:
    return value.bit_length() > _MAX_BITS and value != -(1 << _MAX_BITS)


def _text_fault(payload: str) -> str | None:
    try:
        size = len(payload) if payload.isascii() else len(payload.encode())
    except UnicodeEncodeError:
        return "holds a lone surrogate"
    if size > MAX_PAYLOAD_BYTES:
        return f"is {size} bytes long, more than {MAX_PAYLOAD_BYTES}"
    return None


def _check_closely(urn: str, payload: str, content: dict[str, object]) -> None:
    try:
        canonical = text(content) == payload
    except NotCanonical as error:
        raise BadAsk(f"the payload of {urn}: {error.message}", detail=urn) from None
    if not canonical:
        raise BadAsk(f"the payload of {urn} is not canonical JSON", detail=urn)
    if holds_nul(content):
        raise BadAsk(f"the payload of {urn} holds a NUL character", detail=urn)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


_decode = json.JSONDecoder(parse_constant=_refuse).raw_decode
