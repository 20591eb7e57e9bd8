"""What comes in as JSON, read strictly: `read` bytes, then `asked` for a question with options.

Refused with `BadAsk` and the path named: what is not UTF-8 or not JSON, NaN and infinities,
keys that stand twice, lone surrogates, nesting beyond 100 levels, keys nobody knows. A body of
more than MAX_VALUES values, or rows of more than MAX_ROW_VALUES, are `LimitExceeded` before they
are read: a value takes far more memory than its bytes, and while many are made no other thread of
the server runs (0.2 s for a million).

A browser cannot write a u64 as a number, so `options.seed` may be a text of digits; and where a
browser reads, integers beyond 2^53 − 1 are texts (`core.wire.row_json.for_browsers`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

from redask.core import clauses
from redask.core.errors import BadAsk, LimitExceeded
from redask.core.model import Ask

LOOP_BYTES = 32 * 1024  # more than these are read beside the event loop: 2 ms at the worst
LOOP_ROWS = 100  # more rows than these are encoded beside the event loop
MAX_VALUES, MAX_ROW_VALUES = 100_000, 2_000_000  # counted as separators
_MAX_DEPTH = 100
_PIECE = 1 << 20  # bytes
_SEPARATORS = (b",", b"[", b"{")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read(body: bytes, *, rows: bool = False) -> object:
    """The JSON value of a message, or of rows to be written."""
    check_values(body, MAX_ROW_VALUES if rows else MAX_VALUES)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise BadAsk(f"the body is not UTF-8: byte {error.start}", detail="body") from None
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)
    except RecursionError:
        raise _not_json("nested too deep") from None
    except json.JSONDecodeError as error:
        raise _not_json(str(error)) from None
    except ValueError:  # of int, whose words are for who runs Python
        raise BadAsk("the body has a number of too many digits", detail="body") from None
    if _depth(value) > _MAX_DEPTH:
        raise BadAsk(f"the body is nested deeper than {_MAX_DEPTH} levels", detail="body")
    if _SURROGATE.search(text) and _has_surrogates(value):
        raise BadAsk("the body has half of a surrogate pair", detail="body")
    return value


def check_values(body: bytes, most: int = MAX_VALUES) -> None:
    """`LimitExceeded` if JSON has more values than these; what stands in its texts is none.

    Looked at in pieces, up to the one in which there are too many: copies are of a piece.
    """
    if _separators(body) <= most:
        return
    place = found = 0
    in_text = False
    while place < len(body):
        end = place + _PIECE
        piece = body[place:end]
        end += (len(piece) - len(piece.rstrip(b"\\"))) % 2  # no piece ends within an escape
        unescaped = body[place:end].replace(rb"\\", b"").replace(rb"\"", b"")
        parts = unescaped.split(b'"')
        found += _separators(b"".join(parts[in_text::2]))
        if found > most:
            message = f"the body has more than {most} values: send it in parts"
            raise LimitExceeded("body", message, detail="body")
        in_text ^= len(parts) % 2 == 0
        place = end


def fields(value: object, known: Sequence[str], where: str = "body") -> Mapping[str, object]:
    """An object with no other keys than these."""
    if not isinstance(value, dict):
        raise BadAsk(f"{where}: expected an object", detail=where)
    unknown = sorted(set(value) - set(known))
    if unknown:
        raise BadAsk(
            f"{unknown[0][:100]!a}: expected one of {', '.join(known)}", detail=unknown[0][:100]
        )
    return value


def whole_number(value: object, name: str, least: int, most: int) -> int:
    """A whole number in a range; 20.0 counts as 20."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or value != value // 1
        or not least <= value <= most
    ):
        raise BadAsk(f"{name}: expected a whole number from {least} to {most}", detail=name)
    return int(value)


def asked(value: Mapping[str, object], where: str = "options.") -> Ask:
    """The Ask of `{question, options}`; `where` the options stand in the message."""
    options = value.get("options", {})
    if isinstance(options, dict) and isinstance(options.get("seed"), str):
        seed = options["seed"]
        if seed.isascii() and seed.isdigit() and len(seed) <= 20:
            options = {**options, "seed": int(seed)}
    return clauses.from_options(value.get("question"), options, where)


def _separators(body: bytes) -> int:
    return sum(map(body.count, _SEPARATORS))


def _has_surrogates(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _not_json("a key stands twice in an object")
    return found


def _refuse(constant: str) -> NoReturn:
    raise _not_json(f"{constant} is no JSON number")


def _not_json(reason: str) -> BadAsk:
    return BadAsk(f"the body is not JSON: {reason}", detail="body")


def _depth(value: object) -> int:
    """How deep a value nests, counted without recursion."""
    deepest, level = 0, [value]
    while level and deepest <= _MAX_DEPTH:
        deepest += 1
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return deepest
