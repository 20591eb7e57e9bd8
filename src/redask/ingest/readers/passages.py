"""A document's chunks and links as records: `read` its outline.

    address   document:<collection>/<name>#<label>, the name relative to the requested folder
    content   {title, path, heading, text} and its place (`core.places`); no `heading`
              before the first one
    link      a relative link to another file, from the chunk that holds it; one that begins
              with / is relative to the requested folder

The collection is the requested one, else the folder's name, else `documents`.
"""

import os
from collections.abc import Iterator, Mapping

from redask.core.model import Kind, Urn
from redask.ingest.readers import block_cutting, chunks, markdown, outlines
from redask.ingest.readers.chunks import Chunk
from redask.ingest.records import FoundFile, ReadItem, ReadLink, ReadRecord

DEFAULT_COLLECTION = "documents"
NO_FIELDS: Mapping[str, object] = {}


def read(
    found: FoundFile,
    outline: outlines.Outline,
    title: str = "",
    fields: Mapping[str, object] = NO_FIELDS,
) -> Iterator[ReadRecord]:
    """The chunks of a document, each followed by its links; every one has the `fields`."""
    title = title or outline.title or _title(found)
    into = collection(found)
    has_chunks = False
    for chunk in chunks.cut(outline):
        has_chunks = True
        yield from _records(found, into, {**fields, "title": title}, chunk)
    headings = [section.headings[-1] for section in outline.sections if section.headings]
    if not has_chunks and (outline.title or headings):  # a page of headings only
        text = "\n".join(dict.fromkeys([outline.title, *headings])).strip()
        chunk = Chunk((), chunks.TOP, text[: block_cutting.MAX_TOKENS])
        yield from _records(found, into, {**fields, "title": title}, chunk)


def read_if_any(found: FoundFile, outline: outlines.Outline) -> Iterator[ReadRecord]:
    """The same; nothing if no section has a block, whatever headings there are."""
    if any(section.blocks for section in outline.sections):
        yield from read(found, outline)


def collection(found: FoundFile) -> str:
    """The collection of a file's chunks."""
    folder = "" if found.named_directly else os.path.basename(found.root)
    return found.requested_collection or folder or DEFAULT_COLLECTION


def _records(
    found: FoundFile, into: str, fields: dict[str, object], chunk: Chunk
) -> Iterator[ReadRecord]:
    address = Urn(Kind.DOCUMENT, into, found.name, chunk.label)
    content: dict[str, object] = {**fields, "path": found.name, "text": chunk.text, **chunk.place}
    if chunk.headings:
        content["heading"] = " > ".join(chunk.headings)
    yield ReadItem(address, content)
    for path, anchor in dict.fromkeys(markdown.links(chunk.text)):
        target = _target(found, path)
        if target and target != found.path:
            yield ReadLink(address, target, anchor)


def _target(found: FoundFile, path: str) -> str | None:
    """The absolute path that a link points to; None when it names no file."""
    if not path or "\0" in path:
        return None
    if path.startswith("/"):
        return os.path.normpath(found.root + path)
    return os.path.normpath(os.path.join(os.path.dirname(found.path), path))


def _title(found: FoundFile) -> str:
    stem = os.path.splitext(os.path.basename(found.path))[0]
    return " ".join(stem.replace("-", " ").replace("_", " ").split()) or stem
