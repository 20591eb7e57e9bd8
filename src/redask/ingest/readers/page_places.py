"""Pages and slides of a document: `assign` each block the one that it is on.

The library that reads documents gives their text as a whole, with headings and links, and the text
of each page apart, without. So a block is looked for, by its first letters and digits, on the page
of the block before it, behind that, and then on the next pages that have any text. What is not
found (a table that was put together, a header that was left out) is where the block before it is.

`slide_texts` are those of a presentation, which the library does not tell apart.
"""

import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace

from redask.ingest.readers import safe_xml
from redask.ingest.readers.outlines import Outline

_KEY = 48
_AHEAD = 4  # pages
_NOT_WORD = re.compile(r"[\W_]+")
_TARGET = re.compile(r"\]\([^()\s]{0,1000}\)")


def assign(outline: Outline, texts: Sequence[str], name: str) -> None:
    """Set `place` of every block to {name: number}, from 1."""
    pages = [_key(text) for text in texts]
    at, behind = 0, 0
    for section in outline.sections:
        for number, block in enumerate(section.blocks):
            key = _key(_TARGET.sub("]", block.text[:2000]))[:_KEY]
            found = _find(pages, key, at, behind) if key else None
            if found:
                at, behind = found
            section.blocks[number] = replace(block, place={name: at + 1})


def slide_texts(data: bytes, suffix: str) -> list[str]:
    """The texts of the slides in a .pptx or .odp file, which was found to be sound."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if suffix == ".odp":
            pages = _Texts("page")
            safe_xml.walk(archive.read("content.xml"), pages)
            return ["".join(parts) for parts in pages.texts]
        relations = _Relations()
        safe_xml.walk(archive.read("ppt/presentation.xml"), relations)
        safe_xml.walk(archive.read("ppt/_rels/presentation.xml.rels"), relations)
        texts = []
        for each in relations.order:
            slide = _Texts("sld")
            safe_xml.walk(archive.read(f"ppt/{relations.targets[each].lstrip('/')}"), slide)
            texts += ["".join(parts) for parts in slide.texts]
        return texts


class _Texts(safe_xml.XmlHandler):
    """The texts in each element of a name."""

    def __init__(self, name: str) -> None:
        self.texts: list[list[str]] = []
        self._name = name

    def start(self, name: str, _: dict[str, str]) -> None:
        if name == self._name:
            self.texts.append([])

    def text(self, text: str) -> None:
        if self.texts:
            self.texts[-1].append(text)


class _Relations(safe_xml.XmlHandler):
    """The slides of a presentation in their order, and the files that they are in."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.targets: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "sldId":
            # its `id` is a number or, with a namespace, the name of a relation: the last one stands
            self.order += [value for value in attributes.values() if not value.isdigit()][:1]
        elif name == "Relationship":
            self.targets[attributes.get("Id", "")] = attributes.get("Target", "")


def _find(pages: list[str], key: str, at: int, behind: int) -> tuple[int, int] | None:
    """The page and the position behind a key."""
    ahead = 0
    for page in range(at, len(pages)):
        position = pages[page].find(key, behind if page == at else 0)
        if position >= 0:
            return page, position + len(key)
        ahead += bool(pages[page])
        if ahead > _AHEAD:
            break
    return None


def _key(text: str) -> str:
    return _NOT_WORD.sub("", text).lower()
