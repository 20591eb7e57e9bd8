"""Jupyter notebooks: Markdown cells as Markdown, code cells as code, outputs as text.

    place     `cells`: the number of the cell, from 1, as a person counts them
    output    its text (stream, text/plain, text/markdown, the name of an error), at most
              MAX_OUTPUT characters; pictures and HTML are left out
    language  of the notebook's kernel

A file that is no notebook (no `cells`) is refused; a cell that is none is passed over.
"""

import json
from collections.abc import Iterator

from redask.core.errors import BadAsk
from redask.ingest.readers import content, markdown, passages
from redask.ingest.readers.outlines import CODE, TEXT, OutlineBuilder, fenced
from redask.ingest.records import OpenedFile, ReadRecord

MAX_OUTPUT = 2000
_TEXTS = ("text/markdown", "text/plain")


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of a notebook."""
    try:
        found = json.loads(content.text(file.data))
    except RecursionError:
        raise BadAsk("is nested too deep") from None
    except ValueError as error:
        raise BadAsk(f"is not valid JSON: {error}") from None
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list):
        raise BadAsk("is no notebook: it has no cells")
    builder = OutlineBuilder()
    language = _language(found)
    for number, cell in enumerate(cells, start=1):
        if isinstance(cell, dict):
            _add(builder, cell, language, {"cells": str(number)})
    return passages.read(file.found, builder.outline())


def _add(
    builder: OutlineBuilder, cell: dict[str, object], language: str, place: dict[str, int | str]
) -> None:
    source = _text(cell.get("source"))
    if cell.get("cell_type") == "markdown":
        markdown.add(builder, source, 0, place)
    elif cell.get("cell_type") == "code" and source.strip():
        builder.block(fenced(source.strip("\n"), language), CODE, 0, place)
        outputs = cell.get("outputs")
        said = [_output(each) for each in outputs] if isinstance(outputs, list) else []
        shown = "\n".join(filter(None, said)).strip("\n")
        if len(shown) > MAX_OUTPUT:
            shown = f"{shown[:MAX_OUTPUT]}…"
        if shown.strip():
            builder.block("Output:", TEXT, 0, place)
            builder.block(fenced(shown), CODE, 0, place)
    elif source.strip():
        builder.block(source, TEXT, 0, place)


def _output(output: object) -> str:
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") == "error":
        return f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    data = output.get("data")
    shown = output.get("text")
    if isinstance(data, dict):
        shown = next((data[name] for name in _TEXTS if name in data), None)
    return _text(shown)


def _text(value: object) -> str:
    """A text, which may be given in lines; without what a console would not print."""
    parts = value if isinstance(value, list) else [value]
    text = "".join(part for part in parts if isinstance(part, str))
    if "\0" in text:
        raise BadAsk("is not text: a cell holds a NUL character")
    return text


def _language(notebook: dict[str, object]) -> str:
    metadata = notebook.get("metadata")
    for name, key in (("language_info", "name"), ("kernelspec", "language")):
        inner = metadata.get(name) if isinstance(metadata, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get(key), str):
            return str(inner[key])[:30]
    return "python"
