r"""Rows whose text holds a word: `mention_statement(words, linker)`, to count or to list them.

    question                                               statement
    how many tickets mention refunds?                      count(*) of rows with the word, in any of
                                                           its forms, in any text column
    how many tickets contain "full refund"?                … with just this text
    which tracks have "Love" in the name?                  the rows, by that column alone
    list notes about harbours                              the rows by what names them

The word for searching must be said (mention, contain, about …), or the text be quoted. One to three
plain words; anything else in the question: None. The last may have an ending: refunds, refunded.
"""

from collections.abc import Iterator, Sequence

from redask.core.planning.plan_schema import PlanTable
from redask.core.planning.question.linking import Linker
from redask.core.planning.question.words import QuestionWord
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.column_choice import ColumnScope
from redask.core.planning.statement.key_paths import Doubt
from redask.core.planning.statement.shown_entities import shown
from redask.core.planning.statement.trees import Literal

_COUNT = (("how", "many"), ("number", "of"), ("count", "of"), ("count",))
_LIST = ("which", "list", "show", "find", "give", "what")
_SILENT = frozenset("all the me of our that which who do does are is there please any".split())
_CUES = frozenset(
    """mention mentions mentioning mentioned contain contains containing contained include includes
    including say says saying about""".split()
)
_BEFORE_ABOUT = frozenset("talk talks talking speak speaks are is".split())
_HAVE = frozenset("have has having with containing contain contains".split())
_WORD = frozenset("the word words phrase term text".split())
_SMALL = frozenset(
    "and or not no in on at by from for with without of than more less but per each".split()
)
_MOST_WORDS = 4  # of a table's name
_MOST_SOUGHT = 3
_SHORT = 3  # letters of a word that has no plural to take off


def mention_statement(
    words: Sequence[QuestionWord], linker: Linker
) -> tuple[str, str | None] | None:
    """The SELECT, and for a count that of URNs of such rows; None: not such a question."""
    counts, rest = _opening([word for word in words if word.kind != "mark"])
    if rest is None:
        return None
    for end in range(min(_MOST_WORDS, len(rest)), 0, -1):
        tables = linker.tables_named([word.stem for word in rest[:end]])
        if len(tables) == 1 and tables[0].cost == 0:
            table = linker.tables[tables[0].table]
            test = _test(rest[end:], table, linker)
            return None if test is None else _written(table, test, counts, linker)
    return None


def _opening(words: Sequence[QuestionWord]) -> tuple[bool, Sequence[QuestionWord] | None]:
    """Whether rows are counted or listed, and the rest of the question; None: neither."""
    lows = tuple(word.low for word in words)
    for opening in _COUNT:
        if lows[: len(opening)] == opening:
            return True, _without(words[len(opening) :])
    if lows and lows[0] in _LIST:
        return False, _without(words[1:])
    return False, None


def _without(words: Sequence[QuestionWord]) -> Sequence[QuestionWord]:
    start = 0
    while start < len(words) and words[start].low in _SILENT:
        start += 1
    return words[start:]


def _test(words: Sequence[QuestionWord], table: PlanTable, linker: Linker) -> str | None:
    """The condition that is said of a table's rows."""
    words = _without(words)
    if not words:
        return None
    if words[0].low in _HAVE and len(words) > 1:
        sought, place = _quoted_in(words[1:])
        if sought is not None:
            return _held(sought, _column(place, table, linker), linker, table)
    if words[0].low in _BEFORE_ABOUT and len(words) > 1 and words[1].low == "about":
        words = words[1:]
    if words[0].low not in _CUES:
        return None
    sought_words = [word for word in words[1:] if word.low not in _WORD]
    if len(sought_words) == 1 and sought_words[0].kind == "quoted":
        return _held(sought_words[0], None, linker, table)
    plain = all(word.kind == "word" and word.text.isalnum() for word in sought_words)
    if not plain or not 1 <= len(sought_words) <= _MOST_SOUGHT or _is_more(sought_words):
        return None
    return _begun(sought_words, linker, table)


def _quoted_in(words: Sequence[QuestionWord]) -> tuple[QuestionWord | None, Sequence[QuestionWord]]:
    """`"Love" in the name`: the text, and the words for where."""
    sought = [word for word in words if word.kind == "quoted"]
    rest = [word for word in words if word.kind != "quoted" and word.low not in _WORD]
    if len(sought) != 1 or not rest or rest[0].low != "in":
        return None, ()
    return sought[0], [word for word in rest[1:] if word.low not in ("its", "their")]


def _column(words: Sequence[QuestionWord], table: PlanTable, linker: Linker) -> str | None:
    """The column that words name; "" if they name none."""
    links = linker.columns_named([word.stem for word in words])
    mine = [link.column for link in links if link.table == table.name and link.cost <= 1]
    return mine[0] if len(mine) == 1 else ""


def _is_more(words: Sequence[QuestionWord]) -> bool:
    """Whether the words are more than what is sought."""
    return any(word.low in _SMALL for word in words)


def _texts(table: PlanTable, linker: Linker) -> list[str]:
    """The columns that hold text, but for keys."""
    keys = {
        name
        for key in linker.keys_of[table.name]
        if key.table == table.name
        for name in key.columns
    }
    return [
        column.name
        for column in table.columns
        if column.type == "text"
        and column.name not in keys
        and column.name not in table.primary_key
    ]


def _held(sought: QuestionWord, column: str | None, linker: Linker, table: PlanTable) -> str | None:
    """Rows that hold a text as it is, in any case."""
    pattern = "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in sought.text)
    columns = _texts(table, linker)
    if column is not None:
        columns = [column] if column in columns else []
    return _any(columns, "ILIKE", f"%{pattern}%")


def _begun(words: Sequence[QuestionWord], linker: Linker, table: PlanTable) -> str | None:
    """Rows that hold the words, one after the other; the last may have an ending."""
    last = words[-1].low
    last = last.removesuffix("s") if len(last) > _SHORT and not last.endswith("ss") else last
    forms = "|".join(_forms(last))
    before = "".join(f"{word.low} " for word in words[:-1])
    return _any(_texts(table, linker), "~*", f"\\m{before}({forms})\\M")


def _forms(word: str) -> Iterator[str]:
    """A word with its endings; some of them are none."""
    yield from (word, f"{word}s")
    if word.endswith("e"):
        yield from (f"{word}d", f"{word[:-1]}ing")
    else:
        yield from (f"{word}es", f"{word}ed", f"{word}ing")


def _any(columns: Sequence[str], operator: str, pattern: str) -> str | None:
    text = sql_text.literal(Literal(pattern))
    tests = [f"{sql_text.identifier(column)} {operator} {text}" for column in columns]
    return " OR ".join(tests) or None


def _written(
    table: PlanTable, test: str, counts: bool, linker: Linker
) -> tuple[str, str | None] | None:
    source = f"FROM {sql_text.identifier(table.name)} WHERE {test}"
    if counts:
        some = f"SELECT urn {source} ORDER BY urn FETCH FIRST 2 ROWS WITH TIES"
        return f"SELECT count(*) {source}", some
    try:
        columns = shown(ColumnScope(linker, table.name, (table.name,), ()), table.name)
    except Doubt:
        return None
    listed = ", ".join(sql_text.identifier(column.name) for column in columns)
    return f"SELECT {listed} {source}", None
