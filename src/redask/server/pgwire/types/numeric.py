"""PostgreSQL's numeric: `pack_numeric` and `unpack_numeric`, and how it is written in text.

    int16 digits · int16 weight · int16 sign · int16 scale · digits in base 10,000

The first digit counts 10,000^weight; the scale is how many decimal places are shown. Text is
positional, never with an exponent.
"""

import struct
from decimal import Decimal

_POSITIVE, _NEGATIVE, _NAN, _INFINITE, _MINUS_INFINITE = 0x0000, 0x4000, 0xC000, 0xD000, 0xF000
_INFINITE_SCALE = 0x20  # which PostgreSQL sends with them
_HEAD = struct.Struct("!HhHH")
_MOST = 0x3FFF  # decimal places, and more digits than any of ours has


def numeric_digits(value: Decimal) -> str:
    """The number in digits."""
    if not value.is_finite():
        return "NaN" if value.is_nan() else "-Infinity" if value < 0 else "Infinity"
    if abs(value.adjusted()) > _MOST:
        raise ValueError
    return f"{value:f}"


def pack_numeric(value: Decimal) -> bytes:
    """The number as PostgreSQL sends it in binary."""
    if not value.is_finite():
        sign = _NAN if value.is_nan() else _MINUS_INFINITE if value < 0 else _INFINITE
        return _HEAD.pack(0, 0, sign, 0 if value.is_nan() else _INFINITE_SCALE)
    negative = value < 0
    whole, _, places = numeric_digits(value.copy_abs()).partition(".")
    whole = whole.lstrip("0")
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    weight = len(whole) // 4 - 1
    spelt = whole + places.ljust(-(-len(places) // 4) * 4, "0")
    digits = [int(spelt[at : at + 4]) for at in range(0, len(spelt), 4)]
    while digits and digits[0] == 0:
        digits.pop(0)
        weight -= 1
    while digits and digits[-1] == 0:
        digits.pop()
    head = _HEAD.pack(
        len(digits),
        weight if digits else 0,
        _NEGATIVE if negative else _POSITIVE,
        len(places),
    )
    return head + struct.pack(f"!{len(digits)}H", *digits)


def unpack_numeric(data: bytes) -> Decimal:
    """The number that was sent in binary."""
    count, weight, sign, scale = _HEAD.unpack_from(data)
    if sign in (_NAN, _INFINITE, _MINUS_INFINITE):
        return Decimal({_NAN: "NaN", _INFINITE: "Infinity"}.get(sign, "-Infinity"))
    if sign not in (_POSITIVE, _NEGATIVE) or len(data) != _HEAD.size + 2 * count or scale > _MOST:
        raise ValueError
    digits = struct.unpack_from(f"!{count}H", data, _HEAD.size)
    if any(digit > 9999 for digit in digits) or abs(weight) > _MOST:
        raise ValueError
    whole = [digits[at] if at < count else 0 for at in range(weight + 1)]
    rest = [0] * max(-weight - 1, 0) + list(digits[max(weight + 1, 0) :])
    before = "".join(f"{digit:04d}" for digit in whole) or "0"
    after = "".join(f"{digit:04d}" for digit in rest)[:scale].ljust(scale, "0")
    mark = "-" if sign == _NEGATIVE else ""
    return Decimal(f"{mark}{before}.{after}" if scale else f"{mark}{before}")
