"""The text of an interval in the styles that a session may set: `styled_interval(value, style)`.

postgres            1 year 2 mons -3 days +04:05:06
postgres_verbose    @ 1 year 2 mons -3 days 4 hours 5 mins 6 secs
iso_8601            P1Y2M-3DT4H5M6S
"""

from redask.core.sql.runtime.dates.intervals import HOUR, MINUTE, SECOND, Interval, interval_text

STYLES = ("postgres", "postgres_verbose", "iso_8601")


def styled_interval(value: Interval, style: str) -> str:
    """The text in one of STYLES."""
    if style == "iso_8601":
        return _iso_8601(value)
    return _verbose(value) if style == "postgres_verbose" else interval_text(value)


def _cut(value: int, unit: int) -> tuple[int, int]:
    """How often a unit is in a value, and the rest, both with its sign."""
    whole = abs(value) // unit * (1 if value >= 0 else -1)
    return whole, value - whole * unit


def _parts(value: Interval) -> tuple[int, int, int, int, int, int]:
    years, months = _cut(value.months, 12)
    hours, rest = _cut(value.microseconds, HOUR)
    minutes, microseconds = _cut(rest, MINUTE)
    return years, months, value.days, hours, minutes, microseconds


def _seconds(microseconds: int) -> str:
    seconds, fraction = divmod(abs(microseconds), SECOND)
    text = f"{seconds}.{fraction:06d}".rstrip("0") if fraction else str(seconds)
    return f"-{text}" if microseconds < 0 else text


def _iso_8601(value: Interval) -> str:
    years, months, days, hours, minutes, microseconds = _parts(value)
    date = [f"{count}{unit}" for count, unit in ((years, "Y"), (months, "M"), (days, "D")) if count]
    clock = [f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count]
    clock += [f"{_seconds(microseconds)}S"] if microseconds else []
    if not date and not clock:
        return "PT0S"
    return f"P{''.join(date)}{'T' if clock else ''}{''.join(clock)}"


def _verbose(value: Interval) -> str:
    years, months, days, hours, minutes, microseconds = _parts(value)
    counts = ((years, "year"), (months, "mon"), (days, "day"), (hours, "hour"), (minutes, "min"))
    first = next((count for count, _ in counts if count), microseconds)
    sign = -1 if first < 0 else 1  # of what is written first; the rest is told against it
    parts = [
        f"{count * sign} {unit}{'' if count * sign == 1 else 's'}"
        for count, unit in counts
        if count
    ]
    if microseconds:
        text = _seconds(microseconds * sign)
        parts.append(f"{text} sec{'' if abs(microseconds) == SECOND else 's'}")
    return f"@ {' '.join(parts) or '0'}{' ago' if first < 0 else ''}"
