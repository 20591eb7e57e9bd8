"""The files of a vector index, and how they are changed atomically.

    manifest.json    names all other files; replaced as a whole, and last
    floats-*         the vectors as float32 rows of length 1; append-only
    rows-*           of the folded rows: keys, CRCs of their floats, indexes of filter keys, one bit
                     for "not deleted"; then the distinct filter keys
    codes-*          of the folded rows, once there are many: what `quantization` writes
    journal-*        frames of the changes since the fold; append-only

Every file is written under a new name, so a killed writer leaves the old state intact, and
unreferenced files that the next fold removes. `CorruptIndex` means that files are corrupt or
inconsistent: the owner deletes the directory and replays the store's change log.

A frame is the length and CRC of its body, then the sequence, the number of the first row added,
how many rows were added and deleted, the CRC of the added floats, then keys, filter keys and
deleted row numbers. The floats are written before their frame. The first frame with a wrong CRC
ends the journal: appends are not synced, and what a power cut lost is replayed from the change log.
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

from redask.index import private_files
from redask.index.corruption import corrupt, unusable
from redask.index.vector.cosine import I64, Floats

LAYOUT = 2
MANIFEST = "manifest.json"
Flags = npt.NDArray[np.bool_]
I32 = npt.NDArray[np.int32]
U32 = npt.NDArray[np.uint32]
Sink = Callable[[bytes], int]

_HEAD = struct.Struct("<II")
_BODY = struct.Struct("<qqIII")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The files of the current state; `rows` rows are folded, `coded` of them have codes."""

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
    keys: I64
    filter_keys: I64
    deleted: I64
    floats_crc: int


def new_name(kind: str) -> str:
    return f"{kind}-{secrets.token_hex(8)}"


def read_manifest(directory: Path) -> tuple[Manifest, tuple[int, int]] | None:
    """The manifest with the stamp of its file, or None where there is no index yet."""
    try:
        with open(directory / MANIFEST, "rb") as file:
            stamp = file_stamp(os.fstat(file.fileno()))
            text = file.read()
    except FileNotFoundError:
        return None
    try:
        crc, body = text.split(b"\n", 1)
        if int(crc) != zlib.crc32(body):
            raise ValueError("wrong checksum")
        manifest = Manifest(**json.loads(body))
    except (ValueError, TypeError) as fault:
        raise corrupt("manifest.json of the vector index", detail=str(fault)) from fault
    if manifest.layout != LAYOUT:
        raise unusable(f"the vector index has layout {manifest.layout}, not {LAYOUT}")
    return manifest, stamp


def file_stamp(status: os.stat_result) -> tuple[int, int]:
    """The identity of a file, which changes when it is replaced."""
    return status.st_ino, status.st_mtime_ns


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Make a new state the current one."""
    body = json.dumps(asdict(manifest), sort_keys=True).encode()
    temporary = new_name("new")
    write_file(directory / temporary, lambda sink: sink(b"%d\n" % zlib.crc32(body) + body))
    os.replace(directory / temporary, directory / MANIFEST)
    sync(directory)


def write_file(path: Path, fill: Callable[[Sink], object]) -> int:
    """Write a new file and sync it. → its CRC"""
    crc = 0
    file = private_files.open_file(path, os.O_WRONLY | os.O_EXCL)
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
    """Write all of `data`, at an offset or the current position: one call may write less."""
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


def remove_unreferenced(directory: Path) -> None:
    """Remove the files that the manifest does not name. Open and mapped ones stay readable."""
    found = read_manifest(directory)
    named = {MANIFEST} | (set(asdict(found[0]).values()) if found else set())
    for entry in os.scandir(directory):
        if entry.name not in named:
            with contextlib.suppress(OSError):
                os.unlink(entry.path)


def verify_crc(path: Path, crc: int) -> None:
    found = 0
    with open(path, "rb", buffering=0) as file:
        while part := file.read(1 << 20):
            found = zlib.crc32(part, found)
    if found != crc:
        raise corrupt(f"{path.name} of the vector index fails its checksum")


def map_floats(path: Path, dimensions: int) -> Floats:
    """All rows that the file has space for, memory-mapped."""
    rows = path.stat().st_size // (4 * dimensions)
    if rows == 0:
        return np.empty((0, dimensions), np.float32)
    return np.memmap(path, np.float32, "r", shape=(rows, dimensions)).view(np.ndarray)


def pack_rows(keys: I64, sums: U32, filter_indexes: I32, live: Flags, filter_keys: I64) -> bytes:
    parts = (keys, sums, filter_indexes, np.packbits(live), filter_keys)
    return b"".join(part.tobytes() for part in parts)


def read_rows(path: Path, manifest: Manifest) -> tuple[I64, U32, I32, Flags, I64]:
    data, count = path.read_bytes(), manifest.rows
    if zlib.crc32(data) != manifest.rows_crc:
        raise corrupt(f"{path.name} of the vector index fails its checksum")
    ends = np.cumsum((8 * count, 4 * count, 4 * count, (count + 7) // 8)).tolist()
    keys = np.frombuffer(data, np.int64, count)
    sums = np.frombuffer(data, np.uint32, count, ends[0])
    filter_indexes = np.frombuffer(data, np.int32, count, ends[1])
    bits = np.unpackbits(np.frombuffer(data[ends[2] : ends[3]], np.uint8), count=count)
    filter_keys = np.frombuffer(data[ends[3] :], np.int64)
    return keys, sums, filter_indexes, bits.astype(np.bool_), filter_keys


def pack_frame(batch: Batch) -> bytes:
    counts = (len(batch.keys), len(batch.deleted))
    body = _BODY.pack(batch.seq, batch.first, *counts, batch.floats_crc)
    body += batch.keys.tobytes() + batch.filter_keys.tobytes() + batch.deleted.tobytes()
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


def unpack_frames(data: bytes) -> Iterator[tuple[Batch, int]]:
    """Each frame with the offset of its end; stops at the first that is incomplete or corrupt."""
    start = 0
    while start + _HEAD.size <= len(data):
        size, crc = _HEAD.unpack_from(data, start)
        body = data[start + _HEAD.size : start + _HEAD.size + size]
        if size < _BODY.size or len(body) != size or zlib.crc32(body) != crc:
            return
        seq, first, added, deleted, floats_crc = _BODY.unpack_from(body)
        if size != _BODY.size + 16 * added + 8 * deleted:
            return
        values = np.frombuffer(body, np.int64, offset=_BODY.size)
        keys, filter_keys, deleted_rows = np.split(values, (added, 2 * added))
        start += _HEAD.size + size
        yield Batch(seq, first, keys, filter_keys, deleted_rows, floats_crc), start


def sums_of(floats: Floats) -> U32:
    """The CRC of each row."""
    return np.fromiter(map(crc_of, floats), np.uint32, len(floats))


def crc_of(floats: Floats) -> int:
    return zlib.crc32(np.ascontiguousarray(floats).view(np.uint8).reshape(-1).data)
