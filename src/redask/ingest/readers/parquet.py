"""Parquet: every record a row, with the names of the columns. Needs the extra `parquet`.

    id            the column `id` or `_id` (any case); else the number of the record, from 1
    value         numbers, texts, lists and structures as they are; a date or a time in ISO 8601;
                  a decimal, an infinite number and NaN as text; bytes as their size and digest
    collection    the same as of a CSV file

`arro3-io` reads it (12 MB to download, 35 MB on the disk; pyarrow unpacks to 171 MB), some rows
at a time. It panics over a damaged footer and prints a stack trace, past Python: while it opens a
file, and only then, what is written to the standard error goes nowhere.
"""

import math
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from hashlib import sha256
from itertools import count
from typing import Any

from redask.core.errors import BadAsk
from redask.core.model import Kind, Urn
from redask.core.text import lower
from redask.ingest.readers import content
from redask.ingest.readers.delimited import IDS, collection
from redask.ingest.records import OpenedFile, ReadItem, ReadRecord

try:
    from arro3 import io
except ImportError:  # an extra
    io = None  # type: ignore[assignment]

_MAGIC = b"PAR1"
_SILENCE = threading.Lock()
_ROWS = 256
_MISSING = "is a Parquet file, and what reads them is not installed: pip install 'redask[parquet]'"


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows of a Parquet file."""
    if io is None:
        raise BadAsk(_MISSING)
    _check(file.found.path)
    batches, numbers = _open(file.found.path), count(1)
    try:
        for batch in batches:
            yield from _rows(file, batch, numbers)
    except BadAsk:
        raise
    except Exception as error:
        raise BadAsk(f"is damaged: {' '.join(str(error).split())[:200]}") from None


def _open(path: str) -> Any:
    try:
        with _quiet():
            return io.read_parquet(path, batch_size=_ROWS)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # Rust's, and no Exception
            raise
        raise BadAsk("is damaged: its footer makes no sense") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing reaches the standard error meanwhile, not even from Rust."""
    with _SILENCE:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, 2)
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.close(nowhere)


def _rows(file: OpenedFile, batch: Any, numbers: Iterator[int]) -> Iterator[ReadItem]:
    names = list(batch.schema.names)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadAsk(f"has two columns that are called {twice!a}")
    key = next((place for place, name in enumerate(names) if lower(name) in IDS), None)
    home = collection(file.found)
    for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        number = next(numbers)
        name = str(number) if key is None or values[key] is None else str(_value(values[key]))
        if key is not None and (values[key] is None or not name):
            raise BadAsk(f"has a row without an id: row {number}")
        yield ReadItem(
            Urn(Kind.ROW, home, name), dict(zip(names, map(_value, values), strict=True))
        )


def _check(path: str) -> None:
    """Refuse what does not begin and end like a Parquet file."""
    with content.readable(), open(path, "rb") as file:
        head = file.read(4)
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - 8))
        tail = file.read(8)
    footer = int.from_bytes(tail[:4], "little")
    if head != _MAGIC or tail[4:] != _MAGIC or footer + 12 > size:
        raise BadAsk("is damaged, or no Parquet file")


def _value(value: object) -> object:
    """A value as JSON has it."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes():
            return f"<{len(value)} bytes, sha256 {sha256(value).hexdigest()[:16]}>"
        case datetime() | date() | time():
            return value.isoformat()
        case dict():
            return {str(key): _value(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_value(inner) for inner in value]
    return str(value)
