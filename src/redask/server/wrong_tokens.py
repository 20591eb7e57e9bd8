"""Back-off on wrong tokens: `WrongTokens`, what a server remembers of them, within a bound.

`check` before a token is looked up raises `Overloaded` while its address, or its name at this
address, must wait; `failed` and `succeeded` say how it went. The rule is `core.access.
sign_in_delays`. A token that was good is known by a keyed hash for a while, and waits for nobody:
behind a proxy many clients have one address. It is still looked up, so a revoked one is refused.

`note_call` bounds how often the identity provider is called for who brings codes.

Beyond MOST counts the oldest is forgotten, and so is the oldest good token.

The processes of one server count together: `told` is given each change, which the others `hear`,
and one that begins later `restore`s what another `kept`. `key` is the same for all of them then.
"""

import hashlib
import hmac
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from redask.core.access.sign_in_delays import (
    FREE_OF_NAME,
    WrongCount,
    is_forgotten,
    may_call,
    name_of,
    network_of,
    noted,
    recent_calls,
    seconds_left,
)
from redask.core.errors import Overloaded

MOST = 10_000
WRONG, RIGHT, GOOD, BAD = "wrong", "right", "good", "bad"
TellOthers = Callable[[str, str, str], None]  # one of these words, and what it is said of


def _nobody(_: str, __: str, ___: str) -> None:
    pass


@dataclass(slots=True)
class WrongTokens:
    """`free` names of wrong tokens at an address cost nothing."""

    free: int = 20
    clock: Callable[[], float] = time.monotonic
    most: int = MOST
    _counts: dict[tuple[str, str], WrongCount] = field(default_factory=dict)  # oldest first
    _calls: list[tuple[float, str]] = field(default_factory=list)  # of the identity provider
    _good: dict[bytes, None] = field(default_factory=dict)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    told: TellOthers = _nobody

    def check(self, address: str, token: str) -> None:
        """Raise if a token must wait."""
        if self._mark(token) not in self._good:
            self.check_name(address, name_of(token))

    def check_name(self, address: str, name: str) -> None:
        """The same for a token that is not sent, by the user's name."""
        network, now = network_of(address), self.clock()
        left = max(
            seconds_left(self._counts.get((network, "")), now, self.free),
            seconds_left(self._counts.get((network, name)), now, FREE_OF_NAME),
        )
        if left > 0:
            raise Overloaded(
                f"too many wrong tokens came from here: try again in {math.ceil(left)} s",
                detail="sign_in",
            )

    def note_call(self, address: str) -> None:
        """The identity provider is about to be called for an address; raise if it may not be."""
        network, now = network_of(address), self.clock()
        self._calls = recent_calls(self._calls, now)
        if not may_call(self._calls, network):
            raise Overloaded("many people are signing in: try again soon", detail="sign_in")
        self._calls.append((now, network))

    def failed(self, address: str, token: str) -> None:
        """It was wrong."""
        mark = self._mark(token)
        if mark in self._good:
            self._change(BAD, mark.hex(), "")
        self.failed_name(address, name_of(token))

    def failed_name(self, address: str, name: str) -> None:
        """The same by the user's name."""
        self._change(WRONG, network_of(address), name)

    def succeeded(self, address: str, token: str) -> None:
        """It was good."""
        mark = self._mark(token)
        if mark in self._good:
            self._good[mark] = self._good.pop(mark)
        else:
            self._change(GOOD, mark.hex(), "")
        self.succeeded_name(address, name_of(token))

    def succeeded_name(self, address: str, name: str) -> None:
        """The same by the user's name."""
        network = network_of(address)
        if (network, name) in self._counts:
            self._change(RIGHT, network, name)

    def hear(self, word: str, of: str, name: str) -> None:
        """What another process of this server was told."""
        match word:
            case "wrong":
                self._count(of, name)
            case "right":
                self._counts.pop((of, name), None)
            case "good":
                self._keep_good(bytes.fromhex(of))
            case "bad":
                self._good.pop(bytes.fromhex(of), None)

    def kept(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        counts = [[*key, each.count, each.last] for key, each in self._counts.items()]
        return {"counts": counts, "good": [each.hex() for each in self._good]}

    def restore(self, kept: dict[str, Any]) -> None:
        """Begin with what another process kept; their monotonic clocks are one."""
        for network, name, count, last in kept["counts"]:
            self._counts[network, name] = WrongCount(count, last)
        for mark in kept["good"]:
            self._good[bytes.fromhex(mark)] = None

    def _change(self, word: str, of: str, name: str) -> None:
        self.hear(word, of, name)
        self.told(word, of, name)

    def _count(self, network: str, name: str) -> None:
        now = self.clock()
        before = self._counts.pop((network, name), None)
        self._counts[network, name] = noted(before, now)
        if before is None or is_forgotten(before, now):
            self._counts[network, ""] = noted(self._counts.pop((network, ""), None), now)
        while len(self._counts) > self.most:
            del self._counts[next(iter(self._counts))]

    def _keep_good(self, mark: bytes) -> None:
        self._good.pop(mark, None)
        self._good[mark] = None
        while len(self._good) > self.most:
            del self._good[next(iter(self._good))]

    def _mark(self, token: str) -> bytes:
        return hmac.digest(self.key, token.encode(errors="replace"), hashlib.sha256)
