"""Sources to excerpts: `read` a source into lines of readable text that can be quoted.

    payload                                   excerpts
    text, in a document or a long field       each of its sentences, with the code, list or table
                                              that it introduces                   `sentences`
    heading path of a document                each heading with a number in it: it may be a date
    a document that is all code               besides the code, what it says in words, and its
                                              settings ("power: 120")               `code_lines`
    fields of a row, a node, a key-value      one record: "name: Nordfracht, status: late"
    an edge {from, label, to}                 "orders/7 shipped_by carriers/nordfracht"
    not an object, or not JSON                the sentences of its text

`about` is the context of the whole source: the collection and id of its URN, its name or title
and path, and for the texts of a row its other fields, too. Nested fields have dotted names;
empty ones are left out. A document's id, title, heading and path are not quoted.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from redask.core import places
from redask.core.errors import BadUrn
from redask.core.model import Source
from redask.core.rules import urn
from redask.core.text import lower
from redask.providers.extractive import sentences
from redask.providers.extractive.code import code_lines
from redask.providers.extractive.text_blocks import one_line

_MAX_FIELD = 200
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_WORD = re.compile(r"[^\W\d_]{2}")
_PART = re.compile(r"~([0-9]{1,6})$")
_NAMES = ("name", "title")
_LABELS = {"id", "name", "title", *places.NAMES}
_EDGE = {"from", "label", "to"}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One line to quote; `fields` are the fields of a record, `heading` that of a sentence.

    `lead`, `below`, `leads`, `leader`, `header` and `is_entry` are those of `Sentence`.
    """

    text: str
    fields: tuple[str, ...] = ()
    heading: str = ""
    lead: str = ""
    below: str = ""
    leads: bool = False
    leader: str = ""
    header: str = ""
    is_entry: bool = False


@dataclass(frozen=True, slots=True)
class QuotableSource:
    """The excerpts of one source in source order, and its context (`about`).

    `name` is the source's name or title, `headings` the path of headings to it, `path` that of its
    file, `ends` are the URNs that an edge connects; `part` counts the chunks of one section;
    `collection` is that of a record, and empty for documents.
    """

    about: str
    excerpts: tuple[Excerpt, ...]
    name: str = ""
    headings: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    path: str = ""
    part: int = 1
    collection: str = ""


def read(source: Source) -> QuotableSource:
    """The excerpts of a source."""
    content = _content(source.payload)
    address = _readable(source.urn)
    if not isinstance(content, dict):
        text = "\n".join(text for _, text in _flat(content))
        return QuotableSource(address, tuple(_prose(text, address)))
    if content.keys() == _EDGE:
        ends = tuple(_text(content[key]) for key in ("from", "to"))
        return QuotableSource(address, (Excerpt(_edge(content)),), ends=ends)
    fields = list(_flat(content))
    fields.sort(key=lambda field: lower(field[0]) not in _NAMES)
    is_document = _is_document(source.urn, content)
    prose = [text for key, text in fields if _is_prose(key, text, is_document)]
    short = [(key, text) for key, text in fields if not _is_prose(key, text, is_document)]
    shown = [(key, text) for key, text in short if not (is_document and key in _LABELS)]
    parts = tuple(one_line(f"{key}: {text}") for key, text in shown)
    record = [Excerpt(", ".join(parts), parts)] if parts else []
    about = [text for key, text in short if prose or lower(key) in _NAMES]
    name = one_line(next((text for key, text in short if lower(key) in _NAMES), ""))
    path = next((text for key, text in short if is_document and key == "heading"), "")
    headings = tuple(filter(None, map(one_line, path.split(" > "))))
    title = headings[-1] if headings else name
    quotable = (
        *record,
        *(Excerpt(each) for each in headings if any(map(str.isdigit, each))),
        *(excerpt for text in prose for excerpt in _prose(text, title)),
    )
    file = next((text for key, text in short if is_document and key == "path"), "")
    counted = _PART.search(source.urn)
    part = int(counted[1]) if counted else 1
    context = " ".join([address, *about])
    collection = "" if is_document else address.partition("/")[0]
    return QuotableSource(context, quotable, name, headings, (), file, part, collection)


def _is_document(address: str, content: Mapping[str, object]) -> bool:
    kind = address.startswith("urn:reddb:document:")
    return "text" in content and (kind or content.keys() <= {*_LABELS, "text"})


def _is_prose(key: str, text: str, is_document: bool) -> bool:
    return len(text) > _MAX_FIELD or (is_document and key == "text")


def _content(payload: str) -> object:
    """The payload's JSON value with numbers as text; text that is not JSON as it is."""
    try:
        value = json.loads(payload, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return payload
    return places.columns(value) if isinstance(value, dict) else value


def _prose(text: str, title: str) -> Iterator[Excerpt]:
    """The sentences of a text without duplicates; code that nothing introduces is under `title`."""
    for line in code_lines.find(text):
        yield Excerpt(line, (), title)
    for each in dict.fromkeys(sentences.split(text)):
        line = each.text or each.heading or title
        if line and (each.below or (each.text and has_words(each.text))):
            leads = each.leads or not each.text
            block = each.lead, each.below, leads, each.leader, each.header, each.is_entry
            yield Excerpt(line, (), each.heading, *block)


def has_words(text: str) -> bool:
    """Whether a line is more than tags of HTML, as pages have them around badges."""
    return not text.startswith("<") or _WORD.search(_TAG.sub(" ", text)) is not None


def _edge(content: Mapping[str, object]) -> str:
    start, label, end = (_text(content[key]) for key in ("from", "label", "to"))
    return one_line(f"{_readable(start)} {label} {_readable(end)}")


def _readable(address: str) -> str:
    """A URN as `collection/id`; text that is not a URN unchanged."""
    try:
        entity = urn.decode(address)
    except BadUrn:
        return address
    return f"{entity.collection}/{entity.id}"


def _flat(value: object) -> Iterator[tuple[str, str]]:
    """The fields of a value with their dotted names, in order; a list of scalars is one field."""
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        key, inner = waiting.pop()
        if isinstance(inner, dict):
            inside = [(f"{key}.{each}" if key else each, inner[each]) for each in inner]
            waiting += reversed(inside)
        elif isinstance(inner, list) and any(isinstance(each, dict | list) for each in inner):
            waiting += [(key, each) for each in reversed(inner)]
        elif text := _text(inner).strip():
            yield key, text


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    return str(value)
