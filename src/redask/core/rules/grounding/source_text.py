"""A source as claims are checked against it: `read` its fields, passages and words, once.

    payload                        fields
    an object                      one a key; inner keys with dots (`address.city`), elements of a
                                   list of objects or lists with their number (`rows.0`)
    a statement's result           one a cell, named by its row and column (`rows.0.HireDate`);
                                   `sql` and `row_count`
    a list of scalars              one field, joined by ", "
    not an object, or not JSON     one field, `text`

A field's text is as stored; numbers keep their spelling; empty ones, nulls and the
place of a row (`core.places`) are left out.
Offsets are code points into it. A passage is a sentence of a field, cut after LONGEST characters,
or a short field, a cell,
whose forms begin with those of the field's name. `holding` gives the passages that hold a root,
so that no claim looks through a source; values and names of a passage, and the identifiers of the
source, are found when first asked for, and kept.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from redask.core import places
from redask.core.equivalence.identifiers import find_identifiers
from redask.core.model import Source
from redask.core.rules.grounding import names, stems, value_tokens
from redask.core.rules.grounding.names import Name
from redask.core.rules.grounding.splitting import sentence_ends
from redask.core.rules.grounding.value_tokens import ValueToken

COMMON = 64
LONGEST = 1000
_SHORT = 80
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_PARAGRAPH = re.compile(r"\n[ \t]*+(?=\n|[-*+>#|•]|[0-9]{1,3}[.)][ \t])")


class SourceField(NamedTuple):
    """A field of a source: its name and its text."""

    name: str
    text: str


class Passage(NamedTuple):
    """A sentence of a field, or a cell: its place, and the forms of its words in order.

    The first `named` forms are those of a cell's field name.
    """

    field: int
    start: int
    end: int
    forms: tuple[str, ...]
    named: int
    roots: frozenset[str]


class SourceText:
    """The fields of a source and its passages; what is found in them is kept."""

    def __init__(self, fields: tuple[SourceField, ...]) -> None:
        self.fields = fields
        self.passages = tuple(
            passage for number, field in enumerate(fields) for passage in _passages(number, field)
        )
        self._index: dict[str, list[int]] | None = None
        self._spans: dict[int, list[tuple[int, int]]] = {}
        self._values: dict[int, tuple[ValueToken, ...]] = {}
        self._names: dict[int, tuple[Name, ...]] = {}
        self._lines: dict[int, str] = {}
        self._identifiers: frozenset[str] | None = None
        self._field_names: frozenset[str] | None = None

    def holding(self, root: str) -> list[int]:
        """The numbers of the passages that hold a root, in order."""
        if len(self.passages) <= COMMON:
            return [number for number, each in enumerate(self.passages) if root in each.roots]
        if self._index is None:
            self._index = {}
            for number, passage in enumerate(self.passages):
                for each in passage.roots:
                    self._index.setdefault(each, []).append(number)
        return self._index.get(root, [])

    def holds(self, form: str) -> bool:
        """Whether a passage or a field's name holds this very form.

        Of the passages, the first COMMON that hold its root are read.
        """
        if self._field_names is None:
            names_ = {field.name.rpartition(".")[2] for field in self.fields}
            self._field_names = frozenset(form for name in names_ for form in stems.forms(name))
        if form in self._field_names:
            return True
        numbers = self.holding(form[: stems.ROOT])
        if len(form) < stems.ROOT:
            return bool(numbers)
        return any(form in self.passages[number].forms for number in numbers[:COMMON])

    def text(self, number: int) -> str:
        """The text of a passage."""
        passage = self.passages[number]
        return self.fields[passage.field].text[passage.start : passage.end]

    def one_line(self, number: int) -> str:
        """The text of a passage with single spaces."""
        known = self._lines.get(number)
        if known is None:
            known = self._lines[number] = " ".join(self.text(number).split())
        return known

    def written(self, number: int, first: int, end: int) -> str:
        """The text of the words `first` to `end` of a passage."""
        spans = self._word_spans(number)
        return self.text(number)[spans[first][0] : spans[end - 1][1]]

    def values(self, number: int) -> tuple[ValueToken, ...]:
        """The values of a passage."""
        known = self._values.get(number)
        if known is None:
            forms = self.passages[number].forms
            known = value_tokens.find(self.text(number), self._word_spans(number), forms)
            self._values[number] = known
        return known

    def names(self, number: int) -> tuple[Name, ...]:
        """The names of a passage, not among the words of its field's name."""
        known = self._names.get(number)
        if known is None:
            passage = self.passages[number]
            known = names.find(
                self.text(number), self._word_spans(number), passage.forms, passage.named
            )
            self._names[number] = known
        return known

    def identifiers(self) -> frozenset[str]:
        """The keys of the identifiers in all fields and in their names."""
        if self._identifiers is None:
            self._identifiers = frozenset(
                found.key
                for field in self.fields
                for text in (field.text, field.name.rpartition(".")[2])
                for found in find_identifiers(text)
            )
        return self._identifiers

    def _word_spans(self, number: int) -> list[tuple[int, int]]:
        """The spans of a passage's words; those of a field's name are empty and come first."""
        known = self._spans.get(number)
        if known is None:
            named = [(0, 0)] * self.passages[number].named
            known = self._spans[number] = named + stems.spans(self.text(number))
        return known


def read(source: Source) -> SourceText:
    """The text of a source."""
    content = _content(source.payload)
    if source.urn.startswith("urn:reddb:query:"):
        content = _with_names(content)
    return SourceText(tuple(SourceField(name, text) for name, text in _fields(content)))


def _passages(number: int, field: SourceField) -> Iterator[Passage]:
    text = field.text
    if len(text) <= _SHORT and "\n" not in text:
        named = stems.forms(" ".join(_NAME_PARTS.findall(field.name)))
        yield _passage(number, (0, len(text)), [*named, *stems.forms(text)], len(named))
        return
    start = 0
    for end in [*(cut.start() for cut in _PARAGRAPH.finditer(text)), len(text)]:
        for span in sentence_ends.split(text, start, end):
            for first in range(span[0], span[1], LONGEST):
                piece = first, min(first + LONGEST, span[1])
                yield _passage(number, piece, stems.forms(text[slice(*piece)]), 0)
        start = end


def _passage(field: int, span: tuple[int, int], forms: list[str], named: int) -> Passage:
    roots = frozenset([form[: stems.ROOT] for form in forms])
    return Passage(field, *span, tuple(forms), named, roots)


def _with_names(result: object) -> object:
    """A statement's result, each cell with the name of its column."""
    match result:
        case {"columns": [*columns], "rows": [*rows], "row_count": count, "sql": sql}:
            names = [str(each.get("name")) for each in columns if isinstance(each, dict)]
            named = [_row(names, row) if isinstance(row, list) else row for row in rows]
            return {"rows": named, "row_count": count, "sql": sql}
    return result


def _row(names: Sequence[str], cells: Sequence[object]) -> dict[str, object]:
    """The cells by name; a name that comes again has its place behind it."""
    row: dict[str, object] = {}
    for place, (name, cell) in enumerate(zip(names, cells, strict=False)):
        row[f"{name} {place}" if name in row else name] = cell
    return row


def _fields(content: object) -> Iterator[tuple[str, str]]:
    """The fields of a payload: a walk over the value without recursion."""
    waiting: list[tuple[str, object]] = [("", content)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            inner = [(f"{name}.{key}" if name else key, value[key]) for key in value]
            waiting += reversed(inner)
        elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
            numbered = enumerate(value)
            waiting += reversed(
                [(f"{name}.{at}" if name else str(at), each) for at, each in numbered]
            )
        elif (text := _text(value)).strip():
            yield name or "text", text


def _content(payload: str) -> object:
    """The payload's JSON value with numbers as they are spelt; text that is not JSON as it is."""
    try:
        value = json.loads(payload, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return payload
    return places.columns(value) if isinstance(value, dict) else value


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    return str(value)
