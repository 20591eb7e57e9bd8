"""DECLARE, FETCH, MOVE and CLOSE as text: `declare(sql)`, `fetch(sql)`, `close(sql)`.

DECLARE name [BINARY] [ASENSITIVE | INSENSITIVE] [[NO] SCROLL] CURSOR [{WITH | WITHOUT} HOLD]
    FOR query
{FETCH | MOVE} [direction] [FROM | IN] name
CLOSE {name | ALL}
"""

from dataclasses import dataclass

from redask.core.errors import SqlError
from redask.server.pgwire.cursors.cursor_scan import ALL, FetchDirection
from redask.server.pgwire.session.token_reader import TokenReader

_QUERIES = ("SELECT", "WITH", "VALUES", "TABLE")
_ONE_ROW: dict[str, tuple[FetchDirection, int]] = {
    "NEXT": ("forward", 1),
    "PRIOR": ("backward", 1),
    "FIRST": ("absolute", 1),
    "LAST": ("absolute", -1),
    "ALL": ("forward", ALL),
}
_COUNTED: dict[str, FetchDirection] = {
    "ABSOLUTE": "absolute",
    "RELATIVE": "relative",
    "FORWARD": "forward",
    "BACKWARD": "backward",
}


@dataclass(frozen=True, slots=True)
class CursorDeclaration:
    """A cursor to open; `query` has blanks in place of what stands before it."""

    name: str
    query: str
    word: str
    scrolls: bool
    is_held: bool
    is_binary: bool


@dataclass(frozen=True, slots=True)
class FetchOrder:
    """Which rows of which cursor; `moves`: they are passed over."""

    name: str
    direction: FetchDirection
    count: int
    moves: bool


def declare(sql: str) -> CursorDeclaration:
    """A DECLARE."""
    reader = TokenReader(sql)
    reader.need("DECLARE")
    name = reader.name()
    options: set[str] = set()
    while not reader.take("CURSOR"):
        if reader.take("NO", "SCROLL"):
            options.add("NO SCROLL")
        elif reader.word in ("SCROLL", "BINARY", "ASENSITIVE", "INSENSITIVE"):
            options.add(reader.word)
            reader.need(reader.word)
        else:
            raise reader.wrong()
    for one, other in (("SCROLL", "NO SCROLL"), ("ASENSITIVE", "INSENSITIVE")):
        if {one, other} <= options:
            raise SqlError("42P11", f"cannot specify both {one} and {other}")
    is_held = reader.take("WITH", "HOLD")
    if not is_held:
        reader.take("WITHOUT", "HOLD")
    reader.need("FOR")
    if reader.word not in _QUERIES and reader.text != "(":
        raise reader.wrong()
    return CursorDeclaration(
        name,
        " " * reader.start + sql[reader.start :],
        reader.word or "SELECT",
        scrolls="NO SCROLL" not in options,
        is_held=is_held,
        is_binary="BINARY" in options,
    )


def fetch(sql: str) -> FetchOrder:
    """A FETCH or a MOVE."""
    reader = TokenReader(sql)
    moves = reader.take("MOVE")
    if not moves:
        reader.need("FETCH")
    direction, count = _direction(reader)
    if not reader.take("FROM"):
        reader.take("IN")
    name = reader.name()
    reader.end()
    return FetchOrder(name, direction, count, moves)


def close(sql: str) -> str | None:
    """The name of the cursor that a CLOSE closes; None: all."""
    reader = TokenReader(sql)
    reader.need("CLOSE")
    name = None if reader.take("ALL") else reader.name()
    reader.end()
    return name


def _direction(reader: TokenReader) -> tuple[FetchDirection, int]:
    number = reader.integer()
    if number is not None:
        return "forward", number
    word = reader.word
    if reader.is_last:  # a cursor may have such a name
        return "forward", 1
    if word in _ONE_ROW:
        reader.need(word)
        return _ONE_ROW[word]
    if word not in _COUNTED:
        return "forward", 1
    reader.need(word)
    number = reader.integer()
    if number is None and word in ("ABSOLUTE", "RELATIVE"):
        raise reader.wrong()
    if number is None:
        number = ALL if reader.take("ALL") else 1
    return _COUNTED[word], number
