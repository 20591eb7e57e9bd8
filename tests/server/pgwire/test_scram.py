"""SCRAM-SHA-256: the vector of RFC 7677, several tokens, and everything that is none."""

import base64
import hashlib
import hmac

import pytest
from fake_pgwire import ScramClient
from hypothesis import given
from hypothesis import strategies as st

from redask.core.access import credentials
from redask.core.access.credentials import TokenVerifier, Verifiers
from redask.server.pgwire.protocol import scram
from redask.server.pgwire.protocol.scram import Exchange
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError

NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"


def keys(password: str, salt: bytes, ident: str = "the token") -> TokenVerifier:
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 4096)
    client = hmac.digest(salted, b"Client Key", "sha256")
    server = hmac.digest(salted, b"Server Key", "sha256")
    return TokenVerifier(ident, hashlib.sha256(client).digest(), server)


RFC_SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")


def rfc() -> Exchange:
    exchange = Exchange(Verifiers(RFC_SALT, (keys("pencil", RFC_SALT),)), NONCE)
    challenge = exchange.first(b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    assert challenge == (
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    return exchange


RFC_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)


def test_the_exchange_of_the_rfc_is_ours() -> None:
    proven = rfc().final(RFC_FINAL)
    assert proven is not None
    assert proven.reply == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert proven.token == "the token"


@pytest.mark.parametrize("own", range(3))
def test_any_of_a_users_tokens_is_good(own: int) -> None:
    salt = credentials.scram_salt(b"secret", "local", "mia")
    tokens = [credentials.new_token()[1] for _ in range(3)]
    known = tuple(credentials.verifier(token, salt) for token in tokens)
    exchange, client = Exchange(Verifiers(salt, known), NONCE), ScramClient(tokens[own])
    proven = exchange.final(client.final(exchange.first(client.first())))
    assert proven is not None
    assert proven.token == credentials.token_id(tokens[own])
    assert proven.reply == client.expected


@pytest.mark.parametrize("header", ["n,,", "y,,", "n,a=somebody,"])
def test_clients_who_can_do_without_channel_binding_are_fine(header: str) -> None:
    salt = bytes(16)
    exchange = Exchange(Verifiers(salt, (keys("pencil", salt),)), NONCE)
    client = ScramClient("pencil")
    assert exchange.final(client.final(exchange.first(client.first(header)))) is not None


def test_a_wrong_password_and_nobody_are_nobody() -> None:
    salt = bytes(16)
    for known in ((keys("pencil", salt),), ()):
        exchange, client = Exchange(Verifiers(salt, known), NONCE), ScramClient("pen")
        assert exchange.final(client.final(exchange.first(client.first()))) is None


def test_nobody_signs_in_with_the_keys_that_only_take_time() -> None:
    """A proof that fits the all-zero keys cannot be made up: nothing hashes to zeros."""
    exchange = Exchange(Verifiers(bytes(16), ()), NONCE)
    exchange.first(b"n,,n=,r=abc")
    framed = f"c=biws,r=abc{NONCE}".encode()
    proof = base64.b64encode(bytes(32))
    assert exchange.final(framed + b",p=" + proof) is None


def test_known_and_unknown_users_cost_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    real = hmac.digest

    def counting(key: bytes, framed: bytes, name: str) -> bytes:
        counted.append(1)
        return real(key, framed, name)

    work = []
    salt = bytes(16)
    everyone = tuple(keys(f"p{n}", salt, str(n)) for n in range(5))
    for known in ((), everyone[:1], everyone):
        for password in ("p0", "wrong"):
            exchange, client = Exchange(Verifiers(salt, known), NONCE), ScramClient(password)
            final = client.final(exchange.first(client.first()))
            counted.clear()
            with monkeypatch.context() as patch:
                patch.setattr(hmac, "digest", counting)
                exchange.final(final)
            work.append(len(counted))
    assert work == [scram.LEAST * 2] * 6


def test_salts_tell_nothing_about_who_there_is() -> None:
    salts = {
        credentials.scram_salt(secret, tenant, user)
        for secret in (b"1", b"2")
        for tenant, user in (("a", "b"), ("a", "c"), ("ab", ""), ("", "ab"))
    }
    assert len(salts) == 8
    assert {len(salt) for salt in salts} == {16}


@pytest.mark.parametrize(
    "words",
    [
        b"",
        b"n,,",
        b"n,,n=,r=",
        b"p=tls-unique,,n=,r=x",
        b"n,,r=x",
        b"x,,n=,r=x",
        b"\xff",
        b"n,,n=,r=\0",
    ],
)
def test_a_first_message_that_is_none_is_said_to_be(words: bytes) -> None:
    with pytest.raises(SqlStateError) as caught:
        Exchange(Verifiers(bytes(16), ()), NONCE).first(words)
    assert caught.value.sqlstate == "08P01"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"c=biws", b"c=eSws"),  # another header than the first time
        (b"c=biws", b"c=!!"),
        (b"%hvY", b"%hvZ"),
        (b"p=dHzb", b"p=AAAAdHzb"),
        (b"p=", b"q="),
        (b"AndVQ=", b"AndVQ"),
        (b"p=", b"p=\xff"),
    ],
)
def test_a_last_message_that_is_none_is_said_to_be(old: bytes, new: bytes) -> None:
    with pytest.raises(SqlStateError) as caught:
        rfc().final(RFC_FINAL.replace(old, new))
    assert caught.value.sqlstate == "08P01"


def test_a_changed_proof_proves_nothing() -> None:
    assert rfc().final(RFC_FINAL.replace(b"p=dHzb", b"p=eHzb")) is None


@given(st.binary(max_size=60), st.binary(max_size=60))
def test_no_bytes_do_anything_else(first: bytes, final: bytes) -> None:
    exchange = Exchange(Verifiers(bytes(16), ()), NONCE)
    for step, words in ((exchange.first, b"n,,n=,r=" + first), (exchange.final, final)):
        try:
            step(words)
        except SqlStateError:
            continue
