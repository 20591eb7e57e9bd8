"""The rows of a result as DataRow messages, page by page: `page_rows`, `RowEncoder`.

A page has at most `PAGE_CELLS` values, and at least a row. Encoding more than `LOOP_CELLS` takes
long enough for other sessions to notice: whoever has an event loop does it in a thread.
"""

from collections.abc import Sequence

from redask.core.errors import BadAsk
from redask.server.pgwire.protocol import backend_messages
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.types import encoding
from redask.server.pgwire.types.encoding import PLAIN, ResultStyle

LOOP_CELLS = 1_000
PAGE_CELLS = 20_000
ResultRows = Sequence[Sequence[object]]


def page_rows(width: int) -> int:
    """How many rows of so many columns a page has."""
    return max(1, PAGE_CELLS // max(1, width))


class RowEncoder:
    """Encodes rows whose columns have these types and format codes, as a session wants them."""

    def __init__(
        self,
        oids: Sequence[int],
        formats: Sequence[int],
        style: ResultStyle = PLAIN,
    ) -> None:
        self._encoders = [
            encoding.encoder(oid, form == 1, style) for oid, form in zip(oids, formats, strict=True)
        ]

    def data_rows(self, rows: ResultRows) -> bytes:
        """Their DataRow messages; 22000 for a value that does not fit its column."""
        try:
            return b"".join(
                backend_messages.data_row(
                    [
                        None if value is None else encode(value)
                        for encode, value in zip(self._encoders, row, strict=True)
                    ]
                )
                for row in rows
            )
        except BadAsk as error:
            raise SqlStateError("22000", error.message) from None
