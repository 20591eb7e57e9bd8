"""XML: records as rows, where it is data; text in sections, where it is a document.

    a document    some element has both text and elements in it that are no records: paragraphs and
                  headings of its blocks, in their order
    data          anything else, as an object: attributes and elements by their names, a repeated
                  one as a list, one with text alone as that text; then as JSON is: a list of
                  objects, or a wrapper of them (`wrapping`), also below one or two elements that
                  hold nothing else (`<rss><channel>`), gives rows; else it is one row
    collection    as for a CSV file, and `.<element>` for each kind of row

Numbers are numbers as in a CSV file. Entities that the file declares are refused (`safe_xml`).
"""

import os
from collections.abc import Iterator

from redask.core.errors import BadAsk
from redask.core.model import Kind, Urn
from redask.ingest.readers import passages, safe_xml, wrapping
from redask.ingest.readers.delimited import collection, value
from redask.ingest.readers.outlines import OutlineBuilder
from redask.ingest.records import OpenedFile, ReadItem, ReadRecord

MAX_ELEMENTS = 2_000_000
_MAX_WRAPPERS = 3
_TITLES = {"title", "head", "heading", *(f"h{level}" for level in range(1, 7))}
_INLINE = set(
    """a abbr acronym b bold c cite code command corr del dfn em emphasis filename foreign function
    hi i img ins italic kbd link literal mark name option phrase q ref s samp see small span strong
    sub sup superscript subscript term tt u ulink var varname xref""".split()
)
_IDS = ("id", "_id")


class Element:
    """An element: what is in it, in order."""

    __slots__ = ("attributes", "inside", "name")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.inside: list[Element | str] = []

    @property
    def is_mixed(self) -> bool:
        """Whether it has both words and elements."""
        words = any(isinstance(each, str) and each.strip() for each in self.inside)
        return words and any(isinstance(each, Element) for each in self.inside)


class _Tree(safe_xml.XmlHandler):
    def __init__(self) -> None:
        self.top = Element("", {})
        self.is_document = False
        self._open = [self.top]
        self._count = 0

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        self._count += 1
        if self._count > MAX_ELEMENTS:
            raise BadAsk(f"has more than {MAX_ELEMENTS:,} elements: split it")
        made = Element(name, attributes)
        self._open[-1].inside.append(made)
        self._open.append(made)

    def end(self, _: str) -> None:
        self.is_document = self.is_document or self._open.pop().is_mixed

    def text(self, text: str) -> None:
        self._open[-1].inside.append(text)


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows or the chunks of an XML file."""
    tree = _Tree()
    safe_xml.walk(file.data, tree)
    root = next(each for each in tree.top.inside if isinstance(each, Element))
    if tree.is_document:
        builder = OutlineBuilder()
        _add(builder, root, 0)
        yield from passages.read(file.found, builder.outline())
    else:
        yield from _rows(file, root)


def _rows(file: OpenedFile, root: Element) -> Iterator[ReadItem]:
    into = collection(file.found)
    found = _value(root)
    for _ in range(_MAX_WRAPPERS):
        inner = list(found.values()) if isinstance(found, dict) else []
        if len(inner) != 1 or not isinstance(inner[0], dict):
            break
        found = inner[0]
    if not isinstance(found, dict):
        found = {root.name: found}
    shape = wrapping.Shape()
    for key, each in found.items():
        if isinstance(each, list):
            shape.add_list(key, each)
        else:
            shape.add(key, each)
    tables = [each for each in found.values() if isinstance(each, list)]
    is_feed = len(tables) == 1 and all(isinstance(each, dict) for each in tables[0])
    others = found
    if shape.is_wrapped or is_feed:
        others = {}
        for key, each in found.items():
            if isinstance(each, list) and all(isinstance(one, dict) for one in each):
                yield from _table(f"{into}.{key}", each)
            else:
                others[key] = each
    if others:
        stem = os.path.splitext(os.path.basename(file.found.path))[0]
        yield ReadItem(Urn(Kind.ROW, into, stem), others)


def _table(into: str, rows: list[dict[str, object]]) -> Iterator[ReadItem]:
    ids = [next((row[name] for name in _IDS if name in row), None) for row in rows]
    are_unique = len(set(map(str, ids))) == len(ids) and all(
        isinstance(each, str | int) for each in ids
    )
    for number, (row, own) in enumerate(zip(rows, ids, strict=True), start=1):
        yield ReadItem(Urn(Kind.ROW, into, str(own) if are_unique else str(number)), row)


def _value(element: Element) -> object:
    """An element as JSON; nesting is bounded by `safe_xml`."""
    children = [each for each in element.inside if isinstance(each, Element)]
    text = "".join(each for each in element.inside if isinstance(each, str)).strip()
    if not children and not element.attributes:
        return value(text)
    found: dict[str, object] = {key: value(each) for key, each in element.attributes.items()}
    repeated: dict[str, list[object]] = {}
    for child in children:
        repeated.setdefault(child.name, []).append(_value(child))
    for name, values in repeated.items():
        own = f"{name}_element" if name in found else name
        found[own] = values[0] if len(values) == 1 else values
    if text:
        found["text"] = value(text)
    return found


def _add(builder: OutlineBuilder, element: Element, level: int) -> None:
    """The blocks of a document: runs of text and inline elements, between other elements."""
    run: list[str] = []

    def end_run() -> None:
        words = " ".join("".join(run).split())
        run.clear()
        if words and element.name.lower() in _TITLES:
            builder.heading(max(1, level - 1), words[:200])
        elif words:
            builder.block(words)

    for each in element.inside:
        if isinstance(each, str):
            run.append(each)
        elif each.name.lower() in _INLINE:
            run.append(_words(each))
        else:
            end_run()
            _add(builder, each, level + 1)
    end_run()


def _words(element: Element) -> str:
    return "".join(each if isinstance(each, str) else _words(each) for each in element.inside)
