"""JSON as PostgreSQL reads and writes it: `json` keeps its text, `jsonb` has one spelling.

    parse_json(text)       a tree of `Piece`s that know where they stand in the text
    parse_jsonb(text)      None, bool, Decimal, str, list, dict; the last of equal keys counts
    read_jsonb(text)       the same of jsonb's own spelling, ten times faster
    jsonb_text(value)      keys by length in bytes, then by bytes; numbers without exponent
    quoted(text)           a JSON string, with the escapes that PostgreSQL writes

Faults are PostgreSQL's: 22P02 for what is no JSON, 22P05 for \\u0000, which no text can hold,
22003 for a number that numeric cannot hold.
"""

import json
import re
from decimal import Decimal
from typing import Any, NamedTuple

from redask.core.errors import SqlError

MAX_DEPTH = 300  # below Python's own bound; PostgreSQL's stack allows several thousand
_TOKEN = re.compile(
    r"""[ \t\n\r]*(?:
    (?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")
    |(?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![0-9A-Za-z_.+\-\x80-\U0010ffff])
    |(?P<word>true|false|null)(?![0-9A-Za-z_\x80-\U0010ffff])
    |(?P<sign>[\[\]{}:,])
    )""",
    re.VERBOSE,
)
_BLANKS = re.compile(r"[ \t\n\r]*\Z")
_INTEGER = re.compile(r"[ \t\n\r\f\v]*[+-]?[0-9]{1,20}\Z")
_CONTROL = re.compile(r'[\x00-\x1f"\\]')
_ESCAPES = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPES |= {'"': '\\"', "\\": "\\\\"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_DECODER = json.JSONDecoder(parse_float=Decimal, parse_int=Decimal)
_WHOLE_DIGITS, _SCALE = 131072, 16383  # the bounds of numeric


class Piece(NamedTuple):
    """A value in a JSON text: `kind` as json_typeof has it, and from where to where it stands.

    `parts` are an array's elements; `keys` are beside them in an object.
    """

    kind: str
    start: int
    end: int
    parts: "tuple[Piece, ...]" = ()
    keys: tuple[str, ...] = ()


def invalid() -> SqlError:
    return SqlError("22P02", "invalid input syntax for type json")


def unquoted(token: str) -> str:
    """The text that a JSON string stands for."""
    text: str = json.loads(token)
    if "\\" in token:
        if "\x00" in text:
            raise SqlError("22P05", "unsupported Unicode escape sequence")
        if _SURROGATE.search(text):
            raise invalid()
    return text


class _Reader:
    def __init__(self, text: str, strict: bool) -> None:
        self.text = text
        self.strict = strict  # whether every string is read, as PostgreSQL's functions do
        self.at = 0

    def token(self) -> tuple[str, str, int]:
        found = _TOKEN.match(self.text, self.at)
        if found is None or found.lastgroup is None:
            raise invalid()
        self.at = found.end()
        return found.lastgroup, found[found.lastgroup], found.start(found.lastgroup)

    def value(self, token: tuple[str, str, int], depth: int) -> Piece:
        kind, text, start = token
        if depth > MAX_DEPTH:
            raise SqlError("54001", "stack depth limit exceeded")
        if kind == "string":
            if self.strict:
                unquoted(text)
            return Piece("string", start, self.at)
        if kind == "number":
            return Piece("number", start, self.at)
        if kind == "word":
            return Piece("null" if text == "null" else "boolean", start, self.at)
        if text == "[":
            return self.array(start, depth)
        if text == "{":
            return self.object(start, depth)
        raise invalid()

    def array(self, start: int, depth: int) -> Piece:
        parts: list[Piece] = []
        token = self.token()
        while token[1] != "]" or token[0] != "sign":
            parts.append(self.value(token, depth + 1))
            token = self.following("]")
        return Piece("array", start, self.at, tuple(parts))

    def object(self, start: int, depth: int) -> Piece:
        keys: list[str] = []
        parts: list[Piece] = []
        token = self.token()
        while token[1] != "}" or token[0] != "sign":
            if token[0] != "string" or self.token()[:2] != ("sign", ":"):
                raise invalid()
            keys.append(unquoted(token[1]) if self.strict else token[1])
            parts.append(self.value(self.token(), depth + 1))
            token = self.following("}")
        return Piece("object", start, self.at, tuple(parts), tuple(keys))

    def following(self, end: str) -> tuple[str, str, int]:
        """After a comma the next value's token, else the end."""
        kind, text, start = self.token()
        if kind != "sign" or text not in (",", end):
            raise invalid()
        if text == end:
            return kind, text, start
        token = self.token()
        if token[:2] == ("sign", end):
            raise invalid()
        return token


def parse_json(text: str, *, strict: bool = True) -> Piece:
    """The tree of a JSON text. Not `strict`: only its form is checked, as the type json does."""
    reader = _Reader(text, strict)
    piece = reader.value(reader.token(), 0)
    if not _BLANKS.match(text, reader.at):
        raise invalid()
    return piece


def number(text: str) -> Decimal:
    """A JSON number as numeric has it: exact, with its scale, and no negative zero."""
    value = Decimal(text)
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        raise invalid()
    if exponent > 0 and value:
        overflow = len(digits) + exponent > _WHOLE_DIGITS
    else:
        overflow = -exponent > _SCALE or abs(exponent) > _WHOLE_DIGITS
    if overflow or len(digits) > _WHOLE_DIGITS:
        raise SqlError("22003", "value overflows numeric format")
    return value if value else value.copy_abs()


def parse_jsonb(text: str) -> Any:
    """The value of a JSON text, as jsonb keeps it."""
    if "\\u" in text or text.count("[") + text.count("{") > MAX_DEPTH:
        return _value(text, parse_json(text))
    try:
        return _CHECKING.decode(text)
    except ValueError:
        raise invalid() from None


def read_jsonb(text: str) -> Any:
    """The value of a text that is jsonb's own spelling, which needs no check."""
    return _DECODER.decode(text)


def _no_constant(_: str) -> None:
    raise invalid()


_CHECKING = json.JSONDecoder(parse_float=number, parse_int=number, parse_constant=_no_constant)


def _value(text: str, piece: Piece) -> Any:
    match piece.kind:
        case "object":
            values = (_value(text, part) for part in piece.parts)
            return dict(zip(piece.keys, values, strict=True))
        case "array":
            return [_value(text, part) for part in piece.parts]
        case "string":
            return unquoted(text[piece.start : piece.end])
        case "number":
            return number(text[piece.start : piece.end])
        case _:
            return _WORDS[text[piece.start : piece.end]]


def quoted(text: str) -> str:
    escaped = _CONTROL.sub(lambda found: _ESCAPES.get(found[0], f"\\u{ord(found[0]):04x}"), text)
    return f'"{escaped}"'


def number_text(value: Decimal) -> str:
    return format(value, "f")


def sorted_items(value: dict[str, Any]) -> list[tuple[str, Any]]:
    """The pairs of an object in jsonb's order."""
    return sorted(value.items(), key=lambda item: (len(item[0].encode()), item[0].encode()))


def _write(value: Any, out: list[str]) -> None:
    if isinstance(value, str):
        out.append(quoted(value))
    elif isinstance(value, bool):
        out.append("true" if value else "false")
    elif isinstance(value, Decimal):
        out.append(number_text(value))
    elif value is None:
        out.append("null")
    elif isinstance(value, list):
        out.append("[")
        for index, each in enumerate(value):
            out.append(", " if index else "")
            _write(each, out)
        out.append("]")
    else:
        out.append("{")
        for index, (key, each) in enumerate(sorted_items(value)):
            out.append(f"{', ' if index else ''}{quoted(key)}: ")
            _write(each, out)
        out.append("}")


def jsonb_text(value: Any) -> str:
    """The one spelling of a jsonb value."""
    out: list[str] = []
    _write(value, out)
    return "".join(out)


def path_index(text: str) -> int | None:
    """An array index in a path: an int4 as C reads one, or None."""
    if _INTEGER.match(text) is None or not -(2**31) <= int(text) < 2**31:
        return None
    return int(text)
