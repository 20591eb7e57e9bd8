"""Vectors in a file, made elsewhere: `VectorFileWriter` and `VectorFile`.

    {"dimensions":384,"model":…,"redask_vectors":1,"shard":"2/5"}\\n
    SHA-256 of a text (32 bytes), its vector (little-endian float32)        one record a text
    SHA-256 of all bytes before it (32 bytes)

A vector belongs to a text and a model, and to nothing else: no address, tenant or place. So it
does not matter what else was in the data it was made from, nor in which order files are read. A
file is looked up by binary search, from disk; it may be larger than memory.

A shard is the texts whose hash, as a number, leaves `number - 1` when it is divided by `count`:
equal texts are in one shard, and each is embedded once.
"""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import IO

import numpy as np

from redask.core.errors import BadAsk
from redask.core.ports import Embedder

VERSION = 1
MOST_SHARDS = 10_000
_HASH = 32
_MOST_HEAD = 4096
_BLOCK = 1 << 20
_SHARD = re.compile(r"([0-9]{1,5})/([0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` parts of the texts, from 1."""

    number: int
    count: int

    @classmethod
    def read(cls, written: str) -> "Shard":
        """`2/5`; `BadAsk` for anything else."""
        found = _SHARD.fullmatch(written)
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count <= MOST_SHARDS:
            raise BadAsk(
                f"{written[:40]!a} is no shard: the second of five is 2/5, at most {MOST_SHARDS}",
                detail="shard",
            )
        return cls(number, count)

    def holds(self, digest: bytes) -> bool:
        """Whether a text with this hash is in it."""
        return int.from_bytes(digest) % self.count == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


def text_hash(text: str) -> bytes:
    """By what a text is known; half of a character is not lost."""
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


class VectorFileWriter:
    """Writes records to an open file; `writing` is how to get one."""

    def __init__(self, file: IO[bytes], embedder: Embedder, shard: Shard) -> None:
        self._file, self._whole, self._dimensions = file, sha256(), embedder.dimensions
        head = {
            "dimensions": embedder.dimensions,
            "model": embedder.model,
            "redask_vectors": VERSION,
            "shard": str(shard),
        }
        self._write(f"{json.dumps(head, sort_keys=True, separators=(',', ':'))}\n".encode())

    def add(self, digest: bytes, vector: tuple[float, ...]) -> None:
        """One record."""
        if len(vector) != self._dimensions:
            raise ValueError(f"{len(vector)} dimensions")
        self._write(digest + np.array(vector, "<f4").tobytes())

    def end(self) -> None:
        """The checksum, after which nothing follows."""
        self._file.write(self._whole.digest())

    def _write(self, content: bytes) -> None:
        self._whole.update(content)
        self._file.write(content)


@contextmanager
def writing(path: Path, embedder: Embedder, shard: Shard) -> Iterator[VectorFileWriter]:
    """A new file, there as a whole or not at all; `BadAsk` where it cannot be written."""
    draft = path.with_name(f".{path.name}.{token_hex(4)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            made = VectorFileWriter(file, embedder, shard)
            yield made
            made.end()
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except OSError as error:
        raise BadAsk(f"{str(path)!a} cannot be written: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)


class VectorFile:
    """A file whose checksum was compared: `find` the vector of a text."""

    def __init__(self, path: Path, embedder: Embedder) -> None:
        """`BadAsk` for one that is damaged, no such file, or of another model."""
        try:
            start, size = _checked(path, embedder)
        except OSError as error:
            raise BadAsk(f"{str(path)!a} cannot be read: {error.strerror}") from None
        width = _HASH + 4 * embedder.dimensions
        self.path, self.count = path, (size - start - _HASH) // width
        if start + self.count * width + _HASH != size:
            raise _damaged(path)
        record = np.dtype([("hash", "V32"), ("vector", "<f4", (embedder.dimensions,))])
        self._records = (
            np.memmap(path, record, "r", offset=start, shape=(self.count,)) if self.count else None
        )
        firsts = self._firsts()
        self._order = np.argsort(firsts, kind="stable")
        self._sorted = firsts[self._order]

    def find(self, digest: bytes) -> tuple[float, ...] | None:
        """The vector of the text with this hash, if it is here."""
        wanted = np.frombuffer(digest[:8], ">u8")[0].astype(np.uint64)
        place = int(np.searchsorted(self._sorted, wanted))
        while self._records is not None and place < self.count and self._sorted[place] == wanted:
            found = self._records[self._order[place]]
            if found["hash"].tobytes() == digest:
                return tuple(found["vector"].tolist())
            place += 1
        return None

    def _firsts(self) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
        """The first eight bytes of each hash, as numbers."""
        if self._records is None:
            return np.empty(0, np.uint64)
        hashes = np.ascontiguousarray(self._records["hash"]).view(np.uint8).reshape(-1, _HASH)
        return np.ascontiguousarray(hashes[:, :8]).view(">u8").reshape(-1).astype(np.uint64)


def _checked(path: Path, embedder: Embedder) -> tuple[int, int]:
    """Where the records begin, and the file's size, after its checksum was compared."""
    with path.open("rb") as file:
        head = file.readline(_MOST_HEAD)
        _check_head(head, path, embedder)
        size = os.fstat(file.fileno()).st_size
        whole, left = sha256(head), size - len(head) - _HASH
        while left > 0 and (block := file.read(min(_BLOCK, left))):
            whole.update(block)
            left -= len(block)
        if left or file.read() != whole.digest():
            raise _damaged(path)
    return len(head), size


def _check_head(line: bytes, path: Path, embedder: Embedder) -> None:
    try:
        head = json.loads(line)
        version = head["redask_vectors"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadAsk(f"{str(path)!a} is no file of vectors of redask", detail="vectors") from None
    if version != VERSION:
        raise BadAsk(
            f"{str(path)!a} was made by another redask: upgrade redask to take it in",
            detail=f"version {version!a}, this redask knows {VERSION}",
        )
    space = head.get("model"), head.get("dimensions")
    if space != (embedder.model, embedder.dimensions):
        raise BadAsk(
            f"the vectors of {str(path)!a} are of {space[0]!a} with {space[1]!a} dimensions, the "
            f"embedder is {embedder.model} with {embedder.dimensions}: vectors of two never mix",
            detail="embedder",
        )


def _damaged(path: Path) -> BadAsk:
    return BadAsk(f"{str(path)!a} was changed or damaged: its checksum is wrong", detail="vectors")
