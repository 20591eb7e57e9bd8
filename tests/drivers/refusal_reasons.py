"""Why a test that passes on a PostgreSQL that only reads is left out here, by what redask said.

A row is a kind of `left_out_lists`, a pattern that the error must match, and the reason. `refused`
is for what docs/sql.md and docs/clients/postgres.md say is refused by name; nothing else is.
"""

import re

from left_out_lists import LeftOut

_ROWS = (
    ("no-read", r"cannot execute (VACUUM|DO|ALTER|CREATE|NOTIFY)\b", "it is no query"),
    ("no-read", r"(NOTIFY|LISTEN|UNLISTEN)\b.* is not supported", "messages between sessions"),
    ("no-read", r"PREPARE TRANSACTION|max_prepared_transactions", "two-phase commit"),
    ("refused", r"is no supported (TimeZone|IntervalStyle|DateStyle)", "UTC and ISO only"),
    ("refused", r"is no supported client_encoding", "UTF-8 only"),
    ("refused", r"is no supported standard_conforming_strings", "always on"),
    ("refused", r"the type \S+ is not supported", "a type that is not here"),
    ("refused", r"type of parameter \$\d+ \(OID \d+\) is not known", "a type that is not here"),
    (
        "refused",
        r"an array (of arrays|with written bounds) is not supported",
        "arrays of one bound",
    ),
    ("refused", r"character\(n\) is not supported", "character(n)"),
    (
        "refused",
        r"(date|timestamp|time zone) written .* is not supported",
        "dates PostgreSQL alone has",
    ),
    ("refused", r"numeric NaN or Infinity is not supported", "numerics of digits"),
    ("refused", r"(PREPARE|EXECUTE) \w+ is not supported", "SQL's own PREPARE"),
    ("refused", r"statement is longer than 65536 bytes", "statements of 64 KiB"),
    ("refused", r"(FeatureNotSupported|0A000).* is not supported", "refused by name"),
)


def reason_of(name: str, said: str) -> LeftOut | None:
    """The line for a test that failed so; none: it is a failure."""
    for kind, pattern, reason in _ROWS:
        if re.search(pattern, said):
            return LeftOut(kind, name, f"{reason}: {said}")
    return None
