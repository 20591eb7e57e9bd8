"""How long a client must wait after wrong tokens: `seconds_left`, of what `noted` counts.

    counted                                  free     then a wait of
    names of wrong tokens at an address      given    1 s, doubled with each further one, up to
    wrong tokens of one name at an address   5        60 s, from the last of them

A name is the public part of a token, a user's name where the token is not sent, or a hash of what
is no token of ours; a client that goes on with one that has expired has one name. It is counted for
an address alone: whoever sends wrong tokens under another's name keeps nobody out who signs in
from elsewhere. What was counted is forgotten after 10 minutes
without a wrong token. IPv6 clients have 2^64 addresses each, so an address is their first 64 bits.

Codes that browsers bring back cost a call of the identity provider each, whatever comes of it. In
CALL_SECONDS there are at most ADDRESS_CALLS of them for one address, and CALLS in all
(`may_call`), so that nobody has the provider flooded, nor keeps all others out.

The caller keeps the clock and the counts, and waits before it looks a token up: so the answer says
nothing about the token. Pure.
"""

import hashlib
import ipaddress
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from redask.core.access.credentials import token_id

FREE_OF_NAME = 5
FIRST_SECONDS = 1.0
MOST_SECONDS = 60.0
FORGOTTEN_SECONDS = 600.0
ADDRESS_CALLS, CALLS, CALL_SECONDS = 30, 120, 60.0


@dataclass(frozen=True, slots=True)
class WrongCount:
    """How many wrong tokens there were, and when the last one came."""

    count: int
    last: float


def noted(before: WrongCount | None, now: float) -> WrongCount:
    """The count with one more."""
    if before is None or is_forgotten(before, now):
        return WrongCount(1, now)
    return WrongCount(before.count + 1, now)


def is_forgotten(counted: WrongCount, now: float) -> bool:
    """Whether it was so long ago that it does not count."""
    return now - counted.last >= FORGOTTEN_SECONDS


def seconds_left(counted: WrongCount | None, now: float, free: int) -> float:
    """How long the next token must wait; 0: it may be looked at."""
    if counted is None or counted.count <= free or is_forgotten(counted, now):
        return 0.0
    doubled = FIRST_SECONDS * 2.0 ** min(counted.count - free - 1, 16)
    return max(0.0, counted.last + min(MOST_SECONDS, doubled) - now)


def recent_calls(calls: Iterable[tuple[float, str]], now: float) -> list[tuple[float, str]]:
    """The calls, by time and network, that still count."""
    return [each for each in calls if now - each[0] < CALL_SECONDS]


def may_call(recent: Collection[tuple[float, str]], network: str) -> bool:
    """Whether one more call of the identity provider may be made for a network."""
    of_network = sum(each == network for _, each in recent)
    return len(recent) < CALLS and of_network < ADDRESS_CALLS


def network_of(address: str) -> str:
    """What counts as one address."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Network((found, 64), strict=False).network_address)


def name_of(token: str) -> str:
    """The public part of a token, or a hash of what is none."""
    return token_id(token) or hashlib.sha256(token.encode(errors="replace")).hexdigest()
