"""CSV and TSV: every record becomes a row, with the column names of the header.

    header        the first record; an unnamed column is column_N, duplicate names are refused
    separator     a tab in .tsv and .tab; else the most frequent of , ; tab | in the header
    id            the column `id` or `_id` (any case); else the record's number, from 1
    value         a number if its canonical text is the field (`7`, `-1.5`; not `007`, `1.50`),
                  null if the field is empty, else text
    ragged        a record with more or fewer fields than the header: refused, with its line

So no digit is lost, and equal files give equal rows. The collection is the requested one, else
the file's name without its suffix, after its folders: `2024/sales.csv` → 2024.sales.
"""

import csv
import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from redask.core.errors import BadAsk
from redask.core.model import Kind, Urn
from redask.core.text import lower
from redask.ingest.readers import content
from redask.ingest.readers.sheets.sheet_cells import MAX_COLUMNS
from redask.ingest.records import FoundFile, OpenedFile, ReadItem, ReadRecord

IDS = ("id", "_id")
_SEPARATORS = ",;\t|"
_MAX_FIELD = 8 * 1024 * 1024
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_DECIMAL = re.compile(r"-?[0-9]{1,17}\.[0-9]{1,17}")


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows of a table."""
    csv.field_size_limit(_MAX_FIELD)
    into = collection(file.found)
    lines = content.lines(file.found.path, file.advance, keep_ends=True)
    first = next(lines, None)
    if first is None:
        return
    separator = _separator(file.found.path, first)
    reader = csv.reader(chain((first,), lines), delimiter=separator, strict=True)
    try:
        names = _header(next(reader))
        key = next((index for index, name in enumerate(names) if lower(name) in IDS), None)
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
            yield ReadItem(Urn(Kind.ROW, into, name), row)
    except csv.Error as error:
        raise BadAsk(f"is not valid CSV: line {reader.line_num}: {error}") from None


def collection(found: FoundFile) -> str:
    """The collection of a file's rows."""
    by_path = os.path.splitext(found.name)[0].replace(".zip/", "/").replace("/", ".")
    if found.requested_collection is None:
        return by_path
    if found.named_directly:
        return found.requested_collection
    return f"{found.requested_collection}.{by_path}"


def value(text: str) -> object:
    """A field as a number, null or text."""
    if not text:
        return None
    if text[-1] in "0123456789":
        if _INTEGER.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text) and repr(float(text)) == text and text != "-0.0":
            return float(text)
    return text


def _separator(path: str, header: str) -> str:
    if lower(os.path.splitext(path)[1]) in (".tsv", ".tab"):
        return "\t"
    bare = re.sub(r'"[^"]*"', "", header)
    return max(_SEPARATORS, key=bare.count)  # the first of the most frequent


def _header(names: list[str]) -> list[str]:
    if len(names) > MAX_COLUMNS:
        raise BadAsk(f"has {len(names):,} columns, more than {MAX_COLUMNS:,}")
    named = [name.strip() or f"column_{number}" for number, name in enumerate(names, start=1)]
    duplicate = next((name for name, times in Counter(named).items() if times > 1), None)
    if duplicate is not None:
        raise BadAsk(f"has two columns that are called {duplicate!a}")
    return named
