"""How long a tenant's next ask or statement waits before it begins: `TenantPaces(rate).wait(…)`.

Whatever passes through a server costs its own process a millisecond or two (sign-in, a thread, a
row in a log, a reply), also what is refused at once. Hundreds a second of one tenant leave nothing
of that process for the others, whose asks have many small steps in it. So while others ask, too:

    of one tenant                                    they
    the first, and BURST_SECONDS of the rate         begin at once
    more                                             begin one after the other, at that rate

A tenant that has the server to itself, because nobody of another one asked for ACTIVE_SECONDS,
waits for nothing. A rate of 0 is none. The caller keeps the clock, and waits.
"""

BURST_SECONDS = 0.25
ACTIVE_SECONDS = 10.0
_TENANTS = 1_000  # remembered before those that are as new are forgotten


class TenantPaces:
    """See the module; the times are those of one clock, and never go back."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._latest = ""  # the tenant that asked last
        self._asked = self._other_asked = float("-inf")  # when it did, and the last other one
        self._begin: dict[str, float] = {}  # when the last one of each tenant was to begin

    def wait(self, tenant: str, now: float) -> float:
        """The seconds until an ask of a tenant that comes now may begin."""
        if tenant != self._latest:
            self._latest, self._other_asked = tenant, self._asked
        self._asked = now
        if not self._rate or now - self._other_asked > ACTIVE_SECONDS:
            return 0.0
        as_new = now - max(BURST_SECONDS, 1 / self._rate)
        if len(self._begin) > _TENANTS:
            self._begin = {each: at for each, at in self._begin.items() if at > as_new}
        begin = max(self._begin.get(tenant, as_new), as_new) + 1 / self._rate
        self._begin[tenant] = begin
        return max(0.0, begin - now)
