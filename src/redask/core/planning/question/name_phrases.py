"""The phrases of a question that name tables and columns: spans of words, with what they may name.

A name may hold prepositions ("date of birth", "number in season"), but neither starts nor ends with
one. The name of a table is no part of a column's name, and the name of a column no part of a
table's. In "first and last names", `first` is the column that is named with the noun behind.
`unpaid`, `inactive` and `non-smoking` are opposites of the flags `paid`, `is_active` and `smoking`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from redask.core.planning.question import cues
from redask.core.planning.question.linking import PART_COST, ColumnLink, Linker, TableLink
from redask.core.planning.question.words import QuestionWord, spoken_stem, stem

_LONGEST = 7
_OPPOSITE = re.compile(r"(?:un|in|non)-?([a-z]{3,30})")
_FUNCTION_WORDS = (
    cues.PREPOSITIONS | cues.RELATIVES | cues.AUXILIARIES | cues.NEGATIVE | cues.JOINING
)


@dataclass(frozen=True, slots=True)
class ColumnPhrase:
    """A column; `counting`: written like a number of things."""

    start: int
    end: int
    links: tuple[ColumnLink, ...]
    counting: bool = False


@dataclass(frozen=True, slots=True)
class TablePhrase:
    """A table."""

    start: int
    end: int
    links: tuple[TableLink, ...]


ColumnPhrases = tuple[tuple[ColumnPhrase, ...], ...]
Tables = tuple[tuple[TablePhrase, ...], ...]


def name_phrases(
    words: tuple[QuestionWord, ...], counting: list[bool], linker: Linker
) -> tuple[ColumnPhrases, Tables]:
    """At each word the columns and the tables that are named from there on, longest first."""
    stems = [_stems(token, linker) for token in words]
    columns, tables = [], []
    for start in range(len(words)):
        here, there = _names(words, stems, start, linker, counting[start])
        shared = _shared_head(words, stems, start, linker)
        if shared and not any(phrase.end == start + 1 for phrase in here):
            here.insert(0, ColumnPhrase(start, start + 1, shared))
        columns.append(tuple(reversed(here)))
        tables.append(tuple(reversed(there)))
    return tuple(columns), tuple(tables)


def opposite_phrases(words: tuple[QuestionWord, ...], linker: Linker) -> ColumnPhrases:
    """At each word the flags of which it says the opposite."""
    return tuple(
        tuple(ColumnPhrase(place, place + 1, links) for links in _opposites(token, linker))
        for place, token in enumerate(words)
    )


def _opposites(token: QuestionWord, linker: Linker) -> Iterator[tuple[ColumnLink, ...]]:
    found = _OPPOSITE.fullmatch(token.low) if token.kind == "word" else None
    if found is None or linker.knows(token.stem):
        return
    links = tuple(
        link
        for link in linker.columns_named((stem(found[1]),))
        if link.cost <= 1 and linker.flag(link.table, link.column)
    )
    if links:
        yield links


def _stems(token: QuestionWord, linker: Linker) -> tuple[str, ...]:
    """The stems of a word that names may hold; none where no name does."""
    if token.kind not in ("word", "number"):
        return ()
    stems = tuple(spoken_stem(part) for part in token.low.split("-"))
    return stems if all(map(linker.knows, stems)) else ()


def _names(
    words: tuple[QuestionWord, ...],
    stems: list[tuple[str, ...]],
    start: int,
    linker: Linker,
    counting: bool,
) -> tuple[list[ColumnPhrase], list[TablePhrase]]:
    columns: list[ColumnPhrase] = []
    tables: list[TablePhrase] = []
    spoken: tuple[str, ...] = ()
    for end in range(start, min(start + _LONGEST, len(words))):
        if words[end].low in cues.PREPOSITIONS:
            if end == start or not (words[end].low in ("of", "in") or stems[end]):
                break
            spoken += () if words[end].low in ("of", "in") else stems[end]
            continue
        if not stems[end]:
            break
        spoken += stems[end]
        links, named = _attributes(spoken, linker), linker.tables_named(spoken)
        if named and named[0].cost == 0:
            links = tuple(link for link in links if link.cost < PART_COST)
        elif links and links[0].cost == 0:
            named = ()
        if links:
            columns.append(ColumnPhrase(start, end + 1, links, counting))
        if named:
            tables.append(TablePhrase(start, end + 1, named))
    return columns, tables


def _attributes(spoken: tuple[str, ...], linker: Linker) -> tuple[ColumnLink, ...]:
    """The columns that words name; `paid invoices` is no column, but the invoices that are so."""
    last = set(spoken[-1:])
    return tuple(
        link
        for link in linker.columns_named(spoken)
        if not (link.owned and linker.is_adjective(link.table, link.column, last))
    )


def _shared_head(
    words: tuple[QuestionWord, ...], stems: list[tuple[str, ...]], start: int, linker: Linker
) -> tuple[ColumnLink, ...]:
    """`first` in "first and last names": the column named with the noun of the next one."""
    if not stems[start] or words[start + 1 : start + 2] == ():
        return ()
    if words[start + 1].low not in ("and", "or", ","):
        return ()
    for place in range(start + 2, min(start + _LONGEST, len(words))):
        if stems[place] and words[place].low not in _FUNCTION_WORDS:
            links = linker.columns_named((*stems[start], *stems[place]))
            exact = tuple(link for link in links if link.cost <= 1)
            if exact:
                return exact
    return ()
