"""What a server lets clients have: `ServingLimits`, by the settings `serve.*` of its operator.

connections     of each transport at once: all, of one address, and of clients that nobody
                signed in on; if not given, by the descriptors that the process may have
wrong_tokens    of one address that cost nothing; see `access.sign_in_delays`
public          what is served without sign-in, of `PUBLIC`
public_url      where people's browsers reach the server, for links to sources; by each request's
                Host if not given
chat            the name of the database as a model; whether its answers end with the sources;
                whether a stream of one sends nothing before all of it was checked
tenants         whom this server serves, of several on one database; empty: all
snapshots       where servers keep copies of their index that new ones start from; none if not given
asks            how many of one user, and of one tenant, run and wait at once; see
                `access.ask_shares`
tenant_rate     how many of one tenant begin in a second, while others ask; see
                `access.tenant_paces`

A server may be several processes on one directory (`ProcessPlace`). What the operator gives all of
it, each has its part of, rounded up: `part_of`.
"""

import re
from dataclasses import dataclass, replace

from redask.core import values

PUBLIC = ("metrics", "openapi", "reflection", "tools")
ORIGIN = re.compile(r"https?://[a-z0-9.-]+(:[0-9]{1,5})?|https?://\[[0-9a-f:]+\](:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class ServingLimits:
    """See the module; None: by default."""

    connections: int | None = None
    connections_per_address: int | None = None
    unauthenticated_connections: int | None = None
    wrong_tokens: int = 20
    public: tuple[str, ...] = ()
    public_url: str | None = None
    chat_model: str = "redask"
    chat_sources_in_text: bool = False
    chat_checked: bool = False
    user_running: int | None = None
    user_waiting: int | None = None
    tenant_running: int | None = None
    tenant_waiting: int | None = None
    tenant_rate: int = 200
    tenants: tuple[str, ...] = ()
    snapshots: str | None = None

    def serves(self, tenant: str) -> bool:
        """Whether a tenant is served here."""
        return not self.tenants or tenant in self.tenants


def public(value: object) -> tuple[str, ...]:
    """A list of what is public, in a fixed order; reader of a setting."""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise values.Unfit("a list of names", values.shown(value))
    named = {each.strip() for each in listed} - {""}
    unknown = sorted(named - set(PUBLIC))
    if unknown:
        raise values.Unfit(f"names out of {', '.join(PUBLIC)}", values.shown(unknown[0]))
    return tuple(each for each in PUBLIC if each in named)


def public_url(value: object) -> str:
    """An origin, without the slash behind it; reader of a setting."""
    origin = value.removesuffix("/") if isinstance(value, str) else ""
    if not ORIGIN.fullmatch(origin):
        raise values.Unfit(
            "scheme://host, in lower case, and nothing after it but a port", values.shown(value)
        )
    return origin


@dataclass(frozen=True, slots=True)
class ProcessPlace:
    """Which of the processes of a server this is, from 0, and how many there are."""

    number: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this is the one that does what one of them does for all."""
        return self.number == 0

    def part(self, whole: int) -> int:
        """Its part of what all may have, rounded up: nobody has nothing."""
        return -(-whole // self.count)


ALONE = ProcessPlace()


def part_of(limits: ServingLimits, place: ProcessPlace) -> ServingLimits:
    """What one process of a server lets clients have.

    connections, asks of a user and of a tenant    divided; None stays
    wrong_tokens                                   as given: the processes count together
    tenant_rate                                    as given: it is what one process can do
    """

    def part(given: int | None) -> int | None:
        return None if given is None else place.part(given)

    return replace(
        limits,
        connections=part(limits.connections),
        connections_per_address=part(limits.connections_per_address),
        unauthenticated_connections=part(limits.unauthenticated_connections),
        user_running=part(limits.user_running),
        user_waiting=part(limits.user_waiting),
        tenant_running=part(limits.tenant_running),
        tenant_waiting=part(limits.tenant_waiting),
    )
