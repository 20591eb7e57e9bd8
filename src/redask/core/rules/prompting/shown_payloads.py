"""A payload as a prompt and an answer show it: `shown(payload, question)`, without dead weight.

    left out    keys whose value is null, and keys whose value is a digest: at least 32 hex digits
                or a padded base64 hash of 256 or 512 bits, with or without `sha256:` or the like
                before it; inner objects alike
    kept        what the question names by its key ("what is the checksum of …", "is closed_at
                set?") or holds itself; `id` and keys that end in it; all elements of lists; every
                payload that is not an object

Canonical JSON in, canonical JSON out; a payload with nothing to leave out is the same string.
"""

import json
import re

from redask.core.rules.grounding import stems
from redask.core.text import compiled_later

_NULL = ":null"
_RUN = b"1" * 32  # what is left of as many letters of a digest in a row
_DIGEST_LETTERS = (
    bytes(ord("1") if chr(code).isalnum() or chr(code) in "+/" else ord(" ") for code in range(128))
    + b" " * 128
)
_HEX = re.compile(r"(?:[0-9a-f]{32,}|[0-9A-F]{32,})")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==")
_PREFIX = compiled_later(r"(?:md5|sha-?[0-9]{1,3}|blake2[bs]|crc)[:\-]", re.IGNORECASE)
_KEY_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_LONGEST = 256


def shown(payload: str, question: str) -> str:
    """The payload as this question's prompt shows it."""
    if not payload.startswith("{") or not _is_suspect(payload):
        return payload
    try:
        value = json.loads(payload)
        kept = _kept(value, frozenset(stems.forms(question)), question)
        if kept == value:
            return payload
        return json.dumps(
            kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
    except (ValueError, RecursionError):
        return payload


def _is_suspect(payload: str) -> bool:
    """Whether anything may be left out; a pattern takes ten times as long for a passage."""
    return _NULL in payload or _RUN in payload.encode().translate(_DIGEST_LETTERS)


def _kept(value: dict[str, object], asked: frozenset[str], question: str) -> dict[str, object]:
    kept: dict[str, object] = {}
    for key, each in value.items():
        if (each is None or _is_digest(each, question)) and not _is_named(key, asked):
            continue
        kept[key] = _kept(each, asked, question) if isinstance(each, dict) else each
    return kept


def _is_digest(value: object, question: str) -> bool:
    if not isinstance(value, str) or len(value) > _LONGEST:
        return False
    bare = _PREFIX.sub("", value, count=1)
    return bool(_HEX.fullmatch(bare) or _BASE64.fullmatch(bare)) and value not in question


def _is_named(key: str, asked: frozenset[str]) -> bool:
    """Whether it is an id, or the question has a word of the key."""
    words = [word.lower() for word in _KEY_WORDS.findall(key)]
    if words and words[-1] in ("id", "key", "uuid"):
        return True
    return any(stems.form(word) in asked for word in words if stems.has_meaning(stems.form(word)))
