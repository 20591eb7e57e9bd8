"""PostgreSQL's arrays, in text and binary, whatever their items are.

text      {1,NULL,"a \\"b\\""}     quotes where an item would be misread
binary    int32 dimensions · int32 has NULLs · int32 items' OID · for each dimension int32 length
          and int32 lower bound · for each item int32 length (-1: NULL) and its bytes
"""

import math
import re
import struct
from collections.abc import Callable, Sequence

from redask.core.sql.runtime.refusals import unsupported

_HEAD = struct.Struct("!iiI")
_BOUNDS = struct.Struct("!ii")
_MOST_DIMENSIONS = 6  # in PostgreSQL; more is no array
_LENGTH = struct.Struct("!i")
_PLAIN = re.compile(rb"[^\s{}\",\\]+")
_ITEM = re.compile(
    r'\s*(?:"((?:[^"\\]|\\.)*+)"|([^\s{}",\\]+(?:\s+[^\s{}",\\]+)*))\s*', re.S | re.A
)
_ESCAPED = re.compile(r"\\(.)", re.S)


def pack_array(
    oid: int, low: int, items: Sequence[object], each: Callable[[object], bytes]
) -> bytes:
    """The items in binary; `low` is what their count starts with."""
    if not items:
        return _HEAD.pack(0, 0, oid)
    lengths, flat = [len(items)], list(items)
    while isinstance(flat[0], list):
        lengths.append(len(flat[0]))
        flat = [item for inner in flat if isinstance(inner, list) for item in inner]
    parts = [_HEAD.pack(len(lengths), None in flat, oid)]
    parts += [_BOUNDS.pack(length, low) for length in lengths]
    for item in flat:
        data = None if item is None else each(item)
        parts.append(_LENGTH.pack(-1) if data is None else _LENGTH.pack(len(data)) + data)
    return b"".join(parts)


def unpack_array(data: bytes, each: Callable[[bytes], object], low: int = 1) -> list[object]:
    """The items of an array in binary, whose count starts with `low`."""
    dimensions, _, _ = _HEAD.unpack_from(data)
    if dimensions == 0:
        return []
    if not 1 <= dimensions <= _MOST_DIMENSIONS:
        raise ValueError
    lengths = []
    place = _HEAD.size
    for _ in range(dimensions):
        length, first = _BOUNDS.unpack_from(data, place)
        if first != low:
            raise unsupported("an array with written bounds")
        if length < 1:
            raise ValueError
        lengths.append(length)
        place += _BOUNDS.size
    count = math.prod(lengths)
    if count > len(data):
        raise ValueError
    items: list[object] = []
    for _ in range(count):
        (length,) = _LENGTH.unpack_from(data, place)
        place += _LENGTH.size
        if length < 0:
            items.append(None)
            continue
        if place + length > len(data):
            raise ValueError
        items.append(each(data[place : place + length]))
        place += length
    if place != len(data):
        raise ValueError
    for length in reversed(lengths[1:]):
        items = [items[at : at + length] for at in range(0, len(items), length)]
    return items


def array_text(items: Sequence[object], each: Callable[[object], bytes]) -> bytes:
    """The items in text."""
    parts = [
        array_text(item, each)
        if isinstance(item, list)
        else b"NULL"
        if item is None
        else _quoted(each(item))
        for item in items
    ]
    return b"{" + b",".join(parts) + b"}"


def array_items(text: str, each: Callable[[bytes], object]) -> list[object]:
    """The items of an array in text."""
    inside = text.strip()
    if not (inside.startswith("{") and inside.endswith("}")):
        raise ValueError
    inside = inside[1:-1]
    if not inside.strip():
        return []
    items: list[object] = []
    place = 0
    while True:
        found = _ITEM.match(inside, place)
        if found is None:
            raise ValueError
        quoted, bare = found.groups()
        if quoted is not None:
            items.append(each(_ESCAPED.sub(r"\1", quoted).encode()))
        else:
            items.append(None if bare.upper() == "NULL" else each(bare.encode()))
        place = found.end()
        if place == len(inside):
            return items
        if inside[place] != ",":
            raise ValueError
        place += 1


def _quoted(item: bytes) -> bytes:
    if _PLAIN.fullmatch(item) and item.upper() != b"NULL":
        return item
    return b'"' + item.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
