"""Reading a file in a worker process: `in_worker(stream)`, and the `ReadingService` that is there.

Other people's parsers run on files that anyone may have written, so that one may take for ever or
all of the memory. In a process of its own it is ended, the file is named, and the run goes on.
Readers that are `plain` are our own, linear and bounded by their lines: they stay in this process.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Protocol

from redask.core.errors import BadAsk, DeadlineExceeded, LimitExceeded, StoreFailed
from redask.core.ports import Cancellation
from redask.ingest.readers import reader_for
from redask.ingest.records import MakeEntity, OpenedFile, ReadItem, ReadRecord, made_entity

RecordReader = Callable[[OpenedFile], Iterator[ReadRecord]]
READING_SERVICE = "redask.ingest.process_reading:ReadingService"
_PAGE = 200  # records in one message, or so many characters
_PAGE_CHARACTERS = 1_000_000


class PageStream(Protocol):
    """`WorkerProcesses.stream`."""

    def __call__(
        self,
        method: str,
        *arguments: object,
        timeout_seconds: float,
        cancelled: Cancellation | None,
    ) -> Iterator[Any]:
        """The pages of a method of the service."""


def in_process(seconds: float, now: Callable[[], float] = time.monotonic) -> RecordReader:
    """Read files here; one that takes longer than so many seconds is refused at its next record."""

    def read(opened: OpenedFile) -> Iterator[ReadRecord]:
        end = now() + seconds
        for record in opened.found.reader.read(opened):
            if now() > end:
                raise _too_slow(seconds)
            yield record

    return read


def in_worker(stream: PageStream, seconds: float, stop: Cancellation) -> RecordReader:
    """Read files that are not plain in a worker process, which is ended after so many seconds."""
    here = in_process(seconds)

    def read(opened: OpenedFile) -> Iterator[ReadRecord]:
        if opened.found.reader.plain:
            yield from here(opened)
            return
        found = replace(opened.found, reader=None)  # type: ignore[arg-type]  # no function is sent
        try:
            pages = stream("read", found, opened.data, timeout_seconds=seconds, cancelled=stop)
            for advanced, records in pages:
                opened.advance(advanced)
                yield from records
        except DeadlineExceeded:
            raise _too_slow(seconds) from None
        except LimitExceeded as error:
            raise BadAsk(f"could not be read: {error.message} (ingest.file_memory_mb)") from None
        except StoreFailed as error:  # it ended by itself; nothing of ours is broken
            raise BadAsk(f"could not be read: its reader crashed ({error.detail})") from None

    return read


class ReadingService:
    """What a worker process serves; `entity` refuses what cannot be written."""

    def __init__(self, entity: MakeEntity) -> None:
        self._entity = entity

    def read(self, found: Any, data: bytes) -> Iterator[tuple[int, list[ReadRecord]]]:
        """The file's records in pages, each with how many bytes were read so far."""
        reader = reader_for(found.path)
        if reader is None:
            raise BadAsk("has no reader")
        advanced, page, characters = [0], list[ReadRecord](), 0
        opened = OpenedFile(replace(found, reader=reader), data, advanced.append, self._check)
        for record in reader.read(opened):
            page.append(record)
            characters += _characters(record)
            if len(page) == _PAGE or characters > _PAGE_CHARACTERS:
                yield advanced[-1], page
                del advanced[:-1]
                page, characters = [], 0
        yield advanced[-1], page

    def _check(self, item: ReadItem) -> None:
        made_entity(self._entity, item)


def _characters(record: ReadRecord) -> int:
    if not isinstance(record, ReadItem):
        return 0
    return sum(len(value) for value in record.content.values() if isinstance(value, str))


def _too_slow(seconds: float) -> BadAsk:
    return BadAsk(f"took longer than {seconds:g} s to read (ingest.file_seconds)")
