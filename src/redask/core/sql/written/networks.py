"""inet, cidr and macaddr: text to its one spelling.

    read_inet("192.168.0.1/24")       "192.168.0.1/24"      without the length if it is the whole
    read_cidr("192.168.0.0")          "192.168.0.0/32"
    read_macaddr("08002b-010203")     "08:00:2b:01:02:03"

Addresses of fewer than four numbers and numbers with leading zeros are refused.
"""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address

from redask.core.errors import SqlError
from redask.core.sql.runtime.refusals import unsupported

_SHORT = re.compile(r"\d+(?:\.\d+){0,2}\.?\Z|.*(?:\A|\.)0\d.*\Z", re.ASCII)
_LENGTH = re.compile(r"\d{1,3}\Z", re.ASCII)
_H, _HH = "([0-9a-f]{1,2})", "([0-9a-f]{2})"
_MAC = tuple(
    re.compile(form, re.ASCII)
    for form in (
        rf"\s*{':'.join([_H] * 6)}\s*\Z",
        rf"\s*{'-'.join([_H] * 6)}\s*\Z",
        rf"\s*{_HH * 3}[:-]{_HH * 3}\s*\Z",
        rf"\s*{_HH * 2}([.-]){_HH * 2}\3{_HH * 2}\s*\Z",
        rf"\s*{_HH * 6}\s*\Z",
    )
)


def read_inet(text: str) -> str:
    """An address with the length of its network."""
    address, bits = _parsed(text, "inet")
    return inet_text(address, bits)


def read_cidr(text: str) -> str:
    """A network: no bit is set to the right of its length."""
    address, bits = _parsed(text, "cidr")
    whole = address.max_prefixlen
    if int(address) & ((1 << (whole - bits)) - 1):
        raise SqlError("22P02", f'invalid cidr value: "{text}"')
    return cidr_text(address, bits)


def inet_text(address: IPv4Address | IPv6Address, bits: int) -> str:
    written = _address_text(address)
    return written if bits == address.max_prefixlen else f"{written}/{bits}"


def cidr_text(address: IPv4Address | IPv6Address, bits: int) -> str:
    return f"{_address_text(address)}/{bits}"


def address_and_length(written: str) -> tuple[IPv4Address | IPv6Address, int]:
    """What `inet_text` and `cidr_text` wrote."""
    text, _, bits = written.partition("/")
    address = ip_address(text)
    return address, int(bits) if bits else address.max_prefixlen


def as_inet(written: str) -> str:
    """A cidr as an inet."""
    return inet_text(*address_and_length(written))


def read_macaddr(text: str) -> str:
    for form in _MAC:
        found = form.match(text.lower())
        if found is not None:
            parts = [each for each in found.groups() if each not in (".", "-")]
            return ":".join(f"{int(each, 16):02x}" for each in parts)
    raise SqlError("22P02", f'invalid input syntax for type macaddr: "{text}"')


def _parsed(text: str, kind: str) -> tuple[IPv4Address | IPv6Address, int]:
    written, mark, length = text.partition("/")
    if _SHORT.match(written):
        raise unsupported(f'a value of type {kind} written "{text}"')
    try:
        if "%" in written:
            raise ValueError
        address = ip_address(written)
    except ValueError:
        raise _invalid(text, kind) from None
    if not mark:
        return address, address.max_prefixlen
    if not _LENGTH.match(length) or int(length) > address.max_prefixlen:
        raise _invalid(text, kind)
    if length.startswith("0") and len(length) > 1:
        raise unsupported(f'a value of type {kind} written "{text}"')
    return address, int(length)


def _invalid(text: str, kind: str) -> SqlError:
    return SqlError("22P02", f'invalid input syntax for type {kind}: "{text}"')


def _address_text(address: IPv4Address | IPv6Address) -> str:
    """An IPv6 address that holds one of IPv4 ends in its four numbers."""
    if isinstance(address, IPv4Address):
        return str(address)
    upper, lower = int(address) >> 32, IPv4Address(int(address) & 0xFFFFFFFF)
    if upper == 0xFFFF:
        return f"::ffff:{lower}"
    if upper == 0 and int(lower) >> 16:
        return f"::{lower}"
    return address.compressed
