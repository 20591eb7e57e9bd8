"""Ranges and multiranges: text to its one spelling, and their constructors.

    read_range("(1,5]", INT4)            "[2,6)"             of integers and days: [lower, upper)
    read_range("[3,3)", INT4)            "empty"
    read_multirange("{[1,2),[2,4)}", …)  "{[1,4)}"           sorted, those that touch are one

Bounds are read and written by the rules of the range's own type, which the caller hands in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, NamedTuple

from redask.core.errors import SqlError
from redask.core.sql.runtime.refusals import unsupported

_SPACE = " \t\n\r\v\f"
_QUOTED = frozenset('"\\()[],' + _SPACE)
_MOST = {"int4": 2**31, "int8": 2**63}
_FLAGS = ("[]", "[)", "(]", "()")


class BoundType(NamedTuple):
    """The type of a range's bounds: its name, and how its values are read and written."""

    name: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class RangeValue:
    """A range; a bound that is None is infinite."""

    lower: Any = None
    upper: Any = None
    has_lower: bool = False
    has_upper: bool = False
    is_empty: bool = False


EMPTY = RangeValue(is_empty=True)


def read_range(text: str, kind: BoundType) -> str:
    """The spelling of the range that PostgreSQL reads."""
    return range_text(parsed_range(text, kind), kind)


def parsed_range(text: str, kind: BoundType) -> RangeValue:
    """A range's text; 22P02 for what is none."""
    place = _skip(text, 0)
    if text[place : place + 5].lower() == "empty":
        _end(text, place + 5)
        return EMPTY
    opening = text[place : place + 1]
    if opening not in ("[", "("):
        raise _malformed(text)
    lower, place = _bound(text, place + 1, ",")
    if text[place : place + 1] != ",":
        raise _malformed(text)
    upper, place = _bound(text, place + 1, ")]")
    closing = text[place : place + 1]
    if closing not in ("]", ")"):
        raise _malformed(text)
    _end(text, place + 1)
    low = None if lower is None else kind.read(lower)
    high = None if upper is None else kind.read(upper)
    return made_range(low, high, opening + closing, kind)


def made_range(lower: Any, upper: Any, flags: str | None, kind: BoundType) -> RangeValue:
    """A range's constructor."""
    if flags is None:
        raise SqlError("22000", "range constructor flags argument must not be null")
    if flags not in _FLAGS:
        raise SqlError("42601", "invalid range bound flags")
    found = RangeValue(
        lower, upper, lower is not None and flags[0] == "[", upper is not None and flags[1] == "]"
    )
    return _in_one_form(_checked(found), kind.name)


def _checked(found: RangeValue) -> RangeValue:
    if found.is_empty or found.lower is None or found.upper is None:
        return found
    if found.lower > found.upper:
        message = "range lower bound must be less than or equal to range upper bound"
        raise SqlError("22000", message)
    if found.lower == found.upper and not (found.has_lower and found.has_upper):
        return EMPTY
    return found


def _in_one_form(found: RangeValue, name: str) -> RangeValue:
    """A range of integers or days with its lower bound, and without its upper one."""
    if found.is_empty or name not in ("int4", "int8", "date"):
        return found
    lower, upper = found.lower, found.upper
    if lower is not None and not found.has_lower:
        found = replace(found, lower=_next(lower, name), has_lower=True)
    if upper is not None and found.has_upper:
        found = replace(found, upper=_next(upper, name), has_upper=False)
    return _checked(found)


def _next(value: Any, name: str) -> Any:
    if name == "date":
        if value == date.max:
            raise unsupported("a date after year 9999")
        return value + timedelta(days=1)
    if value + 1 >= _MOST[name]:
        word = "integer" if name == "int4" else "bigint"
        raise SqlError("22003", f"{word} out of range")
    return value + 1


def range_text(found: RangeValue, kind: BoundType) -> str:
    """A range as PostgreSQL writes it."""
    if found.is_empty:
        return "empty"
    lower = "" if found.lower is None else _escaped(kind.write(found.lower))
    upper = "" if found.upper is None else _escaped(kind.write(found.upper))
    return (
        f"{'[' if found.has_lower else '('}{lower},{upper}{']' if found.has_upper else ')'}"
    )  # fmt: skip


def _escaped(text: str) -> str:
    if text and not _QUOTED & set(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '""') + '"'


# --- multiranges -------------------------------------------------------------------------------


def read_multirange(text: str, kind: BoundType) -> str:
    """The spelling of the multirange that PostgreSQL reads."""
    return multirange_text(parsed_multirange(text, kind), kind)


def parsed_multirange(text: str, kind: BoundType) -> list[RangeValue]:
    """The ranges of a multirange, sorted and merged; 22P02 for what is none."""
    return joined([parsed_range(each, kind) for each in split_multirange(text)])


def multirange_text(ranges: Sequence[RangeValue], kind: BoundType) -> str:
    return "{" + ",".join(range_text(each, kind) for each in ranges) + "}"


def split_multirange(text: str) -> list[str]:
    """The texts of a multirange's ranges."""
    place = _skip(text, 0)
    if text[place : place + 1] != "{":
        raise _malformed(text, "multirange")
    place = _skip(text, place + 1)
    found: list[str] = []
    if text[place : place + 1] == "}":
        _end(text, place + 1, "multirange")
        return found
    while True:
        place = _skip(text, place)
        end = _range_end(text, place)
        found.append(text[place:end])
        place = _skip(text, end)
        mark = text[place : place + 1]
        if mark == "}":
            _end(text, place + 1, "multirange")
            return found
        if mark != ",":
            raise _malformed(text, "multirange")
        place += 1


def _range_end(text: str, place: int) -> int:
    if text[place : place + 5].lower() == "empty":
        return place + 5
    if text[place : place + 1] not in ("[", "("):
        raise _malformed(text, "multirange")
    is_quoted = False
    while place < len(text):
        sign = text[place]
        if sign == "\\":
            place += 1
        elif sign == '"':
            is_quoted = not is_quoted
        elif sign in ")]" and not is_quoted:
            return place + 1
        place += 1
    raise _malformed(text, "multirange")


def joined(ranges: Sequence[RangeValue]) -> list[RangeValue]:
    """The ranges without empty ones, sorted, and those that overlap or touch as one."""
    found: list[RangeValue] = []
    for each in sorted((one for one in ranges if not one.is_empty), key=_LowerOrder):
        if found and _touches(found[-1], each):
            found[-1] = _merged(found[-1], each)
        else:
            found.append(each)
    return found


class _LowerOrder:
    """Ranges by their lower bounds: the infinite first, then one that holds its bound."""

    def __init__(self, value: RangeValue) -> None:
        self.value = value

    def __lt__(self, other: "_LowerOrder") -> bool:
        one, two = self.value, other.value
        if one.lower is None or two.lower is None:
            return one.lower is None and two.lower is not None
        return bool((one.lower, not one.has_lower) < (two.lower, not two.has_lower))


def _touches(one: RangeValue, after: RangeValue) -> bool:
    if one.upper is None or after.lower is None:
        return True
    if one.upper == after.lower:
        return one.has_upper or after.has_lower
    return bool(one.upper > after.lower)


def _merged(one: RangeValue, other: RangeValue) -> RangeValue:
    if one.upper is None or other.upper is None:
        return replace(one, upper=None, has_upper=False)
    last = max(one, other, key=lambda each: (each.upper, each.has_upper))
    return replace(one, upper=last.upper, has_upper=last.has_upper)


# --- reading -----------------------------------------------------------------------------------


def _malformed(text: str, word: str = "range") -> SqlError:
    return SqlError("22P02", f'malformed {word} literal: "{text}"')


def _skip(text: str, place: int) -> int:
    while place < len(text) and text[place] in _SPACE:
        place += 1
    return place


def _end(text: str, place: int, word: str = "range") -> None:
    if text[place:].strip(_SPACE):
        raise _malformed(text, word)


def _bound(text: str, place: int, ends: str) -> tuple[str | None, int]:
    """A bound's text, None for an infinite one, and the place after it."""
    if text[place : place + 1] and text[place] in ends:
        return None, place
    found: list[str] = []
    is_quoted = False
    while place < len(text) and (is_quoted or text[place] not in "()[],"):
        sign = text[place]
        if sign == "\\":
            place += 1
            if place == len(text):
                raise _malformed(text)
            found.append(text[place])
        elif sign == '"' and is_quoted and text[place + 1 : place + 2] == '"':
            place += 1
            found.append(sign)
        elif sign == '"':
            is_quoted = not is_quoted
        else:
            found.append(sign)
        place += 1
    if place >= len(text):
        raise _malformed(text)
    return "".join(found), place
