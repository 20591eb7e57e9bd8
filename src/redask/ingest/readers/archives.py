"""Zipped folders: every file in a .zip is read as if the archive were a folder.

    path          the name inside: `docs.zip/guide/install.md`; of an archive that was named
                  itself, `guide/install.md` in the collection `docs`
    left out      hidden files, and those that have no reader: counted by ending as in a folder;
                  a file that cannot be read is named with its reason, the others are read
    refused       a name that leads out of the archive, more than MAX_FILES files or MAX_UNPACKED
                  bytes in all, archives inside archives inside archives

The sizes in the directory of the archive may be false: bytes are counted as they are unpacked.
A file inside has at most MAX_ENTRY bytes. Tables are read from a temporary file.
"""

import io
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace

from redask.core.errors import AskError, BadAsk
from redask.core.model import Urn
from redask.core.rules import urn as urns
from redask.ingest.records import (
    FoundFile,
    OpenedFile,
    ReaderRow,
    ReadItem,
    ReadRecord,
    ReadSkipped,
)

MAX_FILES = 20_000
MAX_UNPACKED = 512 * 1024 * 1024
MAX_ENTRY = 32 * 1024 * 1024
MAX_NESTING = 2
NAME = "zip"
_BLOCK = 256 * 1024
_DRIVE = re.compile(r"[A-Za-z]:")

PackedReader = Callable[[str], ReaderRow | None]
CheckedRecords = Callable[[Iterator[ReadRecord]], Iterator[ReadRecord]]


def reader(reader_for: PackedReader) -> Callable[[OpenedFile], Iterator[ReadRecord]]:
    """A reader of archives; `reader_for` gives those of the files inside."""

    def read(file: OpenedFile) -> Iterator[ReadRecord]:
        found = file.found
        if found.named_directly:
            folder = replace(found, root=os.path.splitext(found.path)[0], name="")
        else:
            folder = replace(found, name=f"{found.name}/")
        yield from _Unpacking(reader_for, file.check).records(file.data, folder, 1)

    return read


class _Unpacking:
    """What may still be unpacked of an archive, and of those in it."""

    def __init__(self, reader_for: PackedReader, check: Callable[[ReadItem], None]) -> None:
        self._reader_for = reader_for
        self._check = check
        self._written = set[Urn]()
        self._files = MAX_FILES
        self._unpacked = MAX_UNPACKED

    def records(self, data: bytes, folder: FoundFile, level: int) -> Iterator[ReadRecord]:
        """The records of all files of an archive; their names begin with the folder's."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                entries = {_safe_name(entry): entry for entry in archive.infolist()}
                for name in sorted(filter(None, entries)):
                    yield from self._entry(archive, entries[name], folder, name, level)
        except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, ValueError) as error:
            detail = " ".join(str(error).split())[:200]
            raise BadAsk(f"is damaged, or no .zip file: {detail}") from None

    def _entry(
        self,
        archive: zipfile.ZipFile,
        entry: zipfile.ZipInfo,
        folder: FoundFile,
        name: str,
        level: int,
    ) -> Iterator[ReadRecord]:
        self._files -= 1
        if self._files < 0:
            raise BadAsk(f"packs more than {MAX_FILES:,} files")
        row = self._reader_for(name)
        if row is None:
            yield ReadSkipped(name)
            return
        try:
            data = self._bytes(archive, entry, min(row.max_bytes, MAX_ENTRY))
            path = f"{folder.path}/{name}"
            found = replace(
                folder,
                path=path,
                name=f"{folder.name}{name}",
                named_directly=False,
                reader=row,
                size=len(data),
            )
            if row.name != NAME:
                records = _read(found, data, self._checked)
                self._written.update(each.address for each in records if isinstance(each, ReadItem))
                yield from records
            elif level == MAX_NESTING:
                raise _Skipped("is an archive in an archive in an archive")
            else:
                inner = replace(found, name=f"{found.name}/")
                for record in self.records(data, inner, level + 1):
                    yield _below(record, name)
        except _Skipped as skipped:
            yield ReadSkipped(name, str(skipped))

    def _checked(self, records: Iterator[ReadRecord]) -> Iterator[ReadRecord]:
        """The records of one file; one that cannot be written is refused."""
        own = set[Urn]()
        for record in records:
            if isinstance(record, ReadItem):
                self._check(record)
                if record.address in own or record.address in self._written:
                    raise BadAsk(f"has a duplicate URN: {urns.encode(record.address)}")
                own.add(record.address)
            yield record

    def _bytes(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, limit: int) -> bytes:
        if entry.flag_bits & 1:
            raise _Skipped("is protected by a password")
        made = io.BytesIO()
        try:
            with archive.open(entry) as packed:
                while block := packed.read(_BLOCK):
                    self._unpacked -= len(block)
                    if self._unpacked < 0:
                        raise BadAsk(f"unpacks to more than {MAX_UNPACKED:,} bytes: a zip bomb?")
                    made.write(block)
                    if made.tell() > limit:
                        raise _Skipped(f"is more than {limit:,} bytes long: unpack the archive")
        except (_Skipped, BadAsk):
            raise
        except Exception as error:  # zipfile, zlib, lzma and bz2 each have errors of their own
            raise _Skipped(f"is damaged: {' '.join(str(error).split())[:200]}") from None
        return made.getvalue()


class _Skipped(Exception):
    """Why one file of an archive is left out."""


def _below(record: ReadRecord, name: str) -> ReadRecord:
    if isinstance(record, ReadSkipped):
        return ReadSkipped(f"{name}/{record.name}", record.reason)
    return record


def _safe_name(entry: zipfile.ZipInfo) -> str:
    """The name of a file; empty for folders and hidden files."""
    name = entry.filename.replace("\\", "/")
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or _DRIVE.match(name) or "\0" in entry.orig_filename:
        raise BadAsk(f"holds a name that leads out of it: {entry.orig_filename[:200]!a}")
    is_hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    return "" if entry.is_dir() or is_hidden else "/".join(part for part in parts if part)


def _read(found: FoundFile, data: bytes, checked: CheckedRecords) -> list[ReadRecord]:
    """All records of one file, or why there are none."""
    try:
        if found.reader.in_memory:
            return list(checked(found.reader.read(OpenedFile(found, data))))
        with tempfile.TemporaryDirectory(prefix="redask-") as folder:
            path = os.path.join(folder, os.path.basename(found.path))
            with open(path, "wb") as file:
                file.write(data)
            return list(checked(found.reader.read(OpenedFile(replace(found, path=path)))))
    except AskError as error:
        raise _Skipped(error.message) from None
    except (Exception, MemoryError) as error:  # a parser's bug must not end the run
        raise _Skipped(f"could not be read ({type(error).__name__})") from None
