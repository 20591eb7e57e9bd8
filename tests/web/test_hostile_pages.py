"""What data, answers and other pages would like to do to the page, and cannot.

Every test ends with `WatchedPage.check`: nothing was loaded from elsewhere, no script of a text
ran, the policy of the page reported nothing.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from page_world import HOSTILE, ODD_NAME, Browser, PageServer, hostile
from web_types import OpenPage

FOREIGN = "img, script:not([src^='/page/']), iframe, form[action], base, style, object, embed"


def foreign(page: object) -> int:
    """How many elements there are that our page never makes."""
    count: int = page.page.locator(f"body :is({FOREIGN}), a[href*=':']").count()  # type: ignore[attr-defined]
    return count


def test_an_answer_full_of_markup_stays_text(open_page: OpenPage, pictures: Path) -> None:
    page = open_page("mia")
    page.ask("When does the ferry leave?", using="openrouter")
    shown = page.turn.locator(".answer").inner_text()
    assert "<script>window.hacked = 1</script>" in shown
    assert "![pixel](http://evil.example/pixel.png)" in shown
    assert "[click me](javascript:window.hacked=1)" in shown
    assert page.turn.locator(".answer h3").inner_text() == "A title"
    assert foreign(page) == 0
    page.page.screenshot(path=pictures / "hostile.png", full_page=True)


def test_hostile_rows_change_nothing_wherever_they_are_shown(open_page: OpenPage) -> None:
    page = open_page("olga")
    pages = -(-len(hostile()) // 50)
    page.go("/data/hostile", "tbody tr")
    for number in range(1, pages + 1):
        page.page.wait_for_selector(f"text=page {number} of {pages}")
        assert foreign(page) == 0
        if number < pages:
            page.page.click("text=Next")
    for n in range(len(HOSTILE)):
        page.go(f"/entity?urn={quote(f'urn:reddb:row:hostile/{n}', safe='')}", ".passage")
        assert page.page.inner_text(".passage").startswith(HOSTILE[n][:20])
        assert foreign(page) == 0
    page.go(f"/data/{quote(ODD_NAME, safe='')}", "tbody tr")
    assert page.page.inner_text("h1") == ODD_NAME
    page.go(f"/policies?collection={quote(ODD_NAME, safe='')}", ".share")
    for address in ("/data", f"/data?q={quote(HOSTILE[0])}", "/audit"):
        page.go(address, "table, .hit, h2")
        assert foreign(page) == 0


def test_hostile_questions_and_addresses_are_texts(open_page: OpenPage) -> None:
    page = open_page("mia")
    for text in HOSTILE[:3]:
        page.ask(text, collection="notes")
        assert page.turn.locator("h2").inner_text() == text
    for address in (
        f"/data?q={quote(HOSTILE[0])}",
        f"/entity?urn={quote(HOSTILE[1])}",
        f"/data/{quote(HOSTILE[2], safe='')}",
        f"/audit?user={quote(HOSTILE[3])}",
        "/data/notes?id__gt=%27%29%20OR%201%3D1--&sort=%22%3B--",
    ):
        page.go(address, "h1, .box")
        page.page.wait_for_load_state("networkidle")
        assert foreign(page) == 0


EVIL = b"""<!doctype html><body>
<form id=f method=post enctype="text/plain" action="%(url)s/v1/ask">
<input name='{"question":"planted by evil","x":"' value='"}'></form>
<script>
window.done = Promise.allSettled([
  fetch("%(url)s/v1/users", {credentials: "include"}),
  fetch("%(url)s/v1/users", {credentials: "include", headers: {"X-Redask-Page": "1"}}),
  fetch("%(url)s/v1/ask", {method: "POST", mode: "no-cors", credentials: "include",
    body: JSON.stringify({question: "planted by evil"})}),
  fetch("%(url)s/v1/ask", {method: "POST", credentials: "include",
    headers: {"Content-Type": "application/json", "X-Redask-Page": "1"},
    body: JSON.stringify({question: "planted by evil"})}),
  fetch("%(url)s/v1/session", {method: "DELETE", credentials: "include",
    headers: {"X-Redask-Page": "1"}}),
]).then((all) => all.map((each) => each.value ? each.value.status : "blocked"));
</script>"""


@contextmanager
def evil_site(url: str) -> Iterator[str]:
    """A page of the same host at another port: to browsers, the same site."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(EVIL.replace(b"%(url)s", url.encode()))

        def log_message(self, *_: object) -> None:
            pass

    site = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{site.server_port}/"
    finally:
        site.shutdown()
        site.server_close()


def test_another_page_cannot_act_with_somebodys_session(
    browser: Browser, server: PageServer
) -> None:
    page = browser.page(server, "olga")
    rows = server.run(server.db.audit(1))
    with evil_site(server.url) as url:
        other = page.page.context.new_page()
        other.goto(url)
        outcomes = other.evaluate("window.done")
        assert 200 not in outcomes, outcomes
        with other.expect_navigation() as sent:
            other.evaluate("setTimeout(() => document.getElementById('f').submit())")
        assert sent.value.status == 401
        framed = page.page.context.new_page()
        framed.goto(url)
        framed.evaluate(f"document.body.innerHTML = '<iframe src=\"{server.url}/\"></iframe>'")
        framed.wait_for_timeout(300)
        assert framed.frames[-1].locator("#view").count() == 0
    assert [each.seq for each in server.run(server.db.audit(1))] == [each.seq for each in rows]
    page.page.reload()
    page.page.wait_for_selector("#question")  # still signed in
    assert "secrets" in server.run(server.db.policies())
    page.page.context.close()


def test_a_session_id_that_was_planted_before_sign_in_is_worth_nothing(
    browser: Browser, server: PageServer
) -> None:
    port = server.url.rpartition(":")[2]
    name = f"redask_session_{port}"
    context = browser.context()
    context.add_cookies([{"name": name, "value": "planted", "url": server.url}])
    page = context.new_page()
    page.goto(server.url)
    page.fill("#token", server.tokens["mia"])
    page.click("button[type=submit]")
    page.wait_for_selector("#question")
    [cookie] = [each for each in context.cookies() if each.get("name") == name]
    assert cookie["value"] != "planted"
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    headers = {"X-Redask-Page": "1", "Cookie": f"{name}=planted"}
    assert httpx.get(f"{server.url}/v1/users", headers=headers).status_code == 401
    context.close()


_SIGN_IN = """(token) => fetch("/v1/session", {method: "POST",
    headers: {"X-Redask-Page": "1", "Authorization": `Bearer ${token}`}})"""


@pytest.mark.parametrize("how", ["expired", "signed in over", "in another tab"])
def test_who_comes_next_sees_and_sends_nothing_of_who_was_here(
    open_page: OpenPage, server: PageServer, how: str
) -> None:
    page = open_page("olga")
    page.page.click("details.history > summary")
    page.page.check("#keep")
    page.ask("Is the ferry late?", collection="secrets")
    assert "The ferry is late" in page.turn.locator(".answer").inner_text()
    page.page.reload()
    page.page.wait_for_selector(".turn")  # to the same person all is as it was
    assert "The ferry is late" in page.turn.locator(".answer").inner_text()
    assert page.page.locator(".past li").count() == 1
    if how == "expired":
        page.page.context.clear_cookies()
        page.page.reload()
        page.sign_in(server.tokens["mia"])
    else:  # as the identity provider and `redask open` do: there is a session already
        page.page.evaluate(_SIGN_IN, server.tokens["mia"])
        if how == "signed in over":
            page.page.reload()
        else:
            page.page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.page.wait_for_selector("#who >> text=mia · reader")
    page.page.wait_for_selector("#question")
    assert page.page.locator(".turn, .past li").count() == 0
    kept = "JSON.stringify([{...localStorage}, {...sessionStorage}])"
    assert page.page.evaluate(kept) == "[{},{}]"
    with page.page.expect_request("**/v1/ask") as sent:
        page.ask("And why?", collection="notes")
    assert "history" not in json.loads(sent.value.post_data or "")["options"]
    assert "The ferry is late" not in page.page.content()
    assert "The ferry is late" not in page.page.evaluate(kept)


def test_the_page_shows_nobody_more_than_they_may_read(
    open_page: OpenPage, server: PageServer
) -> None:
    page = open_page("mia")
    page.ask("Is the ferry late?")
    assert "secrets" not in page.page.content()
    for address in ("/data", "/data/secrets", "/entity?urn=urn%3Areddb%3Arow%3Asecrets%2F1"):
        page.go(address, "table, h1")
        page.page.wait_for_load_state("networkidle")
        assert "The ferry is late" not in page.page.content()
    page.go("/policies", ".box.bad")  # what is for owners is denied, not only hidden
    assert page.page.locator("[data-kind=denied]").count() == 1
    call = """([method, path, body]) => fetch(path, {method, headers: {"X-Redask-Page": "1",
        "Content-Type": "application/json"}, body: body && JSON.stringify(body)})
        .then((reply) => reply.status)"""
    for method, path, body in (
        ("GET", "/v1/users", None),
        ("GET", "/v1/policies", None),
        ("PUT", "/v1/policies/notes", {"policy": None}),
        ("POST", "/v1/policies/notes/preview", {"role": "x"}),
        ("POST", "/v1/ingest", {"name": "a.md", "content": "aGk="}),
        ("PUT", "/v1/collections/notes/entities", {"rows": [{"id": 1}]}),
        ("GET", "/v1/audit/verify", None),
    ):
        assert page.page.evaluate(call, [method, path, body]) == 403, path
    assert (
        page.page.evaluate(call, ["GET", "/v1/sources/urn%3Areddb%3Arow%3Asecrets%2F1", None])
        == 404
    )
    statement = {"statement": "SELECT * FROM secrets"}
    assert page.page.evaluate(call, ["POST", "/v1/select", statement]) == 403
