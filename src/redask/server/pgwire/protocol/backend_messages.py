"""Backend messages, from server to client, as bytes: one function a message, by PostgreSQL's name.

None can fail. Text that cannot be sent (a zero byte, half of a character) is replaced: it only
occurs in messages about bad input. So is what the client's encoding lacks. Cells are encoded by
`types` before they come here.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from redask.server.pgwire.protocol.client_encodings import encoded
from redask.server.pgwire.types import oids

SSL_ACCEPTED, SSL_REFUSED = b"S", b"N"
_OK, _SASL, _SASL_CONTINUE, _SASL_FINAL = 0, 10, 11, 12
_INT = struct.Struct("!i")
_SHORT = struct.Struct("!h")
_COUNT = struct.Struct("!H")
_COLUMN = struct.Struct("!ihIhih")
_HEAD = struct.Struct("!ciH")
_MAX_TEXT = 4000  # characters of a text in a message


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of a result, with the OID and the modifier of its type (-1: none)."""

    name: str
    oid: int
    modifier: int = -1


def framed(kind: bytes, body: bytes = b"") -> bytes:
    """A message of a type, with its length."""
    return kind + _INT.pack(len(body) + _INT.size) + body


PARSE_COMPLETE, BIND_COMPLETE, CLOSE_COMPLETE = framed(b"1"), framed(b"2"), framed(b"3")
NO_DATA, EMPTY_QUERY_RESPONSE, PORTAL_SUSPENDED = framed(b"n"), framed(b"I"), framed(b"s")
COPY_DONE = framed(b"c")
AUTHENTICATION_OK = framed(b"R", _INT.pack(_OK))


def authentication_sasl(*mechanisms: str) -> bytes:
    """AuthenticationSASL: the mechanisms offered, the best first."""
    return framed(b"R", _INT.pack(_SASL) + b"".join(map(_text, mechanisms)) + b"\0")


def authentication_sasl_continue(data: bytes) -> bytes:
    """AuthenticationSASLContinue: the challenge."""
    return framed(b"R", _INT.pack(_SASL_CONTINUE) + data)


def authentication_sasl_final(data: bytes) -> bytes:
    """AuthenticationSASLFinal: the server's own proof."""
    return framed(b"R", _INT.pack(_SASL_FINAL) + data)


def parameter_status(name: str, value: str) -> bytes:
    """ParameterStatus: the value of a run-time parameter that is reported."""
    return framed(b"S", _text(name) + _text(value))


def backend_key_data(process: int, key: bytes) -> bytes:
    """BackendKeyData: what a cancel request must name."""
    return framed(b"K", _INT.pack(process) + key)


def negotiate_protocol_version(unknown: Sequence[str]) -> bytes:
    """NegotiateProtocolVersion: 3.0, and the protocol options that are not known."""
    names = b"".join(map(_text, unknown))
    return framed(b"v", _INT.pack(3 << 16) + _INT.pack(len(unknown)) + names)


def ready_for_query(status: str) -> bytes:
    """ReadyForQuery: the transaction status, I, T or E."""
    return framed(b"Z", status.encode())


def parameter_description(oids: Sequence[int]) -> bytes:
    """ParameterDescription: the types of a statement's parameters."""
    return framed(b"t", _COUNT.pack(len(oids)) + b"".join(struct.pack("!I", each) for each in oids))


def row_description(columns: Sequence[ResultColumn], formats: Sequence[int]) -> bytes:
    """RowDescription: names, types and format codes of the columns."""
    parts = [
        _text(each.name) + _COLUMN.pack(0, 0, each.oid, oids.size(each.oid), each.modifier, form)
        for each, form in zip(columns, formats, strict=True)
    ]
    return framed(b"T", _COUNT.pack(len(parts)) + b"".join(parts))


def data_row(cells: Sequence[bytes | None]) -> bytes:
    """DataRow."""
    parts = [b""]
    length = _INT.size + _COUNT.size
    for cell in cells:
        if cell is None:
            parts.append(_NULL)
            length += _INT.size
        else:
            parts += (_INT.pack(len(cell)), cell)
            length += _INT.size + len(cell)
    parts[0] = _HEAD.pack(b"D", length, len(cells))
    return b"".join(parts)


_NULL = _INT.pack(-1)


def copy_out_response(is_binary: bool, width: int) -> bytes:
    """CopyOutResponse: CopyData follows, of so many columns, all in one format."""
    form = int(is_binary)
    return framed(b"H", struct.pack(f"!bH{width}h", form, width, *(form,) * width))


def copy_data(data: bytes) -> bytes:
    """CopyData."""
    return framed(b"d", data)


def command_complete(tag: str) -> bytes:
    """CommandComplete, with the command tag."""
    return framed(b"C", _text(tag))


def error_response(
    sqlstate: str,
    message: str,
    *,
    fatal: bool = False,
    detail: str = "",
    hint: str = "",
    position: int = 0,
    kind: str = "",
) -> bytes:
    """ErrorResponse; `fatal`: the connection ends with it.

    `position` counts characters of the query, from 1. `kind` is contract 20's, of which one
    SQLSTATE may have several; it stands where PostgreSQL names a routine.
    """
    severity = "FATAL" if fatal else "ERROR"
    more = {"D": detail, "H": hint, "P": str(position) if position else "", "R": kind}
    return framed(b"E", _fields(severity, sqlstate, message, more))


def notice_response(sqlstate: str, message: str) -> bytes:
    """NoticeResponse: a warning."""
    return framed(b"N", _fields("WARNING", sqlstate, message, {}))


def _fields(severity: str, sqlstate: str, message: str, more: Mapping[str, str]) -> bytes:
    fields = {"S": severity, "V": severity, "C": sqlstate, "M": message or "?", **more}
    parts = (name.encode() + _text(text) for name, text in fields.items() if text)
    return b"".join(parts) + b"\0"


def _text(text: str) -> bytes:
    if len(text) > _MAX_TEXT:
        text = f"{text[:_MAX_TEXT]}…"
    return encoded(text.replace("\0", "\ufffd")) + b"\0"
