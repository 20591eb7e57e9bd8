"""Back-off on wrong tokens: `WrongTokens`, what a server remembers of them, within a bound.

`check` before a token is looked up raises `Overloaded` while its address, or its name at this
address, must wait; `failed` and `succeeded` say how it went. The rule is `core.access.
sign_in_delays`. A token that was good is known by a keyed hash for a while, and waits for nobody:
behind a proxy many clients have one address. It is still looked up, so a revoked one is refused.

`note_call` bounds how often the identity provider is called for who brings codes.

Beyond MOST counts the oldest is forgotten, and so is the oldest good token.
"""

import hashlib
import hmac
import math
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class WrongTokens:
    """`free` names of wrong tokens at an address cost nothing."""

    free: int = 20
    clock: Callable[[], float] = time.monotonic
    most: int = MOST
    _counts: dict[tuple[str, str], WrongCount] = field(default_factory=dict)  # oldest first
    _calls: list[tuple[float, str]] = field(default_factory=list)  # of the identity provider
    _good: dict[bytes, None] = field(default_factory=dict)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

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
        self._good.pop(self._mark(token), None)
        self.failed_name(address, name_of(token))

    def failed_name(self, address: str, name: str) -> None:
        """The same by the user's name."""
        network, now = network_of(address), self.clock()
        before = self._counts.pop((network, name), None)
        self._counts[network, name] = noted(before, now)
        if before is None or is_forgotten(before, now):
            self._counts[network, ""] = noted(self._counts.pop((network, ""), None), now)
        while len(self._counts) > self.most:
            del self._counts[next(iter(self._counts))]

    def succeeded(self, address: str, token: str) -> None:
        """It was good."""
        mark = self._mark(token)
        self._good.pop(mark, None)
        self._good[mark] = None
        while len(self._good) > self.most:
            del self._good[next(iter(self._good))]
        self.succeeded_name(address, name_of(token))

    def succeeded_name(self, address: str, name: str) -> None:
        """The same by the user's name."""
        self._counts.pop((network_of(address), name), None)

    def _mark(self, token: str) -> bytes:
        return hmac.digest(self._key, token.encode(errors="replace"), hashlib.sha256)
