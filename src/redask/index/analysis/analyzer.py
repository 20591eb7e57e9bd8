"""Text to tokens: `entities` for what is stored, `question` for what is asked.

    words      runs of letters, marks and digits of any script, lower-cased
    n-grams    where a script has no spaces between words (Han, kana, Hangul, Thai, Lao, Khmer,
               Burmese): every character and every pair of neighbours, in place of words
    literals   what `rules.terms` finds (identifiers, addresses, versions, …), as additional
               tokens, case-sensitive; in tantivy's field they begin with "="
    language   the collection's, else detected from the entity's own text, else English

What counts as text of an entity: the strings and numbers of its payload, nested ones included,
column by column in canonical order; not the keys, not true, false and null. Its names are its
`name` or `title` (in any case: tables have a `Name`), and the same without a last part in
brackets ("Emma (novel)").

A question is analysed in every language that occurs among what the caller may read: each word
becomes a group of alternatives, one stem for each language. Stop words of the question's own
language are left out, unless nothing else is there. A literal that is no identifier (a quoted
phrase) becomes a `Phrase`, to be looked for as written.

What a token is made of, and what becomes of monstrous words, is told by `vocabulary`.
Everything here is a pure function of its arguments; vocabularies are only caches.
"""

import json
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from redask.core.rules import terms
from redask.core.text import lower
from redask.index.analysis import languages
from redask.index.analysis.vocabulary import (
    CHUNK,
    TEXT,
    Occurrences,
    Table,
    digest,
    hashed,
    literal_text,
    number_of,
    stem_number,
    stem_text,
    vocabulary,
)
from redask.index.forward.entries import I64, name_of

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003134f"
)
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
# What stays of a byte in ASCII text: lower-case letters, digits and apostrophes; else a blank.
_ASCII_LETTERS = bytes(
    ord(chr(byte).lower()) if chr(byte).isalnum() or byte == ord("'") else 32 for byte in range(128)
).ljust(256)
_LONE_APOSTROPHE = re.compile(rb"'(?:(?![a-z0-9])|(?<![a-z0-9]'))")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
# Where combining marks or scripts without spaces may be: everything but Latin, Greek, Cyrillic
# and common signs, and the one letter that gets a mark when it is lowered. Elsewhere a simpler
# pattern finds the same words three times as fast.
_COMPLEX = re.compile(
    "[\u0130\u0300-\u036f\u0483-\u0489\u0590-\u1fff\u20d0-\u20ff\u2de0-\U0010ffff]"
)
_LITERAL_SIGNS = b"0123456789_@"
_AROUND_NUMBERS = ".,;!?()[]\"'%$"
_LITERAL_SIGN = re.compile(r"[0-9_@]\S*")
_BRACKETS = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")


class _Digits(str):
    """A number as it was written, so that none is too big to read; it is no name."""

    __slots__ = ()


_DECODER = json.JSONDecoder(parse_int=_Digits, parse_float=_Digits)


class Analysed(NamedTuple):
    """What is indexed of one entity; see `forward` for columns, ends, tokens and names.

    `words` is the same for tantivy: the texts of stems and literals, separated by spaces.
    `called` are the texts of the stems of the shortest name.
    """

    language: str
    called: str
    names: bytes
    columns: str
    ends: bytes
    tokens: bytes
    words: str


@dataclass(frozen=True, slots=True)
class Term:
    """One thing to count: its text in tantivy, and its number in the forward index."""

    text: str
    number: int
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """A quoted text to be found as written; `members` are positions in `Wanted.groups`."""

    text: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question looks for: groups of alternative terms, and phrases over them."""

    groups: tuple[tuple[Term, ...], ...]
    phrases: tuple[Phrase, ...] = ()


class _Draft(NamedTuple):
    """An entity before its words are looked up; `named` is the place of its name's column."""

    columns: tuple[str, ...]
    texts: list[str]
    whole: str
    named: int
    language: str | None


class _Batch(NamedTuple):
    """Entities one after the other: tokens, the texts of their stems, and ends of columns."""

    tokens: bytes
    texts: str
    ends: bytes


def entity(payload: str, language: str | None = None) -> Analysed:
    """The tokens of one entity, from its payload as canonical JSON."""
    return entities([(payload, language)])[0]


def entities(given: Sequence[tuple[str, str | None]]) -> list[Analysed]:
    """The tokens of many, from their payloads and the languages of their collections."""
    drafts = [_draft(payload, language) for payload, language in given]
    read = Occurrences([_spaced(text) for draft in drafts for text in draft.texts])
    columns = np.zeros(len(drafts) + 1, np.int64)
    np.cumsum([len(draft.texts) for draft in drafts], out=columns[1:])
    bounds = read.firsts[columns]  # where the words of each entity begin
    ends = read.firsts[1:] - np.repeat(bounds[:-1], np.diff(columns))
    codes = _languages(drafts, read, bounds)
    tokens = np.empty(len(read.numbers), np.uint64)
    texts = np.empty(len(read.numbers), (np.void, TEXT))
    for code in sorted(set(codes)):
        places = np.flatnonzero(np.repeat([each == code for each in codes], np.diff(bounds)))
        tokens[places], texts[places] = vocabulary(code).read(read, places)
    batch = _Batch(tokens.tobytes(), texts.tobytes().decode(), ends.astype(np.uint32).tobytes())
    return [
        _finished(draft, code, batch, (first, last), (begin, end))
        for draft, code, (first, last), (begin, end) in zip(
            drafts, codes, pairwise(columns.tolist()), pairwise(bounds.tolist()), strict=True
        )
    ]


def question(text: str, exact: Sequence[str], present: Sequence[str]) -> Wanted:
    """What to look for: a question, its literals, and the languages there are."""
    every = list(dict.fromkeys(words(text)))
    own = languages.detect_question(text, every, present)
    stop = languages.STOP_WORDS.get(own, frozenset())
    telling = [word for word in every if word not in stop]
    identifiers = [one for one in exact if terms.literals(one) == (one,)]
    quoted = [one for one in exact if one not in identifiers]
    if not telling and not identifiers:
        telling = every
    for phrase in quoted:
        inside = words(phrase)
        if not any(word in telling for word in inside):
            telling += inside
    groups = {word: _alternatives(word, tuple(present)) for word in telling}
    places = {group: place for place, group in enumerate(dict.fromkeys(groups.values()))}
    phrases = tuple(
        Phrase(phrase, tuple(sorted({places[groups[w]] for w in words(phrase) if w in groups})))
        for phrase in quoted
    )
    found = tuple((Term(literal_text(one), number_of(one), True),) for one in identifiers)
    return Wanted((*places, *found), phrases)


def words(text: str) -> list[str]:
    """The words of a text, in order, repetitions and stop words included."""
    return _spaced(text).decode().split()


def literals(text: str) -> list[str]:
    """What `terms.literals` finds, found faster.

    A literal holds no space. But for addresses it holds a digit, an underscore or an @.
    """
    found: list[str] = []
    if "://" in text or "www." in text:
        for piece in text.split():
            found += _literals(piece)
    elif not text.isascii() or len(text.encode().translate(None, _LITERAL_SIGNS)) < len(text):
        for sign in _LITERAL_SIGN.finditer(text):
            start = max(text.rfind(" ", 0, sign.start()), text.rfind("\n", 0, sign.start()))
            piece = text[start + 1 : sign.end()]
            if not piece.strip(_AROUND_NUMBERS).isdigit():
                found += _literals(piece)
    return list(dict.fromkeys(found)) if len(found) > 1 else found


def text(payload: str) -> str:
    """All that is text in a payload, one value a line."""
    return "\n".join(columns(payload).values())


def columns(payload: str) -> dict[str, str]:
    """What is text in each column of a payload."""
    return {column: _text(value) for column, value in _content(payload).items()}


def _draft(payload: str, language: str | None) -> _Draft:
    content = _content(payload)
    columns, texts = [], []
    for column, value in content.items():
        text = value if isinstance(value, str) else _text(value)
        if text:
            columns.append(column)
            texts.append(text)
    named = -1
    for column in _name_columns(tuple(content)):
        if type(content[column]) is str and content[column]:
            named = columns.index(column)
    return _Draft(tuple(columns), texts, "\n".join(texts), named, language)


@lru_cache(4096)
def _name_columns(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that may hold an entity's name, the one that counts most last."""
    found = [column for column in columns if lower(column) in ("title", "name")]
    return tuple(sorted(found, key=lambda one: (lower(one) == "name", one.islower(), one)))


def _languages(drafts: Sequence[_Draft], read: Occurrences, bounds: I64) -> list[str]:
    """The language of each entity, declared or detected."""
    codes = [draft.language or languages.script(draft.whole) for draft in drafts]
    if None in codes:
        elected = _elections(read, bounds)
        codes = [code or elected.get(place) for place, code in enumerate(codes)]
    return [code or languages.DEFAULT for code in codes]


def _elections(read: Occurrences, bounds: I64) -> dict[int, str]:
    """What the different stop words of each entity vote for, where that is not English."""
    table, votes = _stop_words()
    rows = table.find(read.numbers)
    places = np.flatnonzero(rows >= 0)
    owners = np.searchsorted(bounds, places, "right") - 1
    pairs = np.sort(owners * len(votes) + rows[places])
    owners, rows = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], len(votes))
    english = languages.VOTERS.index(languages.DEFAULT)
    count = len(bounds) - 1
    most = np.bincount(owners, np.delete(votes, english, 1).max(1)[rows], count)
    least = np.bincount(owners, votes[rows, english], count) + 2 * languages.WHOLE
    elected = {}
    for place in np.flatnonzero(most >= least).tolist():  # few, or the data is not English
        first, last = np.searchsorted(owners, (place, place + 1)).tolist()
        cast = votes[rows[first:last]].sum(0).tolist()
        elected[place] = languages.elect(cast, int(bounds[place + 1] - bounds[place]))
    return elected


@cache
def _stop_words() -> tuple[Table, "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"]:
    """The stop words of all languages by number, and the votes of each."""
    listed = sorted(languages.VOTES)
    table = Table(bits=14)
    table.add(Occurrences([" ".join(listed).encode()]).numbers)
    return table, np.array([languages.VOTES[word] for word in listed])


def _finished(
    draft: _Draft, code: str, batch: _Batch, columns: tuple[int, int], place: tuple[int, int]
) -> Analysed:
    """One entity's part of its batch: these columns, and the words of these places."""
    first, last = place
    tokens, words = batch.tokens[8 * first : 8 * last], batch.texts[TEXT * first : TEXT * last]
    ends = batch.ends[4 * columns[0] : 4 * columns[1]]
    exact = [each for text in draft.texts if not text.isdigit() for each in literals(text)]
    if exact:
        exact = list(dict.fromkeys(exact))
        tokens += b"".join(map(hashed, exact))
        words += " ".join(map(literal_text, exact))
    called, names = "", b""
    if draft.named >= 0:
        begin, end = array("I", bytes(4) + ends)[draft.named : draft.named + 2]
        surfaces = array("I", tokens[8 * begin : 8 * end])[::2]
        size, names = _names(draft.texts[draft.named], surfaces)
        called = words[TEXT * begin : TEXT * (begin + size)].rstrip()
    return Analysed(code, called, names, _columns(draft.columns), ends or bytes(4), tokens, words)


def _names(name: str, surfaces: Sequence[int]) -> tuple[int, bytes]:
    """How many words the shortest name has, and the numbers of all names, packed."""
    sizes = [len(surfaces)]
    if name.rstrip().endswith((")", "）")):
        sizes.insert(0, len(words(_BRACKETS.sub("", name))))
    found = {number: size for size in sizes if (number := name_of(surfaces[:size])) is not None}
    return min(found.values(), default=0), array("Q", found).tobytes()


def _content(payload: str) -> dict[str, object]:
    content, _ = _DECODER.raw_decode(payload)
    return content if isinstance(content, dict) else {"": content}


def _text(value: object) -> str:
    """The strings and numbers in a value, one a line, in the order of the payload."""
    found = []
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str):
            found.append(inner)
        elif isinstance(inner, dict):
            waiting.extend(reversed(inner.values()))
        elif isinstance(inner, list):
            waiting.extend(reversed(inner))
    return "\n".join(found)


def _spaced(text: str) -> bytes:
    """The words of a text, lower-cased, separated by blanks."""
    if text.isascii():
        spaced = text.encode().translate(_ASCII_LETTERS)
        if b"'" in spaced:
            spaced = _LONE_APOSTROPHE.sub(b" ", spaced)
    elif _COMPLEX.search(text):
        spaced = " ".join([part for word in terms.words(text) for part in _grams(word)]).encode()
    else:
        text = text.lower().replace("\u2019", "'").replace("\u02bc", "'")
        spaced = " ".join(_PLAIN_WORD.findall(text)).encode()
    return spaced if len(spaced) < CHUNK else _shortened(spaced)


def _shortened(spaced: bytes) -> bytes:
    """A long text without words too long to be looked at together."""
    return b" ".join([each if len(each) < CHUNK else digest(each) for each in spaced.split()])


def _grams(word: str) -> Iterator[str]:
    """A word itself, or the characters and pairs of its parts in scripts without spaces."""
    end = 0
    for run in _UNSPACED_RUN.finditer(word):
        if run.start() > end:
            yield word[end : run.start()]
        end = run.end()
        for place in range(run.start(), end):
            yield word[place]
            if place + 1 < end:
                yield word[place : place + 2]
    if end < len(word):
        yield word[end:]


@lru_cache(4096)
def _alternatives(word: str, present: tuple[str, ...]) -> tuple[Term, ...]:
    """The stems of a word in the languages there are, each once, in a fixed order."""
    stems = sorted({vocabulary(code).stem(word)[1] for code in present})
    texts = map(stem_text, stems)
    return tuple(Term(text, stem_number(text)) for text in texts)


def _literals(piece: str) -> tuple[str, ...]:
    """The literals of a piece without spaces; short ones recur."""
    return _short_literals(piece) if len(piece) < 40 else terms.literals(piece)


@lru_cache(10_000)
def _short_literals(piece: str) -> tuple[str, ...]:
    return terms.literals(piece)


@lru_cache(1024)
def _columns(names: tuple[str, ...]) -> str:
    return json.dumps(names, ensure_ascii=False)
