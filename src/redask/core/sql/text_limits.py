"""A cheap look at a statement's text before anything parses it: `check_statement(sql)`.

    longer than `MAX_BYTES` of UTF-8, or nested deeper than `MAX_DEPTH`     54001
    a NUL, or text that has no UTF-8                                        22021

One pass over the text. Brackets in literals and comments count too: that only refuses more.
"""

import re

from redask.core.errors import SqlError

MAX_BYTES = 64 * 1024
MAX_DEPTH = 200
_BRACKETS = re.compile(r"[()\[\]]")


def check_statement(sql: str) -> None:
    """Refuse a text that a parser should not be given."""
    if len(sql) > MAX_BYTES:
        raise SqlError("54001", f"statement too complex: it is longer than {MAX_BYTES} bytes")
    try:
        size = len(sql.encode())
    except UnicodeEncodeError:
        raise SqlError("22021", 'invalid byte sequence for encoding "UTF8"') from None
    if "\0" in sql:
        raise SqlError("22021", 'invalid byte sequence for encoding "UTF8": 0x00')
    if size > MAX_BYTES:
        raise SqlError("54001", f"statement too complex: it is longer than {MAX_BYTES} bytes")
    depth = 0
    for bracket in _BRACKETS.findall(sql):
        depth = depth + 1 if bracket in "([" else max(depth - 1, 0)
        if depth > MAX_DEPTH:
            raise SqlError("54001", f"statement too complex: it nests deeper than {MAX_DEPTH}")
