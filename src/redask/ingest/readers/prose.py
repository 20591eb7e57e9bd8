"""Markdown, reStructuredText, AsciiDoc and plain text, read without a library.

`kreuzberg` reads them as well, but takes 1.5 ms for a file of 3 KB, ten times what this takes,
accepts binary data under these names, and rewrites the text: escapes, front matter and blank
lines come back changed. A quotation must be the text of the file.
"""

from collections.abc import Iterator

from redask.ingest.readers import content, markdown, passages
from redask.ingest.readers.markup import asciidoc, restructured
from redask.ingest.readers.outlines import OutlineBuilder
from redask.ingest.records import OpenedFile, ReadRecord


def read_markdown(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of a Markdown file, and its links."""
    return passages.read(file.found, markdown.outline(content.text(file.data)))


def read_text(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of a plain text, cut at blank lines; it has no headings."""
    text = content.text(file.data)
    builder = OutlineBuilder()
    block: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.strip():
            block.append(line)
        elif block:
            builder.block("\n".join(block), line=number - len(block))
            block = []
    return passages.read(file.found, builder.outline())


def read_restructured(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of a reStructuredText file, and its links."""
    return passages.read(file.found, restructured.outline(content.text(file.data)))


def read_asciidoc(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of an AsciiDoc file, and its links."""
    return passages.read(file.found, asciidoc.outline(content.text(file.data)))
