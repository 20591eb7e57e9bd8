"""As whom a database is open: a `Caller`, or a token that is looked at for every statement."""

from dataclasses import dataclass, field

from redask.app import App
from redask.core.model import Caller


@dataclass(frozen=True, slots=True)
class TokenSignIn:
    """A token, and the tenant it must be for, if that matters.

    `of_page` is an ID token that the identity provider gave for a sign-in on the web page.
    """

    token: str = field(repr=False)
    tenant: str | None = None
    of_page: bool = False


@dataclass(frozen=True, slots=True)
class ProvenToken:
    """A token that somebody proved to hold, by its public part; and its tenant, as above."""

    ident: str
    tenant: str | None = None


def known_caller(who: TokenSignIn | ProvenToken, app: App) -> Caller | None:
    """Who asks, where that is known without waiting; None: a thread has to look."""
    if isinstance(who, ProvenToken) or who.of_page:
        return None
    return app.signing_in.known(who.token, app.clock(), who.tenant)
