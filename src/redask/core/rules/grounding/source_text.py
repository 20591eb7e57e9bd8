"""A source as claims are checked against it: `read` its fields, sentences and words, once.

    payload                        fields
    an object                      one a key; inner keys with dots (`address.city`), elements of a
                                   list of objects or lists with their number (`rows.0`)
    a list of scalars              one field, joined by ", "
    not an object, or not JSON     one field, `text`

A field's text is as stored; numbers keep their spelling; empty ones and nulls are left out.
Offsets are code points into it. Every sentence of a field is a `Passage` with its stems; short
fields, as of a row, are one passage each that begins with the words of the field's name.
`holding` gives the passages that hold a stem, so that no claim looks through a source.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from redask.core.model import Source
from redask.core.rules.grounding import sentence_ends, stems

_SHORT = 80
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_PARAGRAPH = re.compile(r"\n[ \t]*+(?=\n|[-*+>#|•]|[0-9]{1,3}[.)][ \t])")


@dataclass(frozen=True, slots=True)
class SourceField:
    """A field of a source: its name and its text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence of a field: its place and its stems, in order, stop words included."""

    field: int
    start: int
    end: int
    stems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceText:
    """The fields of a source and its passages, found by the stems in them."""

    fields: tuple[SourceField, ...]
    passages: tuple[Passage, ...]
    index: dict[str, list[int]]

    def holding(self, stem: str) -> list[int]:
        """The numbers of the passages that hold a stem, in order."""
        return self.index.get(stem, [])

    def text(self, passage: Passage) -> str:
        """The text of a passage."""
        return self.fields[passage.field].text[passage.start : passage.end]


def read(source: Source) -> SourceText:
    """The text of a source."""
    fields = tuple(SourceField(name, text) for name, text in _fields(source.payload))
    passages = tuple(
        passage for number, field in enumerate(fields) for passage in _passages(number, field)
    )
    index: dict[str, list[int]] = {}
    for number, passage in enumerate(passages):
        for stem in dict.fromkeys(passage.stems):
            index.setdefault(stem, []).append(number)
    return SourceText(fields, passages, index)


def _passages(number: int, field: SourceField) -> Iterator[Passage]:
    text = field.text
    if len(text) <= _SHORT and "\n" not in text:
        named = _NAME_PARTS.findall(field.name)
        found = [*stems.words(" ".join(named)), *stems.words(text)]
        yield Passage(number, 0, len(text), tuple(map(stems.stem, found)))
        return
    start = 0
    for end in [*(cut.start() for cut in _PARAGRAPH.finditer(text)), len(text)]:
        for first, last in sentence_ends.split(text, start, end):
            found = stems.words(text[first:last])
            yield Passage(number, first, last, tuple(map(stems.stem, found)))
        start = end


def _fields(payload: str) -> Iterator[tuple[str, str]]:
    """The fields of a payload: a walk over the value without recursion."""
    waiting: list[tuple[str, object]] = [("", _content(payload))]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            inner = [(f"{name}.{key}" if name else key, value[key]) for key in value]
            waiting += reversed(inner)
        elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
            inner = [
                (f"{name}.{index}" if name else str(index), each)
                for index, each in enumerate(value)
            ]
            waiting += reversed(inner)
        elif (text := _text(value)).strip():
            yield name or "text", text


def _content(payload: str) -> object:
    """The payload's JSON value with numbers as they are spelt; text that is not JSON as it is."""
    try:
        return json.loads(payload, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return payload


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    return str(value)
