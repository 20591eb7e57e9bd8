"""Sign-in with a JWT of a real issuer on loopback, on every transport that takes bearer tokens."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import httpx2
import pytest
from issuer import AUDIENCE, Issuer
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from server_thread import serving_database
from stage import ROWS

import redask
from redask.api.asynchronous import AsyncDatabase
from redask.api.sync import open_async
from redask.core.errors import Misconfigured, StoreFailed, Unauthenticated
from redask.core.settings import Settings, load
from redask.providers.identity import issuer_keys
from redask.server import mcp_transport, serving
from redask.server.admission import Admission
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc
from redask.server.sessions import Authenticator

POLICY = {"read": [{"roles": ["support"], "rows": "id = :user.only"}]}
ENV = {"REDASK_EMBEDDER_NAME": "none", "REDASK_SELECT_TIMEOUT_MS": "60000"}


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Issuer]:
    monkeypatch.setattr(issuer_keys, "BETWEEN", 0.0)
    with Issuer() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with redask.open(tmp_path / "db") as db:
        db.put("notes", ROWS)
        db.put("boats", [{"id": 1, "name": "Aurora"}, {"id": 2, "name": "Borealis"}])
        db.set_policy("boats", POLICY)
    return tmp_path / "db"


def settings(issuer: Issuer, **more: str) -> Settings:
    chosen = {"issuer": issuer.url, "audience": AUDIENCE, **more}
    rows = "\n".join(f"{key} = {json.dumps(value)}" for key, value in chosen.items())
    tables = '[sign_in.attributes]\nonly = "boat"\n'
    return load("", ENV, f"[sign_in]\n{rows}\n{tables}")


def bad_tokens(issuer: Issuer) -> dict[str, str]:
    """Tokens that a good issuer never makes, or that are for others; each alone is wrong."""
    good = issuer.token()
    with Issuer() as other:
        forged = other.token(iss=issuer.url)
    said, _, signature = good.rpartition(".")
    return {
        "another audience": issuer.token(aud="other"),
        "expired": issuer.token(exp=int(issuer.now()) - 3600),
        "not yet": issuer.token(nbf=int(issuer.now()) + 3600),
        "no expiry": issuer.token(exp=None),
        "another issuer": issuer.token(iss="https://elsewhere"),
        "alg none": issuer.unsigned(),
        "alg none, in capitals": issuer.unsigned().replace("none", "None"),
        "HS256 by the public key": issuer.confused(),
        "an unknown kid": issuer.token(header={"kid": "rsa-99"}),
        "the kid of another kind of key": issuer.token(header={"kid": "ec-1"}),
        "no kid among several": issuer.token(header={"kid": None}),
        "signed by another": forged,
        "a header asks for more": issuer.token(header={"crit": ["x"], "x": 1}),
        "a changed signature": f"{said}.{signature[:-4]}AAAA",
        "owner by itself": issuer.token(role="owner"),
        "no role": issuer.token(role=None),
        "the local user": issuer.token(sub="local"),
        "nothing": "..",
        "too long": f"{said}.{signature}{'A' * 20_000}",
    }


def test_a_jwt_signs_in_with_role_and_attributes_and_bad_ones_do_not(
    home: Path, issuer: Issuer
) -> None:
    with redask.open(home, settings=settings(issuer)) as db:
        for kind in ("rsa", "ec", "ed"):
            session = db.signed_in(issuer.token(kind, boat=2))
            assert [dict(row) for row in session.select("SELECT name FROM boats")] == [
                {"name": "Borealis"}
            ]
            assert session.ask("Which boat is Aurora?").citations == ()
        with pytest.raises(redask.AskError, match="boats"):
            db.signed_in(issuer.token()).select("SELECT name FROM boats")  # no attribute
        row = db.audit(1)[0].row
        assert (row["user"], row["role"], row["tenant"]) == ("mia", "support", "local")
        for what, token in bad_tokens(issuer).items():
            with pytest.raises(Unauthenticated) as caught:
                db.signed_in(token)
            assert caught.value.message.startswith("the token is not valid"), what
        with pytest.raises(Unauthenticated):
            db.signed_in(issuer.token(), tenant="acme")
    with redask.open(home, settings=settings(issuer), token=issuer.token()) as mine:
        assert mine.ask("Which ferry leaves?").answer


def test_a_session_ends_when_its_token_expires(home: Path, issuer: Issuer) -> None:
    now = 0

    def clock() -> int:
        return int(issuer.now() * 1e9) + now

    with redask.open(home, settings=settings(issuer), clock=clock) as db:
        session = db.signed_in(issuer.token())
        assert session.search("ferry").hits
        now = 3600 * 10**9
        with pytest.raises(Unauthenticated):
            session.search("ferry")


def test_keys_rotate_and_an_issuer_that_is_down_keeps_those_it_had(
    home: Path, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redask.open(home, settings=settings(issuer)) as db:
        old = issuer.token()
        db.signed_in(old)
        read = issuer.reads
        for _ in range(20):
            db.signed_in(old)
        assert issuer.reads == read  # known keys are not read again
        issuer.rotate()
        db.signed_in(issuer.token())
        with pytest.raises(Unauthenticated):
            db.signed_in(old)  # withdrawn
        issuer.down = True
        db.signed_in(issuer.token())
        monkeypatch.setattr(issuer_keys, "KEEP", 0.0)
        db.signed_in(issuer.token())
        monkeypatch.setattr(issuer_keys, "STALE", 0.0)
        with pytest.raises(StoreFailed, match="cannot be read now"):
            db.signed_in(issuer.token())


def test_unknown_keys_do_not_make_the_issuer_busy(
    home: Path, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer_keys, "BETWEEN", 60.0)
    with redask.open(home, settings=settings(issuer)) as db:
        db.signed_in(issuer.token())
        for number in range(50):
            with pytest.raises(Unauthenticated):
                db.signed_in(issuer.token(header={"kid": f"rsa-{number + 9}"}))
        assert issuer.reads == 1


def test_an_issuer_that_cannot_be_reached_or_is_another_signs_nobody_in(
    home: Path, issuer: Issuer
) -> None:
    token = issuer.token()
    issuer.down = True
    with (
        redask.open(home, settings=settings(issuer)) as db,
        pytest.raises(StoreFailed, match="cannot be read now"),
    ):
        db.signed_in(token)
    issuer.down, issuer.said_issuer = False, "https://other"
    with redask.open(home, settings=settings(issuer)) as db:
        with pytest.raises(StoreFailed) as caught:
            db.signed_in(token)
        assert caught.value.detail == "the discovery document is of another issuer"


def test_discovery_may_be_a_file(home: Path, issuer: Issuer, tmp_path: Path) -> None:
    keys, document = tmp_path / "keys.json", tmp_path / "openid.json"
    keys.write_text(json.dumps(issuer.jwks()))
    document.write_text(json.dumps({"issuer": issuer.url, "jwks_uri": "keys.json"}))
    read = issuer.reads
    for file in (document, keys):
        with redask.open(home, settings=settings(issuer, discovery=str(file))) as db:
            db.signed_in(issuer.token())
    assert issuer.reads == read


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"jwks_uri": 5}', '{"jwks_uri": "http://example.com/k"}', '{"keys": 1}'],
)
def test_a_broken_discovery_document_signs_nobody_in(
    home: Path, issuer: Issuer, tmp_path: Path, content: str
) -> None:
    file = tmp_path / "openid.json"
    file.write_text(content)
    with (
        redask.open(home, settings=settings(issuer, discovery=str(file))) as db,
        pytest.raises(StoreFailed),
    ):
        db.signed_in(issuer.token())


@pytest.mark.parametrize("url", ["http://login.example.com", "ftp://x/y", "https://", "http://[x"])
def test_keys_come_over_https_or_from_this_machine(home: Path, url: str) -> None:
    chosen = load("", ENV, f'[sign_in]\nissuer = "{url}"\naudience = "x"\ndiscovery = "{url}"')
    with pytest.raises(Misconfigured, match="https"):
        redask.open(home, settings=chosen)


def test_a_symmetric_key_that_is_published_is_no_key(home: Path, issuer: Issuer) -> None:
    issuer.published = [{"kty": "oct", "k": "c2VjcmV0", "kid": "rsa-1"}, "x"]  # type: ignore[list-item]
    with (
        redask.open(home, settings=settings(issuer)) as db,
        pytest.raises(Unauthenticated),
    ):
        db.signed_in(issuer.token())


# --- the transports ---------------------------------------------------------------------

QUESTION = {"question": "Which ferry leaves?"}


def _heard(told: Any) -> str:
    if not told.is_error:
        return "answered"
    return "unauthenticated" if "'unauthenticated'" in repr(told) else repr(told)


async def _statuses(db: AsyncDatabase, addresses: list[str], token: str) -> dict[str, str]:
    """What each transport says to an ask with this token: answered, or why not."""
    url, address = addresses[0], addresses[1].removeprefix("grpc://")
    headers = {"Authorization": f"Bearer {token}"}
    said = {}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as http:
        reply = await http.post("/v1/ask", json=QUESTION)
        said["http"] = "answered" if reply.status_code == 200 else reply.json()["error"]["kind"]
    async with grpc.aio.insecure_channel(address) as channel:
        stub = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
        try:
            request = pb.AskRequest(question="Which ferry leaves?")
            await stub.Ask(request, metadata=(("authorization", f"Bearer {token}"),))
            said["grpc"] = "answered"
        except grpc.aio.AioRpcError as error:
            said["grpc"] = error.code().name.lower()
    async with httpx2.AsyncClient(headers=headers, timeout=60) as far:
        probe = await far.post(f"{url}/mcp", json={}, headers={"Accept": "application/json"})
        said["mcp-http"] = "unauthenticated"
        if probe.status_code != 401:  # sign-in may be asked of a client, or of each call
            async with Client(streamable_http_client(f"{url}/mcp", http_client=far)) as client:
                said["mcp-http"] = _heard(await client.call_tool("redask_ask", QUESTION))
    authenticator = Authenticator(db, anonymous=False)
    try:
        await authenticator.sign_in(token)  # JSON-RPC and MCP on standard input
        near = mcp_transport.server(authenticator, Admission(8, 8), token)
        async with Client(near, mode="legacy") as client:
            said["stdio"] = _heard(await client.call_tool("redask_ask", QUESTION))
    except Unauthenticated:
        said["stdio"] = "unauthenticated"
    return said


def test_every_transport_with_bearer_tokens_takes_a_good_jwt_and_no_bad_one(
    home: Path, issuer: Issuer
) -> None:
    async def run() -> None:
        where = serving.Serving(http_port=0, grpc_port=0, pg_port=None)
        async with (
            await open_async(home, settings=settings(issuer)) as db,
            serving_database(db, where) as server,
        ):
            good = await _statuses(db, server.addresses, issuer.token())
            assert set(good.values()) == {"answered"}, good
            for what, token in bad_tokens(issuer).items():
                if what != "too long":  # headers have limits of their own
                    bad = await _statuses(db, server.addresses, token)
                    assert set(bad.values()) == {"unauthenticated"}, (what, bad)

    asyncio.run(run())
