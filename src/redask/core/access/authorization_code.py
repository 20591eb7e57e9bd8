"""Signing in by a redirect to the identity provider: OpenID Connect's authorization code flow.

A browser that begins gets one random secret, in a cookie of its own. All else is made of it, so
that nothing has to be kept of whoever begins, and nothing fits that another browser began:

    state       goes to the provider and comes back: the browser that returns is the one that left
    nonce       goes there and comes back inside the ID token: the token was made for this sign-in
    verifier    goes there as its hash, and later with the code (PKCE): who has only the code,
                which stands in an address, gets nothing for it

`check_id_token` says whether claims, whose signature is the provider's, are of this sign-in:

    claim       refused unless
    nonce       it is this sign-in's
    aud         it is the client, or a list that holds it
    azp         it is the client, where it is given; it must be, where `aud` lists several

What else they must be (issuer, times, user, role) `identity_claims` says, with the client as the
audience.
"""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from redask.core.sign_in import RefusedToken

SCOPE = "openid profile email"


def state_of(secret: str) -> str:
    return _made(secret, "state")


def nonce_of(secret: str) -> str:
    return _made(secret, "nonce")


def verifier_of(secret: str) -> str:
    return _made(secret, "verifier")


def request_address(endpoint: str, client: str, redirect: str, secret: str) -> str:
    """Where a browser is sent to sign in."""
    challenge = hashlib.sha256(verifier_of(secret).encode()).digest()
    asked = {
        "response_type": "code",
        "client_id": client,
        "redirect_uri": redirect,
        "scope": SCOPE,
        "state": state_of(secret),
        "nonce": nonce_of(secret),
        "code_challenge": _encoded(challenge),
        "code_challenge_method": "S256",
    }
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in asked.items())
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{query}"


def is_state_of(state: str, secret: str) -> bool:
    """Whether a state that came back is the one that was sent."""
    return hmac.compare_digest(state.encode("utf-8", "replace"), state_of(secret).encode())


def check_id_token(claims: Mapping[str, object], client: str, secret: str) -> None:
    """`RefusedToken` unless the claims are of this sign-in."""
    nonce, audience, party = claims.get("nonce"), claims.get("aud"), claims.get("azp")
    listed = audience if isinstance(audience, list) else [audience]
    if not isinstance(nonce, str) or not hmac.compare_digest(
        nonce.encode("utf-8", "replace"), nonce_of(secret).encode()
    ):
        raise RefusedToken("its nonce is of another sign-in")
    if client not in listed:
        raise RefusedToken("it was made for another client")
    if party != client and (party is not None or len(listed) > 1):
        raise RefusedToken("it was given to another client")


def _made(secret: str, what: str) -> str:
    return _encoded(hmac.digest(secret.encode("utf-8", "replace"), what.encode(), hashlib.sha256))


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
