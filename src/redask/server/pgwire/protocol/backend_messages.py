"""What the server says, as bytes: one function a message, none of which can fail.

Text that cannot travel (a zero byte, half of one character) is replaced: it only occurs in what
is said about bad input. Cells are encoded by `types` before they come here.
"""

import struct
from collections.abc import Mapping, Sequence

from redask.server.pgwire.session.planned import WireColumn
from redask.server.pgwire.types import oids

SSL_YES, SSL_NO = b"S", b"N"
_OK, _SASL, _SASL_CONTINUE, _SASL_FINAL = 0, 10, 11, 12
_INT = struct.Struct("!i")
_SHORT = struct.Struct("!h")
_COUNT = struct.Struct("!H")
_COLUMN = struct.Struct("!ihIhih")
_HEAD = struct.Struct("!ciH")
_MAX_SAID = 4000  # characters of a message about an error


def said(kind: bytes, body: bytes = b"") -> bytes:
    """A message."""
    return kind + _INT.pack(len(body) + _INT.size) + body


PARSE_COMPLETE, BIND_COMPLETE, CLOSE_COMPLETE = said(b"1"), said(b"2"), said(b"3")
NO_DATA, EMPTY_QUERY, SUSPENDED = said(b"n"), said(b"I"), said(b"s")
SIGNED_IN = said(b"R", _INT.pack(_OK))


def offer(mechanism: str) -> bytes:
    """How one may sign in."""
    return said(b"R", _INT.pack(_SASL) + _text(mechanism) + b"\0")


def challenge(words: bytes) -> bytes:
    """SASL goes on."""
    return said(b"R", _INT.pack(_SASL_CONTINUE) + words)


def proof(words: bytes) -> bytes:
    """SASL ends: what shows that we know the client's secret, too."""
    return said(b"R", _INT.pack(_SASL_FINAL) + words)


def parameter(name: str, value: str) -> bytes:
    """A setting that clients are told of."""
    return said(b"S", _text(name) + _text(value))


def key_data(process: int, key: bytes) -> bytes:
    """What a client needs to cancel."""
    return said(b"K", _INT.pack(process) + key)


def negotiate(unknown: Sequence[str]) -> bytes:
    """We speak 3.0, and do not know these options."""
    words = b"".join(map(_text, unknown))
    return said(b"v", _INT.pack(3 << 16) + _INT.pack(len(unknown)) + words)


def ready(status: str) -> bytes:
    """What comes next is yours; `status` is I, T or E."""
    return said(b"Z", status.encode())


def parameters(oids: Sequence[int]) -> bytes:
    """The types of a statement's parameters."""
    return said(b"t", _COUNT.pack(len(oids)) + b"".join(struct.pack("!I", each) for each in oids))


def columns(found: Sequence[WireColumn], formats: Sequence[int]) -> bytes:
    """The columns of what follows."""
    parts = [
        _text(each.name) + _COLUMN.pack(0, 0, each.oid, oids.size(each.oid), -1, form)
        for each, form in zip(found, formats, strict=True)
    ]
    return said(b"T", _COUNT.pack(len(parts)) + b"".join(parts))


def row(cells: Sequence[bytes | None]) -> bytes:
    """One row."""
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


def complete(tag: str) -> bytes:
    """A statement is done."""
    return said(b"C", _text(tag))


def trouble(
    sqlstate: str,
    message: str,
    *,
    fatal: bool = False,
    detail: str = "",
    hint: str = "",
    place: int = 0,
    kind: str = "",
) -> bytes:
    """What went wrong; `fatal`: and that was it.

    `place` counts characters of what was sent, from 1. `kind` is contract 20's, of which one
    SQLSTATE may have several; it stands where PostgreSQL names a routine.
    """
    severity = "FATAL" if fatal else "ERROR"
    more = {"D": detail, "H": hint, "P": str(place) if place else "", "R": kind}
    return said(b"E", _told(severity, sqlstate, message, more))


def warning(sqlstate: str, message: str) -> bytes:
    """What a client may want to know."""
    return said(b"N", _told("WARNING", sqlstate, message, {}))


def _told(severity: str, sqlstate: str, message: str, more: Mapping[str, str]) -> bytes:
    fields = {"S": severity, "V": severity, "C": sqlstate, "M": message or "?", **more}
    words = (name.encode() + _text(text) for name, text in fields.items() if text)
    return b"".join(words) + b"\0"


def _text(text: str) -> bytes:
    if len(text) > _MAX_SAID:
        text = f"{text[:_MAX_SAID]}…"
    return text.replace("\0", "\ufffd").encode("utf-8", "replace") + b"\0"
