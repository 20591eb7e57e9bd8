"""Binary forms of the types that are kept as PostgreSQL writes them (`core/sql/written`).

    bytea        its bytes
    timetz       microseconds of the day · seconds west of UTC
    inet, cidr   family (2 IPv4, 3 IPv6) · bits · is a cidr · length · the address
    macaddr      six bytes
    point        two doubles
    range        flags · each finite bound with its length
    multirange   how many · each range with its length

`pack` takes the spelling of a value, `unpack` gives a text that PostgreSQL's input rules read.
"""

import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv6Address

from redask.core.sql import literals
from redask.core.sql.runtime import spelling
from redask.core.sql.written import networks, ranges, written_types
from redask.core.sql.written.byte_strings import bytes_of, hexadecimal
from redask.core.sql.written.points import coordinates, point_text
from redask.core.sql.written.zoned_times import time_and_offset, timetz_text

_POINT = struct.Struct("!dd")
_TIMETZ = struct.Struct("!qi")
_FAMILIES = {4: 2, 6: 3}  # the latter is PostgreSQL's own number
_LENGTH = struct.Struct("!i")
_EMPTY, _HAS_LOWER, _HAS_UPPER, _NO_LOWER, _NO_UPPER = 0x01, 0x02, 0x04, 0x08, 0x10
Packer = Callable[[object], bytes]
Unpacker = Callable[[bytes], object]


def pack_bytea(value: object) -> bytes:
    return value if isinstance(value, bytes) else bytes_of(str(value))


def bytea_text(value: object) -> bytes:
    return (hexadecimal(value) if isinstance(value, bytes) else str(value)).encode()


def unpack_bytea(data: bytes) -> str:
    return hexadecimal(data)


def pack_timetz(value: object) -> bytes:
    microseconds, offset = time_and_offset(str(value))
    return _TIMETZ.pack(microseconds, -round(offset.total_seconds()))


def unpack_timetz(data: bytes) -> str:
    microseconds, west = _TIMETZ.unpack(data)
    if not 0 <= microseconds <= 86_400_000_000 or abs(west) >= 57_600:
        raise ValueError
    return timetz_text(microseconds, timedelta(seconds=-west))


def pack_network(is_cidr: bool) -> Packer:
    """The packer of inet or cidr."""

    def packed(value: object) -> bytes:
        address, bits = networks.address_and_length(str(value))
        head = bytes((_FAMILIES[address.version], bits, is_cidr, len(address.packed)))
        return head + address.packed

    return packed


def unpack_network(data: bytes) -> str:
    """Its text with the length; what is none of the type is refused as that is read."""
    family, bits, _, length = data[:4]
    kind = {2: IPv4Address, 3: IPv6Address}.get(family)
    if kind is None or len(data) != 4 + length:
        raise ValueError
    return f"{kind(data[4:])}/{bits}"


def pack_macaddr(value: object) -> bytes:
    return bytes.fromhex(str(value).replace(":", ""))


def unpack_macaddr(data: bytes) -> str:
    if len(data) != 6:
        raise ValueError
    return data.hex(":")


def pack_point(value: object) -> bytes:
    return _POINT.pack(*coordinates(str(value)))


def unpack_point(data: bytes) -> str:
    return point_text(*_POINT.unpack(data))


def _sized(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


def pack_range(name: str, each: Packer) -> Packer:
    """The packer of a range, with that of its bounds."""
    kind = written_types.bound_type(name, literals.read)
    return lambda value: _packed_range(ranges.parsed_range(str(value), kind), kind, each)


def pack_multirange(name: str, each: Packer) -> Packer:
    """The packer of a multirange, with that of its bounds."""
    kind = written_types.bound_type(name, literals.read)

    def packed(value: object) -> bytes:
        found = ranges.parsed_multirange(str(value), kind)
        parts = [_sized(_packed_range(one, kind, each)) for one in found]
        return _LENGTH.pack(len(parts)) + b"".join(parts)

    return packed


def _packed_range(found: ranges.RangeValue, kind: ranges.BoundType, each: Packer) -> bytes:
    if found.is_empty:
        return bytes([_EMPTY])
    flags = _HAS_LOWER * found.has_lower | _HAS_UPPER * found.has_upper
    flags |= _NO_LOWER * (found.lower is None) | _NO_UPPER * (found.upper is None)
    bounds = [one for one in (found.lower, found.upper) if one is not None]
    is_number = kind.name in ("int4", "int8", "numeric")
    values = [one if is_number else kind.write(one) for one in bounds]
    return bytes([flags]) + b"".join(_sized(each(one)) for one in values)


def unpack_range(each: Unpacker) -> Unpacker:
    """The unpacker of a range, with that of its bounds."""
    return lambda data: _range_text(data, each)


def unpack_multirange(each: Unpacker) -> Unpacker:
    """The unpacker of a multirange, with that of its bounds."""

    def unpacked(data: bytes) -> str:
        (count,) = _LENGTH.unpack_from(data)
        place, found = _LENGTH.size, []
        for _ in range(count):
            one, place = _part(data, place)
            found.append(_range_text(one, each))
        if place != len(data):
            raise ValueError
        return "{" + ",".join(found) + "}"

    return unpacked


def _part(data: bytes, place: int) -> tuple[bytes, int]:
    (length,) = _LENGTH.unpack_from(data, place)
    end = place + _LENGTH.size + length
    if length < 0 or end > len(data):
        raise ValueError
    return data[place + _LENGTH.size : end], end


def _range_text(data: bytes, each: Unpacker) -> str:
    flags, place = data[0], 1
    if flags & _EMPTY:
        return "empty"
    texts = []
    for absent in (_NO_LOWER, _NO_UPPER):
        if flags & absent:
            texts.append("")
            continue
        one, place = _part(data, place)
        texts.append(f'"{each(one)}"')
    if place != len(data):
        raise ValueError
    return (
        f"{'[' if flags & _HAS_LOWER else '('}{','.join(texts)}{']' if flags & _HAS_UPPER else ')'}"
    )


def range_in_zone(name: str, zone: str) -> Packer:
    """The text of a tstzrange or its multirange in a session's zone."""

    def write(moment: datetime) -> str:
        return spelling.timestamptz_text(moment.replace(tzinfo=UTC), zone)

    return lambda value: written_types.in_zone(str(value), name, literals.read, write).encode()
