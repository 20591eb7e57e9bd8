"""What a SELECT may do to SQLite, whatever its text says: `Guard.watching(connection)`.

SQLite asks the guard while it compiles, after all names are resolved, so that no spelling, quoting
or comment matters. What is not in this table is refused.

    asked                        granted
    SELECT, recursion            always
    a function                   one of FUNCTIONS: none has an effect or draws at random
    reading a named table        the views and WITH names of this statement, json_each, json_tree
    reading from a view          what its own text reads: SQLite says by which view it came, and
                                 the view's name was drawn at random for this statement alone

No single row may take long or much, because SQLite can be interrupted only between rows: texts
are bounded, patterns short, calls counted, and some functions are our own, which take time in
proportion: those that would compare two long texts at every position (`instr`, `replace`,
`trim`), and `printf`, which would write any number of blanks. `json_group_array` and its like are
missing because they collect without a bound.
"""

import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from redask.stores.payloads import MAX_PAYLOAD_BYTES
from redask.stores.sqlite.select.deadline import watching

MAX_TEXT_BYTES = MAX_PAYLOAD_BYTES * 5 // 4
FUNCTIONS = frozenset(
    """abs avg ceil ceiling char coalesce count cume_dist current_date current_time
    current_timestamp date datetime dense_rank exp first_value floor format glob group_concat hex
    ifnull iif instr julianday lag last_value lead length like likelihood likely ln log log10 log2
    lower ltrim max min mod nth_value ntile nullif percent_rank pi pow power printf quote rank
    replace round row_number rtrim sign sqrt strftime substr substring sum time total trim trunc
    typeof unicode unixepoch unlikely upper
    -> ->> json json_array json_array_length json_extract json_insert json_object json_quote
    json_remove json_replace json_set json_type json_valid
    acos acosh asin asinh atan atan2 atanh cos cosh degrees radians sin sinh tan tanh""".split()
)
TABLE_FUNCTIONS = frozenset({"json_each", "json_tree"})

_STEPS = 1_000_000
_MAX_CALLS, _MAX_PATTERNS = 300, 12
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_TEXT_BYTES,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 20,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 1000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_WIDE = re.compile(r"%[^a-zA-Z%]*(?:\*|[0-9]{4})")
_FREELY = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)


class _Resting:
    """While a statement of our own is run on a connection that is watched."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = False

    def __enter__(self) -> None:
        self.now = True

    def __exit__(self, *_: object) -> None:
        self.now = False


class Guard:
    """The guard of one statement; `refused` says why SQLite stopped, when it was the guard.

    `named` are the tables that the statement may name, `trusted` those of them (and of their
    inner parts) whose text is ours, `rowids` the views with a column of that name: nothing else
    has one. Of `copies` SQLite may say without a view that rows are counted, no column being read.
    """

    def __init__(
        self,
        named: frozenset[str],
        trusted: frozenset[str],
        rowids: frozenset[str],
        copies: frozenset[str] = frozenset(),
    ) -> None:
        self._named = named | TABLE_FUNCTIONS
        self._trusted = trusted
        self._functions = FUNCTIONS
        self._rowids = rowids | TABLE_FUNCTIONS
        self._copies = copies
        self._calls = self.patterns = 0
        self.resting = _Resting()
        self.refused: str | None = None

    def begin(self) -> None:
        """The same statement once more."""
        self._calls = self.patterns = 0
        self.refused = None

    @contextmanager
    def watching(self, connection: sqlite3.Connection) -> Iterator[None]:
        """Set every bound; from here on the connection answers one caller's SELECT."""
        with closing(
            sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        ) as plain:
            self._watch(connection, plain)
            yield

    def _watch(self, connection: sqlite3.Connection, plain: sqlite3.Connection) -> None:
        for table in sorted(TABLE_FUNCTIONS):  # SQLite sets these up when they are first met
            connection.execute(f"SELECT 1 FROM {table}('[]')").fetchall()
        connection.execute("PRAGMA query_only = ON")
        for name, most in _LIMITS.items():
            connection.setlimit(name, most)
        _replace_functions(connection, plain)
        connection.set_authorizer(self._judge)

    def _counted(self, function: str | None) -> bool:
        self._calls += 1
        self.patterns += function in ("like", "glob")
        if self._calls > _MAX_CALLS:
            self.refused = f"a SELECT calls at most {_MAX_CALLS} functions"
        elif self.patterns > _MAX_PATTERNS:
            self.refused = f"a SELECT has at most {_MAX_PATTERNS} patterns (LIKE, GLOB)"
        return self.refused is None

    def _judge(
        self, action: int, one: str | None, two: str | None, _: str | None, inside: str | None
    ) -> int:
        if action in _FREELY or self.resting.now:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            if inside in self._trusted or (two in self._functions and self._counted(two)):
                return sqlite3.SQLITE_OK
            self.refused = self.refused or f"there is no function {two} in a SELECT"
        elif action == sqlite3.SQLITE_READ:
            if inside in self._trusted or (one in self._copies and not two):
                return sqlite3.SQLITE_OK
            if one in self._named and (two != "ROWID" or one in self._rowids):
                return sqlite3.SQLITE_OK
            if one in self._named:
                self.refused = self.refused or "no such column: a collection has no rowid"
            self.refused = self.refused or "a SELECT reads collections in FROM, and nothing else"
        else:
            self.refused = self.refused or "a SELECT only reads"
        return sqlite3.SQLITE_DENY


@contextmanager
def bounded_time(connection: sqlite3.Connection, milliseconds: int) -> Iterator[None]:
    """Interrupt what runs on the connection when the time is over.

    From a thread of its own: a handler that SQLite calls would wait for Python's lock each time,
    and a busy process would starve. A few looks at the clock remain, for a statement that begins
    just after the interrupt.
    """
    end = time.monotonic() + milliseconds / 1000
    connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        with watching(connection, end):
            yield
    finally:
        connection.set_progress_handler(None, 0)


def _replace_functions(connection: sqlite3.Connection, plain: sqlite3.Connection) -> None:
    """Put ours in place of SQLite's; `plain` still has those, to write numbers as it does."""
    plain.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES)

    def text(value: object) -> str:
        if isinstance(value, bytes):
            return value.decode(errors="replace")
        if isinstance(value, str):
            return value
        written: str = plain.execute("SELECT CAST(? AS TEXT)", (value,)).fetchone()[0]
        return written

    def printf(*values: str | bytes | int | float | None) -> str | None:
        if not values or values[0] is None or _WIDE.search(text(values[0])):
            return None  # as SQLite does with what is too wide
        marks = ", ".join("?" * len(values))
        written: str | None = plain.execute(f"SELECT printf({marks})", values).fetchone()[0]
        return written

    def add(name: str, arguments: int, function: Callable[..., str | int]) -> None:
        def called(*values: object) -> str | int | None:
            missing = any(value is None for value in values)
            return None if missing else function(*map(text, values))

        connection.create_function(name, arguments, called, deterministic=True)

    add("instr", 2, lambda text, part: text.find(part) + 1)
    add("replace", 3, _replaced)
    add("ltrim", 2, lambda text, letters: text[_margin(text, letters) :])
    add("rtrim", 2, lambda text, letters: text[: len(text) - _margin(text[::-1], letters)])
    add("trim", 2, _trimmed)
    for name in ("printf", "format"):
        connection.create_function(name, -1, printf, deterministic=True)


def _replaced(text: str, old: str, new: str) -> str:
    if not old:
        return text
    if len(text) + text.count(old) * (len(new) - len(old)) > MAX_TEXT_BYTES:
        raise OverflowError  # which SQLite reports as it does for its own functions
    return text.replace(old, new)


def _trimmed(text: str, letters: str) -> str:
    left = text[_margin(text, letters) :]
    return left[: len(left) - _margin(left[::-1], letters)]


def _margin(text: str, letters: str) -> int:
    """How many characters at the start are among the letters."""
    known = set(letters)
    return next((at for at, each in enumerate(text) if each not in known), len(text))
