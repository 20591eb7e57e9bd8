"""Parquet: every record becomes a row, with the column names. Needs the extra `parquet`.

    id            the column `id` or `_id` (any case); else the record's number, from 1
    value         numbers, strings, lists and structs unchanged; dates and times in ISO 8601;
                  decimals, infinities and NaN as text; bytes as their size and digest
    collection    chosen as for a CSV file

`arro3-io` reads it in batches of rows (12 MB to download, 35 MB on disk; pyarrow unpacks to
171 MB). On a damaged footer it panics in Rust and prints a stack trace: while it opens a file,
and only then, standard error is redirected to the null device.
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
_STDERR_LOCK = threading.Lock()
_BATCH_ROWS = 256
_MISSING = "needs a package that is not installed: pip install 'redask[parquet]'"


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
        with _stderr_discarded():
            return io.read_parquet(path, batch_size=_BATCH_ROWS)
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a Rust panic, not an Exception
            raise
        raise BadAsk("is damaged: its footer is invalid") from None


@contextmanager
def _stderr_discarded() -> Iterator[None]:
    """Redirect file descriptor 2 to the null device, for Rust code, too."""
    with _STDERR_LOCK:
        saved, devnull = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(devnull, 2)
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            os.close(devnull)


def _rows(file: OpenedFile, batch: Any, numbers: Iterator[int]) -> Iterator[ReadItem]:
    names = list(batch.schema.names)
    duplicate = next((name for name in names if names.count(name) > 1), None)
    if duplicate is not None:
        raise BadAsk(f"has two columns that are called {duplicate!a}")
    key = next((index for index, name in enumerate(names) if lower(name) in IDS), None)
    into = collection(file.found)
    for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
        number = next(numbers)
        name = str(number) if key is None or values[key] is None else str(_value(values[key]))
        if key is not None and (values[key] is None or not name):
            raise BadAsk(f"has a row without an id: row {number}")
        yield ReadItem(
            Urn(Kind.ROW, into, name), dict(zip(names, map(_value, values), strict=True))
        )


def _check(path: str) -> None:
    """Refuse a file without Parquet's magic bytes at both ends, or with an impossible footer."""
    with content.os_errors(), open(path, "rb") as file:
        head = file.read(4)
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - 8))
        tail = file.read(8)
    footer = int.from_bytes(tail[:4], "little")
    if head != _MAGIC or tail[4:] != _MAGIC or footer + 12 > size:
        raise BadAsk("is damaged, or no Parquet file")


def _value(value: object) -> object:
    """A value as JSON can represent it."""
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
