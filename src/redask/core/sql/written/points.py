"""point: text to its one spelling, two numbers in parentheses.

read_point(" 1.50 , 2 ", read)     "(1.5,2)"
"""

import re
from collections.abc import Callable

from redask.core.errors import SqlError
from redask.core.sql.runtime.spelling import float8_text

_FORM = re.compile(r"\s*(\()?([^(),]+),([^(),]+)(?(1)\))\s*\Z", re.ASCII)


def read_point(text: str, read: Callable[[str], float]) -> str:
    """The spelling of a point; `read` reads a double precision."""
    found = _FORM.match(text)
    if found is None:
        raise SqlError("22P02", f'invalid input syntax for type point: "{text}"')
    try:
        return point_text(*(read(each) for each in found.group(2, 3)))
    except SqlError as error:
        if error.sqlstate != "22P02":
            raise
        raise SqlError("22P02", f'invalid input syntax for type point: "{text}"') from None


def point_text(x: float, y: float) -> str:
    return f"({float8_text(x)},{float8_text(y)})"


def coordinates(written: str) -> tuple[float, float]:
    """The numbers of what `point_text` wrote."""
    x, y = written[1:-1].split(",")
    return float(x), float(y)
