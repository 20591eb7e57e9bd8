"""What a claim gives word for word: `check` its identifiers and its quoted text.

    an identifier     must be one of a cited source, but for case; or its parts with capitals or
                      digits must follow one another in a passage (FOXO3 in "FOXO3-regulated",
                      IL-2 in "IL2")
    quoted text       must stand in a cited source, but for case, accents, white space and
                      punctuation; "…" and "..." in it stand for anything

Quoted text is looked for in the passages that hold its rarest word, and may run over their ends.
"""

import re
from collections.abc import Iterator, Sequence

from redask.core.equivalence.identifiers import Identifier
from redask.core.rules.grounding import stems
from redask.core.rules.grounding.alignment import Alignment
from redask.core.rules.grounding.checks import slots
from redask.core.rules.grounding.checks.faults import Fault
from redask.core.rules.grounding.claim_reading import ReadClaim
from redask.core.rules.grounding.source_text import COMMON, SourceText

_LEFT_OUT = re.compile(r"\.{3,}|…|\[[^\]\n]{0,40}\]")
_PARTS = re.compile(r"[^\W\d_]+|[0-9]+")
_LETTER = re.compile(r"[^\W\d_]")
_WORD_PART = re.compile(r"(?<![A-Za-z0-9])[a-z]{3,}(?![A-Za-z0-9])")


def check(claim: ReadClaim, found: Alignment) -> Iterator[Fault]:
    """The identifiers and quotations of a claim that no cited source has."""
    for number, identifier in enumerate(claim.identifiers):
        known = any(identifier.key in source.identifiers() for source in found.cited)
        if not known and (number >= slots.MOST or not _stands(identifier, found)):
            yield Fault(identifier.text)
    for quoted in claim.quoted[: slots.MOST]:
        pieces = [stems.forms(piece) for piece in _LEFT_OUT.split(quoted)]
        if not all(any(_has_words(piece, source) for source in found.cited) for piece in pieces):
            yield Fault(quoted)


def _stands(identifier: Identifier, found: Alignment) -> bool:
    """Whether the parts of an identifier stand in a source."""
    code = _WORD_PART.sub(" ", identifier.text)
    parts = stems.forms(code if _LETTER.search(code) else identifier.text)
    whole = [part for form in parts for part in _PARTS.findall(form)]
    return any(
        _has_words(parts, source) or _has_words(whole, source) or source.holds("".join(parts))
        for source in found.cited
    )


def _has_words(words: Sequence[str], source: SourceText) -> bool:
    """Whether these words follow one another in a field of the source."""
    if not words:
        return True
    places = min((source.holding(word[: stems.ROOT]) for word in words), key=len)
    return any(_stands_at(words, number, source) for number in places[:COMMON])


def _stands_at(words: Sequence[str], number: int, source: SourceText) -> bool:
    """Whether the words stand in a passage and its neighbours, as far as they reach."""
    around = source.passages[max(0, number - 1) : number + 2]
    field = source.passages[number].field
    forms = [form for passage in around if passage.field == field for form in passage.forms]
    return f" {' '.join(words)} " in f" {' '.join(forms)} "
