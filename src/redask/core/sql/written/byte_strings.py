"""bytea: text to its one spelling, in hexadecimal digits.

    read_bytea("\\\\x 0A ff")     "\\\\x0aff"
    read_bytea("a\\\\000b")       "\\\\x610062"     the older form: octal escapes

Texts in this spelling sort as their bytes do.
"""

import re

from redask.core.errors import SqlError

_ESCAPED = re.compile(rb"\\([0-3][0-7]{2})|\\(\\)")
_SPACE = b" \n\t\r"
_PAIRS = re.compile(rb"(?:[ \n\t\r]*+[0-9a-fA-F]{2})*+[ \n\t\r]*+")
_HEX = b"0123456789abcdefABCDEF"


def read_bytea(text: str) -> str:
    """The spelling of the bytes that PostgreSQL reads; 22P02 or 22023 for what is none."""
    raw = text.encode()
    return hexadecimal(_from_hex(raw[2:]) if raw.startswith(b"\\x") else _from_escapes(raw))


def hexadecimal(data: bytes) -> str:
    return f"\\x{data.hex()}"


def bytes_of(written: str) -> bytes:
    """The bytes of what `hexadecimal` wrote."""
    return bytes.fromhex(written[2:])


def _from_hex(raw: bytes) -> bytes:
    """Pairs of digits, with white space between them and nowhere else."""
    if not raw.translate(None, _HEX) and len(raw) % 2 == 0:  # as drivers send it
        return bytes.fromhex(raw.decode())
    pairs = _PAIRS.match(raw)
    place = pairs.end() if pairs else 0
    for digit in raw[place : place + 2]:
        if digit not in _HEX:
            sign = raw[raw.index(digit, place) :].decode()[0]
            raise SqlError("22023", f'invalid hexadecimal digit: "{sign}"')
    if place < len(raw):
        raise SqlError("22023", "invalid hexadecimal data: odd number of digits")
    return bytes.fromhex(raw.translate(None, _SPACE).decode())


def _from_escapes(raw: bytes) -> bytes:
    if b"\\" in _ESCAPED.sub(b"", raw):
        raise SqlError("22P02", "invalid input syntax for type bytea")
    return _ESCAPED.sub(lambda found: b"\\" if found[2] else bytes([int(found[1], 8)]), raw)


def with_byte(written: str, place: int, value: int) -> str:
    """set_byte(): only the low eight bits of the value count."""
    data = bytearray(bytes_of(written))
    if not 0 <= place < len(data):
        raise SqlError("2202E", f"index {place} out of valid range, 0..{len(data) - 1}")
    data[place] = value & 255
    return hexadecimal(bytes(data))
