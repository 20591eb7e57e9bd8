"""A file's content, read safely: `snapshot`, `digest`, `text`, `lines`; memory is bounded.

    snapshot   the bytes of a file, up to a limit; refused if it changed while it was read
    digest     SHA-256 of a file of any size, and of its companion files
    unchanged  a context that raises if a file changed inside it
    text       bytes as text: UTF-8, or UTF-16 with a byte order mark; nothing else, and no NUL
    lines      the lines of such a file, one at a time, each of at most MAX_LINE characters

A refusal is a `BadAsk` that says where, in words that follow the file's name.
"""

import codecs
import hashlib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from redask.core.errors import BadAsk

MAX_LINE = 16 * 1024 * 1024
_BLOCK = 1024 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@contextmanager
def os_errors() -> Iterator[None]:
    """Turn an `OSError` into a `BadAsk`."""
    try:
        yield
    except OSError as error:
        raise BadAsk(f"cannot be read: {error.strerror or error}") from None


@contextmanager
def unchanged(path: str) -> Iterator[None]:
    """Refuse a file whose inode, size or modification time changed inside."""
    with os_errors():
        before = _state(path)
        yield
        if _state(path) != before:
            raise BadAsk("changed while it was read: try again when nobody writes to it")


def snapshot(path: str, max_bytes: int) -> bytes:
    """The content of a file of at most `max_bytes`."""
    with unchanged(path), open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = b"" if size > max_bytes else file.read(max_bytes + 1)
    size = max(size, len(data))
    if size > max_bytes:
        raise BadAsk(f"is {size:,} bytes long, more than {max_bytes:,}: split it")
    return data


def digest(paths: tuple[str, ...]) -> str:
    """One digest of several files, of any size; a missing one counts as missing."""
    combined = hashlib.sha256()
    for path in paths:
        if os.path.exists(path):
            with os_errors(), open(path, "rb") as file:
                while block := file.read(_BLOCK):
                    combined.update(block)
        combined.update(b"\x1f")
    return combined.hexdigest()


def text(data: bytes) -> str:
    """The bytes decoded, with line ends as LF."""
    skipped, encoding = _encoding(data)
    try:
        found = data[skipped:].decode(encoding)
    except UnicodeDecodeError as error:
        raise _undecodable(error, skipped) from None
    if "\0" in found:
        raise BadAsk(f"is not text: it holds a NUL character at position {found.index(chr(0))}")
    return found.replace("\r\n", "\n").replace("\r", "\n")


def lines(path: str, advance: Callable[[int], None], *, keep_ends: bool = False) -> Iterator[str]:
    """The lines of a text file, as written with `keep_ends`, else without their ends."""
    with os_errors(), open(path, "rb") as raw:
        skipped, encoding = _encoding(raw.read(4))
        raw.seek(skipped)
        file = io.TextIOWrapper(raw, encoding=encoding, newline="" if keep_ends else None)
        number = 0
        try:
            while line := file.readline(MAX_LINE):
                number += 1
                _check_line(line, number)
                if not number % 256:
                    advance(raw.tell())
                yield line if keep_ends else line.removesuffix("\n")
        except UnicodeDecodeError as error:
            raise BadAsk(f"is not UTF-8 text, after line {number}: {error.reason}") from None


def blocks(path: str, advance: Callable[[int], None]) -> Iterator[str]:
    """The text of a file, in blocks."""
    with os_errors(), open(path, "rb") as raw:
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
    if len(line) >= MAX_LINE and not line.endswith("\n"):
        raise BadAsk(f"has a line of more than {MAX_LINE:,} characters: line {number}")
    if "\0" in line:
        raise BadAsk(f"is not text: line {number} holds a NUL character")


def _encoding(head: bytes) -> tuple[int, str]:
    """The length of the byte order mark, and the encoding it stands for; UTF-8 without one."""
    return next(((len(bom), name) for bom, name in _BOMS if head.startswith(bom)), (0, "utf-8"))


def _undecodable(error: UnicodeDecodeError, skipped: int) -> BadAsk:
    byte = error.object[error.start]
    return BadAsk(
        f"is not UTF-8 text: byte 0x{byte:02X} at position {error.start + skipped} ({error.reason})"
    )


def _state(path: str) -> tuple[int, int, int]:
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns
