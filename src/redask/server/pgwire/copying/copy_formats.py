"""Rows as COPY writes them: `copy_writer(options, columns)`, one class a format.

    text      values in text, `\\` before what means something; NULL is `\\N`
    csv       values in text, quoted where needed or forced; NULL is empty, an empty text is `""`
    binary    a signature, values in binary with their lengths, and an end

A row is one CopyData message, as PostgreSQL sends it; what comes before the first row goes with it.
"""

import re
import struct
from collections.abc import Sequence

from redask.core.errors import BadAsk
from redask.server.pgwire.copying.copy_options import CopyOptions
from redask.server.pgwire.protocol import backend_messages
from redask.server.pgwire.protocol.backend_messages import ResultColumn
from redask.server.pgwire.protocol.client_encodings import UTF8
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.planned_statement import CopyWriter
from redask.server.pgwire.types import encoding
from redask.server.pgwire.types.encoding import PLAIN, ResultStyle

_Rows = Sequence[Sequence[object]]
_Cells = Sequence[bytes | None]
_Columns = Sequence[ResultColumn]
_SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COUNT, _LENGTH = struct.Struct("!h"), struct.Struct("!i")
_END = _COUNT.pack(-1)
_ESCAPES = {8: b"\\b", 12: b"\\f", 10: b"\\n", 13: b"\\r", 9: b"\\t", 11: b"\\v"}


class _RowWriter:
    """What the formats share: values in their form, messages, what comes before the first row."""

    is_binary = False

    def __init__(self, columns: Sequence[ResultColumn], style: ResultStyle) -> None:
        self.width = len(columns)
        # lines are made in UTF-8, whose marks are no part of a character
        self._codec = UTF8 if self.is_binary else style.codec
        cells = style if self.is_binary else style._replace(codec=UTF8)
        self._encoders = [encoding.encoder(each.oid, self.is_binary, cells) for each in columns]
        self._before = b""

    def response(self) -> bytes:
        return backend_messages.copy_out_response(self.is_binary, self.width)

    def rows(self, rows: _Rows) -> bytes:
        try:
            lines = [self._line(self._cells(row)) for row in rows]
            if self._codec != UTF8:
                lines = [encoding.recoded(line, self._codec) for line in lines]
        except BadAsk as error:
            raise SqlStateError("22000", error.message) from None
        if lines and self._before:
            lines[0], self._before = self._before + lines[0], b""
        return b"".join(map(backend_messages.copy_data, lines))

    def end(self) -> bytes:
        return b""

    def _cells(self, row: Sequence[object]) -> _Cells:
        return [
            None if value is None else encode(value)
            for encode, value in zip(self._encoders, row, strict=True)
        ]

    def _line(self, cells: _Cells) -> bytes:
        raise NotImplementedError


class _CopyLines(_RowWriter):
    """A format of lines, which may begin with the names of the columns."""

    def __init__(
        self, options: CopyOptions, columns: Sequence[ResultColumn], style: ResultStyle
    ) -> None:
        super().__init__(columns, style)
        self._delimiter = options.delimiter.encode()
        self._null = options.null.encode()
        self._header = [each.name.encode() for each in columns] if options.has_header else None

    def response(self) -> bytes:
        head = super().response()
        if self._header is None:
            return head
        names = self._delimiter.join(self._name(each) for each in self._header)
        line = encoding.recoded(names + b"\n", self._codec)
        return head + backend_messages.copy_data(line)

    def _line(self, cells: _Cells) -> bytes:
        written = (
            self._null if cell is None else self._value(cell, place)
            for place, cell in enumerate(cells)
        )
        return self._delimiter.join(written) + b"\n"

    def _value(self, cell: bytes, place: int) -> bytes:
        raise NotImplementedError

    def _name(self, name: bytes) -> bytes:
        raise NotImplementedError


class TextCopy(_CopyLines):
    """The text format."""

    def __init__(
        self, options: CopyOptions, columns: Sequence[ResultColumn], style: ResultStyle
    ) -> None:
        super().__init__(options, columns, style)
        special = {ord("\\"): b"\\\\", ord(options.delimiter): b"\\" + self._delimiter, **_ESCAPES}
        self._special = re.compile(b"[" + b"".join(re.escape(bytes([e])) for e in special) + b"]")
        self._spelled = {bytes([code]): text for code, text in special.items()}

    def _value(self, cell: bytes, place: int) -> bytes:  # noqa: ARG002
        return self._name(cell)

    def _name(self, name: bytes) -> bytes:
        return self._special.sub(lambda found: self._spelled[found[0]], name)


class CsvCopy(_CopyLines):
    """The CSV format."""

    def __init__(
        self, options: CopyOptions, columns: Sequence[ResultColumn], style: ResultStyle
    ) -> None:
        super().__init__(options, columns, style)
        self._quote, self._escape = options.quote.encode(), options.escape.encode()
        self._inside = re.compile(
            b"[" + b"".join(map(re.escape, {self._quote, self._escape})) + b"]"
        )
        marks = (self._delimiter, self._quote, b"\r", b"\n")
        self._needs = re.compile(b"[" + b"".join(map(re.escape, marks)) + b"]")
        names = [each.name for each in columns]
        for each in options.force or ():
            if each not in names:
                raise SqlStateError("42703", f'column "{each}" does not exist')
        self._forced = [options.force is None or name in options.force for name in names]

    def _value(self, cell: bytes, place: int) -> bytes:
        return self._written(cell, forced=self._forced[place])

    def _name(self, name: bytes) -> bytes:
        return self._written(name, forced=False)

    def _written(self, cell: bytes, *, forced: bool) -> bytes:
        is_end = self.width == 1 and cell == b"\\."  # which ends the data of COPY FROM
        if not (forced or is_end or cell == self._null or self._needs.search(cell)):
            return cell
        inside = self._inside.sub(lambda found: self._escape + found[0], cell)
        return self._quote + inside + self._quote


class BinaryCopy(_RowWriter):
    """The binary format."""

    is_binary = True

    def __init__(self, columns: Sequence[ResultColumn], style: ResultStyle) -> None:
        super().__init__(columns, style)
        self._before = _SIGNATURE

    def end(self) -> bytes:
        return backend_messages.copy_data(self._before + _END)

    def _line(self, cells: _Cells) -> bytes:
        parts = [_COUNT.pack(len(cells))]
        for cell in cells:
            parts += (_LENGTH.pack(-1),) if cell is None else (_LENGTH.pack(len(cell)), cell)
        return b"".join(parts)


def copy_writer(
    options: CopyOptions, columns: Sequence[ResultColumn], style: ResultStyle = PLAIN
) -> CopyWriter:
    """What writes rows with these columns; 42703 where a column to quote is not among them."""
    if options.form == "binary":
        return BinaryCopy(columns, style)
    writer = CsvCopy if options.form == "csv" else TextCopy
    return writer(options, columns, style)
