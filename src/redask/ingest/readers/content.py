"""A file's content, read safely: `snapshot`, `digest`, `text`, `lines`; memory is bounded.

    snapshot   the bytes of a file that did not change meanwhile, of at most so many
    digest     SHA-256 of a file of any size, and of what stands beside it
    unchanged  a context that raises when a file is another one at its end
    text       bytes as text: UTF-8, or UTF-16 with its mark; nothing else, and no NUL
    lines      the lines of such a file, one at a time, each of at most LONGEST characters

What is wrong is a `BadAsk` that says where, in words that follow the file's name.
"""

import codecs
import hashlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from redask.core.errors import BadAsk

LONGEST = 16 * 1024 * 1024
_BLOCK = 1024 * 1024
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@contextmanager
def readable() -> Iterator[None]:
    """Turn the system's refusals to read into ours."""
    try:
        yield
    except OSError as error:
        raise BadAsk(f"cannot be read: {error.strerror or error}") from None


@contextmanager
def unchanged(path: str) -> Iterator[None]:
    """Refuse a file that is not, in the end, what it was at the beginning."""
    with readable():
        before = _state(path)
        yield
        if _state(path) != before:
            raise BadAsk("changed while it was read: try again when nobody writes to it")


def snapshot(path: str, most: int) -> bytes:
    """The content of a file."""
    with unchanged(path), open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = b"" if size > most else file.read(most + 1)
    size = max(size, len(data))
    if size > most:
        raise BadAsk(f"is {size:,} bytes long, more than {most:,}: split it")
    return data


def digest(paths: tuple[str, ...]) -> str:
    """The digest of files of any size; one that is not there counts as such."""
    seen = hashlib.sha256()
    for path in paths:
        if os.path.exists(path):
            with readable(), open(path, "rb") as file:
                while block := file.read(_BLOCK):
                    seen.update(block)
        seen.update(b"\x1f")
    return seen.hexdigest()


def text(data: bytes) -> str:
    """The text that the bytes are."""
    skipped, encoding = _encoding(data)
    try:
        found = data[skipped:].decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(error, skipped) from None
    if "\0" in found:
        raise BadAsk(f"is not text: it holds a NUL character at position {found.index(chr(0))}")
    return found.replace("\r\n", "\n").replace("\r", "\n")


def lines(path: str, advance: Callable[[int], None], *, keep: bool = False) -> Iterator[str]:
    """The lines of a text file, as written when `keep`, else without their ends."""
    with readable(), open(path, "rb") as raw:
        skipped, encoding = _encoding(raw.read(4))
        raw.seek(skipped)
        file = io.TextIOWrapper(raw, encoding=encoding, newline="" if keep else None)
        number = 0
        try:
            while line := file.readline(LONGEST):
                number += 1
                _check_line(line, number)
                if not number % 256:
                    advance(raw.tell())
                yield line if keep else line.removesuffix("\n")
        except UnicodeDecodeError as error:
            raise BadAsk(f"is not UTF-8 text, after line {number}: {error.reason}") from None


def blocks(path: str, advance: Callable[[int], None]) -> Iterator[str]:
    """The text of a file, some at a time."""
    with readable(), open(path, "rb") as raw:
        skipped, encoding = _encoding(raw.read(4))
        raw.seek(skipped)
        file: IO[str] = io.TextIOWrapper(raw, encoding=encoding)
        at = 0
        try:
            while block := file.read(_BLOCK):
                at += len(block)
                advance(raw.tell())
                yield block
        except UnicodeDecodeError as error:
            raise BadAsk(f"is not UTF-8 text, after character {at}: {error.reason}") from None


def _check_line(line: str, number: int) -> None:
    if len(line) >= LONGEST and not line.endswith("\n"):
        raise BadAsk(f"has a line of more than {LONGEST:,} characters: line {number}")
    if "\0" in line:
        raise BadAsk(f"is not text: line {number} holds a NUL character")


def _encoding(head: bytes) -> tuple[int, str]:
    """How many bytes mark the encoding, and which it is."""
    return next(((len(mark), name) for mark, name in _MARKS if head.startswith(mark)), (0, "utf-8"))


def _undecodable(error: UnicodeDecodeError, skipped: int) -> BadAsk:
    byte = error.object[error.start]
    return BadAsk(
        f"is not UTF-8 text: byte 0x{byte:02X} at position {error.start + skipped} ({error.reason})"
    )


def _state(path: str) -> tuple[int, int, int]:
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns
