"""Authentication: users, their attributes, and the tokens they sign in with.

    redask_<id>_<secret>        id: 16 hex digits, public; secret: 64 hex digits, 256 random bits

Only a salted hash of the secret is stored, so a token is shown once, when it is made. The secret
is random and long: a fast hash does not make it guessable, and keeps sign-in cheap enough to be
repeated for every statement. `matches` costs the same whether a token is known or not, and compares
in constant time. Every refusal is `REFUSED`, whatever its reason.

For transports where a token is a password that must not travel (SCRAM-SHA-256), two keys derived
from the whole token are stored as well. Their salt is the same for all tokens of a user, because
it is sent before it is known which of them the client has; it is derived from a secret of the
database and the name alone, so that an unknown name gets a salt, too.

    attribute            allowed
    name                 letters, digits, _; not name, role or tenant; at most 100 of them
    text                 at most 1000 characters, no control characters but tab and line ends
    number               64-bit integers, finite doubles
    true, false
    list of those        at most 100

The random numbers come from `secrets`; everything else here is pure.
"""

import hashlib
import hmac
import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from redask.core.access.policy import ANY_ROLE
from redask.core.access.predicate import MAX_TEXT
from redask.core.errors import BadAsk, Unauthenticated
from redask.core.model import Caller
from redask.core.text import forbidden, name_fault
from redask.core.values import printable

LOCAL_USER = Caller().user  # the process that opens the files; no user may have its name
MAX_ITEMS = 100
MAX_EXPIRY_SECONDS = 36_500 * 86_400
SCRAM_ITERATIONS = 4096  # the least that clients accept; the token itself is not guessable
REFUSED = "the token is not valid: sign in with one that is"

_SHAPE = re.compile(r"redask_([0-9a-f]{16})_([0-9a-f]{64})", re.ASCII)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_OWN = frozenset({"name", "role", "tenant"})


@dataclass(frozen=True, slots=True)
class User:
    """A user who may sign in."""

    name: str
    role: str
    attributes: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """The metadata of a token, without its secret; times in epoch nanoseconds."""

    id: str
    user: str
    made: int
    expires: int | None
    revoked: int | None


@dataclass(frozen=True, slots=True)
class TokenHash:
    """The salted hash that a token is checked against."""

    salt: bytes
    digest: bytes


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token as it is stored, and the user it signs in."""

    facts: TokenFacts
    hash: TokenHash
    caller: Caller


@dataclass(frozen=True, slots=True)
class TokenVerifier:
    """The SCRAM keys that a client's proof is checked against, by the token's public part."""

    token: str
    stored_key: bytes
    server_key: bytes


@dataclass(frozen=True, slots=True)
class Verifiers:
    """The SCRAM keys of all live tokens of a user; none for an unknown user."""

    salt: bytes
    tokens: tuple[TokenVerifier, ...]
    iterations: int = SCRAM_ITERATIONS


# Matches no secret: checking an unknown token takes the same time as a known one.
NO_HASH = TokenHash(bytes(16), bytes(32))


def new_token() -> tuple[str, str, TokenHash]:
    """A new token: its id, the whole token to show once, and the hash to store."""
    ident, secret, salt = secrets.token_hex(8), secrets.token_hex(32), secrets.token_bytes(16)
    return ident, f"redask_{ident}_{secret}", TokenHash(salt, _digest(salt, secret))


def token_id(token: str) -> str:
    """The public part of a token; empty when the text is no token."""
    found = _SHAPE.fullmatch(token)
    return found[1] if found else ""


def matches(token: str, stored: TokenHash) -> bool:
    """Whether the token matches the stored hash."""
    found = _SHAPE.fullmatch(token)
    given = _digest(stored.salt, found[2] if found else "0" * 64)
    return hmac.compare_digest(given, stored.digest) and found is not None


def scram_salt(secret: bytes, tenant: str, user: str) -> bytes:
    """The SCRAM salt of a user name, known or not."""
    return hmac.digest(secret, f"{tenant}\0{user}".encode(), hashlib.sha256)[:16]


def verifier(token: str, salt: bytes) -> TokenVerifier:
    """The SCRAM keys of a token, to store."""
    salted = hashlib.pbkdf2_hmac("sha256", token.encode(), salt, SCRAM_ITERATIONS)
    client_key = hmac.digest(salted, b"Client Key", hashlib.sha256)
    server_key = hmac.digest(salted, b"Server Key", hashlib.sha256)
    return TokenVerifier(token_id(token), hashlib.sha256(client_key).digest(), server_key)


def is_live(facts: TokenFacts, now: int) -> bool:
    """Whether a token is neither revoked nor expired; at its expiry it is."""
    return facts.revoked is None and (facts.expires is None or now < facts.expires)


def signed_in(token: str, found: StoredToken | None, now: int, tenant: str | None) -> Caller:
    """Whose token it is, given what is stored under its id; one refusal for every reason.

    It is unknown, cut, expired, revoked, of another tenant than asked for, or its user is gone.
    """
    matching = matches(token, found.hash if found else NO_HASH)
    if not matching or not found or not is_live(found.facts, now):
        raise Unauthenticated(REFUSED)
    return enter(found.caller, tenant)


def held_by(found: StoredToken | None, now: int, tenant: str | None) -> Caller:
    """Whose token it is, of which somebody proved at sign-in that they hold it."""
    if not found or not is_live(found.facts, now):
        raise Unauthenticated(REFUSED)
    return enter(found.caller, tenant)


def enter(caller: Caller, tenant: str | None) -> Caller:
    """The caller, who enters its own tenant and no other; None: whichever that is.

    The one function that says who may enter which tenant: every way to sign in ends here.
    """
    if tenant is not None and caller.tenant != tenant:
        raise Unauthenticated(REFUSED)
    return caller


def expiry(now: int, seconds: int | None) -> int | None:
    """When a token that is made now expires, in epoch nanoseconds; None: never."""
    if seconds is not None and seconds > MAX_EXPIRY_SECONDS:
        raise BadAsk("a token expires within 36500 days, or never", detail="expires")
    return None if seconds is None else now + seconds * 10**9


def check_user(name: object, role: object, attributes: object) -> User:
    """A user from plain data, or `BadAsk` that says what is wrong and where."""
    for what, value in (("user", name), ("role", role)):
        fault = name_fault(value) if isinstance(value, str) else "is not text"
        if fault:
            raise BadAsk(f"the name of the {what} {fault}", detail=what)
    assert isinstance(name, str)
    assert isinstance(role, str)
    if name == LOCAL_USER:
        raise BadAsk(f"{name} is the name of whoever opens the files: choose another", detail=name)
    if role == ANY_ROLE:
        raise BadAsk(f"{ANY_ROLE} stands for every role in a policy: it is no role", detail="role")
    if not isinstance(attributes, Mapping) or len(attributes) > MAX_ITEMS:
        raise BadAsk(f"attributes are at most {MAX_ITEMS} names with values", detail="attributes")
    return User(name, role, {_name(key): _value(key, attributes[key]) for key in attributes})


def _name(key: object) -> str:
    if not isinstance(key, str) or len(key) > MAX_ITEMS or not _NAME.fullmatch(key):
        raise _bad(key, f"has a name that is not letters, digits and _, at most {MAX_ITEMS}")
    if key in _OWN:
        raise _bad(key, "is known of every user: it cannot be given")
    return key


def _value(key: object, value: object) -> object:
    if not isinstance(value, list | tuple):
        return _single(key, value)
    if len(value) > MAX_ITEMS:
        raise _bad(key, f"lists more than {MAX_ITEMS} values")
    return [_single(key, item) for item in value]


def _single(key: object, value: object) -> object:
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise _bad(key, f"is longer than {MAX_TEXT} characters")
        if forbidden(value, lines=True) is not None:
            raise _bad(key, "holds a control character or half of one character")
    elif isinstance(value, int):  # a boolean is one, too
        if not -(1 << 63) <= value < 1 << 63:
            raise _bad(key, "is an integer beyond 64 bits")
    elif not isinstance(value, float) or not math.isfinite(value):
        raise _bad(key, "is neither text, a number, true, false nor a list of those")
    return value


def _bad(key: object, why: str) -> BadAsk:
    return BadAsk(f"the attribute {printable(key)} {why}", detail=f"attributes.{printable(key)}")


def _digest(salt: bytes, secret: str) -> bytes:
    return hmac.digest(salt, secret.encode(), hashlib.sha256)
