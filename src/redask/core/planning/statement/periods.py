"""Days, months and years as half-open ranges of ISO dates: `period("2019")`.

written                            range
2019                               2019-01-01 to 2020-01-01
2019-03                            2019-03-01 to 2019-04-01
2019-03-12                         one day
anything else, or no real day      refused: 12/03/2019 could be two days
"""

import re
from datetime import date, timedelta

from redask.core.planning.statement.key_paths import Doubt

_ISO = re.compile(r"([12]\d{3})(?:-(\d{1,2})(?:-(\d{1,2}))?)?\Z", re.ASCII)


def period(text: str) -> tuple[str, str]:
    """The first day of what is written, and the day after its last."""
    found = _ISO.match(text)
    if not found:
        raise Doubt("not_computable", text)
    year, month, day = found[1], found[2], found[3]
    try:
        first = date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        raise Doubt("not_computable", text) from None
    if day:
        return first.isoformat(), (first + timedelta(days=1)).isoformat()
    last = (first + timedelta(days=31 if month else 366)).replace(day=1)
    return first.isoformat(), (last if month else last.replace(month=1)).isoformat()
