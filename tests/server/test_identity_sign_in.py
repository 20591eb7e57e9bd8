"""Signing in on the page by a redirect, to a real issuer on loopback: what does, what does not."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from issuer import AUDIENCE, CLIENT, Issuer
from server_thread import ServerThread
from waiting import SECONDS

from redask.core.access import authorization_code as flow
from redask.core.access import sign_in_delays
from redask.core.errors import StoreFailed
from redask.core.sign_in import RefusedToken, SignInSettings
from redask.providers.identity import authorization_server
from redask.providers.identity.authorization_server import AuthorizationServer
from redask.server.http.entering import identity_routes

PAGE = {"X-Redask-Page": "1"}
IN_FORM = "client_secret_post"
SECRET = "a-secret-of-the-client"


def operator(issuer: Issuer, client: str = CLIENT) -> str:
    rows = {"issuer": issuer.url, "audience": AUDIENCE, "client_id": client}
    return "[sign_in]\n" + "\n".join(f'{name} = "{value}"' for name, value in rows.items())


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        yield running


@pytest.fixture(scope="module")
def server(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerThread]:
    made = ServerThread(tmp_path_factory.mktemp("identity") / "db", http_port=0)
    made.operator = operator(issuer)
    with made as opened:
        yield opened


@pytest.fixture
def browser(server: ServerThread, issuer: Issuer) -> Iterator[httpx.Client]:
    issuer.down, issuer.said = False, {}
    with httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as client:
        yield client


def begin(browser: httpx.Client) -> str:
    """Press the button. → where the provider sends the browser back to"""
    reply = browser.post("/sign-in", headers=PAGE)
    assert reply.status_code == 200, reply.text
    return httpx.get(reply.json()["url"]).headers["location"]


def come_back(browser: httpx.Client, address: str) -> str:
    reply = browser.get(address, headers={"Sec-Fetch-Site": "cross-site"})
    assert (reply.status_code, reply.headers["referrer-policy"]) == (303, "no-referrer")
    return reply.headers["location"]


def who(browser: httpx.Client) -> str:
    return str(browser.get("/v1/session", headers=PAGE).json()["user"])


def test_a_redirect_signs_in_with_a_session_as_any_other(
    server: ServerThread, issuer: Issuer, browser: httpx.Client
) -> None:
    told = browser.get("/sign-in").json()
    assert told == {"offered": True, "provider": urlsplit(issuer.url).netloc}
    begun = browser.post("/sign-in", headers={**PAGE, "Origin": server.addresses[0]})
    cookie = begun.headers["set-cookie"]
    assert all(each in cookie for each in ("HttpOnly", "SameSite=lax", "Path=/sign-in"))
    secret = cookie.partition("=")[2].partition(".")[0]
    asked = dict(parse_qsl(urlsplit(begun.json()["url"]).query))
    assert secret not in begun.text
    assert flow.verifier_of(secret) not in begun.text
    assert asked["redirect_uri"] == f"{server.addresses[0]}/sign-in/callback"
    back = httpx.get(begun.json()["url"]).headers["location"]
    reply = browser.get(back)
    assert reply.headers["location"] == "/"
    ours = [each for each in reply.headers.get_list("set-cookie") if "redask_session" in each]
    assert all(each in ours[0] for each in ("HttpOnly", "SameSite=strict", "Path=/"))
    assert who(browser) == "mia"
    assert browser.get("/v1/collections").status_code == 401  # the cookie alone is nobody
    answered = browser.post(
        "/v1/ask",
        headers=PAGE,
        json={"question": "Which ferry?", "options": {"using": "scripted"}},
    )
    assert answered.status_code == 200
    assert [each.name for each in browser.cookies.jar if "sign_in" in each.name] == []


def test_an_address_that_comes_back_twice_or_to_another_browser_signs_nobody_in(
    server: ServerThread, browser: httpx.Client
) -> None:
    back = begin(browser)
    with httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as other:
        assert come_back(other, back) == "/#refused=state"  # no cookie
        begin(other)
        assert come_back(other, back) == "/#refused=state"  # that of another sign-in
    held = dict(browser.cookies)
    assert come_back(browser, back) == "/"
    assert come_back(browser, back) == "/#refused=state"
    browser.cookies.clear()
    browser.cookies.update(held)
    assert come_back(browser, back) == "/#refused=provider"  # the code was used
    assert who(browser) == ""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"state": "x"}, "state"),
        ({"state": ""}, "state"),
        ({"iss": "https://elsewhere.example"}, "state"),
        ({"code": "code-of-somebody"}, "provider"),
        ({"code": ""}, "provider"),
        ({"code": "x" * 5000}, "provider"),
    ],
)
def test_a_changed_address_signs_nobody_in(
    browser: httpx.Client, change: dict[str, str], told: str
) -> None:
    back = httpx.URL(begin(browser))
    assert come_back(browser, str(back.copy_merge_params(change))) == f"/#refused={told}"
    assert not browser.cookies
    assert who(browser) == ""


@pytest.mark.parametrize(
    "said",
    [
        {"nonce": "of another"},
        {"nonce": None},
        {"aud": "other"},
        {"aud": AUDIENCE},
        {"aud": [CLIENT, "other"]},
        {"azp": "other"},
        {"iss": "https://elsewhere.example"},
        {"exp": 1},
        {"role": "owner"},
        {"sub": "local"},
    ],
)
def test_an_id_token_that_is_not_of_this_sign_in_signs_nobody_in(
    server: ServerThread, issuer: Issuer, browser: httpx.Client, said: dict[str, object]
) -> None:
    issuer.said = said
    assert come_back(browser, begin(browser)) == "/#refused=provider"
    assert not browser.cookies
    rows = server.run(server.db.audit(9, log="access"))
    assert ("sign_in", "unauthenticated") in {(e.row["action"], e.row["outcome"]) for e in rows}


def test_the_id_token_is_for_the_page_alone(browser: httpx.Client, issuer: Issuer) -> None:
    headers = {"Authorization": f"Bearer {issuer.token(aud=CLIENT)}"}
    assert browser.get("/v1/collections", headers=headers).status_code == 401
    headers = {"Authorization": f"Bearer {issuer.token()}"}
    assert browser.get("/v1/collections", headers=headers).status_code == 200


def test_an_issuer_that_is_down_is_told_in_plain_words(
    browser: httpx.Client, issuer: Issuer, server: ServerThread
) -> None:
    back = begin(browser)
    issuer.down = True
    assert come_back(browser, back) == "/#refused=unreachable"
    assert server.run(server.db.whoami()).user == "local"  # and the server goes on


def test_only_our_own_page_begins_and_a_head_uses_nothing_up(browser: httpx.Client) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert browser.post("/sign-in", headers=headers).status_code == 403
    back = begin(browser)
    assert browser.head(back).status_code == 303
    assert come_back(browser, back) == "/"


def test_when_too_many_sign_in_the_next_hears_that_it_is_busy(
    browser: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = begin(browser)
    monkeypatch.setattr(identity_routes, "MOST_WAITING", 0)
    assert come_back(browser, back) == "/#refused=busy"
    assert browser.post("/sign-in", headers=PAGE).status_code == 429


def test_a_provider_that_fails_is_not_called_for_every_code(
    issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.down, issuer.said = False, {}
    monkeypatch.setattr(sign_in_delays, "ADDRESS_CALLS", 3)
    called: list[object] = []

    def failing(*form: object) -> tuple[int, dict[str, object]]:
        called.append(form)
        return 500, {"error": "server_error"}

    monkeypatch.setattr(issuer, "redeem", failing)
    made = ServerThread(tmp_path / "db", http_port=0)
    made.operator = operator(issuer)
    with made as server, httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as browser:
        told = [come_back(browser, begin(browser)) for _ in range(5)]
    assert told == ["/#refused=unreachable"] * 3 + ["/#refused=busy"] * 2
    assert len(called) == 3


def test_a_provider_that_cannot_be_found_is_not_looked_for_again_at_once(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def loaded(place: str) -> dict[str, object]:
        looked.append(place)
        raise StoreFailed("down", detail="no connection")

    server = AuthorizationServer(settings(issuer))
    with monkeypatch.context() as planted:
        planted.setattr(authorization_server, "loaded", loaded)
        for why in ("no connection", "it could not be reached a moment ago"):
            with pytest.raises(StoreFailed) as caught:
                server.authorization_endpoint()
            assert caught.value.detail == why
        assert len(looked) == 1
        monkeypatch.setattr(authorization_server, "BETWEEN", 0.0)
        with pytest.raises(StoreFailed):
            server.authorization_endpoint()
        assert len(looked) == 2
    issuer.down = False
    assert server.authorization_endpoint()  # it is there again
    with monkeypatch.context() as planted:
        planted.setattr(authorization_server, "loaded", loaded)
        planted.setattr(authorization_server, "KEEP", -1.0)
        assert [server.authorization_endpoint() for _ in range(2)]
        assert len(looked) == 4
        planted.setattr(authorization_server, "BETWEEN", 60.0)
        assert server.authorization_endpoint()  # what was known holds, and nobody is asked
        assert len(looked) == 4


def settings(issuer: Issuer, **more: str | None) -> SignInSettings:
    return SignInSettings(issuer.url, AUDIENCE, client_id=CLIENT, **more)  # type: ignore[arg-type]


def code(issuer: Issuer, secret: str) -> str:
    """A code for whoever has the secret."""
    address = flow.request_address("", CLIENT, "http://here/back", secret)
    back = issuer.authorize(address.removeprefix("?"))
    return dict(parse_qsl(urlsplit(back).query))["code"]


def test_a_client_with_a_secret_proves_it_and_the_secret_is_in_no_message(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.down, issuer.said = False, {}
    monkeypatch.setattr(issuer, "secret", SECRET)
    verifier = flow.verifier_of("s")
    good = AuthorizationServer(settings(issuer, client_secret=SECRET))
    assert good.redeem(code(issuer, "s"), verifier, "http://here/back").count(".") == 2
    for wrong in (None, "another"):
        chosen = settings(issuer, client_secret=wrong)
        with pytest.raises(StoreFailed) as caught:
            AuthorizationServer(chosen).redeem(code(issuer, "s"), verifier, "http://here/back")
        assert (caught.value.detail, SECRET in str(caught.value)) == ("HTTP 401", False)
    assert SECRET not in repr(settings(issuer, client_secret=SECRET))
    discovered = {**issuer.discovery(), "token_endpoint_auth_methods_supported": [IN_FORM]}
    monkeypatch.setattr(issuer, "discovery", lambda: discovered)
    form, head = AuthorizationServer(settings(issuer, client_secret=SECRET))._proven(
        {"client_id": CLIENT}
    )
    assert (form["client_secret"], head) == (SECRET, {})


def test_addresses_of_the_provider_are_kept_while_it_is_down_and_must_be_its_own(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.down, issuer.said = False, {}
    monkeypatch.setattr(authorization_server, "KEEP", 0.0)
    server = AuthorizationServer(settings(issuer))
    known = server.authorization_endpoint()
    issuer.down = True
    assert server.authorization_endpoint() == known
    with pytest.raises(StoreFailed, match="cannot be reached now"):
        AuthorizationServer(settings(issuer)).authorization_endpoint()
    issuer.down = False
    for wrong in (
        {"authorization_endpoint": None},
        {"authorization_endpoint": "http://login.example.com/a"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"issuer": "https://elsewhere.example"},
    ):
        found = {**issuer.discovery(), **wrong}
        with monkeypatch.context() as planted:
            planted.setattr(issuer, "discovery", lambda found=found: found)
            with pytest.raises(StoreFailed):
                AuthorizationServer(settings(issuer)).authorization_endpoint()


def test_a_reply_without_an_id_token_signs_nobody_in(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer, "redeem", lambda *_: (200, {"access_token": "opaque"}))
    with pytest.raises(RefusedToken, match="no ID token"):
        AuthorizationServer(settings(issuer)).redeem("c", "v", "http://here/back")


def test_without_a_client_nothing_is_offered(tmp_path: Path) -> None:
    with ServerThread(tmp_path / "db", http_port=0) as plain:
        told = httpx.get(f"{plain.addresses[0]}/sign-in").json()
        assert told == {"offered": False, "provider": ""}
        assert httpx.post(f"{plain.addresses[0]}/sign-in").status_code == 400
        back = httpx.get(f"{plain.addresses[0]}/sign-in/callback?code=x&state=y")
        assert back.headers["location"] == "/#refused=state"
