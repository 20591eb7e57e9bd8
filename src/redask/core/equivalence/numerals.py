"""What digits with separators can mean: `readings("1.234")` is 1234/1000 and 1234.

    1234 · 1,234,567 · 1.234.567 · 1'234 · 1 234 (no-break or thin space)    one reading
    1,234.56 · 1.234,56 · 1,5 · 0.123 · 0·5 · 1,23,456 (lakh)                one reading
    1,234 · 1.234                          two: thousands and decimal; the English one first
    1,000                                  one: nobody writes 1 that way
    1.2.3 · 12.03.2019 · 1,23,4            none: a version, a date, a list

A reading is a value and its step, what one unit of the last written digit is worth. Zeros at the
end of a whole number are not written precision: the step of 3,200,000 is 100,000.
"""

import re
from fractions import Fraction
from functools import lru_cache

ValueAndStep = tuple[Fraction, Fraction]

MAX_DIGITS = 40
SPACES = "\u00a0\u2007\u2009\u202f"

_PLAIN = re.compile(r"[0-9]+")
_GROUPED = re.compile(
    rf"([0-9]{{1,3}})(?:([,.'’ {SPACES}])[0-9]{{3}})(?:\2[0-9]{{3}})*(?:([.,·])([0-9]+))?"
)
_LAKH = re.compile(r"[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.([0-9]+))?")
_DECIMAL = re.compile(r"([0-9]*)[.,·]([0-9]+)")


@lru_cache(1 << 12)  # a number of a claim is in its source, too
def readings(written: str) -> tuple[ValueAndStep, ...]:
    """The values that a chain of digits and separators can have, the likeliest first."""
    if len(written) > MAX_DIGITS:
        return ()
    if _PLAIN.fullmatch(written):
        return (_whole(written),)
    found: list[ValueAndStep] = []
    grouped = _GROUPED.fullmatch(written)
    if grouped is not None and grouped[2] != grouped[3] and grouped[1][0] != "0":
        found.append(_fixed(written, grouped[4]))
    decimal = _DECIMAL.fullmatch(written)
    if decimal is not None and not (found and "," in written and decimal[2] == "000"):
        reading = _fixed(written, decimal[2])
        found.insert(0 if "," not in written else len(found), reading)
    lakh = _LAKH.fullmatch(written)
    if lakh is not None:
        found.append(_fixed(written, lakh[1]))
    return tuple(found)


def _fixed(written: str, decimals: str | None) -> ValueAndStep:
    digits = "".join(character for character in written if character.isdigit())
    if not decimals:
        return _whole(digits)
    step = Fraction(1, 10 ** len(decimals))
    return int(digits) * step, step


def _whole(digits: str) -> ValueAndStep:
    value = Fraction(int(digits))
    return value, last_step(value)


def last_step(value: Fraction) -> Fraction:
    """The step of a number that was written without decimals: 100 of 3,200, 1 of 3,201."""
    if value.denominator > 1 or value == 0:
        return Fraction(1, value.denominator)
    digits = str(abs(value.numerator))
    return Fraction(10 ** (len(digits) - len(digits.rstrip("0"))))
