"""Who a JWT of the company's identity provider signs in: `caller_of` its claims, once the
signature was found to be the provider's.

    claim                       refused unless
    iss                         it is the issuer of the settings, to the letter
    aud                         it is the audience, or a list that holds it
    exp                         it is there, and to come; nbf, iat, if there, have come; LEEWAY
    the user's                  it is a name that `credentials.check_user` takes
    the role's                  one of its values is a row of `sign_in.roles`, of which the first
                                counts; without such rows, it is one role, and neither owner nor
                                auditor: those are given by a row alone
    the tenant's                it is a name; where the settings name no claim, their tenant holds
    an attribute's              a claim that is missing is no attribute; one that is not text, a
                                number, true, false or a list of those is refused

A reason is for the log of the operator: every caller hears the same.
"""

from collections.abc import Mapping

from redask.core.access import credentials
from redask.core.access.policy import AUDITORS
from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.sign_in import RefusedToken, SignInSettings
from redask.core.text import name_fault
from redask.core.values import printable

LEEWAY = 30  # seconds that two clocks may differ


def looks_like_jwt(token: object) -> bool:
    """Whether a token is none of ours, and has the shape of a signed JWT."""
    return isinstance(token, str) and token.count(".") == 2 and not credentials.token_id(token)


def caller_of(claims: Mapping[str, object], chosen: SignInSettings, now: int) -> Caller:
    """Who it is, or `RefusedToken`; `now` in epoch nanoseconds."""
    if claims.get("iss") != chosen.issuer:
        raise RefusedToken("it is of another issuer")
    audience = claims.get("aud")
    if chosen.audience not in (audience if isinstance(audience, list) else [audience]):
        raise RefusedToken("it was made for another audience")
    _check_times(claims, now)
    user = _name(claims, chosen.user_claim, "user")
    role = _role(_claim(claims, chosen.role_claim), chosen)
    tenant = chosen.tenant
    if chosen.tenant_claim is not None:
        tenant = _name(claims, chosen.tenant_claim, "tenant")
    found = ((name, _claim(claims, path)) for name, path in chosen.attributes)
    given = {name: value for name, value in found if value is not None}
    try:
        known = credentials.check_user(user, role, given)
    except BadAsk as error:
        raise RefusedToken(error.message) from None
    attributes = tuple((name, _frozen(known.attributes[name])) for name in sorted(given))
    return Caller(tenant, user, role, attributes)


def _check_times(claims: Mapping[str, object], now: int) -> None:
    seconds = now / 1e9
    expires = _time(claims, "exp")
    if expires is None or seconds >= expires + LEEWAY:
        raise RefusedToken("it has expired" if expires is not None else "it never expires")
    for name in ("nbf", "iat"):
        begins = _time(claims, name)
        if begins is not None and begins > seconds + LEEWAY:
            raise RefusedToken(f"its {name} is still to come")


def _time(claims: Mapping[str, object], name: str) -> float | None:
    value = claims.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e15:
        raise RefusedToken(f"its {name} is no time")
    return float(value)


def _claim(claims: Mapping[str, object], path: str) -> object:
    """A claim by its name, or by the path to it."""
    if path in claims:
        return claims[path]
    found: object = claims
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _name(claims: Mapping[str, object], path: str, what: str) -> str:
    value = _claim(claims, path)
    if not isinstance(value, str) or name_fault(value):
        raise RefusedToken(f"its claim {printable(path)} is no name of a {what}")
    return value


def _role(value: object, chosen: SignInSettings) -> str:
    listed = value if isinstance(value, list) else [value]
    if chosen.roles:
        role = next((role for name, role in chosen.roles if name in listed), None)
        if role is None:
            raise RefusedToken("no row of sign_in.roles is for it")
        return role
    if len(listed) != 1 or not isinstance(listed[0], str):
        raise RefusedToken(f"its claim {printable(chosen.role_claim)} is not one role")
    if listed[0] in AUDITORS:
        raise RefusedToken(f"the role {listed[0]} needs a row of sign_in.roles")
    return listed[0]


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
