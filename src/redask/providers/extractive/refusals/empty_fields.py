"""A field that is asked of a record and that is empty there: `find` it.

    actual of Sales in Q2     rows of one table: Sales Q1 has an actual, Sales Q2 has none

The record meant is the one with the most words of the question among its values. If records of the
same collection have a field that the question names, and none of those meant has it, it is empty:
the value of another record is no answer. Nothing is said of records that are as good as another
one that has the field, or when a quoted record of another collection has it (it is joined).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from redask.providers.extractive import result_text
from redask.providers.extractive.excerpts import QuotableSource


@dataclass(frozen=True, slots=True)
class EmptyField:
    """What is asked for, and the values that say of what: as the record writes them."""

    name: str
    subject: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Record:
    number: int
    fields: Mapping[str, str]
    held: frozenset[str]  # words of the question among its values


def find(
    question: str,
    passages: Mapping[int, QuotableSource],
    quoted: Sequence[int],
    tokens: Callable[[str], list[str]],
) -> EmptyField | None:
    """The first field that the question names, and the record meant does not have."""
    collection = passages[quoted[0]].collection
    if not collection:
        return None
    asked = frozenset(tokens(question))
    own = [n for n, each in passages.items() if each.collection == collection]
    records = [_read(number, passages[number], asked, tokens) for number in own]
    joined = {
        name
        for number in quoted
        if passages[number].collection != collection
        for name in _read(number, passages[number], asked, tokens).fields
    }
    names = dict.fromkeys(name for each in records for name in each.fields)
    for name in names:
        words = frozenset(tokens(result_text.label(name)))
        if words and words <= asked and name not in joined:
            meant = _meant(records, words)
            if meant is not None and all(name not in each.fields for each in meant):
                return EmptyField(name, _subject(meant[0], words, tokens))
    return None


def _read(
    number: int,
    passage: QuotableSource,
    asked: frozenset[str],
    tokens: Callable[[str], list[str]],
) -> _Record:
    parts = (field.partition(": ") for each in passage.excerpts for field in each.fields)
    fields = {name: value for name, _, value in parts}
    return _Record(number, fields, asked.intersection(tokens(" ".join(fields.values()))))


def _meant(records: Iterable[_Record], words: frozenset[str]) -> list[_Record] | None:
    """The records with the most words of the question but for the field's; None without any."""
    counted = [(len(each.held - words), each) for each in records]
    most = max((count for count, _ in counted), default=0)
    return [each for count, each in counted if count == most] if most else None


def _subject(
    record: _Record, words: frozenset[str], tokens: Callable[[str], list[str]]
) -> tuple[str, ...]:
    wanted = record.held - words
    return tuple(value for value in record.fields.values() if wanted.intersection(tokens(value)))
