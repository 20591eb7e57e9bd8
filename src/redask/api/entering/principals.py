"""As whom a database is open: a `Caller`, or a token that is looked at for every statement."""

from dataclasses import dataclass, field


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
