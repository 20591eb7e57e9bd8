"""Bounds on a statement's text, before anything parses it: `check_text(sql)`, in linear time.

    longer than 64 KiB in UTF-8                          54000
    a NUL, or half of a surrogate pair                   22021
    parentheses and brackets nested deeper than 200      54001

Strings, quoted names, dollar quotes and comments count as text, not as nesting. What never ends
takes the rest, as PostgreSQL reads it.
"""

import re

from redask.core.errors import SqlError
from redask.core.text import compiled_later

MAX_BYTES = 64 * 1024
MAX_DEPTH = 200
# a word is skipped whole: `price'…'` is no E'…', and a$b$c no dollar quote
_PIECE = compiled_later(
    r"""(?P<open>[(\[]) | (?P<close>[)\]])
      | (?P<comment>/\*) | --[^\n]*+
      | [eE]'(?:[^'\\]|\\.|'')*+'?
      | '[^']*+'? | "[^"]*+"?
      | (?P<dollar>\$(?:[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*+)?\$)
      | [A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*+
      | [^()\[\]/\-'"$A-Za-z_\x80-\U0010ffff]++ | .""",
    re.X | re.S,
)
_EDGE = compiled_later(r"/\*|\*/")


def check_text(sql: str) -> None:
    """Raise SqlError for a text that is not to be parsed."""
    if len(sql) > MAX_BYTES:
        raise _too_long()
    try:
        size = len(sql.encode())
    except UnicodeEncodeError as error:
        code = ord(sql[error.start])
        raise _invalid(f"U+{code:04X}", error.start) from None
    if size > MAX_BYTES:
        raise _too_long()
    zero = sql.find("\0")
    if zero >= 0:
        raise _invalid("0x00", zero)
    if sql.count("(") + sql.count("[") > MAX_DEPTH:
        _check_depth(sql)


def _check_depth(sql: str) -> None:
    depth = place = 0
    while place < len(sql):
        found = _PIECE.match(sql, place)
        assert found is not None
        place, kind = found.end(), found.lastgroup
        if kind == "open":
            depth += 1
            if depth > MAX_DEPTH:
                hint = f"Parentheses and brackets may be nested {MAX_DEPTH} levels deep."
                raise SqlError("54001", "statement too complex", position=place, hint=hint)
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind == "comment":
            place = _past_comment(sql, place)
        elif kind == "dollar":
            end = sql.find(found[0], place)
            place = len(sql) if end < 0 else end + len(found[0])


def _past_comment(sql: str, place: int) -> int:
    depth = 1
    while depth:
        edge = _EDGE.search(sql, place)
        if edge is None:
            return len(sql)
        depth += 1 if edge[0] == "/*" else -1
        place = edge.end()
    return place


def _too_long() -> SqlError:
    return SqlError("54000", f"statement is longer than {MAX_BYTES} bytes")


def _invalid(shown: str, place: int) -> SqlError:
    message = f'invalid byte sequence for encoding "UTF8": {shown}'
    return SqlError("22021", message, position=place + 1)
