"""What comes in as JSON, read strictly: `read` bytes, then `asked` for a question with options.

Refused with `BadAsk` and the path named: what is not UTF-8 or not JSON, NaN and infinities,
keys that stand twice, lone surrogates, nesting beyond 100 levels, keys nobody knows. A browser
cannot write a u64 as a number, so `options.seed` may be a text of digits; and where a browser
reads, integers beyond 2^53 − 1 are texts (`for_browsers`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

from redask.core import clauses
from redask.core.errors import BadAsk
from redask.core.model import Ask

MAX_SAFE = 2**53 - 1
LOOP_ROWS = 100  # more rows than these are encoded beside the event loop
_MAX_DEPTH = 100
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read(body: bytes) -> object:
    """The JSON value of a message."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise BadAsk(f"the body is not UTF-8: byte {error.start}", detail="body") from None
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise BadAsk(f"the body is not JSON: {reason}", detail="body") from None
    if _depth(value) > _MAX_DEPTH:
        raise BadAsk(f"the body is nested deeper than {_MAX_DEPTH} levels", detail="body")
    if _SURROGATE.search(text) and _has_surrogates(value):
        raise BadAsk("the body has half of a surrogate pair", detail="body")
    return value


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


def asked(value: Mapping[str, object]) -> Ask:
    """The Ask of `{question, options}`."""
    options = value.get("options", {})
    if isinstance(options, dict) and isinstance(options.get("seed"), str):
        seed = options["seed"]
        if seed.isascii() and seed.isdigit() and len(seed) <= 20:
            options = {**options, "seed": int(seed)}
    return clauses.from_options(value.get("question"), options)


def for_browsers(value: object) -> object:
    """The same value with integers that JavaScript would round as texts."""
    if isinstance(value, dict):
        return {key: for_browsers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [for_browsers(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_SAFE:
        return str(value)
    return value


def _has_surrogates(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in an object")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


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
