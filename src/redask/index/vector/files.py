"""The files of a vector index, and how they change without ever being half changed.

    manifest.json    names everything else; replaced as a whole, and last
    floats-*         one float32 row after another, length 1 each; only ever appended to
    rows-*           of the folded rows: keys, numbers of labels, one bit for "not deleted";
                     then the labels that are numbered
    codes-*          of the folded rows, once there are many: what `codes.py` writes
    journal-*        frames of what came after the fold; only ever appended to

A file's name is new each time it is written, so a killed writer leaves the old state whole
and litter that the next fold sweeps up. `Damaged` says that files do not fit together: the
owner deletes the directory and replays the store's log; nothing is lost.

A frame is the length and CRC of what follows, then the sequence, the number of the first row
added, how many rows were added and deleted, the CRC of the added floats, then keys, labels and
deleted row numbers. The floats are written before their frame. What does not check ends the
journal: appending is not followed by fsync, and what a power cut took is replayed from the log.
"""

import contextlib
import json
import os
import secrets
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from redask.core.errors import Damaged
from redask.index.vector.cosine import Floats, Places

LAYOUT = 1
MANIFEST = "manifest.json"
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]
Sink = Callable[[bytes], int]

_HEAD = struct.Struct("<II")
_BODY = struct.Struct("<qqIII")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the current state is made of; `coded` rows have codes, `rows` rows are folded."""

    layout: int
    dimensions: int
    seq: int
    rows: int
    coded: int
    floats_name: str
    rows_name: str
    rows_crc: int
    codes_name: str
    codes_crc: int
    journal_name: str


@dataclass(frozen=True, slots=True)
class Batch:
    """One frame of the journal; `deleted` are row numbers."""

    seq: int
    first: int
    keys: Places
    labels: Places
    deleted: Places
    floats_crc: int


def name_for(kind: str) -> str:
    return f"{kind}-{secrets.token_hex(8)}"


def read_manifest(directory: Path) -> tuple[Manifest, tuple[int, int]] | None:
    """The manifest with the stamp of its file, or None where there is no index yet."""
    try:
        with open(directory / MANIFEST, "rb") as file:
            stamp = stamp_of(os.fstat(file.fileno()))
            text = file.read()
    except FileNotFoundError:
        return None
    try:
        check, body = text.split(b"\n", 1)
        if int(check) != zlib.crc32(body):
            raise ValueError("its check sum is wrong")
        manifest = Manifest(**json.loads(body))
    except (ValueError, TypeError) as fault:
        raise Damaged(f"the vector index has a damaged manifest: {fault}") from fault
    if manifest.layout != LAYOUT:
        raise Damaged(f"the vector index has layout {manifest.layout}, not {LAYOUT}")
    return manifest, stamp


def stamp_of(status: os.stat_result) -> tuple[int, int]:
    """What tells one manifest file from the next."""
    return status.st_ino, status.st_mtime_ns


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Make a new state the current one."""
    body = json.dumps(asdict(manifest), sort_keys=True).encode()
    temporary = name_for("new")
    write_file(directory / temporary, lambda sink: sink(b"%d\n" % zlib.crc32(body) + body))
    os.replace(directory / temporary, directory / MANIFEST)
    sync(directory)


def write_file(path: Path, fill: Callable[[Sink], object]) -> int:
    """Write a new file that survives a power cut. → its CRC"""
    crc = 0
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:

        def sink(data: bytes) -> int:
            nonlocal crc
            crc = zlib.crc32(data, crc)
            write_at(file, data)
            return len(data)

        fill(sink)
        os.fsync(file)
    finally:
        os.close(file)
    return crc


def write_at(file: int, data: bytes | memoryview, offset: int | None = None) -> None:
    """All of `data`, at an offset or where the file stands: one call may write less."""
    rest = memoryview(data)
    while rest:
        done = os.write(file, rest) if offset is None else os.pwrite(file, rest, offset)
        offset = None if offset is None else offset + done
        rest = rest[done:]


def sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sweep(directory: Path) -> None:
    """Remove what the manifest does not name. Who has it open or mapped keeps it."""
    found = read_manifest(directory)
    named = {MANIFEST} | (set(asdict(found[0]).values()) if found else set())
    for entry in os.scandir(directory):
        if entry.name not in named:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)


def check(path: Path, crc: int) -> None:
    found = 0
    with open(path, "rb", buffering=0) as file:
        while part := file.read(1 << 20):
            found = zlib.crc32(part, found)
    if found != crc:
        raise Damaged(f"the vector index has a damaged file: {path.name}")


def map_floats(path: Path, dimensions: int) -> Floats:
    """All rows the file has room for, read from disk as they are touched."""
    rows = path.stat().st_size // (4 * dimensions)
    if rows == 0:
        return np.empty((0, dimensions), np.float32)
    return np.memmap(path, np.float32, "r", shape=(rows, dimensions)).view(np.ndarray)


def pack_rows(keys: Places, numbers: Numbers, alive: Flags, labels: Places) -> bytes:
    return b"".join(part.tobytes() for part in (keys, numbers, np.packbits(alive), labels))


def read_rows(path: Path, manifest: Manifest) -> tuple[Places, Numbers, Flags, Places]:
    data, count = path.read_bytes(), manifest.rows
    if zlib.crc32(data) != manifest.rows_crc:
        raise Damaged(f"the vector index has a damaged file: {path.name}")
    ends = np.cumsum((8 * count, 4 * count, (count + 7) // 8)).tolist()
    keys = np.frombuffer(data, np.int64, count)
    numbers = np.frombuffer(data, np.int32, count, ends[0])
    bits = np.unpackbits(np.frombuffer(data[ends[1] : ends[2]], np.uint8), count=count)
    return keys, numbers, bits.astype(np.bool_), np.frombuffer(data[ends[2] :], np.int64)


def pack_frame(batch: Batch) -> bytes:
    counts = (len(batch.keys), len(batch.deleted))
    body = _BODY.pack(batch.seq, batch.first, *counts, batch.floats_crc)
    body += batch.keys.tobytes() + batch.labels.tobytes() + batch.deleted.tobytes()
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


def unpack_frames(data: bytes) -> Iterator[tuple[Batch, int]]:
    """Each whole frame with the offset of its end; stops at the first that does not check."""
    start = 0
    while start + _HEAD.size <= len(data):
        size, crc = _HEAD.unpack_from(data, start)
        body = data[start + _HEAD.size : start + _HEAD.size + size]
        if size < _BODY.size or len(body) != size or zlib.crc32(body) != crc:
            return
        seq, first, added, deleted, floats_crc = _BODY.unpack_from(body)
        if size != _BODY.size + 16 * added + 8 * deleted:
            return
        numbers = np.frombuffer(body, np.int64, offset=_BODY.size)
        keys, labels, gone = np.split(numbers, (added, 2 * added))
        start += _HEAD.size + size
        yield Batch(seq, first, keys, labels, gone, floats_crc), start


def crc_of(floats: Floats) -> int:
    return zlib.crc32(np.ascontiguousarray(floats).view(np.uint8).reshape(-1).data)
