"""YAML, TOML and INI as text: a section for each top-level key or table, as code, with its line.

They are read as people read them, not parsed: comments say what a setting is for and would be
lost, a line can be named, and no alias can be a bomb.

    YAML          a section for each key without indentation; `---` begins the next document; a
                  list at the top is one section for each `- ` item, named by its first value
    TOML, INI     a section for each [table]; the keys before the first are the top
    comments      right above a key or table belong to it
"""

import os
import re
from collections.abc import Iterator

from redask.core.text import lower
from redask.ingest.readers import content, passages
from redask.ingest.readers.outlines import CODE, Outline, OutlineBuilder, fenced
from redask.ingest.records import OpenedFile, ReadRecord

LANGUAGES = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    **dict.fromkeys((".ini", ".cfg", ".conf", ".properties"), "ini"),
}
_KEY = re.compile(
    r"(?:\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'|([^\s#\-\[{\"'][^:\n]{0,200}?)):(?:\s|$)"
)
_ITEM = re.compile(r"-[ \t]{1,8}(?:[\w.-]{1,80}:[ \t]{1,8})?[\"']?([^\"'\n]{1,100})")
_TABLE = re.compile(r"\[{1,2}[ \t]{0,4}([^\[\]\n]{1,200}?)[ \t]{0,4}\]{1,2}[ \t]{0,8}(?:[#;].*)?$")


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of a settings file."""
    language = LANGUAGES[lower(os.path.splitext(file.found.path)[1])]
    return passages.read(file.found, outline(content.text(file.data), language))


def outline(text: str, language: str) -> Outline:
    """The top-level parts of a settings file, as sections."""
    name_of = _yaml_name if language == "yaml" else _table_name
    builder = OutlineBuilder()
    lines = text.split("\n")
    start = 0
    for at, line in enumerate(lines):
        name = name_of(line)
        if name is None:
            continue
        top = at
        while top > start and lines[top - 1].startswith(("#", ";")):
            top -= 1
        _add(builder, lines, start, top, language)
        if name:
            builder.heading(2, name)
        start = top
    _add(builder, lines, start, len(lines), language)
    return builder.outline(headed=False)


def _add(builder: OutlineBuilder, lines: list[str], start: int, end: int, language: str) -> None:
    while start < end and not lines[start].strip():
        start += 1
    body = "\n".join(lines[start:end]).rstrip()
    if body and body != "---":
        builder.block(fenced(body, language), CODE, start + 1)


def _yaml_name(line: str) -> str | None:
    """The name of the part that a line begins; empty for a part without one."""
    if line[:1] in ("", " ", "\t", "#"):
        return None
    if line.startswith("---"):
        return None
    found = _KEY.match(line)
    if found:
        return found[1] or found[2] or found[3]
    item = _ITEM.match(line)
    return item[1].strip() if item else None


def _table_name(line: str) -> str | None:
    found = _TABLE.match(line)
    return found[1].strip("\"' ") if found else None
