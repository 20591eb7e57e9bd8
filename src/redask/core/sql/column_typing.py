"""A column's type from its JSON values: `value_classes` of each, then `column_type` of all.

    values (null is ignored)                                type
    none, or only null                                      text
    booleans                                                bool
    integers                                                int4; int8 beyond 32 bits; numeric(38,0)
                                                            beyond 64 bits; text beyond 38 digits
    numbers, some with a fraction or an exponent            numeric(p,s) when each such number has,
                                                            as written, at most 15 significant
                                                            digits, 10 decimals and no exponent; s
                                                            is the largest scale, p 18 or else 38.
                                                            Otherwise float8; text when an integer
                                                            among them is no double
    texts, all `YYYY-MM-DD`                                 date
      `YYYY-MM-DD[T ]HH:MM:SS[.f]`, dates too               timestamp
      the same, all with `Z` or `±HH:MM`                    timestamptz
      `HH:MM:SS[.f]`                                        time
      lower-case UUIDs with hyphens                         uuid
      canonical integers                                    int4, int8, numeric(38,0)
      canonical decimals such as `-0.50`, integers too      numeric(p,s)
      both, mixed with such numbers                         as the numbers
      anything else: `007`, `+49`, `1e5`, `-0`, empty       text
    arrays of scalars of one of these types                 an array of it; of nothing: text[]
    objects, arrays of mixed, nested or other values        jsonb
    any other mixture                                       text: `is_mixed`, what is no text is
                                                            its canonical JSON

Fractions have 1 to 6 digits, years are 0001 to 9999 (in UTC as well), days are real. The type
depends on the set of classes that occur and on nothing else: not on order, and not on rows that
are gone. Keep a count for each class to know when the last of one goes.
"""

import re
from collections.abc import Collection, Iterable

from redask.core.sql.types import SqlType

NULL = "null"
_MAX_DIGITS, _MAX_SCALE, _MAX_PRECISION = 15, 10, 38
_INT4, _INT8 = 1 << 31, 1 << 63
_STARTS = frozenset("0123456789abcdef-")
_LONGEST = 60  # no text of a type but text is longer
_DATE = r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?"
_MOMENT = re.compile(rf"{_DATE}(?:[T ]{_TIME}(Z|[+-](?:0\d|1[0-5]):[0-5]\d)?)?\Z", re.ASCII)
_CLOCK = re.compile(rf"{_TIME}\Z", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(?:\.(\d+))?\Z", re.ASCII)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_BY_TEXT = {
    frozenset({"t-date"}): "date",
    frozenset({"t-timestamp"}): "timestamp",
    frozenset({"t-date", "t-timestamp"}): "timestamp",
    frozenset({"t-timestamptz"}): "timestamptz",
    frozenset({"t-time"}): "time",
    frozenset({"t-uuid"}): "uuid",
}
TEXT, JSONB = SqlType("text"), SqlType("jsonb")


def value_classes(value: object) -> tuple[str, ...]:
    """The classes that one value counts for; an array counts for those of its elements."""
    if isinstance(value, str):
        return (_text_class(value),)
    if value is None:
        return (NULL,)
    if isinstance(value, bool):
        return ("bool",)
    if isinstance(value, int):
        return (_integer_class(value),)
    if isinstance(value, float):
        return (_fraction_class(value),)
    if isinstance(value, list):
        if any(isinstance(each, list | dict) for each in value):
            return ("json",)
        return ("array", *sorted({f"array {each}" for one in value for each in value_classes(one)}))
    return ("json",)


def column_type(classes: Collection[str]) -> SqlType:
    """The type of a column in which exactly these classes occur."""
    present = {each for each in classes if each != NULL}
    if not present:
        return TEXT
    if all(each.startswith(("array", "json")) for each in present):
        elements = {each[6:] for each in present if each.startswith("array ")} - {NULL}
        one = _scalar_type(elements) if elements else TEXT
        return JSONB if "json" in present or one is None else one.array
    return _scalar_type(present) or TEXT


def is_mixed(classes: Collection[str]) -> bool:
    """Whether the column is text and has values that are none: these are canonical JSON."""
    other = any(not each.startswith("t-") for each in classes if each != NULL)
    return other and column_type(classes) == TEXT


# --- one value -------------------------------------------------------------------------------


def _text_class(value: str) -> str:
    if value[:1] not in _STARTS or len(value) > _LONGEST:
        return "t-text"
    found = _NUMBER.match(value)
    if found:
        return _number_text_class(value, found[1], found[2])
    moment = _MOMENT.match(value)
    if moment:
        return _moment_class(moment, len(value))
    if _CLOCK.match(value):
        return "t-time"
    return "t-uuid" if _UUID.match(value) else "t-text"


def _number_text_class(value: str, whole: str, decimals: str | None) -> str:
    digits = len(whole)
    if value[0] == "-" and not value.strip("-0."):
        return "t-text"
    if decimals is not None:
        fits = digits + len(decimals) <= _MAX_PRECISION
        return f"t-numeric {digits} {len(decimals)}" if fits else "t-text"
    if digits > _MAX_PRECISION:
        return "t-text"
    return f"t-{_width(int(value))} {digits} 0"


def _moment_class(found: "re.Match[str]", length: int) -> str:
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not year or day > _DAYS[month - 1] + leap:
        return "t-text"
    if length == 10:
        return "t-date"
    if found[4] is None:
        return "t-timestamp"
    edge = (year, month, day) in ((1, 1, 1), (9999, 12, 31))  # UTC may be in another era
    return "t-text" if edge and found[4] != "Z" else "t-timestamptz"


def _integer_class(value: int) -> str:
    if -_INT4 <= value < _INT4:
        return f"int4 {len(str(abs(value)))} 0"
    if value.bit_length() > 127:  # over 38 digits: their number does not matter
        return "int big" if _is_double(value) else "int big inexact"
    digits = len(str(abs(value)))
    kind = _width(value) if digits <= _MAX_PRECISION else "int"
    exact = "" if _is_double(value) else " inexact"
    return f"{kind} {digits} 0{exact}" if kind != "int" else f"int big{exact}"


def _is_double(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def _width(value: int) -> str:
    if -_INT4 <= value < _INT4:
        return "int4"
    return "int8" if -_INT8 <= value < _INT8 else "int38"


def _fraction_class(value: float) -> str:
    written = repr(value)
    whole, point, decimals = written.lstrip("-").partition(".")
    significant = (whole + decimals).strip("0")
    if "e" in written or not point or len(decimals) > _MAX_SCALE or len(significant) > _MAX_DIGITS:
        return "float"
    return f"decimal {len(whole)} {len(decimals)}"


# --- all values ------------------------------------------------------------------------------


def _scalar_type(classes: Collection[str]) -> SqlType | None:
    """The type of scalars of these classes; None when no type but text holds them all."""
    if all(each.startswith("t-") for each in classes):
        return _type_of_texts(frozenset(classes))
    if set(classes) == {"bool"}:
        return SqlType("bool")
    if all(each.startswith(("int", "decimal", "float")) for each in classes):
        return _type_of_numbers(classes)
    if all(each.startswith(("int", "decimal", "t-int", "t-numeric")) for each in classes):
        # a table of text files has 9.99 as a number and 12.50, which no number keeps, as text
        found = _type_of_numbers([each.removeprefix("t-") for each in classes])
        return None if found is None or found.name == "float8" else found
    return None


def _type_of_texts(classes: frozenset[str]) -> SqlType:
    if classes in _BY_TEXT:
        return SqlType(_BY_TEXT[classes])
    if all(each.startswith(("t-int", "t-numeric")) for each in classes):
        return _type_of_numbers([each[2:] for each in classes]) or TEXT
    return TEXT


def _type_of_numbers(classes: Collection[str]) -> SqlType | None:
    sized = [each.split() for each in classes]
    kinds = {each[0] for each in sized}
    big = any(each[:2] == ["int", "big"] for each in sized)
    if kinds <= {"int4", "int8", "int38", "int"}:
        if big:
            return None
        return SqlType("numeric", (38, 0)) if "int38" in kinds else SqlType(max(kinds))
    if not big and "float" not in kinds:
        digits, scale = _largest(sized)
        if digits + scale <= _MAX_PRECISION:
            return SqlType("numeric", (18 if digits + scale <= 18 else 38, scale))
    if "numeric" in kinds or any(each[-1] == "inexact" for each in sized):
        return None
    return SqlType("float8")


def _largest(sized: Iterable[list[str]]) -> tuple[int, int]:
    """The most digits before the point, and after it."""
    pairs = [(int(each[1]), int(each[2])) for each in sized]
    return max(digits for digits, _ in pairs), max(scale for _, scale in pairs)
