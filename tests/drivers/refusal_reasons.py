"""Why a test that passes on a PostgreSQL that only reads is left out here.

A row is a kind of `left_out_lists`, a pattern, and the reason. `_ROWS` are told by what redask
said: `refused` is for what docs/sql.md and docs/clients/postgres.md say is refused by name; nothing
else is. `_BY_NAME` are told by the test's name, where the test keeps to itself what was said; each
was read. What matches neither is a failure.
"""

import re

from left_out_lists import LeftOut

_ROWS = (
    ("no-read", r"cannot execute (VACUUM|DO|ALTER|CREATE|NOTIFY|INSERT)\b", "it is no query"),
    ("no-read", r"(NOTIFY|LISTEN|UNLISTEN)\b.* is not supported", "messages between sessions"),
    ("no-read", r"PREPARE TRANSACTION|max_prepared_transactions", "two-phase commit"),
    ("refused", r"is no supported IntervalStyle", "intervals as text by sql_standard"),
    ("refused", r"is no supported standard_conforming_strings", "always on"),
    ("refused", r"the type \S+ is not supported", "a type that no column here has"),
    (
        "refused",
        r"type of parameter \$\d+ \(OID \d+\) is not known",
        "a type that no column here has",
    ),
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
_BY_NAME = (
    (
        "no-read",
        r"test_set_transaction_param_\w+\[.*read_only",
        "a transaction that may write: redask says that none may",
    ),
    (
        "no-read",
        r"test_pgconn::test_notice(_error|_nohandler)?$|test_errors::test_error_encoding",
        "it is no query: DO",
    ),
    (
        "no-read",
        r"test_pgconn::test_notify$|test_notify\w*::test_stop_after_batch",
        "messages between sessions: NOTIFY",
    ),
    ("refused", r"pq\.test_async::test_send_query(_compact_test)?$", "statements of 64 KiB"),
    (
        "refused",
        r"pq\.test_escaping::test_escape_(identifier|literal|string)_1char\[off\]",
        "standard_conforming_strings is always on",
    ),
    (
        "refused",
        r"test_escape_noconn$|test_exec::test_exec_params_binary_(in|out)",
        "a type that no column here has: bytea",
    ),
    (
        "refused",
        r"test_load_(date|datetime)_overflow",
        "dates PostgreSQL alone has: before year 1, after year 9999",
    ),
    (
        "refused",
        r"test_set_encoding_unsupported$",
        "EUC_TW, for which neither Python nor the driver has a codec",
    ),
    (
        "refused",
        r"test_prepare\.TestPrepare::test_prepare_(19|20)_concurrent_calls$",
        "refused by name: a whole row as a value, ROW(…)",
    ),
)


def reason_of(name: str, said: str) -> LeftOut | None:
    """The line for a test that failed so; none: it is a failure."""
    for kind, pattern, reason in _ROWS:
        if re.search(pattern, said):
            return LeftOut(kind, name, f"{reason}: {said}")
    for kind, pattern, reason in _BY_NAME:
        if re.search(pattern, name):
            return LeftOut(kind, name, reason)
    return None
