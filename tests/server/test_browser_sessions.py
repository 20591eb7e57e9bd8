"""Sessions of browsers: a cookie signs in our own page, and nobody else's.

CSRF, fixation, expiry, sign-out, revoked tokens, how many there may be; and the head of every file
of the page.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from server_thread import ServerThread
from starlette.requests import Request
from starlette.responses import Response
from waiting import SECONDS

from redask.api.asynchronous import AsyncDatabase
from redask.core.access.ask_shares import AskClaim
from redask.server import session_table
from redask.server.http.browser_sessions import BrowserSessions, OwnSessionTable
from redask.server.http.page_files import VIEWS
from redask.server.session_table import MOST_OF_USER, SESSION_SECONDS

PAGE = {"X-Redask-Page": "1"}
ASK = {"question": "When does the ferry leave?", "options": {"using": "scripted"}}
POLICY = {"policy": {"read": [{"roles": ["*"]}]}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerThread]:
    folder = tmp_path_factory.mktemp("browsers") / "db"
    with ServerThread(folder, http_port=0, cors_origins=("https://app.example",)) as opened:
        yield opened


@pytest.fixture
def browser(server: ServerThread) -> Iterator[httpx.Client]:
    """A browser in which olga, an owner, signed in."""
    with httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as client:
        sign_in(client, server.tokens["olga"])
        yield client


def sign_in(client: httpx.Client, token: str) -> httpx.Response:
    headers = {**PAGE, "Authorization": f"Bearer {token}"}
    reply = client.post("/v1/session", headers=headers)
    assert reply.status_code == 200, reply.text
    return reply


def cookie_of(client: httpx.Client) -> tuple[str, str]:
    [held] = list(client.cookies.jar)
    return held.name, str(held.value)


def test_a_token_becomes_a_session_whose_cookie_no_script_reads(server: ServerThread) -> None:
    with httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as client:
        nobody = client.get("/v1/session", headers=PAGE).json()
        assert nobody["signed_in"] is False
        reply = sign_in(client, server.tokens["mia"])
        assert reply.json() == {
            "anonymous": False,
            "role": "reader",
            "signed_in": True,
            "tenant": "local",
            "user": "mia",
        }
        said = reply.headers["set-cookie"].lower()
        assert "httponly" in said
        assert "samesite=strict" in said
        assert "path=/" in said
        assert "secure" not in said.split("; ")  # this server speaks no TLS
        assert server.tokens["mia"] not in said
        assert client.get("/v1/session", headers=PAGE).json()["user"] == "mia"
        assert client.post("/v1/ask", json=ASK, headers=PAGE).status_code == 200


def test_the_cookie_is_secure_where_the_browser_speaks_tls(server: ServerThread) -> None:
    with httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as client:
        host = client.base_url.netloc.decode()
        headers = {**PAGE, "Authorization": f"Bearer {server.tokens['mia']}"}
        reply = client.post("/v1/session", headers={**headers, "Origin": f"https://{host}"})
        assert "secure" in reply.headers["set-cookie"].lower().split("; ")


@pytest.mark.parametrize(
    "headers",
    [
        {},  # a form, an image, a link of another page
        {"Origin": "https://evil.example"},
        {**PAGE, "Origin": "https://evil.example"},
        {**PAGE, "Origin": "null"},
        {**PAGE, "Origin": "https://app.example"},  # listed, which gives it no cookie
        {**PAGE, "Sec-Fetch-Site": "cross-site"},
        {**PAGE, "Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/ask", ASK),
        ("PUT", "/v1/collections/notes/entities", {"rows": [{"id": 99, "text": "planted"}]}),
        ("PUT", "/v1/policies/notes", POLICY),
        ("POST", "/v1/ingest", {"name": "a.md", "content": "aGk="}),
        ("GET", "/v1/users", None),
    ],
)
def test_a_request_that_is_not_our_pages_is_nobodys(
    browser: httpx.Client, headers: dict[str, str], method: str, path: str, body: Any
) -> None:
    reply = browser.request(method, path, json=body, headers=headers)
    assert reply.status_code == 401, reply.text
    assert reply.json()["error"]["kind"] == "unauthenticated"


def test_the_same_requests_of_our_page_are_served(browser: httpx.Client) -> None:
    own = {**PAGE, "Origin": str(browser.base_url).rstrip("/"), "Sec-Fetch-Site": "same-origin"}
    assert browser.post("/v1/ask", json=ASK, headers=own).status_code == 200
    assert browser.get("/v1/users", headers=own).status_code == 200


def test_no_other_page_signs_a_browser_in_or_out(server: ServerThread) -> None:
    with httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as client:
        elsewhere = {
            **PAGE,
            "Authorization": f"Bearer {server.tokens['mia']}",
            "Origin": "https://app.example",
        }
        assert client.post("/v1/session", headers=elsewhere).status_code == 403
        assert not list(client.cookies.jar)
        sign_in(client, server.tokens["mia"])
        out = client.delete("/v1/session", headers={**PAGE, "Origin": "https://app.example"})
        assert out.status_code == 403
        assert client.get("/v1/session", headers=PAGE).json()["signed_in"] is True


def test_an_id_that_somebody_planted_is_never_a_session(server: ServerThread) -> None:
    with httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as client:
        sign_in(client, server.tokens["mia"])
        name, first = cookie_of(client)
        client.cookies.set(name, "planted", domain="127.0.0.1", path="/")
        client.cookies.jar.clear()
        reply = client.post(
            "/v1/session",
            headers={
                **PAGE,
                "Authorization": f"Bearer {server.tokens['olga']}",
                "Cookie": f"{name}={first}",
            },
        )
        assert first not in reply.headers["set-cookie"]
        _, second = cookie_of(client)
        assert second != first

    def user(ident: str) -> object:
        headers = {**PAGE, "Cookie": f"{name}={ident}"}
        return httpx.get(f"{server.addresses[0]}/v1/session", headers=headers).json()["user"]

    assert user(second) == "olga"
    assert user(first) == ""  # what the browser had before is over
    assert user("planted") == ""


def test_signing_out_ends_the_session_at_the_server(
    server: ServerThread, browser: httpx.Client
) -> None:
    name, ident = cookie_of(browser)
    assert browser.delete("/v1/session", headers=PAGE).status_code == 200
    assert not list(browser.cookies.jar)
    stolen = {**PAGE, "Cookie": f"{name}={ident}"}
    reply = httpx.post(f"{server.addresses[0]}/v1/ask", json=ASK, headers=stolen)
    assert reply.status_code == 401


def test_a_revoked_token_ends_its_sessions_at_once(server: ServerThread) -> None:
    made = server.run(server.db.make_token("mia"))
    with httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as client:
        sign_in(client, made)
        assert client.post("/v1/ask", json=ASK, headers=PAGE).status_code == 200
        server.run(server.db.revoke_token(made.split("_")[1]))
        assert client.post("/v1/ask", json=ASK, headers=PAGE).status_code == 401


def test_a_token_in_the_head_counts_before_the_cookie(
    server: ServerThread, browser: httpx.Client
) -> None:
    headers = {**PAGE, "Authorization": f"Bearer {server.tokens['mia']}"}
    assert browser.get("/v1/session", headers=headers).json()["user"] == "mia"
    wrong = {**PAGE, "Authorization": "Bearer x"}
    assert browser.get("/v1/session", headers=wrong).status_code == 401


def test_opening_the_page_is_no_refused_sign_in(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []

    async def noted(_: object, user: str, **__: object) -> None:
        refused.append(user)

    monkeypatch.setattr(AsyncDatabase, "sign_in_refused", noted)
    assert httpx.get(f"{server.addresses[0]}/", timeout=SECONDS).status_code == 200
    session = f"{server.addresses[0]}/v1/session"
    assert httpx.get(session, headers=PAGE, timeout=SECONDS).status_code == 200
    assert refused == []
    ask = f"{server.addresses[0]}/v1/ask"
    assert httpx.post(ask, json=ASK, timeout=SECONDS).status_code == 401
    assert refused == [""]  # as for everybody who calls without a token


def test_without_sign_in_there_is_nothing_to_sign_in_to(tmp_path: Path) -> None:
    served = ServerThread(tmp_path / "db", http_port=0, anonymous=True)
    with served as opened, httpx.Client(base_url=opened.addresses[0], timeout=SECONDS) as client:
        found = client.get("/v1/session").json()
        assert (found["anonymous"], found["role"]) == (True, "owner")
        assert client.post("/v1/session").status_code == 200
        assert not list(client.cookies.jar)
        evil = {"Origin": "https://evil.example"}
        assert client.post("/v1/ask", json=ASK, headers=evil).status_code == 403


# --- the sessions themselves -------------------------------------------------------------------


def request_with(cookie: str = "") -> Request:
    headers = [(b"host", b"127.0.0.1:8080"), (b"x-redask-page", b"1")]
    if cookie:
        headers.append((b"cookie", cookie.encode()))
    return Request(
        {
            "type": "http",
            "method": "POST",
            "path": "/",
            "scheme": "http",
            "query_string": b"",
            "headers": headers,
        }
    )


def begun(sessions: BrowserSessions, user: str) -> str:
    """The cookie of a new session."""
    reply = Response()
    database: Any = SimpleNamespace(claim=AskClaim("local", user))
    asyncio.run(sessions.begin(request_with(), reply, database))
    return reply.headers["set-cookie"].partition(";")[0]


def owner(sessions: BrowserSessions, cookie: str) -> Any:
    return asyncio.run(sessions.of(request_with(cookie)))


def test_a_session_ends_after_its_time() -> None:
    now = [0.0]
    sessions = BrowserSessions(OwnSessionTable(lambda: now[0]))
    cookie = begun(sessions, "mia")
    now[0] = SESSION_SECONDS - 1
    assert owner(sessions, cookie) is not None
    now[0] = SESSION_SECONDS
    assert owner(sessions, cookie) is None
    now[0] = 0
    assert owner(sessions, cookie) is None  # it is gone, not only late


def test_one_user_has_so_many_sessions_and_takes_none_of_others() -> None:
    sessions = BrowserSessions()
    other = begun(sessions, "olga")
    cookies = [begun(sessions, "mia") for _ in range(MOST_OF_USER + 2)]
    alive = [owner(sessions, cookie) is not None for cookie in cookies]
    assert alive == [False, False, *[True] * MOST_OF_USER]
    assert owner(sessions, other) is not None


def test_a_server_keeps_so_many_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_table, "MOST", 3)
    sessions = BrowserSessions()
    cookies = [begun(sessions, f"user {n}") for n in range(5)]
    alive = [owner(sessions, cookie) is not None for cookie in cookies]
    assert alive == [False, False, True, True, True]


@pytest.mark.parametrize("host", [b"x:\xb2", b"x:", b"x:1\xb9", b"[", b"x:8080"])
def test_a_host_that_nobody_has_is_no_failure_of_ours(server: ServerThread, host: bytes) -> None:
    for method, path in (
        ("GET", "/v1/session"),
        ("POST", "/v1/session"),
        ("DELETE", "/v1/session"),
    ):
        headers = {
            b"Host": host,
            b"X-Redask-Page": b"1",
            b"Authorization": f"Bearer {server.tokens['mia']}".encode(),
        }
        reply = httpx.request(method, server.addresses[0] + path, headers=headers)
        assert reply.status_code < 500, reply.text


# --- the files of the page ---------------------------------------------------------------------


@pytest.mark.parametrize("view", [*(each.partition("/{")[0] for each in VIEWS), "/data/notes"])
def test_every_view_is_the_page_with_a_strict_policy(server: ServerThread, view: str) -> None:
    reply = httpx.get(f"{server.addresses[0]}{view}")
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "style-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["x-content-type-options"] == "nosniff"
    again = httpx.get(
        f"{server.addresses[0]}{view}", headers={"If-None-Match": reply.headers["etag"]}
    )
    assert again.status_code == 304


def test_what_is_no_file_of_the_page_is_not_served(server: ServerThread) -> None:
    for path in ("/page/", "/page/../page_files.py", "/page/%2e%2e/routes.py", "/page/none.js"):
        assert httpx.get(f"{server.addresses[0]}{path}").status_code == 404


def test_replies_with_data_are_kept_nowhere(server: ServerThread) -> None:
    headers = {"Authorization": f"Bearer {server.tokens['mia']}"}
    reply = httpx.get(f"{server.addresses[0]}/v1/audit", headers=headers)
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["x-content-type-options"] == "nosniff"
