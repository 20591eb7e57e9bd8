"""PostgreSQL's string functions, in a database of locale C and encoding UTF-8.

Letters are the ASCII letters: `initcap('äb')` is `äB`, as PostgreSQL has it there. Positions
and lengths count code points. Where DuckDB's own function means the same, it is a row of
`native_texts` and not here.
"""

from redask.core.errors import SqlError
from redask.core.sql.runtime.runtime_function import (
    RuntimeFunction,
    functions_by_name,
)

MAX_LENGTH = 16 << 20  # bytes of one text; PostgreSQL has 1 GiB, which nobody can interrupt here
_INT4_MAX = 2**31 - 1
_LAST_CODE_POINT = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def substr(text: str, start: int, length: int) -> str:
    """The part from position `start`, which may lie before the text, `length` long."""
    if length < 0:
        raise SqlError("22011", "negative substring length not allowed")
    return text[max(start, 1) - 1 : max(start + length - 1, 0)]


def overlay(text: str, new: str, start: int, length: int) -> str:
    if start <= 0:
        raise SqlError("22011", "negative substring length not allowed")
    if start + length > _INT4_MAX:
        raise SqlError("22003", "integer out of range")
    return text[: start - 1] + new + text[max(start + length, 1) - 1 :]


def overlay_whole(text: str, new: str, start: int) -> str:
    return overlay(text, new, start, len(new))


def split_part(text: str, delimiter: str, index: int) -> str:
    """Part `index` of the text between delimiters, from the end where it is negative."""
    if index == 0:
        raise SqlError("22023", "field position must not be zero")
    if not text:
        return ""
    parts = text.split(delimiter) if delimiter else [text]
    position = index - 1 if index > 0 else len(parts) + index
    return parts[position] if 0 <= position < len(parts) else ""


def _fill(length: int, fill: str) -> str:
    return (fill * (length // len(fill) + 1))[:length] if length > 0 and fill else ""


def _bounded(length: int) -> int:
    if length > MAX_LENGTH // 4:
        raise SqlError("54000", "requested length too large")
    return max(length, 0)


def lpad(text: str, length: int, fill: str) -> str:
    length = _bounded(length)
    return _fill(length - len(text), fill) + text[:length]


def rpad(text: str, length: int, fill: str) -> str:
    length = _bounded(length)
    return text[:length] + _fill(length - len(text), fill)


def initcap(text: str) -> str:
    """Every first letter of a word upper, the others lower; ASCII only makes words."""
    out: list[str] = []
    inside = False
    for each in text:
        known = each.isascii() and each.isalnum()
        out.append((each.lower() if inside else each.upper()) if known else each)
        inside = known
    return "".join(out)


def reverse(text: str) -> str:
    return text[::-1]


def character(code: int) -> str:
    """chr()."""
    if code < 0:
        raise SqlError("22023", "character number must be positive")
    if code == 0:
        raise SqlError("54000", "null character not permitted")
    if code > _LAST_CODE_POINT:
        raise SqlError("54000", f"requested character too large for encoding: {code}")
    if code in _SURROGATES:
        raise SqlError("54000", f"requested character not valid for encoding: {code}")
    return chr(code)


def repeat(text: str, count: int) -> str:
    if len(text.encode()) * count > MAX_LENGTH:
        raise SqlError("54000", "requested length too large")
    return text * count


def to_hex4(number: int) -> str:
    return f"{number & 0xFFFFFFFF:x}"


def to_hex8(number: int) -> str:
    return f"{number & 0xFFFFFFFFFFFFFFFF:x}"


def string_to_array(text: str | None, delimiter: str | None, null: str | None) -> object:
    """The parts between delimiters; no delimiter at all gives the characters."""
    if text is None:
        return None
    if not text:
        return []
    if delimiter == "":
        parts = [text]
    else:
        parts = list(text) if delimiter is None else text.split(delimiter)
    return [None if null is not None and each == null else each for each in parts]


def array_to_string(
    elements: list[str | None] | None, delimiter: str | None, null: str | None
) -> str | None:
    """The elements' texts joined; a NULL element as `null` says, or left out."""
    if elements is None or delimiter is None:
        return None
    texts = [null if each is None else each for each in elements]
    return delimiter.join(each for each in texts if each is not None)


def blank_padded(text: str, length: int) -> str:
    """An explicit cast to character(n): cut, or filled up with blanks."""
    return text[:length].ljust(length, " ")


_V, _I = "VARCHAR", "INTEGER"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_substr", (_V, _I, _I), _V, substr),
    RuntimeFunction("pg_overlay", (_V, _V, _I, _I), _V, overlay),
    RuntimeFunction("pg_overlay_whole", (_V, _V, _I), _V, overlay_whole),
    RuntimeFunction("pg_split_part", (_V, _V, _I), _V, split_part),
    RuntimeFunction("pg_lpad", (_V, _I, _V), _V, lpad),
    RuntimeFunction("pg_rpad", (_V, _I, _V), _V, rpad),
    RuntimeFunction("pg_initcap", (_V,), _V, initcap),
    RuntimeFunction("pg_reverse", (_V,), _V, reverse),
    RuntimeFunction("pg_chr", (_I,), _V, character),
    RuntimeFunction("pg_repeat", (_V, _I), _V, repeat),
    RuntimeFunction("pg_to_hex4", (_I,), _V, to_hex4),
    RuntimeFunction("pg_to_hex8", ("BIGINT",), _V, to_hex8),
    RuntimeFunction("pg_string_to_array", (_V, _V, _V), "VARCHAR[]", string_to_array, True),
    RuntimeFunction("pg_array_to_string", ("VARCHAR[]", _V, _V), _V, array_to_string, True),
)
