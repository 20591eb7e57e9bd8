"""CSV and TSV: every record a row, with the names of the header.

    header        the first record; a column without a name is column_N, two of a name are refused
    separator     a tab in .tsv and .tab; else whichever of , ; tab | is most often in the header
    id            the column `id` or `_id` (any case); else the number of the record, from 1
    value         a number if its text is what we would write for it (`7`, `-1.5`; not `007`,
                  `1.50`), null if it is empty, else text
    ragged        a record with more or fewer fields than the header: refused, with its line

So no digit is lost, and equal files give equal rows. The collection is the one asked for, else
the file's name without its ending, with the folders down to it: `2024/sales.csv` → 2024.sales.
"""

import csv
import os
import re
from collections.abc import Iterator

from redask.core.errors import BadAsk
from redask.core.model import Kind, Urn
from redask.core.text import lower
from redask.ingest.readers import content
from redask.ingest.records import FoundFile, OpenedFile, ReadItem, ReadRecord

IDS = ("id", "_id")
_SEPARATORS = ",;\t|"
_LONGEST_FIELD = 8 * 1024 * 1024
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL = re.compile(r"-?[0-9]{1,17}\.[0-9]{1,17}")


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows of a table."""
    csv.field_size_limit(_LONGEST_FIELD)
    home = collection(file.found)
    lines = content.lines(file.found.path, file.advance, keep=True)
    first = next(lines, None)
    if first is None:
        return
    separator = _separator(file.found.path, first)
    reader = csv.reader(_again(first, lines), delimiter=separator, strict=True)
    try:
        names = _header(next(reader))
        key = next((place for place, name in enumerate(names) if lower(name) in IDS), None)
        number = 0
        for fields in reader:
            if not fields:
                continue  # a blank line
            number += 1
            if len(fields) != len(names):
                raise BadAsk(
                    f"is ragged: line {reader.line_num} has {len(fields)} fields,"
                    f" not {len(names)} as the header"
                )
            name = str(number) if key is None else fields[key]
            if not name:
                raise BadAsk(f"has a row without an id: line {reader.line_num}")
            row = dict(zip(names, map(value, fields), strict=True))
            yield ReadItem(Urn(Kind.ROW, home, name), row)
    except csv.Error as error:
        raise BadAsk(f"is no table: line {reader.line_num}: {error}") from None


def collection(found: FoundFile) -> str:
    """Where the rows of a file go."""
    own = os.path.splitext(found.name)[0].replace("/", ".")
    if found.choice is None:
        return own
    return found.choice if found.alone else f"{found.choice}.{own}"


def value(text: str) -> object:
    """A field as what it is."""
    if not text:
        return None
    if text[-1] in "0123456789":
        if _INTEGER.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text) and repr(float(text)) == text and text != "-0.0":
            return float(text)
    return text


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _separator(path: str, header: str) -> str:
    if lower(os.path.splitext(path)[1]) in (".tsv", ".tab"):
        return "\t"
    bare = re.sub(r'"[^"]*"', "", header)
    return max(_SEPARATORS, key=bare.count)  # the first of equals


def _header(names: list[str]) -> list[str]:
    named = [name.strip() or f"column_{place}" for place, name in enumerate(names, start=1)]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise BadAsk(f"has two columns that are called {twice!a}")
    return named
