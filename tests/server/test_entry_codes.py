"""The address that signs a browser in: once, soon, and from no other page."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from server_thread import ServerThread
from waiting import SECONDS

from redask.server.http.entering.entry_codes import CODE_SECONDS, EntryCodes

PAGE = {"X-Redask-Page": "1"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerThread]:
    folder = tmp_path_factory.mktemp("entry") / "db"
    with ServerThread(folder, http_port=0, entry=EntryCodes(CLOCK)) as opened:
        yield opened


@pytest.fixture
def browser(server: ServerThread) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as client:
        yield client


def code(server: ServerThread) -> str:
    assert server.where.entry is not None
    return server.where.entry.make(server.db)


def enter(client: httpx.Client, code: str, **headers: str) -> str:
    reply = client.get("/open", params={"code": code}, headers=headers)
    assert (reply.status_code, reply.headers["cache-control"]) == (303, "no-store")
    assert reply.headers["referrer-policy"] == "no-referrer"
    return reply.headers["location"]


def is_in(client: httpx.Client) -> bool:
    return client.get("/v1/session", headers=PAGE).json()["signed_in"] is True


def test_a_code_signs_in_one_browser_with_a_new_session_in_a_strict_cookie(
    server: ServerThread, browser: httpx.Client
) -> None:
    name = f"redask_session_{browser.base_url.port}"
    browser.cookies.set(name, "planted")
    given = code(server)
    reply = browser.get("/open", params={"code": given})
    cookie = reply.headers["set-cookie"]
    assert all(each in cookie for each in ("HttpOnly", "SameSite=strict", "Path=/"))
    assert "planted" not in cookie
    assert given not in cookie
    assert is_in(browser)
    assert browser.get("/v1/collections").status_code == 401  # the cookie alone is nobody
    assert enter(browser, given) == "/"  # the same browser, for nothing
    assert is_in(browser)


def test_a_second_browser_gets_nothing_and_the_first_is_signed_out(
    server: ServerThread, browser: httpx.Client
) -> None:
    given = code(server)
    assert enter(browser, given) == "/"
    with httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as other:
        assert enter(other, given) == "/#refused=code"
        assert not other.cookies
    assert not is_in(browser)
    assert enter(browser, given) == "/#refused=code"


def test_an_old_a_wrong_and_another_pages_code_sign_nobody_in(
    server: ServerThread, browser: httpx.Client
) -> None:
    given = code(server)
    for wrong in ("", "x", given[:-1], given + "A"):
        assert enter(browser, wrong) == "/#refused=code"
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
    ):
        assert enter(browser, given, **headers) == "/#refused=code"
    assert browser.head("/open", params={"code": given}).status_code == 303
    assert not browser.cookies
    CLOCK.now += CODE_SECONDS
    assert enter(browser, given) == "/#refused=code"
    assert enter(browser, code(server)) == "/"


def test_a_server_that_makes_no_codes_has_no_such_address(tmp_path: Path) -> None:
    with ServerThread(tmp_path / "db", http_port=0) as plain:
        assert httpx.get(f"{plain.addresses[0]}/open?code=x").status_code == 404
