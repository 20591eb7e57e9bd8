"""Days, months and years as half-open ranges of ISO dates: `period("2019")`.

    written                          range
    2019                             2019-01-01 to 2020-01-01
    2019-03-12, 12 March 2019        one day
    12/03/2019                       refused where day and month could be exchanged
"""

import re
from datetime import date, timedelta

from redask.core.planning.joins import Doubt

_YEAR = re.compile(r"[12]\d{3}\Z", re.ASCII)
_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T]00:00(?::00)?)?\Z", re.ASCII)


def period(text: str) -> tuple[str, str]:
    """The first day of what is written, and the day after its last."""
    if _YEAR.match(text):
        year = int(text)
        return f"{year:04}-01-01", f"{year + 1:04}-01-01"
    found = _ISO.match(text)
    if found:
        try:
            day = date(*map(int, found.groups()))
            return day.isoformat(), (day + timedelta(days=1)).isoformat()
        except (ValueError, OverflowError):
            pass
    raise Doubt("not_computable", text)
