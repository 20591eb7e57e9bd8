"""Canonical JSON: `encode` a value to its unique byte string.

The bytes of Python's `json.dumps(v, sort_keys=True, separators=(",", ":"),
ensure_ascii=False, allow_nan=False)` in UTF-8, with these differences, all on the strict side:

    string keys only                     a number, None or bool as a key is refused
    integers exact at any size           also past the interpreter's limit of 4,300 digits
    -0.0 becomes 0.0
    NaN, infinities, lone surrogates,    refused with `NotCanonical`, whose `detail` is the
    other types, depth over 256          path to the value (`$.a[3]`), where it has one

Everything that is hashed or compared is encoded here: equal input, equal bytes, every process.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from json import encoder

from redask.core.errors import NotCanonical

MAX_DEPTH = 256
_string = encoder.encode_basestring  # in C, without the set-up of an encoder
_SAFE_BITS = 14_000  # below 4,300 decimal digits, where int.__repr__ still works


def encode(value: object) -> bytes:
    """The canonical bytes of `value`."""
    return text(value).encode()


def text(value: object) -> str:
    """The canonical JSON of `value` as a string; it always has a UTF-8 form."""
    out: list[str] = []
    _write(value, out.append, ())
    whole = "".join(out)
    try:
        whole.encode()
    except UnicodeEncodeError as error:
        near = whole[max(error.start - 20, 0) : error.start]
        raise NotCanonical("a lone surrogate has no UTF-8", detail=f"after {near!a}") from None
    return whole


def _write(value: object, put: Callable[[str], None], path: tuple[str | int, ...]) -> None:
    if len(path) > MAX_DEPTH:
        raise NotCanonical(f"a value is nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, str):
        put(_string(value))
    elif value is None:
        put("null")
    elif isinstance(value, bool):
        put("true" if value else "false")
    elif isinstance(value, int):
        put(_integer(value))
    elif isinstance(value, float):
        put(_double(value, path))
    elif isinstance(value, dict):
        _write_object(value, put, path)
    elif isinstance(value, list | tuple):
        put("[")
        for position, item in enumerate(value):
            if position:
                put(",")
            _write(item, put, (*path, position))
        put("]")
    else:
        raise NotCanonical(f"{type(value).__name__} is not a JSON type", detail=_where(path))


def _write_object(
    value: dict[object, object], put: Callable[[str], None], path: tuple[str | int, ...]
) -> None:
    keys = [key for key in value if isinstance(key, str)]
    if len(keys) < len(value):
        odd = next(type(key).__name__ for key in value if not isinstance(key, str))
        raise NotCanonical(f"a key is a string, not {odd}", detail=_where(path))
    separator = "{"
    for key in sorted(keys):
        put(separator + _string(key) + ":")
        _write(value[key], put, (*path, key))
        separator = ","
    put("}" if keys else "{}")


def _integer(value: int) -> str:
    if value.bit_length() < _SAFE_BITS:
        return int.__repr__(value)
    return format(Decimal(value), "f")


def _double(value: float, path: tuple[str | int, ...]) -> str:
    if not math.isfinite(value):
        raise NotCanonical(f"{value} is not a JSON number", detail=_where(path))
    return float.__repr__(value + 0.0)  # -0.0 + 0.0 is 0.0


def _where(path: tuple[str | int, ...]) -> str:
    """The path as ASCII: a key may hold a lone surrogate, too."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "$" + "".join(steps).encode("ascii", "backslashreplace").decode()
