"""Text to tokens: `entities` analyses what is indexed, `question` analyses queries.

    words      runs of letters, marks and digits of any script, lower-cased
    n-grams    where a script has no spaces between words (Han, kana, Hangul, Thai, Lao, Khmer,
               Burmese): every character and every bigram, in place of words
    parts      of words in CamelCase (`spellings`), as additional tokens: "HTTPTransport" is found
               by "http transport", and the reverse
    literals   what `rules.terms` finds (identifiers, addresses, versions, …), as additional
               tokens, case-sensitive; as terms of tantivy they begin with "="
    language   that of the collection, else detected from the entity's own text, else English

The text of an entity is the strings and numbers of its payload, nested ones included, column by
column in canonical order; not the keys, not true, false and null, not its place in a file
(`places.worded`). Its names are its `name` or `title` (in any case: tables have a `Name`), and the
same without a last part in brackets ("Emma (novel)").

A question is analysed in every language among the rows that the caller may see: each word becomes
a group of alternative terms, one stem for each language. Stop words of the question's language are
left out, unless there is nothing else. A literal that is no identifier (a quoted phrase) becomes a
`Phrase`, matched as written.

How a token is encoded, and how over-long words are shortened, is decided in `vocabulary`.
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

from redask.core import languages
from redask.core.rules import terms
from redask.core.text import compiled_later, lower
from redask.index.analysis import payload_text, spellings
from redask.index.analysis.vocabulary import (
    CHUNK,
    STEM_TERM_WIDTH,
    HashTable,
    NewWords,
    Occurrences,
    digest,
    hash64,
    hash_bytes,
    literal_term,
    stem_hash,
    stem_term,
    token,
    vocabulary,
)
from redask.index.forward.entries import I64, name_hash

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003134f"
)
_UNSPACED_RUN = compiled_later(f"[{UNSPACED}]+")
# ASCII bytes to lower-case letters, digits and apostrophes; all others to blanks.
_ASCII_LETTERS = bytes(
    ord(chr(byte).lower()) if chr(byte).isalnum() or byte == ord("'") else 32 for byte in range(128)
).ljust(256)
_LONE_APOSTROPHE = re.compile(rb"'(?:(?![a-z0-9])|(?<![a-z0-9]'))")
_PLAIN_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
# Text with combining marks or scripts without spaces: everything but Latin, Greek, Cyrillic and
# common signs, and the one letter that gets a mark when it is lower-cased. In other text a
# simpler pattern finds the same words three times as fast.
_COMPLEX = compiled_later(
    "[\u0130\u0300-\u036f\u0483-\u0489\u0590-\u1fff\u20d0-\u20ff\u2de0-\U0010ffff]"
)
_QUESTION = 4_096  # characters of a text whose words are remembered
_LITERAL_SIGNS = b"0123456789_@"
_AROUND_NUMBERS = ".,;!?()[]\"'%$"
_LITERAL_SIGN = re.compile(r"[0-9_@]\S*")
_BRACKETS = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")


class AnalysedEntity(NamedTuple):
    """The indexed form of one entity; see `forward.Entry` for its bytes.

    `body` is the text for tantivy: the terms of stems and literals, separated by spaces.
    `name_stems` are the terms of the stems of the shortest name.
    """

    language: str
    name_stems: str
    name_hashes: bytes
    columns: str
    column_ends: bytes
    tokens: bytes
    body: str


@dataclass(frozen=True, slots=True)
class Term:
    """One search term: its text in tantivy, and its hash in tokens of the forward index."""

    text: str
    token_hash: int
    literal: bool = False


@dataclass(frozen=True, slots=True)
class Phrase:
    """A quoted text, matched as written; `members` are positions in `AnalysedQuery.groups`."""

    text: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AnalysedQuery:
    """An analysed question: groups of alternative terms, and phrases over them."""

    groups: tuple[tuple[Term, ...], ...]
    phrases: tuple[Phrase, ...] = ()


class _Draft(NamedTuple):
    """An entity before its words are looked up; `name_column` is −1 without a name."""

    columns: tuple[str, ...]
    texts: list[str]
    whole: str
    name_column: int
    language: str | None


class _Batch(NamedTuple):
    """Concatenated entities: tokens, terms of tantivy, and ends of columns."""

    tokens: bytes
    terms: str
    column_ends: bytes


def entity(payload: str, language: str | None = None) -> AnalysedEntity:
    """Analyse one entity, from its payload as canonical JSON."""
    return entities([(payload, language)])[0]


def entities(
    given: Sequence[tuple[str, str | None]], new_words: NewWords | None = None
) -> list[AnalysedEntity]:
    """Analyse many, from their payloads and the languages of their collections.

    What `new_words` has not seen yet is added to it.
    """
    drafts = [_draft(payload, language) for payload, language in given]
    read = Occurrences([_spaced(text) for draft in drafts for text in draft.texts])
    if new_words is not None:
        new_words.add(read)
    columns = np.zeros(len(drafts) + 1, np.int64)
    np.cumsum([len(draft.texts) for draft in drafts], out=columns[1:])
    bounds = read.offsets[columns]  # where the words of each entity begin
    ends = read.offsets[1:] - np.repeat(bounds[:-1], np.diff(columns))
    codes = _languages(drafts, read, bounds)
    tokens = np.empty(len(read.word_ids), np.uint64)
    stem_terms = np.empty(len(read.word_ids), (np.void, STEM_TERM_WIDTH))
    for code in sorted(set(codes)):
        positions = np.flatnonzero(np.repeat([each == code for each in codes], np.diff(bounds)))
        tokens[positions], stem_terms[positions] = vocabulary(code).look_up(read, positions)
    column_ends = ends.astype(np.uint32).tobytes()
    batch = _Batch(tokens.tobytes(), stem_terms.tobytes().decode(), column_ends)
    return [
        _analysed(draft, code, batch, (first, last), (begin, end))
        for draft, code, (first, last), (begin, end) in zip(
            drafts, codes, pairwise(columns.tolist()), pairwise(bounds.tolist()), strict=True
        )
    ]


def question(text: str, literal_texts: Sequence[str], present: Sequence[str]) -> AnalysedQuery:
    """Analyse a question with its literals, in the languages `present` in the data."""
    searched = content_words(text, present)
    identifiers = [one for one in literal_texts if terms.literals(one) == (one,)]
    quoted = [one for one in literal_texts if one not in identifiers]
    if not searched and not identifiers:
        searched = list(dict.fromkeys(words(text)))
    for phrase in quoted:
        inside = words(phrase)
        if not any(word in searched for word in inside):
            searched += inside
    groups = {word: alternatives(word, tuple(present)) for word in searched}
    positions = {group: position for position, group in enumerate(dict.fromkeys(groups.values()))}
    phrases = tuple(
        Phrase(phrase, tuple(sorted({positions[groups[w]] for w in words(phrase) if w in groups})))
        for phrase in quoted
    )
    found = tuple((Term(literal_term(one), hash64(one), True),) for one in identifiers)
    return AnalysedQuery((*positions, *found), phrases)


def content_words(text: str, present: Sequence[str]) -> list[str]:
    """The words of a question and their parts, each once, without stop words of its language."""
    every = words(text)
    language = languages.detect_question(text, every, present)
    stop = languages.STOP_WORDS.get(language, frozenset())
    return [word for word in dict.fromkeys(every + spellings.parts(text)) if word not in stop]


def words(text: str) -> list[str]:
    """The words of a text, in order, repetitions and stop words included."""
    return list(_words(text)) if len(text) <= _QUESTION else _spaced(text).decode().split()


@lru_cache(256)
def _words(text: str) -> tuple[str, ...]:
    """A question's, which one search asks for five times."""
    return tuple(_spaced(text).decode().split())


def literals(text: str) -> list[str]:
    """The same as `terms.literals`, faster.

    A literal has no space. All but URLs have a digit, an underscore or an @.
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
    """The text of a payload, one value a line."""
    return "\n".join(columns(payload).values())


def columns(payload: str) -> dict[str, str]:
    """The text of each column of a payload."""
    content = payload_text.content(payload)
    return {column: payload_text.text_of(value) for column, value in content.items()}


def _draft(payload: str, language: str | None) -> _Draft:
    content = payload_text.content(payload)
    columns, texts = [], []
    for column, value in content.items():
        text = value if isinstance(value, str) else payload_text.text_of(value)
        if text:
            columns.append(column)
            texts.append(text)
    name_column = -1
    for column in _name_columns(tuple(content)):
        if type(content[column]) is str and content[column]:
            name_column = columns.index(column)
    return _Draft(tuple(columns), texts, "\n".join(texts), name_column, language)


@lru_cache(4096)
def _name_columns(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that may hold an entity's name, the preferred one last."""
    found = [column for column in columns if lower(column) in ("title", "name")]
    return tuple(sorted(found, key=lambda one: (lower(one) == "name", one.islower(), one)))


def _languages(drafts: Sequence[_Draft], read: Occurrences, bounds: I64) -> list[str]:
    """The language of each entity, declared or detected."""
    codes = [draft.language or languages.script(draft.whole) for draft in drafts]
    if None in codes:
        detected = _detected_languages(read, bounds)
        codes = [code or detected.get(position) for position, code in enumerate(codes)]
    return [code or languages.DEFAULT for code in codes]


def _detected_languages(read: Occurrences, bounds: I64) -> dict[int, str]:
    """The languages detected by stop words, by position of the entity, where not English."""
    table, votes = _stop_words()
    rows = table.find(read.word_ids)
    positions = np.flatnonzero(rows >= 0)
    owners = np.searchsorted(bounds, positions, "right") - 1
    pairs = np.sort(owners * len(votes) + rows[positions])
    owners, rows = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], len(votes))
    english = languages.DETECTABLE.index(languages.DEFAULT)
    count = len(bounds) - 1
    most = np.bincount(owners, np.delete(votes, english, 1).max(1)[rows], count)
    least = np.bincount(owners, votes[rows, english], count) + 2 * languages.VOTES_PER_WORD
    detected = {}
    for position in np.flatnonzero(most >= least).tolist():  # few, unless the data is not English
        first, last = np.searchsorted(owners, (position, position + 1)).tolist()
        own_votes = votes[rows[first:last]].sum(0).tolist()
        size = int(bounds[position + 1] - bounds[position])
        detected[position] = languages.language_by_votes(own_votes, size)
    return detected


@cache
def _stop_words() -> tuple[HashTable, "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"]:
    """The stop words of all languages by word id, and the votes of each."""
    listed = sorted(languages.STOP_WORD_VOTES)
    table = HashTable(bits=14)
    table.add(Occurrences([" ".join(listed).encode()]).word_ids)
    return table, np.array([languages.STOP_WORD_VOTES[word] for word in listed])


def _analysed(
    draft: _Draft, code: str, batch: _Batch, columns: tuple[int, int], span: tuple[int, int]
) -> AnalysedEntity:
    """One entity of a batch: the range of its columns, and the span of its words."""
    first, last = span
    tokens = batch.tokens[8 * first : 8 * last]
    body = batch.terms[STEM_TERM_WIDTH * first : STEM_TERM_WIDTH * last]
    ends = batch.column_ends[4 * columns[0] : 4 * columns[1]]
    stems = [vocabulary(code).stem(part) for part in spellings.parts(draft.whole)]
    tokens += b"".join(token(*pair).to_bytes(8, "little") for pair in stems)
    body += "".join(f"{stem_term(stem)} " for _, stem in stems)
    found = [each for text in draft.texts if not text.isdigit() for each in literals(text)]
    if found:
        found = list(dict.fromkeys(found))
        tokens += b"".join(map(hash_bytes, found))
        body += " ".join(map(literal_term, found))
    name_stems, hashes = "", b""
    if draft.name_column >= 0:
        begin, end = array("I", bytes(4) + ends)[draft.name_column : draft.name_column + 2]
        surfaces = array("I", tokens[8 * begin : 8 * end])[::2]
        size, hashes = _name_hashes(draft.texts[draft.name_column], surfaces)
        name_stems = body[STEM_TERM_WIDTH * begin : STEM_TERM_WIDTH * (begin + size)].rstrip()
    return AnalysedEntity(
        code, name_stems, hashes, _columns(draft.columns), ends or bytes(4), tokens, body
    )


def _name_hashes(name: str, surfaces: Sequence[int]) -> tuple[int, bytes]:
    """How many words the shortest name has, and the hashes of all names, packed."""
    sizes = [len(surfaces)]
    if name.rstrip().endswith((")", "）")):
        sizes.insert(0, len(words(_BRACKETS.sub("", name))))
    found = {hashed: size for size in sizes if (hashed := name_hash(surfaces[:size])) is not None}
    return min(found.values(), default=0), array("Q", found).tobytes()


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
    """A long text with digests in place of words longer than a chunk."""
    return b" ".join([each if len(each) < CHUNK else digest(each) for each in spaced.split()])


def _grams(word: str) -> Iterator[str]:
    """A word itself, or the characters and bigrams of its parts in scripts without spaces."""
    end = 0
    for run in _UNSPACED_RUN.finditer(word):
        if run.start() > end:
            yield word[end : run.start()]
        end = run.end()
        for position in range(run.start(), end):
            yield word[position]
            if position + 1 < end:
                yield word[position : position + 2]
    if end < len(word):
        yield word[end:]


@lru_cache(4096)
def alternatives(word: str, present: tuple[str, ...]) -> tuple[Term, ...]:
    """The stems of a word in these languages, each once, in a fixed order."""
    stems = sorted({vocabulary(code).stem(word)[1] for code in present})
    texts = map(stem_term, stems)
    return tuple(Term(text, stem_hash(text)) for text in texts)


def _literals(piece: str) -> tuple[str, ...]:
    """The literals of a piece without spaces; short pieces recur and are cached."""
    return _short_literals(piece) if len(piece) < 40 else terms.literals(piece)


@lru_cache(10_000)
def _short_literals(piece: str) -> tuple[str, ...]:
    return terms.literals(piece)


@lru_cache(1024)
def _columns(names: tuple[str, ...]) -> str:
    return json.dumps(names, ensure_ascii=False)
