"""What goes to the identity provider, what must come back, and in which token."""

import base64
import hashlib
from urllib.parse import parse_qsl, urlsplit

import pytest

from redask.core.access import authorization_code as flow
from redask.core.sign_in import RefusedToken

GOOD = {"nonce": flow.nonce_of("s"), "aud": "page"}


def test_the_provider_gets_state_nonce_and_a_hash_of_the_verifier() -> None:
    address = flow.request_address("https://i/a", "page & co", "https://here/back?x=1", "s")
    asked = dict(parse_qsl(urlsplit(address).query))
    digest = hashlib.sha256(flow.verifier_of("s").encode()).digest()
    assert asked == {
        "response_type": "code",
        "client_id": "page & co",
        "redirect_uri": "https://here/back?x=1",
        "scope": "openid profile email",
        "state": flow.state_of("s"),
        "nonce": flow.nonce_of("s"),
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    assert "https://i/a?tenant=1&response_type=" in flow.request_address(
        "https://i/a?tenant=1", "page", "https://here", "s"
    )


def test_what_is_made_of_a_secret_tells_neither_it_nor_each_other() -> None:
    made = [each(secret) for each in MAKERS for secret in ("s", "t")]
    assert len(set(made)) == 6
    assert {len(each) for each in made} == {43}


MAKERS = (flow.state_of, flow.nonce_of, flow.verifier_of)


def test_a_state_is_the_one_that_was_sent() -> None:
    assert flow.is_state_of(flow.state_of("s"), "s")
    for wrong in ("", "ü", "\ud800", flow.state_of("t"), flow.nonce_of("s")):
        assert not flow.is_state_of(wrong, "s")


@pytest.mark.parametrize(
    "change", [{}, {"azp": "page"}, {"aud": ["page"]}, {"aud": ["x", "page"], "azp": "page"}]
)
def test_a_token_of_this_sign_in_is_good(change: dict[str, object]) -> None:
    flow.check_id_token({**GOOD, **change}, "page", "s")


@pytest.mark.parametrize(
    "change",
    [
        {"nonce": flow.nonce_of("t")},
        {"nonce": None},
        {"nonce": 5},
        {"nonce": "ü\ud800"},
        {"aud": "other"},
        {"aud": None},
        {"aud": ["x", "page"]},
        {"azp": "other"},
        {"aud": ["x", "page"], "azp": "x"},
    ],
)
def test_any_other_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(RefusedToken):
        flow.check_id_token({**GOOD, **change}, "page", "s")
