"""COPY … TO STDOUT as text: `read_copy(sql)` → a `CopyOrder`; both spellings of its options.

    COPY { table [(column, …)] | (query) } TO STDOUT [[WITH] (option [value], …)]
    COPY … TO STDOUT [[WITH] [BINARY] [DELIMITER 'x'] [NULL 'x'] [CSV [HEADER] [QUOTE 'x'] …]]

The rules of options that exclude each other, their words and their SQLSTATEs are PostgreSQL's.
COPY FROM would write, and a file or a program would be the server's: both are refused.
"""

from dataclasses import dataclass
from typing import Literal

from redask.core.errors import SqlError
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.token_reader import TokenReader

CopyForm = Literal["text", "csv", "binary"]
_LIKE_TEXT = "\\.abcdefghijklmnopqrstuvwxyz0123456789"  # what text format gives a meaning
_QUERIES = ("SELECT", "WITH", "VALUES", "TABLE")
_FROM_ONLY = {"force_not_null": "force not null", "force_null": "force null"}
_ENCODINGS = ("utf8", "utf-8", "unicode", "sql_ascii")


@dataclass(frozen=True, slots=True)
class CopyOptions:
    """How rows are written; `force` names columns that are always quoted, None: all are."""

    form: CopyForm = "text"
    delimiter: str = "\t"
    null: str = "\\N"
    has_header: bool = False
    quote: str = '"'
    escape: str = '"'
    force: tuple[str, ...] | None = ()


@dataclass(frozen=True, slots=True)
class CopyOrder:
    """What is copied: `query`, at the place where it stands, or a table with its columns."""

    query: str
    word: str
    columns: tuple[str, ...]
    options: CopyOptions


def read_copy(sql: str) -> CopyOrder:
    """A COPY."""
    reader = TokenReader(sql)
    reader.need("COPY")
    given: list[tuple[str, object]] = []
    if reader.word == "BINARY" and not _is_named_binary(reader):
        reader.need("BINARY")
        given.append(("format", "binary"))
    query, word, columns = _copied(reader)
    if reader.take("FROM"):
        _refuse_write("COPY FROM")
    reader.need("TO")
    if reader.is_string or reader.word == "PROGRAM":
        raise SqlStateError("42501", "permission denied to COPY to a file or a program",
                            hint="Anyone can COPY to stdout or from stdin. psql's \\copy command"
                            " also works for anyone.")  # fmt: skip
    if not reader.take("STDIN"):
        reader.need("STDOUT")
    is_table = not query.startswith(" ")
    if is_table and (reader.take("USING", "DELIMITERS") or reader.take("DELIMITERS")):
        given.append(("delimiter", reader.string()))
    reader.take("WITH")
    if reader.text == "(":
        given += _listed(reader)
    else:
        given += _spelled(reader)
    reader.end()
    return CopyOrder(query, word, columns, _checked(given))


def _refuse_write(words: str) -> None:
    if words in ("COPY FROM", "INSERT", "UPDATE", "DELETE", "MERGE"):
        raise SqlStateError(
            "25006",
            f"cannot execute {words} in a read-only transaction",
            hint="Data comes in with `redask ingest`, put() in Python or HTTP.",
        )


def _is_named_binary(reader: TokenReader) -> bool:
    """Whether `COPY binary TO …` copies a table of that name."""
    after = TokenReader(reader.sql)
    after.need("COPY", "BINARY")
    return after.word in ("TO", "FROM") or after.text in ("(", ".")


def _copied(reader: TokenReader) -> tuple[str, str, tuple[str, ...]]:
    """The query to run, its first word, and the columns that were named of a table."""
    sql = reader.sql
    if reader.text == "(":
        start, end = reader.group()
        inside = TokenReader(sql[start:end])
        if inside.word not in _QUERIES and inside.text != "(":
            _refuse_write(inside.word)
            raise SqlError("0A000", "COPY query must be a SELECT", position=start + 1)
        return " " * start + sql[start:end], inside.word or "SELECT", ()
    start = reader.start
    names = [reader.name()]
    while reader.take("."):
        names.append(reader.name())
    table = ".".join(map(_quoted, names))
    columns: list[str] = []
    if reader.take("("):
        columns.append(reader.name())
        while reader.take(","):
            columns.append(reader.name())
        reader.need(")")
    twice = [each for each in columns if columns.count(each) > 1]
    if twice:
        raise SqlStateError("42701", f'column "{twice[0]}" specified more than once')
    return f"TABLE {table}", "TABLE", tuple(columns)


def table_query(order: CopyOrder, names: tuple[str, ...]) -> str:
    """The query of a table whose columns have these names; 42703 for one that it has not."""
    table = order.query.removeprefix("TABLE ")
    for each in order.columns:
        if each not in names:
            relation = table.rpartition(".")[2].strip('"')
            raise SqlStateError("42703", f'column "{each}" of relation "{relation}" does not exist')
    return f"SELECT {', '.join(map(_quoted, order.columns))} FROM {table}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# --- options -----------------------------------------------------------------------------


def _listed(reader: TokenReader) -> list[tuple[str, object]]:
    """Options in parentheses."""
    reader.need("(")
    found: list[tuple[str, object]] = []
    while True:
        name = reader.name()
        found.append((name, _argument(reader)))
        if not reader.take(","):
            reader.need(")")
            return found


def _argument(reader: TokenReader) -> object:
    """A word, a text, a number, `*`, names in parentheses; None without one."""
    if reader.text in (",", ")"):
        return None
    if reader.take("*"):
        return "*"
    if reader.is_string:
        return reader.string()
    number = reader.integer()
    if number is not None:
        return str(number)
    if reader.take("("):
        names = [reader.name()]
        while reader.take(","):
            names.append(reader.name())
        reader.need(")")
        return names
    return reader.name()


def _spelled(reader: TokenReader) -> list[tuple[str, object]]:
    """Options one after the other, as before PostgreSQL 9."""
    found: list[tuple[str, object]] = []
    while True:
        if reader.take("BINARY"):
            found.append(("format", "binary"))
        elif reader.take("CSV"):
            found.append(("format", "csv"))
        elif reader.take("HEADER"):
            found.append(("header", None))
        elif reader.take("FREEZE"):
            found.append(("freeze", None))
        elif reader.take("FORCE", "QUOTE"):
            found.append(("force_quote", "*" if reader.take("*") else _names(reader)))
        elif reader.take("FORCE", "NOT", "NULL"):
            found.append(("force_not_null", _names(reader)))
        elif reader.take("FORCE", "NULL"):
            found.append(("force_null", _names(reader)))
        elif reader.word in ("DELIMITER", "NULL", "QUOTE", "ESCAPE", "ENCODING"):
            name = reader.word
            reader.need(name)
            if name != "ENCODING":
                reader.take("AS")
            found.append((name.lower(), reader.string()))
        else:
            return found


def _names(reader: TokenReader) -> list[str]:
    names = [reader.name()]
    while reader.take(","):
        names.append(reader.name())
    return names


def _checked(given: list[tuple[str, object]]) -> CopyOptions:
    """The options, by PostgreSQL's rules."""
    names = [name for name, _ in given]
    for name, argument in given:
        if names.count(name) > 1:
            raise SqlStateError("42601", "conflicting or redundant options")
        _check_kind(name, argument)
    found = dict(given)
    form = str(found.get("format", "text"))
    texts = {
        name: str(found[name])
        for name in ("delimiter", "null", "quote", "escape")
        if found.get(name) is not None
    }
    for name in ("delimiter", "null"):
        if form == "binary" and name in found:
            raise SqlStateError("42601", f"cannot specify {name.upper()} in BINARY mode")
    is_csv = form == "csv"
    quote = texts.get("quote", '"')
    options = CopyOptions(
        "csv" if is_csv else "binary" if form == "binary" else "text",
        texts.get("delimiter", "," if is_csv else "\t"),
        texts.get("null", "" if is_csv else "\\N"),
        _truth("header", found["header"]) if "header" in found else False,
        quote,
        texts.get("escape", quote),
        _forced(found),
    )
    _check_together(options, found)
    return options


def _check_kind(name: str, argument: object) -> None:
    """Whether there is such an option, with such a value."""
    if name == "format":
        if argument is None:
            raise SqlStateError("42601", "format requires a parameter")
        if argument not in ("text", "csv", "binary"):
            raise SqlStateError("22023", f'COPY format "{argument}" not recognized')
    elif name in ("force_quote", *_FROM_ONLY):
        if argument != "*" and not isinstance(argument, list):
            message = f'argument to option "{name}" must be a list of column names'
            raise SqlStateError("22023", message)
    elif name == "encoding":
        if not isinstance(argument, str) or argument.lower() not in _ENCODINGS:
            raise SqlStateError("0A000", f"COPY is written in UTF8, not in {argument}")
    elif name == "freeze":
        _truth(name, argument)
    elif name in ("delimiter", "null", "quote", "escape"):
        if not isinstance(argument, str):
            raise SqlStateError("42601", f"{name} requires a parameter")
    elif name != "header":
        raise SqlStateError("42601", f'option "{name}" not recognized')


def _check_together(options: CopyOptions, found: dict[str, object]) -> None:
    """Whether the options go together, in PostgreSQL's order."""
    delimiter, is_csv = options.delimiter, options.form == "csv"
    if len(delimiter.encode()) != 1:
        raise SqlStateError("0A000", "COPY delimiter must be a single one-byte character")
    if delimiter in "\r\n":
        raise SqlStateError("22023", "COPY delimiter cannot be newline or carriage return")
    if set(options.null) & set("\r\n"):
        message = "COPY null representation cannot use newline or carriage return"
        raise SqlStateError("22023", message)
    if not is_csv and delimiter in _LIKE_TEXT:
        raise SqlStateError("22023", f'COPY delimiter cannot be "{delimiter}"')
    if options.form == "binary" and options.has_header:
        raise SqlStateError("0A000", "cannot specify HEADER in BINARY mode")
    _check_csv(options, found)
    if delimiter in options.null and options.form != "binary":
        raise SqlStateError("0A000", "COPY delimiter must not appear in the NULL specification")
    if is_csv and options.quote in options.null:
        message = "CSV quote character must not appear in the NULL specification"
        raise SqlStateError("0A000", message)


def _check_csv(options: CopyOptions, found: dict[str, object]) -> None:
    """Whether the options of CSV are there only for it, and good."""
    is_csv = options.form == "csv"
    for name, text in (("quote", options.quote), ("escape", options.escape)):
        if not is_csv and name in found:
            raise SqlStateError("0A000", f"COPY {name} available only in CSV mode")
        if is_csv and len(text.encode()) != 1:
            raise SqlStateError("0A000", f"COPY {name} must be a single one-byte character")
        if name == "quote" and is_csv and options.delimiter == text:
            raise SqlStateError("22023", "COPY delimiter and quote must be different")
    if not is_csv and "force_quote" in found:
        raise SqlStateError("0A000", "COPY force quote available only in CSV mode")
    for name, words in _FROM_ONLY.items():
        if name in found:
            where = "only available using COPY FROM" if is_csv else "available only in CSV mode"
            raise SqlStateError("0A000", f"COPY {words} {where}")


def _forced(found: dict[str, object]) -> tuple[str, ...] | None:
    forced = found.get("force_quote", [])
    return tuple(forced) if isinstance(forced, list) else None


def _truth(name: str, argument: object) -> bool:
    word = str(argument).lower()
    if argument is None or word in ("true", "on", "1"):
        return True
    if word in ("false", "off", "0"):
        return False
    if name == "header" and word == "match":
        raise SqlStateError("0A000", 'cannot use "match" with HEADER in COPY TO')
    needs = 'a Boolean value or "match"' if name == "header" else "a Boolean value"
    raise SqlStateError("42601", f"{name} requires {needs}")
