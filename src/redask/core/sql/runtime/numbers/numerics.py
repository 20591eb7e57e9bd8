"""PostgreSQL's numeric: exact arithmetic on decimal texts, each with its own display scale.

    add("1.50", "2")         "3.50"
    div("1", "3")            "0.33333333333333333333"
    round_to("2.5", 0)       "3"         half away from zero
    sort_key(text)           a text whose byte order is the order of the numbers

A numeric is a `Decimal` whose exponent is minus its display scale. NaN and infinities are
refused where they would enter (`literals`, `from_float8`), so no operand is one.
"""

import math
import struct
from collections.abc import Callable
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_UP,
    Context,
    Decimal,
)

from redask.core.errors import SqlError
from redask.core.sql.runtime.refusals import unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name

MIN_SIGNIFICANT = 16
MAX_DISPLAY_SCALE = 1000
MAX_SCALE = 16383
MAX_WEIGHT = 131072  # digits before the point
MAX_RESULT_SCALE = 2000

EXACT = Context(prec=400_000, rounding=ROUND_HALF_UP, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])

_INTS = {"int2": ("smallint", 15), "int4": ("integer", 31), "int8": ("bigint", 63)}


def spell(number: Decimal) -> str:
    """PostgreSQL's text of a numeric: no exponent, no minus zero."""
    if not number:
        return format(abs(number), "f")
    if number.adjusted() >= MAX_WEIGHT:
        raise SqlError("22003", "value overflows numeric format")
    text = format(number, "f")
    if len(text) > MAX_SCALE and scale_of(number) > MAX_SCALE:
        text = format(at_scale(number, MAX_SCALE), "f")
    return text


def scale_of(number: Decimal) -> int:
    """The display scale."""
    return max(0, -int(number.as_tuple().exponent))


def at_scale(number: Decimal, scale: int, rounding: str = ROUND_HALF_UP) -> Decimal:
    """The number with exactly this display scale; rounds half away from zero."""
    return number.quantize(Decimal(1).scaleb(-scale, EXACT), rounding, EXACT)


def weight_and_digit(number: Decimal) -> tuple[int, int]:
    """The weight in base 10,000 and the first digit in that base, as PostgreSQL keeps numbers."""
    if not number:
        return 0, 0
    top = number.adjusted()
    weight = top // 4
    digits = number.as_tuple().digits[: top - 4 * weight + 1]
    first = int("".join(map(str, digits)))
    return weight, first * 10 ** (top - 4 * weight + 1 - len(digits))


def clamp_scale(scale: int, *numbers: Decimal) -> int:
    """At least the display scales of the inputs, at most what PostgreSQL displays."""
    return min(max(scale, 0, *map(scale_of, numbers)), MAX_DISPLAY_SCALE)


def div_scale(one: Decimal, other: Decimal) -> int:
    """The scale of a quotient: 16 significant digits or more."""
    weight, first = weight_and_digit(one)
    divisor_weight, divisor_first = weight_and_digit(other)
    quotient = weight - divisor_weight - (first <= divisor_first)
    return clamp_scale(MIN_SIGNIFICANT - quotient * 4, one, other)


def ratio(one: Decimal, other: Decimal, scale: int) -> Decimal:
    """one / other, rounded half away from zero at the scale."""
    if not other:
        raise SqlError("22012", "division by zero")
    top, bottom = integers(one, other)
    top *= 10**scale
    whole, rest = divmod(abs(top), abs(bottom))
    whole += 2 * rest >= abs(bottom)
    return Decimal(-whole if (top < 0) != (bottom < 0) else whole).scaleb(-scale, EXACT)


def integers(one: Decimal, other: Decimal) -> tuple[int, int]:
    """Two numbers as integers over the same power of ten."""
    scale = max(scale_of(one), scale_of(other))
    return int(one.scaleb(scale, EXACT)), int(other.scaleb(scale, EXACT))


def quotient_of(one: Decimal, other: Decimal) -> Decimal:
    """PostgreSQL's numeric division."""
    if not other:
        raise SqlError("22012", "division by zero")
    return ratio(one, other, div_scale(one, other))


def add(one: str, other: str) -> str:
    return spell(EXACT.add(Decimal(one), Decimal(other)))


def sub(one: str, other: str) -> str:
    return spell(EXACT.subtract(Decimal(one), Decimal(other)))


def mul(one: str, other: str) -> str:
    return spell(EXACT.multiply(Decimal(one), Decimal(other)))


def div(one: str, other: str) -> str:
    """one / other; short texts, which is nearly all, go the short way over plain integers."""
    if len(one) + len(other) > 200:
        return spell(quotient_of(Decimal(one), Decimal(other)))
    left, left_scale, left_weight, left_first = _unpacked(one)
    right, right_scale, right_weight, right_first = _unpacked(other)
    if not right:
        raise SqlError("22012", "division by zero")
    quotient = left_weight - right_weight - (left_first <= right_first)
    scale = max(MIN_SIGNIFICANT - quotient * 4, 0, left_scale, right_scale)
    shift = scale + right_scale - left_scale  # not negative: the scale is the largest
    top, bottom = abs(left) * 10**shift, abs(right)
    digits = str((2 * top + bottom) // (2 * bottom))
    if scale:
        digits = digits.zfill(scale + 1)
        digits = f"{digits[:-scale]}.{digits[-scale:]}"
    negative = (left < 0) != (right < 0) and digits.strip("0.")
    return f"-{digits}" if negative else digits


def _unpacked(text: str) -> tuple[int, int, int, int]:
    """The digits as one integer, the scale, and `weight_and_digit`, from the text alone."""
    scale = len(text.partition(".")[2])
    top, digits = _leading(text)
    if not digits:
        return 0, scale, 0, 0
    weight = top // 4
    count = top - 4 * weight + 1
    return int(text.replace(".", "")), scale, weight, int(digits[:count].ljust(count, "0"))


def _leading(text: str) -> tuple[int, str]:
    """The power of ten of the first digit that is not 0, and the digits from there on."""
    whole, _, fraction = text.partition(".")
    leading = whole.lstrip("-0")
    if leading:
        return len(leading) - 1, leading + fraction
    digits = fraction.lstrip("0")
    return len(digits) - len(fraction) - 1, digits


def mod(one: str, other: str) -> str:
    """The remainder with the sign of the dividend."""
    left, right = Decimal(one), Decimal(other)
    if not right:
        raise SqlError("22012", "division by zero")
    top, bottom = integers(left, right)
    rest = abs(top) % abs(bottom)
    scale = max(scale_of(left), scale_of(right))
    return spell(Decimal(-rest if top < 0 else rest).scaleb(-scale, EXACT))


def whole_div(one: str, other: str) -> str:
    """div(): the quotient cut toward zero."""
    left, right = Decimal(one), Decimal(other)
    if not right:
        raise SqlError("22012", "division by zero")
    top, bottom = integers(left, right)
    whole = abs(top) // abs(bottom)
    return spell(Decimal(-whole if (top < 0) != (bottom < 0) else whole))


def greatest_divisor(one: str, other: str) -> str:
    left, right = Decimal(one), Decimal(other)
    scale = max(scale_of(left), scale_of(right))
    return spell(Decimal(math.gcd(*integers(left, right))).scaleb(-scale, EXACT))


def least_multiple(one: str, other: str) -> str:
    left, right = Decimal(one), Decimal(other)
    scale = max(scale_of(left), scale_of(right))
    return spell(Decimal(math.lcm(*integers(left, right))).scaleb(-scale, EXACT))


def absolute(text: str) -> str:
    return text.removeprefix("-")


def negate(text: str) -> str:
    return spell(Decimal(text).copy_negate())


def sign(text: str) -> str:
    number = Decimal(text)
    return "0" if not number else "-1" if number < 0 else "1"


def ceil(text: str) -> str:
    return spell(at_scale(Decimal(text), 0, ROUND_CEILING))


def floor(text: str) -> str:
    return spell(at_scale(Decimal(text), 0, ROUND_FLOOR))


def round_to(text: str, scale: int) -> str:
    """round(x, n), half away from zero; n may be negative."""
    return _cut(text, scale, ROUND_HALF_UP)


def trunc_to(text: str, scale: int) -> str:
    return _cut(text, scale, ROUND_DOWN)


def _cut(text: str, scale: int, rounding: str) -> str:
    scale = max(-MAX_RESULT_SCALE, min(scale, 16383))  # NUMERIC_DSCALE_MAX
    cut = at_scale(Decimal(text), scale, rounding)
    return spell(cut if scale >= 0 else at_scale(cut, 0))


def trim_scale(text: str) -> str:
    """The text without trailing zeros after the point: one text for each number."""
    return text.rstrip("0").removesuffix(".") if "." in text else text


def with_modifier(number: Decimal, precision: int, scale: int) -> Decimal:
    """A numeric(precision, scale) of the number, or 22003."""
    rounded = at_scale(number, scale)
    if rounded and rounded.adjusted() >= precision - scale:
        raise SqlError("22003", "numeric field overflow")
    return rounded if rounded else abs(rounded)


def to_modifier(text: str, precision: int, scale: int) -> str:
    """text::numeric(precision, scale), as text."""
    return spell(with_modifier(Decimal(text), precision, scale))


def to_int(text: str, kind: str) -> int:
    """numeric to int2, int4 or int8: rounds half away from zero."""
    name, bits = _INTS[kind]
    value = int(at_scale(Decimal(text), 0))
    if not -(1 << bits) <= value < 1 << bits:
        raise SqlError("22003", f"{name} out of range")
    return value


def to_float8(text: str) -> float:
    value = float(text)
    if math.isinf(value) or (value == 0 and Decimal(text)):
        raise SqlError("22003", f'"{text}" is out of range for type double precision')
    return value


def to_float4(text: str) -> float:
    value = nearest_float4(text)
    if math.isinf(value) or (value == 0 and Decimal(text)):
        raise SqlError("22003", f'"{text}" is out of range for type real')
    return value


def nearest_float4(text: str) -> float:
    """The float4 nearest to a decimal text, rounded once; infinity when it is too large."""
    value = as_float4(float(text))
    if math.isinf(value) or math.isnan(value):
        return value
    # float() rounded once already: near a tie, the neighbour may be the nearer one
    exact = Decimal(text)
    step = 2.0 ** (math.frexp(value)[1] - 24) if value else 2.0**-149
    near = [as_float4(value - max(step, 2.0**-149)), value, as_float4(value + max(step, 2.0**-149))]
    finite = [each for each in near if not math.isinf(each)]
    distance = {each: EXACT.subtract(Decimal(each), exact).copy_abs() for each in finite}
    best = min(distance.values())
    ties = [each for each in finite if distance[each] == best]
    return value if value in ties else ties[0]


def as_float4(value: float) -> float:
    """The float4 nearest to a float8; infinity when it is too large."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def from_float8(value: float) -> str:
    """float8 to numeric: 15 significant digits, as PostgreSQL does it."""
    return _from_float(value, 15)


def from_float4(value: float) -> str:
    return _from_float(value, 6)


def _from_float(value: float, digits: int) -> str:
    if math.isnan(value) or math.isinf(value):
        raise unsupported("numeric NaN or Infinity")
    number = Decimal(f"{value:.{digits}g}")
    return spell(number if scale_of(number) else at_scale(number, 0))


def sort_key(text: str) -> str:
    """A text whose byte order is the numeric order; equal numbers have equal keys."""
    top, digits = _leading(text)
    if not digits:
        return "1"
    digits = digits.rstrip("0")
    if text[0] != "-":
        return f"2{top + 200_000:06d}{digits}"
    return f"0{799_999 - top:06d}{digits.translate(_COMPLEMENT)}~"


_COMPLEMENT = str.maketrans("0123456789", "9876543210")


_N = "VARCHAR"


def _row(name: str, count: int, call: Callable[..., str]) -> RuntimeFunction:
    return RuntimeFunction(f"pg_numeric_{name}", (_N,) * count, _N, call)


FUNCTIONS = functions_by_name(
    _row("add", 2, add),
    _row("sub", 2, sub),
    _row("mul", 2, mul),
    _row("div", 2, div),
    _row("mod", 2, mod),
    _row("whole_div", 2, whole_div),
    _row("gcd", 2, greatest_divisor),
    _row("lcm", 2, least_multiple),
    _row("abs", 1, absolute),  # equal: ltrim(x, '-')
    _row("neg", 1, negate),
    _row("sign", 1, sign),
    _row("ceil", 1, ceil),
    _row("floor", 1, floor),
    _row("trim_scale", 1, trim_scale),
    _row("sort_key", 1, sort_key),
    RuntimeFunction("pg_numeric_round", (_N, "INTEGER"), _N, round_to),
    RuntimeFunction("pg_numeric_trunc", (_N, "INTEGER"), _N, trunc_to),
    RuntimeFunction("pg_numeric_scale", (_N,), "INTEGER", lambda text: scale_of(Decimal(text))),
    RuntimeFunction("pg_numeric_int2", (_N,), "SMALLINT", lambda text: to_int(text, "int2")),
    RuntimeFunction("pg_numeric_int4", (_N,), "INTEGER", lambda text: to_int(text, "int4")),
    RuntimeFunction("pg_numeric_int8", (_N,), "BIGINT", lambda text: to_int(text, "int8")),
    RuntimeFunction("pg_numeric_float8", (_N,), "DOUBLE", to_float8),
    RuntimeFunction("pg_numeric_float4", (_N,), "FLOAT", to_float4),
    RuntimeFunction("pg_float8_numeric", ("DOUBLE",), _N, from_float8),
    RuntimeFunction("pg_float4_numeric", ("FLOAT",), _N, from_float4),
)
