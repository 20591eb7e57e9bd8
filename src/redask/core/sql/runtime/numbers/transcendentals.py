"""sqrt, exp, ln, log and power of numeric, to the digits that PostgreSQL prints.

PostgreSQL chooses the scale of the result from an estimate of its size, computes with a few more
digits and rounds. We choose the same scale and compute with many more. Where the digits beyond
the scale lie so near to a half that PostgreSQL's own error could decide, we refuse.
"""

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal

from redask.core.errors import SqlError
from redask.core.sql.runtime.numbers.numerics import (
    EXACT,
    MAX_DISPLAY_SCALE,
    MIN_SIGNIFICANT,
    at_scale,
    clamp_scale,
    ratio,
    spell,
    weight_and_digit,
)
from redask.core.sql.runtime.refusals import unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name

_LOG10_E = 0.434294481903252
_GUARD = 24
_MAX_DIGITS = 5000  # beyond this we refuse rather than compute for seconds


def root_at(number: Decimal, scale: int) -> Decimal:
    """The square root at a scale, rounded half away from zero."""
    scaled = int(number.scaleb(2 * scale + 2, EXACT)) if number else 0
    root = math.isqrt(scaled)
    return Decimal((root + 5) // 10).scaleb(-scale, EXACT)


def sqrt(text: str) -> str:
    number = Decimal(text)
    if number < 0:
        raise SqlError("2201F", "cannot take square root of a negative number")
    weight = weight_and_digit(number)[0]
    half = (weight + 1) * 4
    digits = (half // 2 if half >= 0 else -(-half // 2)) - 1
    return spell(root_at(number, clamp_scale(MIN_SIGNIFICANT - digits, number)))


def exp(text: str) -> str:
    number = Decimal(text)
    weight = max(-2000.0, min(float(number) * _LOG10_E, 2000.0))
    scale = clamp_scale(MIN_SIGNIFICANT - int(weight), number)
    if 600 < number < 6000:
        raise unsupported("exp() of a number above 600")
    if abs(number) >= 6000:
        if number > 0:
            raise SqlError("22003", "value overflows numeric format")
        return spell(at_scale(Decimal(0), scale))
    return spell(_settle(number.exp(_wide(scale + max(0, int(weight)) + 10)), scale))


def ln(text: str) -> str:
    number = _positive(text)
    scale = clamp_scale(MIN_SIGNIFICANT - _ln_weight(number), number)
    return spell(_settle(number.ln(_wide(scale + 8)), scale))


def log(text: str) -> str:
    """log(x) of base 10."""
    return log_of("10", text)


def log_of(base_text: str, text: str) -> str:
    """log(b, x)."""
    base, number = _positive(base_text), _positive(text)
    scale = clamp_scale(MIN_SIGNIFICANT - (_ln_weight(number) - _ln_weight(base)), base, number)
    if base == 1:
        raise SqlError("22012", "division by zero")
    context = _wide(scale + 60)
    found = context.divide(number.ln(context), base.ln(context))
    return spell(_settle(found, scale))


def power(base_text: str, exponent_text: str) -> str:
    """base ^ exponent."""
    base, exponent = Decimal(base_text), Decimal(exponent_text)
    if not base and exponent < 0:
        raise SqlError("2201F", "zero raised to a negative power is undefined")
    whole = exponent == exponent.to_integral_value(context=EXACT)
    if base < 0 and not whole:
        raise SqlError(
            "2201F", "a negative number raised to a non-integer power yields a complex result"
        )
    if whole and -(2**31) <= exponent < 2**31:
        return spell(_int_power(base, int(exponent)))
    if not base:
        return spell(at_scale(base, MIN_SIGNIFICANT))
    if base < 0:
        raise unsupported("this power of a negative number")
    # the size of the result, estimated with as few digits as PostgreSQL takes for it
    rough = max(8 - _ln_weight(base), 0)
    size = EXACT.multiply(at_scale(base.ln(_wide(60)), rough), exponent)
    value = float(at_scale(size, rough))
    if abs(value) > 2000 * 3.01:
        if value > 0:
            raise SqlError("22003", "value overflows numeric format")
        return spell(at_scale(Decimal(0), MAX_DISPLAY_SCALE))
    scale = clamp_scale(MIN_SIGNIFICANT - int(value * _LOG10_E), base, exponent)
    context = _wide(scale + abs(int(value)) + 20)
    return spell(_settle(context.exp(context.multiply(base.ln(context), exponent)), scale))


def _int_power(base: Decimal, exponent: int) -> Decimal:
    scale = clamp_scale(MIN_SIGNIFICANT, base)
    if exponent == 0:
        return at_scale(Decimal(1), scale)
    if exponent == 1:
        return at_scale(base, scale)
    if exponent == -1:
        return ratio(Decimal(1), base, scale)
    if exponent == 2:
        return at_scale(EXACT.multiply(base, base), scale)
    if not base:
        return at_scale(Decimal(0), scale)
    weight = exponent * float(abs(base).log10(_wide(20)))
    if weight > 3 * 32767 * 4 or weight >= 131072:
        raise SqlError("22003", "value overflows numeric format")
    if weight + 1 < -scale:
        return at_scale(Decimal(0), scale)
    context = _wide(scale + max(0, int(weight)) + 20)
    found = context.power(base, exponent)
    return _settle(found, scale)


def _positive(text: str) -> Decimal:
    number = Decimal(text)
    if not number:
        raise SqlError("2201E", "cannot take logarithm of zero")
    if number < 0:
        raise SqlError("2201E", "cannot take logarithm of a negative number")
    return number


def _ln_weight(number: Decimal) -> int:
    """PostgreSQL's estimate of the decimal weight of ln(number)."""
    if Decimal("0.9") <= number <= Decimal("1.1"):
        rest = EXACT.subtract(number, Decimal(1))
        if not rest:
            return 0
        weight, first = weight_and_digit(rest)
        return weight * 4 + int(math.log10(first))
    weight, first = weight_and_digit(number)
    shifted = int(number.scaleb(-4 * (weight - 1), EXACT))
    exact_digit = number == Decimal(first).scaleb(4 * weight, EXACT)
    digits, power_of_ten = (first, weight * 4) if exact_digit else (shifted, weight * 4 - 4)
    return int(math.log10(abs(math.log(digits) + power_of_ten * 2.302585092994046)))


def _wide(digits: int) -> Context:
    if digits > _MAX_DIGITS:
        raise unsupported("a numeric result of that many digits")
    return Context(digits + _GUARD, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, traps=[])


def _settle(found: Decimal, scale: int) -> Decimal:
    """Rounds at the scale; refuses a value too near to a half to know PostgreSQL's last digit."""
    rounded = at_scale(found, scale)
    beyond = EXACT.subtract(found, rounded).copy_abs().scaleb(scale, EXACT)
    if Decimal("0.49999") < beyond < Decimal("0.5") or Decimal("0.5") < beyond:
        raise unsupported("this numeric result, whose last digit is in doubt,")
    return rounded


_N = "VARCHAR"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_numeric_sqrt", (_N,), _N, sqrt),
    RuntimeFunction("pg_numeric_exp", (_N,), _N, exp),
    RuntimeFunction("pg_numeric_ln", (_N,), _N, ln),
    RuntimeFunction("pg_numeric_log", (_N,), _N, log),
    RuntimeFunction("pg_numeric_log_of", (_N, _N), _N, log_of),
    RuntimeFunction("pg_numeric_power", (_N, _N), _N, power),
)
