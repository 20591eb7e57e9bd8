"""Codes, addresses and names in code: `find_identifiers(text)`, compared exactly but for case.

    https://… www.…        a URL, without the punctuation that ends a sentence
    a@b.org                an e-mail address
    1f0e…-…                a UUID
    ISBN 978-…             an ISBN: the digits and X alone are compared
    v2.3.1 · 10.0.0.1      digits in three or more parts
    foo_bar · a::b · f() · foo.bar() · config.toml · a/b_c.py      names in code
    T-1043 · ABC_12 · p53 · H2O · COVID-19 · 3D       letters with digits

Not identifiers: quantities (5km, 20th, 1990s, 10-year), words with a hyphen, and a word, a hyphen
and a number (top-10, caspase-3), which is a quantity.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from redask.core.equivalence import units
from redask.core.equivalence.quantity_syntax import is_code
from redask.core.text import compiled_later

__all__ = ["Identifier", "find_identifiers"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """An identifier in a text; equal keys are the same identifier."""

    span: tuple[int, int]
    text: str
    key: str


# Latin and Greek; scripts without spaces have no tokens
_LETTERS = "a-zµÀ-ÖØ-öø-ɏΑ-ω"
_TOKEN = compiled_later(
    r"(?:(?!isbn)[a-z]++[,.;]?\s++)++"  # plain words, many at once
    r"|(?P<url>(?:https?://|www\.)[^\s<>\"“”]++)"
    r"|(?P<isbn>isbn(?:-1[03])?:? ?(?P<digits>[0-9][0-9 -]{8,16}[0-9x])(?![0-9a-z]))"
    rf"|(?P<token>[{_LETTERS}0-9_][{_LETTERS}0-9_@+.:/#‐‑-]*+(?:\(\))?)",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_DOTTED_NUMBER = compiled_later(
    r"v?[0-9]{1,9}(?:\.[0-9]{1,9}){2,8}(?:[-+][0-9a-z.]+)?", re.IGNORECASE
)
_VERSION = re.compile(r"v[0-9]{1,9}(?:\.[0-9]{1,9}){0,8}", re.IGNORECASE)
_FILE_NAME = re.compile(r"[a-z0-9_/-]*[a-z0-9_-]{2}\.[a-z]{2,5}")
_QUANTITY = compiled_later(
    r"[0-9][0-9.,]*(?:[-/][0-9][0-9.,]*)?[-–]?(?:(?:st|nd|rd|th|s|x|e[0-9]{1,3}|am|pm|h[0-9]{2})|(?P<unit>[a-zµμ²³]{1,12})(?P<rest>(?:-[a-z]+)+|/.*)?)",
    re.IGNORECASE,
)
_DATE = re.compile(r"[0-9]{1,4}-[a-z]{3,9}-[0-9]{2,4}|[0-9]{4}-[0-9]{2}-[0-9]{2}t.*", re.IGNORECASE)
_CODE_PART = re.compile(r"([A-Za-z]{1,30})[-‐‑](?=[0-9])")
_DOTTED_CODE = re.compile(r"[A-Z][A-Za-z]?\.[0-9]")
_ENDING = ".,;:!?'’-/#‐‑"
# p53-dependent is p53
_COMPOUND = re.compile(r"(?<=[0-9A-Z+])(?:[-‐‑/][a-z]{3,30}){1,3}\Z")
_MAX_TOKEN = 512


def find_identifiers(text: str) -> tuple[Identifier, ...]:
    """Every identifier of the text, in order."""
    found: list[Identifier] = []
    for match in _TOKEN.finditer(text):
        start = match.start()
        if match["url"] is not None:
            written = match["url"].rstrip(_ENDING + ")]}*_")
        elif match["isbn"] is not None:
            digits = match["digits"].replace("-", "").replace(" ", "")
            if len(digits) in (10, 13):
                found.append(Identifier(match.span(), match[0], digits.lower()))
            continue
        elif match["token"] is None:
            continue
        else:
            written = _COMPOUND.sub("", match["token"][: _MAX_TOKEN + 1].rstrip(_ENDING))
            if len(written) > _MAX_TOKEN or not _is_identifier(written):
                continue
        key = written.lower()
        found.append(Identifier((start, start + len(written)), written, key))
    return tuple(found)


def _is_identifier(token: str) -> bool:
    if token.isalpha() or token.isdigit():
        return False
    if "_" in token.strip("_") or "::" in token or token.endswith("()"):
        return True
    if any(p.fullmatch(token) for p in (_EMAIL, _DOTTED_NUMBER, _VERSION, _FILE_NAME)):
        return not _DATE.fullmatch(token)
    if not any(c.isdigit() for c in token) or not any(c.isalpha() for c in token):
        return False
    return _is_mixed(token)


def _is_mixed(token: str) -> bool:
    """Letters with digits that are not a quantity, a date, or a word before a number."""
    if _DATE.fullmatch(token):
        return False
    quantity = _QUANTITY.fullmatch(token)
    if quantity is not None:
        unit = quantity["unit"]
        return unit is not None and not _is_unit(unit) and quantity["rest"] is None
    if any(is_code(code[1]) for code in _CODE_PART.finditer(token)) or _DOTTED_CODE.match(token):
        return True
    word = _CODE_PART.match(token)
    if word is not None:
        token = token[word.end() :]
        return _QUANTITY.fullmatch(token) is None and _adjoin(token)
    return _adjoin(token)


def _is_unit(name: str) -> bool:
    lowered = name.lower()
    return name in units.SYMBOLS or lowered in units.WORDS or lowered in units.MAGNITUDES


def _adjoin(token: str) -> bool:
    """Whether a letter stands next to a digit."""
    return any(
        a.isalnum() and b.isalnum() and a.isdigit() != b.isdigit() for a, b in pairwise(token)
    )
