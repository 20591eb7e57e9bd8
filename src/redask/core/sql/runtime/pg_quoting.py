"""PostgreSQL's quoting, and `format()`, whose arguments come as one list of texts.

format('%1$s %-8I|%L', …)     position, width (a number, `*` or `*n$`), s, I or L
"""

import re

from redask.core.errors import SqlError
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")
_NUMBER = re.compile(r"[0-9]+")
_INTEGER = re.compile(r"[ \t\n\r\f\v]*[+-]?[0-9]+[ \t\n\r\f\v]*\Z")
_PERCENT_HINT = 'For a single "%" use "%%".'
_FROM_ONE = "format specifies argument 0, but arguments are numbered from 1"
_INT4_MAX = 2**31 - 1
# the words that pg_get_keywords() does not call unreserved
_KEYWORDS = frozenset(
    """all analyse analyze and any array as asc asymmetric authorization between bigint binary bit
    boolean both case cast char character check coalesce collate collation column concurrently
    constraint create cross current_catalog current_date current_role current_schema current_time
    current_timestamp current_user dec decimal default deferrable desc distinct do else end except
    exists extract false fetch float for foreign freeze from full grant greatest group grouping
    having ilike in initially inner inout int integer intersect interval into is isnull join
    lateral leading least left like limit localtime localtimestamp national natural nchar none
    normalize not notnull null nullif numeric offset on only or order out outer overlaps overlay
    placing position precision primary real references returning right row select session_user
    setof similar smallint some substring symmetric table tablesample then time timestamp to
    trailing treat trim true union unique user using values varchar variadic verbose when where
    window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi
    xmlroot xmlserialize xmltable""".split()
)


def quote_ident(name: str) -> str:
    if _PLAIN.match(name) and name not in _KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    doubled = text.replace("'", "''")
    if "\\" in text:
        return "E'" + doubled.replace("\\", "\\\\") + "'"
    return f"'{doubled}'"


def quote_nullable(text: str | None) -> str:
    return "NULL" if text is None else quote_literal(text)


class _FormatReader:
    """The place in a format string, and which argument comes next."""

    def __init__(self, template: str, arguments: list[str | None]) -> None:
        self.template = template
        self.arguments = arguments
        self.at = 0
        self.argument = 0

    def here(self) -> str:
        if self.at >= len(self.template):
            raise SqlError("22023", "unterminated format() type specifier", hint=_PERCENT_HINT)
        return self.template[self.at]

    def number(self) -> int | None:
        found = _NUMBER.match(self.template, self.at)
        if found is None:
            return None
        self.at = found.end()
        if int(found[0]) > _INT4_MAX:
            raise SqlError("22003", "number is out of range")
        self.here()
        return int(found[0])

    def take(self, position: int | None) -> str | None:
        """The argument at `position`, or the next one."""
        self.argument = self.argument + 1 if position is None else position
        if self.argument > len(self.arguments):
            raise SqlError("22023", "too few arguments for format()")
        return self.arguments[self.argument - 1]

    def position(self) -> int | None:
        """A position with its dollar sign, if one stands here."""
        start = self.at
        number = self.number()
        if number is None or self.here() != "$":
            self.at = start
            return None
        self.at += 1
        self.here()
        if number == 0:
            raise SqlError("22023", _FROM_ONE)
        return number

    def width(self, position: int | None) -> int:
        """The width that an argument gives."""
        text = self.take(position)
        if text is None:
            return 0
        if _INTEGER.match(text) is None:
            raise SqlError("22P02", f'invalid input syntax for type integer: "{text}"')
        if not -_INT4_MAX <= int(text) <= _INT4_MAX:
            raise SqlError("22003", f'value "{text}" is out of range for type integer')
        return int(text)


def _formatted(kind: str, value: str | None) -> str:
    if kind == "s":
        return value or ""
    if kind == "L":
        return quote_nullable(value)
    if value is None:
        raise SqlError("22004", "null values cannot be formatted as an SQL identifier")
    return quote_ident(value)


def _specifier(reader: _FormatReader) -> str:
    """One specifier, after its percent sign. It is read whole before an argument is."""
    width = 0
    position = reader.position()
    left = reader.here() == "-"
    while reader.here() == "-":
        reader.at += 1
    star = reader.here() == "*"
    width_position: int | None = None
    if star:
        reader.at += 1
        reader.here()
        width_position = reader.position()
        if width_position is None and reader.number() is not None:
            raise SqlError("22023", 'width argument position must be ended by "$"')
    else:
        width = reader.number() or 0
    kind = reader.here()
    if kind not in "sIL":
        message = f'unrecognized format() type specifier "{kind}"'
        raise SqlError("22023", message, hint=_PERCENT_HINT)
    reader.at += 1
    if star:
        width = reader.width(width_position)
    text = _formatted(kind, reader.take(position))
    if abs(width) > _INT4_MAX // 8:
        raise SqlError("22003", "number is out of range")
    return text.ljust(abs(width)) if left or width < 0 else text.rjust(width)


def format_text(template: str, arguments: list[str | None]) -> str:
    """format(), with each argument's text or None."""
    reader = _FormatReader(template, arguments)
    out: list[str] = []
    while (percent := template.find("%", reader.at)) >= 0:
        out.append(template[reader.at : percent])
        reader.at = percent + 1
        if reader.here() == "%":
            out.append("%")
            reader.at += 1
        else:
            out.append(_specifier(reader))
    return "".join(out) + template[reader.at :]


FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_quote_ident", ("VARCHAR",), "VARCHAR", quote_ident),
    RuntimeFunction("pg_quote_literal", ("VARCHAR",), "VARCHAR", quote_literal),
    RuntimeFunction("pg_quote_nullable", ("VARCHAR",), "VARCHAR", quote_nullable, True),
    RuntimeFunction("pg_format", ("VARCHAR", "VARCHAR[]"), "VARCHAR", format_text),
)
