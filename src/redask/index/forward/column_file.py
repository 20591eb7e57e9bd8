"""A file of named arrays, memory-mapped, with the checksum of every block: `write`, `ColumnFile`.

    8 bytes    the length of the head
    4 bytes    the CRC of the head
    head       JSON: `arrays` {name: [dtype, offset, count]}, `sums` of the body's blocks, and
               `layout`: which arrays these are, for whoever reads them to compare
    body       the arrays, each aligned to 64 bytes, little-endian

It is written once, to a temporary file, which is synchronised and then renamed: so a file under its
name is whole. It is never changed. Opening compares its blocks with their sums, unless the file is
very large; then `verify` does (`doctor --deep`). What fails raises `CorruptIndex`.
"""

import json
import mmap
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from redask.index import private_files
from redask.index.corruption import corrupt

BLOCK = 64 * 1024
_ALIGNMENT = 64
_LENGTH, _SUM = 8, 4

AnyArray = npt.NDArray[Any]


def write(path: Path, arrays: Mapping[str, AnyArray], layout: int) -> None:
    """Write the file; whoever opens it sees all of it."""
    body = bytearray()
    places: dict[str, tuple[str, int, int]] = {}
    for name, array in arrays.items():
        body += bytes(-len(body) % _ALIGNMENT)
        places[name] = (array.dtype.str, len(body), len(array))
        body += array.tobytes()
    sums = [crc32(body[start : start + BLOCK]) for start in range(0, len(body), BLOCK)]
    head = json.dumps({"layout": layout, "arrays": places, "sums": sums}).encode()
    head += b" " * (-(_LENGTH + _SUM + len(head)) % _ALIGNMENT)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(private_files.open_file(temporary, os.O_WRONLY), "wb") as file:
        file.write(len(head).to_bytes(_LENGTH, "little"))
        file.write(crc32(head).to_bytes(_SUM, "little"))
        file.write(head)
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


class ColumnFile:
    """An open file; its arrays are views of the mapping, which lives as long as they do."""

    def __init__(self, path: Path, most: int | None = None) -> None:
        """`most`: above so many bytes, the blocks are not compared."""
        self._name = path.name
        try:
            with open(path, "rb") as file:
                self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # an empty file cannot be mapped
            raise corrupt(f"{path.name} cannot be opened", detail=str(error)) from error
        size = int.from_bytes(self._content[:_LENGTH], "little")
        self._body = _LENGTH + _SUM + size
        head = self._content[_LENGTH + _SUM : self._body]
        told_sum = int.from_bytes(self._content[_LENGTH : _LENGTH + _SUM], "little")
        if not head or crc32(head) != told_sum:  # zeros would agree with themselves
            raise corrupt(f"{path.name} fails its checksum at its head")
        told = json.loads(head)
        self.layout: int = told["layout"]
        self._places, self._sums = told["arrays"], told["sums"]
        if most is None or len(self._content) <= most:
            self.verify()

    @property
    def size(self) -> int:
        """In bytes."""
        return len(self._content)

    def verify(self) -> None:
        """Raise `CorruptIndex` unless every block is what was written."""
        view = memoryview(self._content)[self._body :]
        if -(-len(view) // BLOCK) != len(self._sums):
            raise corrupt(f"{self._name} fails its checksum at its end")
        for number, expected in enumerate(self._sums):
            if crc32(view[number * BLOCK : (number + 1) * BLOCK]) != expected:
                raise corrupt(f"{self._name} fails its checksum at byte {number * BLOCK}")

    def array(self, name: str) -> AnyArray:
        """One of the arrays, read only."""
        dtype, offset, count = self._places[name]
        return np.frombuffer(self._content, dtype, count, self._body + offset)
