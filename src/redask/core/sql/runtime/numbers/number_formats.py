"""to_char of numbers: 9 0 . D , G FM S MI PL SG PR TH and quoted or other text.

    numeric_to_char("1234.5", "FM9,999.00")    "1,234.50"
    int_to_char(-5, "999")                     "  -5"

PostgreSQL walks the pattern once and writes digit by digit; so do we, with the same few facts
(how many leading places are empty, whether the sign is written, where zeros begin), because the
places of the sign and of the blanks follow from that walk. In locale C the decimal point is `.`,
the group separator `,`. V, EEEE, RN, L and B are refused.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from redask.core.errors import SqlError
from redask.core.sql.runtime.numbers.numerics import round_to
from redask.core.sql.runtime.refusals import check_pattern, unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name

_WORDS = ("EEEE", "FM", "MI", "PL", "PR", "RN", "SG", "SP", "TH")
_LETTERS = "09.,BDGLSVC"
_REFUSED = {"EEEE", "RN", "V", "L", "B", "C", "SP"}


@dataclass(frozen=True, slots=True)
class _Layout:
    """What a pattern says as a whole."""

    before: int = 0  # digits before the point
    after: int = 0
    zero_start: int = 0  # the first place, from 1, that is filled with 0; 0 for none
    zero_end: int = 0
    fill: bool = False
    point: bool = False
    sign: str = ""  # S before the number, or after: "before", "after"
    sign_place: int = 0
    plus: bool = False
    minus: bool = False
    bracket: bool = False


_Node = tuple[str, str]  # ("9", …) an action, or ("", text)


def _nodes(pattern: str) -> Iterator[_Node]:
    place = 0
    while place < len(pattern):
        upper = pattern[place : place + 4].upper()
        if pattern[place] == '"':
            end = pattern.find('"', place + 1)
            if end < 0 or "\\" in pattern[place:end]:
                raise unsupported(f'the number pattern "{pattern}"')
            yield from (("", each) for each in pattern[place + 1 : end])
            place = end + 1
            continue
        word = next((each for each in _WORDS if upper.startswith(each)), "")
        if not word and upper[0] in _LETTERS:
            word = upper[0]
        if word in _REFUSED or pattern[place] == "\\":
            raise unsupported(f'"{word or pattern[place]}" in a number pattern')
        written = pattern[place : place + max(len(word), 1)]
        if word == "TH" and written not in ("TH", "th"):
            raise unsupported(f'"{written}" in a number pattern')
        yield (written if word == "TH" else word, written) if word else ("", written)
        place += len(written)


@lru_cache(maxsize=256)
def _plan(pattern: str) -> tuple[tuple[_Node, ...], _Layout]:
    check_pattern(pattern)
    nodes = tuple(_nodes(pattern))
    layout = _Layout()
    for word, _ in nodes:
        layout = _noted(layout, word)
    return nodes, layout


def _noted(layout: _Layout, word: str) -> _Layout:
    """The layout after one more action."""
    if word in ("9", "0"):
        if layout.bracket:
            raise SqlError("42601", f'"{word}" must be ahead of "PR"')
        start = layout.zero_start
        if word == "0" and not start and not layout.point:
            start = layout.before + 1
        before, after = layout.before + (not layout.point), layout.after + layout.point
        end = before + after if word == "0" else layout.zero_end
        return replace(layout, before=before, after=after, zero_start=start, zero_end=end)
    if word in (".", "D"):
        if layout.point:
            raise SqlError("42601", "multiple decimal points")
        return replace(layout, point=True)
    if word == "FM":
        return replace(layout, fill=True)
    if word == "S":
        if layout.sign or layout.plus or layout.minus or layout.bracket:
            raise unsupported('"S" with another sign in a number pattern')
        where = "after" if layout.point else "before"
        return replace(layout, sign=where, sign_place=0 if layout.point else layout.before)
    if word in ("MI", "PL", "SG"):
        if layout.sign or layout.bracket:
            raise unsupported(f'"{word}" with another sign in a number pattern')
        minus, plus = layout.minus or word != "PL", layout.plus or word != "MI"
        return replace(layout, minus=minus, plus=plus)
    if word == "PR":
        if layout.sign or layout.plus or layout.minus:
            raise unsupported('"PR" with another sign in a number pattern')
        return replace(layout, bracket=True)
    return layout


class _Writer:
    """One walk over a pattern, writing one number."""

    def __init__(self, layout: _Layout, number: str, negative: bool, blanks: int) -> None:
        self.out: list[str] = []
        self.number, self.negative, self.blanks = number, negative, blanks
        self.place = 0  # in the number's text
        self.current = 0  # digits of the pattern done
        self.in_number = False
        self.bracket = layout.bracket and (negative or not layout.fill)
        self.sign = layout.sign
        if layout.plus or layout.minus:
            self.signed = layout.minus
        else:
            self.signed = not negative and layout.fill and not layout.sign
            if layout.sign == "before" and layout.before == layout.sign_place:
                self.sign = "after"
        self.layout = layout
        self.zero_start = layout.zero_start - 1 if layout.zero_start else -1
        self.last = self._last_relevant()
        self.count = layout.after + layout.before - 1
        self.count += not self.signed and not blanks

    def _last_relevant(self) -> int:
        """With FM, the place of the last digit after the point that is written; else -1."""
        point = self.number.find(".")
        if not (self.layout.fill and self.layout.point) or point < 0:
            return -1
        last = point + len(self.number[point + 1 :].rstrip("0"))
        if self.layout.zero_end > self.blanks:
            last = max(last, min(len(self.number) - 1, self.layout.zero_end - self.blanks))
        return last

    def _leading_zero(self) -> bool:
        """A lone 0 before the point is not written: .5"""
        return (
            self.layout.zero_start == 0
            and self.place == 0
            and self.number[:1] == "0"
            and self.layout.after != 0
        )

    def _only_point(self) -> bool:
        return self.last >= 0 and self.number[self.last] == "."

    def digit(self, word: str) -> None:
        self.in_number = False
        zeros = self.zero_start >= 0
        begun = self.current >= self.blanks or (zeros and self.zero_start == self.current)
        if not self.signed and begun and (not self._leading_zero() or self._only_point()):
            self._write_sign()
        if self.current < self.blanks and (not zeros or self.zero_start > self.current):
            if not self.layout.fill:
                self.out.append(" ")
        elif self.current < self.blanks:
            self.out.append("0")
            self.in_number = True
        else:
            self._write_digit(word)
            self.place += self.place < len(self.number)
        end = self.count + (self.blanks > 0) + self.layout.point
        if self.last >= 0 and self.last == self.place:
            end = self.current
        if self.current + 1 == end:
            if self.signed and self.bracket:
                self.out.append(">" if self.negative else " ")
            elif self.sign == "after":
                self.out.append("-" if self.negative else "+")
        self.current += 1

    def _write_sign(self) -> None:
        if self.sign:
            if self.sign == "before":
                self.out.append("-" if self.negative else "+")
                self.signed = True
            return
        if self.bracket:
            self.out.append("<" if self.negative else " ")
        elif self.negative:
            self.out.append("-")
        elif not self.layout.fill:
            self.out.append(" ")
        self.signed = True

    def _write_digit(self, word: str) -> None:
        at = self.number[self.place : self.place + 1]
        if at == ".":
            self.out.append(".")
        elif self.last >= 0 and self.place > self.last and word != "0":
            return
        elif self._leading_zero():
            if not self.layout.fill:
                self.out.append(" ")
            elif self._only_point():
                self.out.append("0")
        else:
            # PostgreSQL writes a NUL past the number's end, and its result ends there
            self.out.append(at or "\0")
            self.in_number = True

    def separator(self) -> None:
        if self.in_number:
            self.out.append(",")
        elif not self.layout.fill:
            self.out.append(" ")

    def mark(self, word: str) -> None:
        """MI, PL and SG."""
        if word == "SG" or (word == "MI") == self.negative:
            self.out.append("-" if self.negative else "+")
        elif not self.layout.fill:
            self.out.append(" ")


def _write(pattern: str, number: str, negative: bool) -> str:
    nodes, layout = _plan(pattern)
    whole = number.partition(".")[0]
    if len(whole) > layout.before:
        number = "#" * layout.before + "." + "#" * layout.after
    writer = _Writer(layout, number, negative, max(0, layout.before - len(whole)))
    for word, text in nodes:
        if word in ("9", "0", ".", "D"):
            writer.digit(word)
        elif word in (",", "G"):
            writer.separator()
        elif word in ("MI", "PL", "SG"):
            writer.mark(word)
        elif word in ("TH", "th"):
            if not negative and number[:1] != "#" and not layout.point:
                writer.out.append(ordinal(number, word == "TH"))
        elif word not in ("FM", "S", "PR"):
            writer.out.append(text)
    return "".join(writer.out).partition("\0")[0]


def ordinal(number: str, upper: bool) -> str:
    """st, nd, rd or th."""
    last = "th" if number[-2:-1] == "1" else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    return last.upper() if upper else last


def numeric_to_char(text: str, pattern: str) -> str:
    if not pattern:
        return ""
    rounded = round_to(text, _plan(pattern)[1].after)
    return _write(pattern, rounded.removeprefix("-"), rounded.startswith("-"))


def int_to_char(value: int, pattern: str) -> str:
    if not pattern:
        return ""
    after = _plan(pattern)[1].after
    number = str(abs(value)) + ("." + "0" * after if after else "")
    return _write(pattern, number, value < 0)


def float8_to_char(value: float, pattern: str) -> str:
    return _float_to_char(value, pattern, 15)


def float4_to_char(value: float, pattern: str) -> str:
    return _float_to_char(value, pattern, 6)


def _float_to_char(value: float, pattern: str, digits: int) -> str:
    if not pattern:
        return ""
    if not math.isfinite(value):
        raise unsupported("to_char of NaN or Infinity")
    layout = _plan(pattern)[1]
    whole = len(f"{abs(value):.0f}")
    if whole + layout.after > digits:
        raise unsupported(f"to_char of a float with more than {digits} digits")
    text = f"{value:.{layout.after}f}"
    return _write(pattern, text.removeprefix("-"), text.startswith("-"))


_V = "VARCHAR"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_to_char_numeric", (_V, _V), _V, numeric_to_char),
    RuntimeFunction("pg_to_char_int8", ("BIGINT", _V), _V, int_to_char),
    RuntimeFunction("pg_to_char_float8", ("DOUBLE", _V), _V, float8_to_char),
    RuntimeFunction("pg_to_char_float4", ("FLOAT", _V), _V, float4_to_char),
)
