"""Claims become a caller, or a reason; what each must say."""

from typing import Any

import pytest

from redask.core.access.credentials import new_token
from redask.core.access.identity_claims import LEEWAY, caller_of, looks_like_jwt
from redask.core.model import Caller
from redask.core.sign_in import RefusedToken, SignInSettings

NOW = 1_800_000_000
SETTINGS = SignInSettings(
    "https://login.example.com",
    "redask",
    role_claim="realm_access.roles",
    tenant_claim="https://example.com/org",
    roles=(("admins", "owner"), ("staff", "support")),
    attributes=(("region", "address.region"), ("areas", "areas"), ("missing", "none")),
)
PLAIN = SignInSettings("https://login.example.com", "redask")


def good(**changed: Any) -> dict[str, Any]:
    claims = {
        "iss": "https://login.example.com",
        "aud": ["other", "redask"],
        "exp": NOW + 60,
        "sub": "mia",
        "realm_access": {"roles": ["x", "staff"]},
        "https://example.com/org": "acme",
        "address": {"region": "north"},
        "areas": ["b", "a"],
        "role": "support",
        **changed,
    }
    return {name: value for name, value in claims.items() if value is not None}


def reason(claims: dict[str, Any], settings: SignInSettings = SETTINGS) -> str:
    with pytest.raises(RefusedToken) as caught:
        caller_of(claims, settings, NOW * 10**9)
    return str(caught.value)


def test_claims_are_mapped_as_the_settings_say() -> None:
    found = caller_of(good(), SETTINGS, NOW * 10**9)
    attributes = (("areas", ("b", "a")), ("region", "north"))
    assert found == Caller("acme", "mia", "support", attributes)
    assert hash(found)  # callers are keys of caches
    both = good(realm_access={"roles": ["staff", "admins"]})
    assert caller_of(both, SETTINGS, NOW * 10**9).role == "owner"  # the first row counts
    assert caller_of(good(), PLAIN, NOW * 10**9) == Caller("local", "mia", "support", ())


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"iss": "https://login.example.com/"}, "another issuer"),
        ({"iss": None}, "another issuer"),
        ({"aud": "other"}, "another audience"),
        ({"aud": ["redask2"]}, "another audience"),
        ({"aud": None}, "another audience"),
        ({"exp": NOW - LEEWAY}, "has expired"),
        ({"exp": None}, "never expires"),
        ({"exp": True}, "exp is no time"),
        ({"exp": str(NOW + 60)}, "exp is no time"),
        ({"exp": float("inf")}, "exp is no time"),
        ({"exp": float("nan")}, "exp is no time"),
        ({"nbf": NOW + LEEWAY + 1}, "nbf is still to come"),
        ({"iat": NOW + LEEWAY + 1}, "iat is still to come"),
        ({"sub": None}, "no name of a user"),
        ({"sub": 5}, "no name of a user"),
        ({"sub": ""}, "no name of a user"),
        ({"sub": "a\x1bb"}, "no name of a user"),
        ({"sub": "local"}, "whoever opens the files"),
        ({"realm_access": {"roles": ["x"]}}, "no row of sign_in.roles"),
        ({"realm_access": "staff2"}, "no row of sign_in.roles"),
        ({"https://example.com/org": ""}, "no name of a tenant"),
        ({"https://example.com/org": None}, "no name of a tenant"),
        ({"areas": [["x"]]}, "the attribute areas"),
        ({"areas": {"x": 1}}, "the attribute areas"),
    ],
)
def test_what_is_wrong_refuses(changed: dict[str, Any], expected: str) -> None:
    assert expected in reason(good(**changed))


@pytest.mark.parametrize("role", ["owner", "auditor", "*", 5, None, [], ["a", "b"]])
def test_without_rows_a_claim_makes_no_owner_and_is_one_role(role: object) -> None:
    assert reason(good(role=role), PLAIN)


def test_clocks_may_differ_a_little() -> None:
    late = good(exp=NOW - LEEWAY + 1, nbf=NOW + LEEWAY, iat=NOW + LEEWAY)
    assert caller_of(late, SETTINGS, NOW * 10**9).user == "mia"


def test_our_own_tokens_are_no_jwts() -> None:
    assert looks_like_jwt("a.b.c")
    for other in (new_token()[1], "a.b", "a.b.c.d", "", None, 5):
        assert not looks_like_jwt(other)
