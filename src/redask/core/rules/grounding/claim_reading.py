"""A claim as it is checked: `read` its words, values, names, identifiers and quoted text.

A name is not what is part of a value (May 2019) or of an identifier (T-1043), a value not what is
part of an identifier.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from redask.core.equivalence.identifiers import Identifier, find_identifiers
from redask.core.rules.grounding import names, stems, value_tokens
from redask.core.rules.grounding.names import Name
from redask.core.rules.grounding.value_tokens import ValueToken
from redask.core.text import compiled_later

_QUOTED = compiled_later(
    r'"([^"\n]{1,400})"|“([^”\n]{1,400})”|„([^“”\n]{1,400})[“”]|«([^»\n]{1,400})»'
    r"|``([^`'\n]{1,400})(?:''|``)"
)

_CODE = re.compile(r"[0-9_@]|://|::|www\.|\(\)|\w\.\w")


@dataclass(frozen=True, slots=True)
class ReadClaim:
    """What a claim holds; places are words."""

    text: str
    forms: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    values: tuple[ValueToken, ...]
    names: tuple[Name, ...]
    identifiers: tuple[Identifier, ...]
    quoted: tuple[str, ...]

    @property
    def has_tokens(self) -> bool:
        """Whether anything in it can be looked up as it is."""
        return bool(
            self.values or self.identifiers or self.quoted or any(name.sure for name in self.names)
        )

    def written(self, first: int, end: int) -> str:
        """The text of the words `first` to `end`."""
        return self.text[self.spans[first][0] : self.spans[end - 1][1]]

    def around(self, first: int, end: int) -> str:
        """The text of these words and their neighbours."""
        return self.written(max(0, first - 1), min(len(self.spans), end + 1))


def read(text: str, forms: Sequence[str]) -> ReadClaim:
    """The claim with this text, whose words have these forms."""
    spans = tuple(stems.spans(text))
    identifiers = find_identifiers(text) if _CODE.search(text) else ()
    codes = _words(spans, [each.span for each in identifiers])
    values = tuple(
        each
        for each in value_tokens.find(text, spans, forms)
        if not codes.issuperset(range(each.first, each.end))
    )
    valued = codes.union(*[range(each.first, each.end) for each in values])
    named = tuple(
        each
        for each in names.find(text, spans, forms)
        if valued.isdisjoint(range(each.first, each.end))
    )
    quoted = tuple(found[found.lastindex or 0] for found in _QUOTED.finditer(text))
    return ReadClaim(text, tuple(forms), spans, values, named, identifiers, quoted)


def _words(spans: Sequence[tuple[int, int]], places: Sequence[tuple[int, int]]) -> set[int]:
    """The words that these places touch; both are in text order."""
    found: set[int] = set()
    at = 0
    for start, end in places:
        while at < len(spans) and spans[at][1] <= start:
            at += 1
        while at < len(spans) and spans[at][0] < end:
            found.add(at)
            at += 1
    return found
