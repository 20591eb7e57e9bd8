"""Words of a question that nobody holds, read as words that somebody holds.

Only a word of which the caller may read no form is read otherwise, by the first of these that
gives words the caller may read:

    in CamelCase   its parts                                       HttpxTransport → httpx transport
    in two words   one, together with the next or the one before   data base → database
    misspelt       the nearest word within the tolerance of `spellings`: fewest edits, then most
                   rows with its stem, then the order of bytes     recieve → receive
    in one word    two of three letters or more, the rarer of them as frequent as possible; before
                   a word that is two edits away                   databasefile → database file

What stands in quotes or is an identifier is meant as written. At most MAX_WORDS words of a question
are tried. A word in another language is read as its cognate, where that is near enough
(temperatura → temperature).

**What may not be read is not proposed.** The list of words has those of rows that are hidden or
gone, so a proposal counts only if its stem is in rows that the caller may read, and the word itself
in one of the HOLDERS best of these by BM25. So the outcome depends on readable content alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from redask.index.analysis import analyzer, spellings
from redask.index.analysis.vocabulary import hash64
from redask.index.lexical.bm25 import LexicalSearcher
from redask.index.lexical.word_list import WordList

MAX_WORDS = 8
HOLDERS = 64
_SHORTEST_PART = 3
_SHORTEST_COMPOUND = 7
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Edit:
    """A span of the question, and how it is read."""

    start: int
    end: int
    read: str


@dataclass(frozen=True, slots=True)
class Corrector:
    """Reads questions over what one caller may see; `words` gives the list of words on demand."""

    lexical: LexicalSearcher
    words: Callable[[], WordList]
    present: tuple[str, ...]

    def read(
        self, question: str, literals: Sequence[str]
    ) -> tuple[str, tuple[tuple[str, str], ...]]:
        """The question as it is read, and what was read otherwise: (typed, read), in order."""
        found = list(_WORD.finditer(question))
        as_written = {word for literal in literals for word in analyzer.words(literal)}
        content = set(analyzer.content_words(question, self.present)) - as_written
        edits: list[_Edit] = []
        tried = 0
        for position, typed in enumerate(found):
            word = typed[0].lower()
            covered = edits and typed.start() < edits[-1].end
            if word not in content or covered or tried == MAX_WORDS or self._rows(word):
                continue
            tried += 1
            edit = next(self._readings(question, found, position), None)
            if edit:
                edits += [edit] if not edits or edits[-1].end <= edit.start else []
        pieces, end = [], 0
        for edit in edits:
            pieces += [question[end : edit.start], edit.read]
            end = edit.end
        taken = tuple((question[edit.start : edit.end], edit.read) for edit in edits)
        return "".join([*pieces, question[end:]]), taken

    def _readings(
        self, question: str, found: Sequence[re.Match[str]], position: int
    ) -> Iterator[_Edit]:
        """How a word may be read, best first."""
        start, end = found[position].span()
        word = found[position][0].lower()
        parts = spellings.split(found[position][0])
        if parts and all(map(self._rows, parts)):
            yield _Edit(start, end, " ".join(parts))
        for first, second in pairwise(found[max(position - 1, 0) : position + 2]):
            joined = (first[0] + second[0]).lower()
            apart = question[first.end() : second.start()]
            if apart in (" ", "-") and joined.isalpha() and self._rows(joined):
                yield _Edit(first.start(), second.end(), joined)
        near = self.words().near(word) if spellings.tolerance(word) else []
        for limit in (1, 2):
            for each in self._by_rows(near, limit):
                yield _Edit(start, end, each)
            if limit == 1 and (two := self._compound(word)):
                yield _Edit(start, end, two)

    def _by_rows(self, near: Sequence[tuple[int, str]], limit: int) -> Iterator[str]:
        """The readable ones among the words at up to one edit, or at two."""
        counted = [
            (distance, -rows, word)
            for distance, word in near
            if max(distance, 1) == limit and (rows := self._rows(word))
        ]
        for _, _, word in sorted(counted):
            group = analyzer.alternatives(word, self.present)
            if self.lexical.holds(group, hash64(word) & 0xFFFFFFFF, HOLDERS):
                yield word

    def _compound(self, word: str) -> str | None:
        """Two words that are one here."""
        if not word.isalpha() or not _SHORTEST_COMPOUND <= len(word) <= spellings.MAX_LETTERS:
            return None
        found = [
            (-min(rows), head)
            for cut in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1)
            if (head := word[:cut]) and all(rows := (self._rows(head), self._rows(word[cut:])))
        ]
        return f"{min(found)[1]} {word.removeprefix(min(found)[1])}" if found else None

    def _rows(self, word: str) -> int:
        """How many readable rows have a stem of this word."""
        return self.lexical.row_count(analyzer.alternatives(word, self.present))
