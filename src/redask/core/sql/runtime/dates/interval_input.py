"""Text to interval, as PostgreSQL's input function reads it.

    read_interval("1 year 2 mons 3 days 04:05:06.7")
    read_interval("P1Y2M3DT4H"), read_interval("90 minutes ago"), read_interval("1-2")

Fractions go down as PostgreSQL 15 lets them: of years to months, of months and weeks to days,
of days to the time. What is not one of these forms is refused, never guessed.
"""

import re
from collections.abc import Iterator

from redask.core.errors import SqlError
from redask.core.sql.runtime.dates.intervals import DAY, HOUR, MINUTE, SECOND, Interval
from redask.core.sql.runtime.refusals import unsupported

_WORDS = {
    "microsecond": "us usec usecs usecond useconds microsecond microseconds",
    "millisecond": "ms msec msecs msecond mseconds millisecond milliseconds",
    "second": "s sec secs second seconds",
    "minute": "m min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "d day days",
    "week": "w week weeks",
    "month": "mon mons month months",
    "year": "y yr yrs year years",
    "decade": "dec decs decade decades",
    "century": "c cent century centuries",
    "millennium": "mil mils millennia millennium",
}
UNITS = {word: unit for unit, words in _WORDS.items() for word in words.split()}
_CLOCK_UNITS = {"second": SECOND, "minute": MINUTE, "hour": HOUR, "millisecond": 1000}
_YEARS = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}
_DAYS = {"day": 1, "week": 7}
_SKIPPED = {"ago", "quarter", "qtr", "timezone", "am", "pm"}  # words PostgreSQL knows

_TOKEN = re.compile(
    r"(?P<clock>[+-]?\d+:\d+(?::\d+(?:\.\d*)?)?)(?![\d:.])"
    r"|(?P<months>[+-]?\d+-\d+)(?![\d-])"
    r"|(?P<number>[+-]?\d+(?:\.\d*)?|\.\d+)(?![\d.:-])"
    r"|(?P<word>[a-z]+)"
)
_ISO = re.compile(
    r"P(?=[-\dT])(?:(-?\d+(?:\.\d+)?)Y)?(?:(-?\d+(?:\.\d+)?)M)?(?:(-?\d+(?:\.\d+)?)W)?"
    r"(?:(-?\d+(?:\.\d+)?)D)?"
    r"(?:T(?:(-?\d+(?:\.\d+)?)H)?(?:(-?\d+(?:\.\d+)?)M)?(?:(-?\d+(?:\.\d+)?)S)?)?\Z"
)
_ISO_UNITS = ("year", "month", "week", "day", "hour", "minute", "second")

_WHOLE_NUMBER = re.compile(r"(?<![\d.])\d{20,}")

_Amount = tuple[str, str]  # a number's text and its unit


def read_interval(text: str) -> Interval:
    """The interval, or SqlError 22007, 22015 (a field out of range) or 0A000."""
    amounts: list[_Amount]
    stripped = text.strip()
    if any(len(each.lstrip("0")) > 19 for each in _WHOLE_NUMBER.findall(text)):
        raise _out_of_range(text)
    if len(text) > 1000:
        raise unsupported("an interval of more than 1000 characters")
    if stripped.startswith("P"):
        amounts, ago = _iso_amounts(stripped, text), False
    else:
        amounts, ago = _amounts(stripped.lower(), text)
    months = days = clock = 0
    for number, unit in amounts:
        if unit == "clock":
            clock += _clock(number, text)
            continue
        more = _interval_of(number, unit)
        months, days, clock = months + more.months, days + more.days, clock + more.microseconds
        _check(months, days, clock, text)
    if ago:
        months, days, clock = -months, -days, -clock
    _check(months, days, clock, text)
    return Interval(months, days, clock)


def _check(months: int, days: int, clock: int, text: str) -> None:
    if not (-(2**31) <= months < 2**31 and -(2**31) <= days < 2**31):
        raise _out_of_range(text)
    if not -(2**63) <= clock < 2**63:
        raise _out_of_range(text)


def _invalid(text: str) -> SqlError:
    return SqlError("22007", f'invalid input syntax for type interval: "{text}"')


def _out_of_range(text: str) -> SqlError:
    return SqlError("22015", f'interval field value out of range: "{text}"')


def _iso_amounts(stripped: str, text: str) -> list[_Amount]:
    found = _ISO.match(stripped)
    if found is None or stripped.endswith("T"):
        raise unsupported(f'an interval written "{text}"')
    pairs = zip(found.groups(), _ISO_UNITS, strict=True)
    return [(number, unit) for number, unit in pairs if number is not None]


def _amounts(lower: str, text: str) -> tuple[list[_Amount], bool]:
    tokens = list(_tokens(lower, text))
    ago = bool(tokens) and tokens[-1] == ("word", "ago")
    if ago:
        tokens.pop()
    amounts: list[_Amount] = []
    place = 0
    while place < len(tokens):
        kind, written = tokens[place]
        following = tokens[place + 1] if place + 1 < len(tokens) else ("", "")
        place += 1
        if kind in ("clock", "months"):
            amounts.append((written, kind))
        elif kind == "number" and following[0] == "word" and following[1] in UNITS:
            amounts.append((written, UNITS[following[1]]))
            place += 1
        elif kind == "number" and following[0] == "clock" and "." not in written:
            amounts.append((written, "day"))
        elif kind == "number" and len(tokens) == 1:
            amounts.append((written, "second"))
        else:
            raise unsupported(f'an interval written "{text}"')
    _no_unit_twice([unit for _, unit in amounts], text)
    finer = any(unit in ("millisecond", "microsecond") for _, unit in amounts)
    if finer and any(unit == "second" and _has_fraction(number) for number, unit in amounts):
        raise _invalid(text)  # a fraction of a second has given the finer units already
    if not amounts:
        raise _invalid(text)
    return [_spread(amount, text) for amount in amounts], ago


def _has_fraction(number: str) -> bool:
    return bool(number.partition(".")[2].strip("0"))


def _tokens(lower: str, text: str) -> Iterator[tuple[str, str]]:
    place = 0
    lower = lower.removeprefix("@")
    while place < len(lower):
        if lower[place] in " \t\n,":
            place += 1
            continue
        found = _TOKEN.match(lower, place)
        if found is None:
            raise unsupported(f'an interval written "{text}"')
        kind = str(found.lastgroup)
        if kind == "word" and found[0] not in UNITS and found[0] not in _SKIPPED:
            raise _invalid(text)
        yield kind, found[0]
        place = found.end()


def _no_unit_twice(units: list[str], text: str) -> None:
    seen: list[str] = []
    for unit in units:
        seen += {"clock": ["hour", "minute", "second"], "months": ["year", "month"]}.get(
            unit, [unit]
        )
    if len(set(seen)) < len(seen):
        raise _invalid(text)
    if "clock" in units and {"millisecond", "microsecond"} & set(units):
        raise unsupported(f'an interval written "{text}"')


def _spread(amount: _Amount, text: str) -> _Amount:
    """A form of years and months, `1-2`, as a number of months."""
    written, unit = amount
    if unit != "months":
        return amount
    sign = "-" if written.startswith("-") else ""
    years, months = written.lstrip("+-").split("-")
    if int(months) > 11:
        raise _out_of_range(text)
    return f"{sign}{int(years) * 12 + int(months)}", "month"


def _clock(written: str, text: str) -> int:
    sign = -1 if written.startswith("-") else 1
    parts = written.lstrip("+-").split(":")
    whole, _, fraction = (parts[2] if len(parts) > 2 else "0").partition(".")
    if int(parts[1]) > 59 or int(whole) > 60:
        raise _out_of_range(text)
    fine = round(float(f"0.{fraction or '0'}") * SECOND)
    return sign * (int(parts[0]) * HOUR + int(parts[1]) * MINUTE + int(whole) * SECOND + fine)


def _interval_of(number: str, unit: str) -> Interval:
    """One amount; the fraction goes down in floats, as PostgreSQL computes it."""
    sign = -1 if number.startswith("-") else 1
    whole_text, _, fraction_text = number.lstrip("+-").partition(".")
    whole = sign * int(whole_text or "0")
    fraction = sign * float(f"0.{fraction_text or '0'}")
    if unit in _YEARS:
        return Interval(whole * _YEARS[unit] * 12 + round(fraction * _YEARS[unit] * 12), 0, 0)
    if unit == "month":
        days, clock = _days(fraction * 30)
        return Interval(whole, days, clock)
    if unit == "day":
        return Interval(0, whole, _microseconds(fraction * DAY))
    if unit == "week":
        days, clock = _days(fraction * 7)
        return Interval(0, whole * 7 + days, clock)
    scale = _CLOCK_UNITS.get(unit, 1)
    return Interval(0, 0, whole * scale + _microseconds(fraction * scale))


def _days(amount: float) -> tuple[int, int]:
    days = int(amount)
    return days, _microseconds((amount - days) * DAY)


def _microseconds(amount: float) -> int:
    whole = int(amount)
    rest = amount - whole
    return whole + (rest > 0.5) - (rest < -0.5)
