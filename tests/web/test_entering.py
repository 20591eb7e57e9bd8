"""A browser comes to the page signed in: by a code of `redask open`, by the identity provider."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from issuer import AUDIENCE, CLIENT, Issuer
from page_world import Browser
from playwright.sync_api import Page
from server_thread import ServerThread

from redask.server.http.entering.entry_codes import EntryCodes

CODES = EntryCodes()


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        running.url = running.url.replace("127.0.0.1", "localhost")  # to a browser, another site
        yield running


@pytest.fixture(scope="module")
def known(issuer: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerThread]:
    server = ServerThread(tmp_path_factory.mktemp("entering") / "db", http_port=0, entry=CODES)
    server.operator = (
        f'[sign_in]\nissuer = "{issuer.url}"\naudience = "{AUDIENCE}"\nclient_id = "{CLIENT}"\n'
    )
    with server as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, known: ServerThread, issuer: Issuer) -> Iterator[Page]:
    issuer.down, issuer.said = False, {}
    context = browser.context()
    yield context.new_page()
    context.close()


def user(page: Page) -> str:
    page.wait_for_selector("#question")
    return page.inner_text("#who .user")


def test_the_address_of_redask_open_signs_in_once(
    page: Page, browser: Browser, known: ServerThread
) -> None:
    address = f"{known.addresses[0]}/open?code={CODES.make(known.db)}"
    page.goto(address)
    assert user(page) == "local · owner"
    assert page.url == f"{known.addresses[0]}/"
    page.goto(address)
    assert user(page) == "local · owner"  # the same browser
    with browser.context() as elsewhere:
        other = elsewhere.new_page()
        other.goto(address)
        other.wait_for_selector("#token")
        assert "run redask open again" in other.inner_text(".box.bad")
        assert urlsplit(other.url).fragment == ""
    page.reload()
    page.wait_for_selector("#token")  # nobody knows who was the right one


def test_the_identity_provider_signs_in_by_its_button(
    page: Page, known: ServerThread, issuer: Issuer
) -> None:
    page.goto(known.addresses[0])
    page.click(f"text=Sign in with {urlsplit(issuer.url).netloc}")
    assert user(page) == "mia · support"
    assert page.url == f"{known.addresses[0]}/"
    assert [each["name"] for each in page.context.cookies() if "sign_in" in each["name"]] == []
    page.reload()
    assert user(page) == "mia · support"
    page.click("text=Sign out")
    page.wait_for_selector("#token")


def test_what_goes_wrong_with_it_is_told_in_plain_words(
    page: Page, known: ServerThread, issuer: Issuer
) -> None:
    page.goto(known.addresses[0])
    page.wait_for_selector("#identity")
    issuer.said = {"nonce": "of another"}
    page.click("#identity")
    page.wait_for_selector(".box.bad")
    assert "signs nobody in here" in page.inner_text(".box.bad")
    page.goto(f"{known.addresses[0]}/#refused=<b>x</b>")
    page.reload()
    page.wait_for_selector("#identity")
    assert page.locator(".box.bad").count() == 0
