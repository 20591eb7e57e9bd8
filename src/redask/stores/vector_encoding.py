"""Vectors as the store keeps them: `pack` to little-endian float32, `unpack` to floats.

`fault` refuses what no search could use: what is no number, NaN, infinity (also by overflow
of float32), no dimension at all or more than `MAX_DIMENSIONS`. A zero vector is kept: it is
what an embedder may make of an empty text, and whoever compares must cope with it.
"""

import math
import struct
from collections.abc import Sequence
from numbers import Real

MAX_DIMENSIONS = 8192

_PLAIN = {int, float}


def fault(vector: Sequence[object]) -> str | None:
    """What is wrong with a vector, in words that end "the vector …", or None."""
    if not 1 <= len(vector) <= MAX_DIMENSIONS:
        return f"has {len(vector)} dimensions, not 1 to {MAX_DIMENSIONS}"
    for position, number in enumerate(() if _is_plain(vector) else vector):
        if isinstance(number, bool) or not isinstance(number, Real):
            return f"holds {type(number).__name__} at position {position}, not a number"
        if not math.isfinite(number):
            return f"holds {float(number)} at position {position}"
        if not _fits(number):
            return f"holds {number} at position {position}, too large for a 32-bit float"
    return None


def pack(vector: Sequence[float]) -> bytes:
    """The bytes of a vector without fault."""
    return struct.pack(f"<{len(vector)}f", *vector)


def unpack(packed: bytes) -> tuple[float, ...]:
    """The vector that was packed, rounded to float32."""
    return struct.unpack(f"<{dimensions(packed)}f", packed)


def dimensions(packed: bytes) -> int:
    """How many numbers were packed."""
    return len(packed) // 4


def _is_plain(vector: Sequence[object]) -> bool:
    """Whether all are ordinary finite numbers: one look at the whole, for speed."""
    if not set(map(type, vector)) <= _PLAIN:
        return False
    try:
        rounded = struct.unpack(f"<{len(vector)}f", struct.pack(f"<{len(vector)}f", *vector))
    except OverflowError:
        return False
    return math.isfinite(sum(rounded))


def _fits(number: object) -> bool:
    try:
        struct.pack("<f", number)
    except OverflowError:
        return False
    return True
