"""Words to numbers, in bulk: `split` many texts at once, and what a language makes of them.

Texts come as bytes, words separated by blanks. Each word gets a 64-bit number of this process
alone: a polynomial over its bytes with a secret odd factor. All numbers are computed at once
from running sums (the number of bytes i…j is the difference of two sums, shifted back by the
factor's inverse) and looked up in a hash table of arrays, so that there is no Python object
for a word that is known. Because the factor is secret, nobody can make up two words of one
number; that it happens by chance is as unlikely as with any 64-bit hash.

What is kept of a word depends on the word and the language alone:

    surface   the word without `'s` and elided articles    32 bits: names are compared by it
    stem      Snowball's stem of the surface               32 bits of 48: counted by it
    text      48 bits of the stem as 8 characters, what tantivy indexes: any script and any
              length becomes a short ASCII token

Occurrences of more than MAX_LENGTH characters are known by a digest. Hashes are BLAKE2b.
"""

import secrets
import threading
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import Stemmer  # type: ignore[import-not-found]  # PyStemmer ships no types

from redask.index.analysis import languages
from redask.index.forward.entries import I64, U64

MAX_LENGTH = 100
CHUNK = 1 << 17  # bytes looked at together
TEXT = 9  # characters of a stem's text, with the blank after it

Texts = npt.NDArray[np.void]

_BITS = 20
_ROOM = (1 << _BITS) * 5 // 8  # words kept of a language, in 24 MB
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = secrets.randbits(61) << 3 | 5


def _powers(factor: int) -> U64:
    factors = np.full(CHUNK, factor, np.uint64)
    factors[0] = 1
    return np.multiply.accumulate(factors)


_POWERS = _powers(_FACTOR)
_INVERSES = _powers(pow(_FACTOR, -1, 1 << 64))


class Occurrences:
    """The words of some texts. `numbers` in order; `firsts[i]` is where those of text i begin."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._buffer = b" ".join([*texts, b""]) or b" "
        offsets = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) + 1 for text in texts], out=offsets[1:])
        self._starts, self._ends, self.numbers = _split(self._buffer)
        self.firsts: I64 = np.searchsorted(self._starts, offsets)

    def spell(self, places: I64) -> list[str]:
        """The words at these places."""
        spans = zip(self._starts[places].tolist(), self._ends[places].tolist(), strict=True)
        return [self._buffer[start:end].decode() for start, end in spans]


class Table:
    """Numbers → rows 0, 1, 2 …: a hash table in two arrays, probed one slot further each time."""

    def __init__(self, bits: int) -> None:
        self._mask = (1 << bits) - 1
        self._shift = np.uint64(64 - bits)
        self.clear()

    def clear(self) -> None:
        self._keys = np.zeros(self._mask + 1, np.uint64)
        self._rows = np.zeros(self._mask + 1, np.int32)
        self.count = 0

    def find(self, numbers: U64) -> I64:
        """The row of each number, −1 where there is none."""
        slots = self._slots(numbers)
        keys = self._keys[slots]
        found = np.where(keys == numbers, self._rows[slots], -1)
        sought = np.flatnonzero((keys != numbers) & (keys != 0))
        slots, numbers = slots[sought], numbers[sought]
        while len(sought):
            slots = slots + 1 & self._mask
            keys = self._keys[slots]
            hit = keys == numbers
            found[sought[hit]] = self._rows[slots[hit]]
            further = ~hit & (keys != 0)
            sought, slots, numbers = sought[further], slots[further], numbers[further]
        return found

    def add(self, numbers: U64) -> None:
        """Give rows to numbers that are all different and have none yet, in their order."""
        rows = np.arange(self.count, self.count + len(numbers))
        self.count += len(numbers)
        slots = self._slots(numbers)
        while len(numbers):
            free = np.flatnonzero(self._keys[slots] == 0)
            taken, chosen = np.unique(slots[free], return_index=True)
            chosen = free[chosen]
            self._keys[taken] = numbers[chosen]
            self._rows[taken] = rows[chosen]
            rest = np.ones(len(numbers), np.bool_)
            rest[chosen] = False
            numbers, rows = numbers[rest], rows[rest]
            slots = slots[rest] + 1 & self._mask

    def _slots(self, numbers: U64) -> I64:
        return (numbers * _SPREAD >> self._shift).astype(np.int64)


class Vocabulary:
    """What one language makes of words; starts afresh when it has learnt too many."""

    def __init__(self, code: str) -> None:
        name = languages.STEMMERS.get(code)
        self._stemmer = Stemmer.Stemmer(name, 0) if name else None
        self._elisions = languages.ELISIONS.get(code, frozenset())
        self._lock = threading.RLock()
        self._table = Table(_BITS)
        self._tokens = np.zeros(_ROOM, np.uint64)
        self._texts = np.zeros(_ROOM, (np.void, TEXT))

    def read(self, words: Occurrences, places: I64) -> tuple[U64, Texts]:
        """The tokens and texts of the words at these places."""
        tokens = np.empty(len(places), np.uint64)
        texts = np.empty(len(places), (np.void, TEXT))
        with self._lock:
            for start in range(0, len(places), CHUNK // 2):
                some = slice(start, start + CHUNK // 2)
                rows = self._rows_of(words, places[some])
                tokens[some] = self._tokens[rows]
                texts[some] = self._texts[rows]
        return tokens, texts

    def stem(self, word: str) -> tuple[str, str]:
        """A word's surface and stem."""
        with self._lock:
            surfaces, stems = self._stem([word])
        return surfaces[0], stems[0]

    def _rows_of(self, words: Occurrences, places: I64) -> I64:
        numbers = words.numbers[places]
        rows = self._table.find(numbers)
        unknown = np.flatnonzero(rows < 0)
        if not len(unknown):
            return rows
        new, firsts = np.unique(numbers[unknown], return_index=True)
        if self._table.count + len(new) > _ROOM:
            self._table.clear()
            return self._rows_of(words, places)
        self._learn(words.spell(places[unknown[firsts]]))
        self._table.add(new)
        rows[unknown] = self._table.find(numbers[unknown])
        return rows

    def _learn(self, words: list[str]) -> None:
        """Write down tokens (stem above surface) and texts of the next rows."""
        surfaces, stems = self._stem(words)
        upper = list(map(hashed, stems))
        pairs = zip(surfaces, stems, upper, strict=True)
        lower = [known if stem == surface else hashed(surface) for surface, stem, known in pairs]
        halves = np.frombuffer(b"".join(lower + upper), np.uint32).reshape(2, -1, 2)[:, :, 0]
        rows = slice(self._table.count, self._table.count + len(words))
        self._tokens[rows] = halves[1].astype(np.uint64) << np.uint64(32) | halves[0]
        spelt = urlsafe_b64encode(b"".join([each[:6] for each in upper]))
        texts = np.full((len(words), TEXT), ord(" "), np.uint8)
        texts[:, :-1] = np.frombuffer(spelt, np.uint8).reshape(-1, TEXT - 1)
        self._texts[rows] = texts.view((np.void, TEXT))[:, 0]

    def _stem(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Surfaces and stems. A stemmer must not be used by two threads: hold the lock."""
        surfaces = [
            self._surface(word) if "'" in word or len(word) > MAX_LENGTH else word for word in words
        ]
        if self._stemmer is None:
            return surfaces, surfaces
        stems = self._stemmer.stemWords(surfaces)
        return surfaces, [stem or word for stem, word in zip(stems, surfaces, strict=True)]

    def _surface(self, word: str) -> str:
        """A word without `'s` and elided articles; a digest in place of a monster."""
        word = word.removesuffix("'s")
        if self._elisions:
            head, _, rest = word.partition("'")
            word = rest if rest and head in self._elisions else word
        return word if len(word) <= MAX_LENGTH else digest(word.encode()).decode()


def vocabulary(code: str) -> Vocabulary:
    """The vocabulary of a language; all languages without a stemmer share one."""
    return _vocabulary(code if code in languages.STEMMERS else "")


@cache
def _vocabulary(code: str) -> Vocabulary:
    return Vocabulary(code)


def digest(word: bytes) -> bytes:
    """What stands for a word that is too long."""
    return blake2b(word, digest_size=16).hexdigest().encode()


def hashed(text: str) -> bytes:
    """64 bits of a text, the same in every process."""
    return blake2b(text.encode(), digest_size=8).digest()


def number_of(text: str) -> int:
    """The same as a number: a literal's in the forward index; its lower half, a word's."""
    return int.from_bytes(hashed(text), "little")


def token(surface: str, stem: str) -> int:
    """The number of a word in the forward index, stem above surface."""
    return int.from_bytes(hashed(surface)[:4] + hashed(stem)[:4], "little")


def stem_text(stem: str) -> str:
    """What stands for a stem in tantivy."""
    return urlsafe_b64encode(hashed(stem)[:6]).decode()


def stem_number(text: str) -> int:
    """The half by which the forward index counts a stem, from its text in tantivy."""
    return int.from_bytes(urlsafe_b64decode(text)[:4], "little")


def literal_text(literal: str) -> str:
    """What stands for a literal in tantivy."""
    return f"={urlsafe_b64encode(hashed(literal)).decode()}"


def _split(buffer: bytes) -> tuple[I64, I64, U64]:
    """Where words begin and end, and their numbers; no word may be longer than a chunk."""
    pieces = []
    start = 0
    while start < len(buffer):
        end = len(buffer)
        if end - start > CHUNK:
            end = buffer.rindex(b" ", start, start + CHUNK) + 1
        pieces.append(_split_chunk(np.frombuffer(buffer, np.uint8, end - start, start), start))
        start = end
    starts, ends, numbers = zip(*pieces, strict=True)
    return np.concatenate(starts), np.concatenate(ends), np.concatenate(numbers)


def _split_chunk(letters: npt.NDArray[np.uint8], at: int) -> tuple[I64, I64, U64]:
    inside = np.zeros(len(letters) + 2, np.bool_)
    np.not_equal(letters, ord(" "), out=inside[1:-1])
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    sums = np.zeros(len(letters) + 1, np.uint64)
    np.cumsum(letters * _POWERS[: len(letters)], out=sums[1:])
    numbers = (sums[ends] - sums[starts]) * _INVERSES[starts]
    return starts + at, ends + at, np.maximum(numbers, np.uint64(1))  # 0 marks an empty slot
