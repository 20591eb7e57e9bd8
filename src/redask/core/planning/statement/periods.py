"""Days, months, quarters and years as half-open ranges of ISO dates: `period("2019")`.

written                            range
2019                               2019-01-01 to 2020-01-01
2019-03                            2019-03-01 to 2019-04-01
2019-Q2                            2019-04-01 to 2019-07-01
2019-03-12                         one day
anything else, or no real day      refused: 12/03/2019 could be two days
"""

import re
from datetime import date, timedelta

from redask.core.planning.statement.key_paths import Doubt

_ISO = re.compile(r"([12]\d{3})(?:-(\d{1,2})(?:-(\d{1,2}))?)?\Z", re.ASCII)

_QUARTER = re.compile(r"([12]\d{3})-Q([1-4])\Z", re.ASCII)


def period(text: str) -> tuple[str, str]:
    """The first day of what is written, and the day after its last."""
    if quarter := _QUARTER.match(text):
        year, first_month = int(quarter[1]), 3 * int(quarter[2]) - 2
        after = date(year + first_month // 10, (first_month + 2) % 12 + 1, 1)
        return date(year, first_month, 1).isoformat(), after.isoformat()
    found = _ISO.match(text)
    if not found:
        raise Doubt("not_computable", text)
    month, day = found[2], found[3]
    try:
        first = date(int(found[1]), int(month or 1), int(day or 1))
    except ValueError:
        raise Doubt("not_computable", text) from None
    if day:
        return first.isoformat(), (first + timedelta(days=1)).isoformat()
    last = (first + timedelta(days=31 if month else 366)).replace(day=1)
    return first.isoformat(), (last if month else last.replace(month=1)).isoformat()
