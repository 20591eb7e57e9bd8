"""Files that a command is given, `-` for standard input: `text` of one, `sources` in one.

    file                                       sources
    *.json, or a text that begins like it      a list of texts or of {text or payload, urn}
    *.jsonl, *.ndjson, or … like it            one of those a line
    any other                                  its text, whole

A text begins like JSON if its first character that is not blank is `[` or `{`, and the next one
is a quotation mark, a bracket or a brace. Errors name the file, and the line where there is one.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from redask.api import checking
from redask.api.checking import GivenSource
from redask.core.errors import BadAsk

STANDARD_INPUT = "-"
_LIST = re.compile(r"\s*+\[\s*+[\"\[\]{]")
_OBJECT = re.compile(r"\s*+\{\s*+[\"}]")


def text(file: str) -> str:
    """The text of a file, which is UTF-8."""
    try:
        from_file = file != STANDARD_INPUT
        content = Path(file).read_bytes() if from_file else sys.stdin.buffer.read()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise BadAsk(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadAsk(f"{named(file)} is not UTF-8: {error.reason} at byte {error.start}") from None


def sources(file: str) -> list[GivenSource]:
    """The sources in a file."""
    content, kind = text(file), Path(file).suffix.lower()
    is_lines = kind in (".jsonl", ".ndjson")
    if kind == ".json" or (not is_lines and _LIST.match(content)):
        found = _listed(file, content)
    elif is_lines or _OBJECT.match(content):
        found = _lines(file, content)
    else:
        return [content]
    for place, source in found:
        if (wrong := checking.fault(source)) is not None:
            raise BadAsk(f"{place}: it {wrong}")
    return [source for _, source in found]


def named(file: str) -> str:
    """A file as a message names it."""
    return "standard input" if file == STANDARD_INPUT else file


def _listed(file: str, content: str) -> list[tuple[str, Any]]:
    """The elements of a JSON list, each with its place."""
    found = _value(content, named(file), 1)
    if not isinstance(found, list):
        raise BadAsk(f"{named(file)}: expected a list of sources")
    return [(f"{named(file)}, source {n}", each) for n, each in enumerate(found, start=1)]


def _lines(file: str, content: str) -> list[tuple[str, Any]]:
    """The JSON values of lines, each with its place."""
    return [
        (f"{named(file)}, line {number}", _value(line, named(file), number))
        for number, line in enumerate(content.split("\n"), start=1)
        if line.strip()
    ]


def _value(content: str, file: str, first_line: int) -> Any:
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        raise BadAsk(f"{file}, line {line}: not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise BadAsk(f"{file}, line {first_line}: not JSON: {error}") from None
