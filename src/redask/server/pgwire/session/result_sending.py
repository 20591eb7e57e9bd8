"""Sends the rows of a result, however many: `ResultSender`, with a page in memory at a time.

Reading a page that is on disk, and encoding more than a few values, happens in a thread, one page
of a tenant at a time (`turn`). Between
pages it waits for a client that reads slowly, gives other sessions their turn, and stops where
`check` raises: a cancel request, or statement_timeout.
"""

import asyncio
from collections.abc import Callable, Sequence

from redask.core.errors import StoreFailed
from redask.server.pgwire.protocol import backend_messages
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.client_connection import ClientConnection
from redask.server.pgwire.session.planned_statement import StatementResult
from redask.server.pgwire.session.row_pages import LOOP_CELLS, RowEncoder, page_rows
from redask.server.pgwire.types.encoding import PLAIN, ResultStyle

_Encode = Callable[[Sequence[Sequence[object]]], bytes]


class ResultSender:
    """Sends rows on one connection."""

    def __init__(
        self,
        connection: ClientConnection,
        check: Callable[[], None],
        style: Callable[[], ResultStyle] = lambda: PLAIN,
        turn: asyncio.Semaphore | None = None,
    ) -> None:
        self._connection = connection
        self._check = check
        self._style = style  # of the session, by now
        self._turn = turn or asyncio.Semaphore()

    async def data_rows(
        self,
        columns: Sequence[ResultColumn],
        formats: Sequence[int],
        result: StatementResult,
        rows: range,
    ) -> None:
        """DataRow messages of some rows."""
        encoder = RowEncoder([column.oid for column in columns], formats, self._style())
        await self._pages(encoder.data_rows, len(columns), result, rows)

    async def copy_out(self, result: StatementResult) -> None:
        """CopyOutResponse, all rows, CopyDone."""
        assert result.copy is not None
        self._connection.send(result.copy.response())
        await self._pages(result.copy.rows, result.copy.width, result, range(len(result)))
        self._connection.send(result.copy.end())
        self._connection.send(backend_messages.COPY_DONE)

    async def _pages(
        self, encode: _Encode, width: int, result: StatementResult, rows: range
    ) -> None:
        step = page_rows(width)
        place = rows.start

        def page() -> tuple[int, bytes]:
            found = result.read(place, min(place + step, rows.stop))
            return len(found), encode(found)

        while place < rows.stop:
            self._check()
            is_short = min(step, rows.stop - place) * width <= LOOP_CELLS
            if is_short and result.in_memory:
                count, encoded = page()
            else:
                async with self._turn:
                    count, encoded = await asyncio.to_thread(page)
            if not count:
                raise StoreFailed("the rows of the result are gone")
            place += count
            self._connection.send(encoded)
            if self._connection.should_flush:
                await self._connection.flush()
                await asyncio.sleep(0)  # the other sessions' turn


def counted(tag: str, rows: int) -> str:
    """The tag of an Execute that returned so many rows."""
    word, _, count = tag.rpartition(" ")
    return f"{word} {rows}" if word and count.isdigit() else tag
