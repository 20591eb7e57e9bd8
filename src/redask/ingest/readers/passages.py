"""A document's chunks and links as records: `read` what a reader made of its text.

    address   document:<collection>/<name>#<label>, the name relative to the folder asked for
    content   {title, path, heading, text}; no heading above the first one
    link      a relative one to another file, from the chunk that it stands in; one that begins
              with / counts from the folder asked for

The collection is the one asked for, else the folder's name, else `documents`.
"""

import os
from collections.abc import Iterator

from redask.core.model import Kind, Urn
from redask.ingest.readers import chunks, markdown
from redask.ingest.readers.chunks import Chunk
from redask.ingest.records import FoundFile, ReadItem, ReadLink, ReadRecord

ALONE = "documents"


def read(found: FoundFile, outline: markdown.Outline) -> Iterator[ReadRecord]:
    """The chunks of a document, each followed by its links."""
    title = outline.title or _title(found)
    home = collection(found)
    given = False
    for chunk in chunks.cut(outline):
        given = True
        yield from _records(found, home, title, chunk)
    headings = [section.headings[-1] for section in outline.sections if section.headings]
    if not given and (outline.title or headings):  # a page of headings alone says something, too
        text = "\n".join(dict.fromkeys([outline.title, *headings])).strip()
        yield from _records(found, home, title, Chunk((), chunks.TOP, text[: chunks.MOST]))


def collection(found: FoundFile) -> str:
    """Where the documents of a file go."""
    return found.choice or (not found.alone and os.path.basename(found.root)) or ALONE


def _records(found: FoundFile, home: str, title: str, chunk: Chunk) -> Iterator[ReadRecord]:
    address = Urn(Kind.DOCUMENT, home, found.name, chunk.label)
    content = {"title": title, "path": found.name, "text": chunk.text}
    if chunk.headings:
        content["heading"] = " > ".join(chunk.headings)
    yield ReadItem(address, content)
    for path, anchor in dict.fromkeys(markdown.links(chunk.text)):
        target = _target(found, path)
        if target and target != found.path:
            yield ReadLink(address, target, anchor)


def _target(found: FoundFile, path: str) -> str | None:
    """The file that a link means."""
    if not path or "\0" in path:
        return None
    if path.startswith("/"):
        return os.path.normpath(found.root + path)
    return os.path.normpath(os.path.join(os.path.dirname(found.path), path))


def _title(found: FoundFile) -> str:
    stem = os.path.splitext(os.path.basename(found.path))[0]
    return " ".join(stem.replace("-", " ").replace("_", " ").split()) or stem
