"""Words to tokens in bulk: `Occurrences` splits many texts, a `Vocabulary` stems their words.

Texts come as bytes, words separated by blanks. Each word gets a 64-bit id, valid in this process
only: a polynomial hash of its bytes with a secret odd base. All ids are computed at once from
prefix sums (the hash of bytes i…j is the difference of two sums, shifted back by the inverse of
the base) and looked up in a hash table of arrays, so that a known word needs no Python object.
Because the base is secret, nobody can construct a collision; by chance one is as unlikely as with
any 64-bit hash.

What is indexed of a word depends on the word and the language alone:

    surface   the word without `'s` and elided articles    32-bit hash: names are compared by it
    stem      Snowball's stem of the surface               32-bit hash: term frequencies
    term      48 bits of the stem's hash as 8 characters, what tantivy indexes: any script and
              any length becomes a short ASCII token

Words of more than MAX_WORD_LENGTH characters are replaced by a digest. Hashes are BLAKE2b.
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

from redask.core import languages
from redask.index.analysis import spellings
from redask.index.forward.entries import I64, U64

MAX_WORD_LENGTH = 100
CHUNK = 1 << 17  # bytes hashed at a time
STEM_TERM_WIDTH = 9  # characters of a stem's term, with the blank after it

TermArray = npt.NDArray[np.void]

_TABLE_BITS = 20
_MAX_WORDS = (1 << _TABLE_BITS) * 5 // 8  # words cached for a language, in 24 MB
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_BASE = secrets.randbits(61) << 3 | 5


def _powers(base: int) -> U64:
    factors = np.full(CHUNK, base, np.uint64)
    factors[0] = 1
    return np.multiply.accumulate(factors)


_POWERS = _powers(_BASE)
_INVERSES = _powers(pow(_BASE, -1, 1 << 64))


class Occurrences:
    """The words of some texts: their ids in order; those of text i begin at `offsets[i]`."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._buffer = b" ".join([*texts, b""]) or b" "
        text_starts = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) + 1 for text in texts], out=text_starts[1:])
        self._starts, self._ends, self.word_ids = _split(self._buffer)
        self.offsets: I64 = np.searchsorted(self._starts, text_starts)

    def words_at(self, positions: I64) -> list[str]:
        """The words at these positions."""
        spans = zip(self._starts[positions].tolist(), self._ends[positions].tolist(), strict=True)
        return [self._buffer[start:end].decode() for start, end in spans]


class HashTable:
    """Word ids → rows 0, 1, 2 …: a hash table in two arrays, with linear probing."""

    def __init__(self, bits: int) -> None:
        self._mask = (1 << bits) - 1
        self._shift = np.uint64(64 - bits)
        self.clear()

    def clear(self) -> None:
        self._keys = np.zeros(self._mask + 1, np.uint64)
        self._rows = np.zeros(self._mask + 1, np.int32)
        self.count = 0

    def find(self, word_ids: U64) -> I64:
        """The row of each id, −1 where there is none."""
        slots = self._slots(word_ids)
        keys = self._keys[slots]
        found = np.where(keys == word_ids, self._rows[slots], -1)
        pending = np.flatnonzero((keys != word_ids) & (keys != 0))
        slots, word_ids = slots[pending], word_ids[pending]
        while len(pending):
            slots = slots + 1 & self._mask
            keys = self._keys[slots]
            hit = keys == word_ids
            found[pending[hit]] = self._rows[slots[hit]]
            further = ~hit & (keys != 0)
            pending, slots, word_ids = pending[further], slots[further], word_ids[further]
        return found

    def add(self, word_ids: U64) -> None:
        """Insert ids, all different and all new, as the next rows in their order."""
        rows = np.arange(self.count, self.count + len(word_ids))
        self.count += len(word_ids)
        slots = self._slots(word_ids)
        while len(word_ids):
            free = np.flatnonzero(self._keys[slots] == 0)
            taken, chosen = np.unique(slots[free], return_index=True)
            chosen = free[chosen]
            self._keys[taken] = word_ids[chosen]
            self._rows[taken] = rows[chosen]
            rest = np.ones(len(word_ids), np.bool_)
            rest[chosen] = False
            word_ids, rows = word_ids[rest], rows[rest]
            slots = slots[rest] + 1 & self._mask

    def _slots(self, word_ids: U64) -> I64:
        return (word_ids * _HASH_MULTIPLIER >> self._shift).astype(np.int64)


class NewWords:
    """Collects the words of some texts that may be misspelt in a question, most of them once."""

    def __init__(self, bits: int) -> None:
        self._table = HashTable(bits)
        self._most = (1 << bits) * 5 // 8
        self._words: list[str] = []

    def add(self, read: Occurrences) -> None:
        """Add the words that were not seen before."""
        for start in range(0, len(read.word_ids), self._most):
            word_ids, firsts = np.unique(
                read.word_ids[start : start + self._most], return_index=True
            )
            new = self._table.find(word_ids) < 0
            if self._table.count + int(new.sum()) > self._most:
                self._table.clear()
                new[:] = True
            self._table.add(word_ids[new])
            found = read.words_at(firsts[new] + start)
            self._words += [word for word in found if spellings.tolerance(word)]

    def take(self) -> list[str]:
        """The words collected since the last call, sorted."""
        taken, self._words = sorted(set(self._words)), []
        return taken


class Vocabulary:
    """The cached tokens and terms of words in one language; emptied when it is full."""

    def __init__(self, code: str) -> None:
        name = languages.STEMMERS.get(code)
        self._stemmer = Stemmer.Stemmer(name, 0) if name else None
        self._elisions = languages.ELISIONS.get(code, frozenset())
        self._lock = threading.RLock()
        self._table = HashTable(_TABLE_BITS)
        self._tokens = np.zeros(_MAX_WORDS, np.uint64)
        self._terms = np.zeros(_MAX_WORDS, (np.void, STEM_TERM_WIDTH))

    def look_up(self, words: Occurrences, positions: I64) -> tuple[U64, TermArray]:
        """The tokens and terms of the words at these positions."""
        tokens = np.empty(len(positions), np.uint64)
        terms = np.empty(len(positions), (np.void, STEM_TERM_WIDTH))
        with self._lock:
            for start in range(0, len(positions), CHUNK // 2):
                chunk = slice(start, start + CHUNK // 2)
                rows = self._rows_of(words, positions[chunk])
                tokens[chunk] = self._tokens[rows]
                terms[chunk] = self._terms[rows]
        return tokens, terms

    def stem(self, word: str) -> tuple[str, str]:
        """A word's surface and stem."""
        with self._lock:
            surfaces, stems = self._stem([word])
        return surfaces[0], stems[0]

    def _rows_of(self, words: Occurrences, positions: I64) -> I64:
        word_ids = words.word_ids[positions]
        rows = self._table.find(word_ids)
        unknown = np.flatnonzero(rows < 0)
        if not len(unknown):
            return rows
        new, firsts = np.unique(word_ids[unknown], return_index=True)
        if self._table.count + len(new) > _MAX_WORDS:
            self._table.clear()
            return self._rows_of(words, positions)
        self._add_words(words.words_at(positions[unknown[firsts]]))
        self._table.add(new)
        rows[unknown] = self._table.find(word_ids[unknown])
        return rows

    def _add_words(self, words: list[str]) -> None:
        """Append the tokens (stem above surface) and terms of new words."""
        surfaces, stems = self._stem(words)
        upper = list(map(hash_bytes, stems))
        pairs = zip(surfaces, stems, upper, strict=True)
        lower = [
            known if stem == surface else hash_bytes(surface) for surface, stem, known in pairs
        ]
        halves = np.frombuffer(b"".join(lower + upper), np.uint32).reshape(2, -1, 2)[:, :, 0]
        rows = slice(self._table.count, self._table.count + len(words))
        self._tokens[rows] = halves[1].astype(np.uint64) << np.uint64(32) | halves[0]
        encoded = urlsafe_b64encode(b"".join([each[:6] for each in upper]))
        terms = np.full((len(words), STEM_TERM_WIDTH), ord(" "), np.uint8)
        terms[:, :-1] = np.frombuffer(encoded, np.uint8).reshape(-1, STEM_TERM_WIDTH - 1)
        self._terms[rows] = terms.view((np.void, STEM_TERM_WIDTH))[:, 0]

    def _stem(self, words: list[str]) -> tuple[list[str], list[str]]:
        """Surfaces and stems. A stemmer must not be used by two threads: hold the lock."""
        surfaces = [
            self._surface(word) if "'" in word or len(word) > MAX_WORD_LENGTH else word
            for word in words
        ]
        if self._stemmer is None:
            return surfaces, surfaces
        stems = self._stemmer.stemWords(surfaces)
        return surfaces, [stem or word for stem, word in zip(stems, surfaces, strict=True)]

    def _surface(self, word: str) -> str:
        """A word without `'s` and elided articles; a digest if it is too long."""
        word = word.removesuffix("'s")
        if self._elisions:
            head, _, rest = word.partition("'")
            word = rest if rest and head in self._elisions else word
        return word if len(word) <= MAX_WORD_LENGTH else digest(word.encode()).decode()


def vocabulary(code: str) -> Vocabulary:
    """The vocabulary of a language; all languages without a stemmer share one."""
    return _vocabulary(code if code in languages.STEMMERS else "")


@cache
def _vocabulary(code: str) -> Vocabulary:
    return Vocabulary(code)


def digest(word: bytes) -> bytes:
    """What replaces a word that is too long."""
    return blake2b(word, digest_size=16).hexdigest().encode()


def hash_bytes(text: str) -> bytes:
    """A 64-bit hash of a text, the same in every process."""
    return blake2b(text.encode(), digest_size=8).digest()


def hash64(text: str) -> int:
    """The same as an integer: the token of a literal; its lower half, that of a word."""
    return int.from_bytes(hash_bytes(text), "little")


def token(surface: str, stem: str) -> int:
    """The token of a word in the forward index: the stem's hash above the surface's."""
    return int.from_bytes(hash_bytes(surface)[:4] + hash_bytes(stem)[:4], "little")


def stem_term(stem: str) -> str:
    """The term of a stem in tantivy."""
    return urlsafe_b64encode(hash_bytes(stem)[:6]).decode()


def stem_hash(term: str) -> int:
    """The stem's half of a token of the forward index, from the term in tantivy."""
    return int.from_bytes(urlsafe_b64decode(term)[:4], "little")


def literal_term(literal: str) -> str:
    """The term of a literal in tantivy."""
    return f"={urlsafe_b64encode(hash_bytes(literal)).decode()}"


def _split(buffer: bytes) -> tuple[I64, I64, U64]:
    """Where words begin and end, and their ids; no word may be longer than a chunk."""
    pieces = []
    start = 0
    while start < len(buffer):
        end = len(buffer)
        if end - start > CHUNK:
            end = buffer.rindex(b" ", start, start + CHUNK) + 1
        pieces.append(_split_chunk(np.frombuffer(buffer, np.uint8, end - start, start), start))
        start = end
    starts, ends, word_ids = zip(*pieces, strict=True)
    return np.concatenate(starts), np.concatenate(ends), np.concatenate(word_ids)


def _split_chunk(letters: npt.NDArray[np.uint8], at: int) -> tuple[I64, I64, U64]:
    inside = np.zeros(len(letters) + 2, np.bool_)
    np.not_equal(letters, ord(" "), out=inside[1:-1])
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    sums = np.zeros(len(letters) + 1, np.uint64)
    np.cumsum(letters * _POWERS[: len(letters)], out=sums[1:])
    word_ids = (sums[ends] - sums[starts]) * _INVERSES[starts]
    return starts + at, ends + at, np.maximum(word_ids, np.uint64(1))  # 0 marks an empty slot
