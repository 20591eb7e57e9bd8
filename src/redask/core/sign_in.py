"""Whose tokens are taken beside our own: an identity provider's, by the settings `sign_in.*`.

    [sign_in]                                  in the operator's own configuration only
    issuer = "https://login.example.com/x"     as the tokens' `iss` says it; nothing without it
    audience = "redask"                        as their `aud` must name it
    discovery = "/etc/redask/openid.json"      a URL or a file; by the issuer if not given
    algorithms = ["RS256", "ES256"]            of the asymmetric ones; all of them if not given
    user_claim = "sub"; role_claim = "realm_access.roles"; tenant_claim = "org"
    tenant = "local"                           of all, where no claim says it
    client_id = "redask-page"                  the web page's: it offers to sign in by a redirect;
                                               its secret, if any: REDASK_SIGN_IN_CLIENT_SECRET
    [sign_in.roles]                            what a value of the role claim means here
    "redask-admins" = "owner"                  in this order, where a token has several
    [sign_in.attributes]                       `:user.…` of policies, each from a claim
    region = "region"

A claim is named by its path, with dots; a name that holds dots itself (a URL) is tried first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from redask.core import values
from redask.core.errors import Misconfigured

# Those with two keys: with one that both sides hold, whoever checks a token could make one.
ASYMMETRIC = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
Pairs = tuple[tuple[str, str], ...]


class RefusedToken(Exception):
    """A JWT that signs nobody in; the message is the reason, without any value of the token."""


@dataclass(frozen=True, slots=True)
class SignInSettings:
    """See the module."""

    issuer: str | None = None
    audience: str | None = None
    discovery: str | None = None
    algorithms: tuple[str, ...] = ASYMMETRIC
    user_claim: str = "sub"
    role_claim: str = "role"
    tenant_claim: str | None = None
    tenant: str = "local"
    roles: Pairs = ()
    attributes: Pairs = ()
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)


def algorithms(value: object) -> tuple[str, ...]:
    """A list of asymmetric algorithms; reader of a setting."""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise values.Unfit("a list of algorithms", values.shown(value))
    named = [each.strip() for each in listed]
    unknown = next((each for each in named if each not in ASYMMETRIC), None)
    if unknown is not None or not named:
        raise values.Unfit(f"algorithms out of {', '.join(ASYMMETRIC)}", values.shown(unknown))
    return tuple(each for each in ASYMMETRIC if each in named)


def pairs(table: Mapping[str, object], name: str) -> Pairs:
    """A table of texts, in the order it is written in."""
    for key, value in table.items():
        if not isinstance(value, str) or not value or not key:
            where = f"sign_in.{name}.{values.printable(key)}"
            raise Misconfigured(f"{where}: expected a text", detail=where)
    return tuple((key, str(value)) for key, value in table.items())


def check(chosen: SignInSettings) -> SignInSettings:
    """The settings, if they hold together."""
    if chosen.issuer is not None and chosen.audience is None:
        raise Misconfigured(
            "sign_in.audience is needed: without it, tokens made for other programs would do",
            detail="sign_in.audience",
        )
    if chosen.client_id is not None and chosen.issuer is None:
        raise Misconfigured(
            "sign_in.issuer is needed: a client is known to an issuer", detail="sign_in.issuer"
        )
    return chosen
