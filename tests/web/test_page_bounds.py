"""How large, how quick and how accessible the page is; and much at once: words, sources, rows."""

import time
from pathlib import Path

import httpx
from axe_playwright_python.sync_playwright import Axe
from page_world import LONG_WORDS, Browser, PageServer
from server_thread import SETTINGS
from web_types import OpenPage

import redask
from redask.core.settings import load
from redask.server.http.page_files import FILES

MOST_BYTES = 300 * 1024
MANY_ROWS = 100_000


def test_the_page_with_all_its_files_is_small(server: PageServer) -> None:
    size = sum(path.stat().st_size for path in FILES.iterdir())
    print(f"the page and its files: {size / 1024:.0f} KB in {len(list(FILES.iterdir()))} files")
    assert size < MOST_BYTES
    document = httpx.get(server.url).text
    for path in FILES.glob("*.js"):  # each is loaded at once, not one after the other
        assert f"/page/{path.name}" in document, path.name


def test_the_first_view_is_quick(browser: Browser, server: PageServer) -> None:
    context = browser.context()
    page = context.new_page()
    began = time.monotonic()
    page.goto(server.url)
    page.wait_for_selector("#token")
    print(f"first view after {(time.monotonic() - began) * 1000:.0f} ms, nothing cached")
    context.close()


def test_axe_finds_nothing_in_any_view(open_page: OpenPage) -> None:
    axe = Axe()

    def check(what: str) -> None:
        for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            page.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found = axe.run(page.page, options=rules).response["violations"]
            told = [
                (each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found
            ]
            assert told == [], (what, scheme)

    page = open_page()
    check("sign-in")
    page.close()
    page = open_page("olga")
    page.page.wait_for_selector(".chips")
    check("beginning")
    page.ask("When does the ferry to Amrum leave?", using="scripted", collection="notes")
    page.turn.locator("button.footnote").first.click()
    page.page.wait_for_selector("#side mark")
    check("answer and source")
    page.page.keyboard.press("Escape")
    page.ask("How many orders are there for each status?", using="", collection="")
    page.ask("Why?", using="groq")
    page.page.click("details.options > summary")
    page.page.click("details.history > summary")
    page.page.locator(".turn").first.locator("text=Explain").click()
    page.page.wait_for_selector("svg.fusion")
    check("computed answer, error, options, explain")
    for address, ready in (
        ("/data", "table"),
        ("/data/orders?status__exact=late", "tbody tr"),
        ("/data?q=ferry", ".hit"),
        ("/entity?urn=urn%3Areddb%3Arow%3Aorders%2FFDD-12313", "svg.graph"),
        ("/audit", "tbody tr"),
        ("/policies?collection=orders", ".share"),
    ):
        page.go(address, ready)
        check(address)


def test_a_long_answer_and_many_sources_stay_usable(open_page: OpenPage, pictures: Path) -> None:
    page = open_page("mia")
    page.ask("Which port has a quay?", using="local", limit="200", collection="ports")
    words = page.turn.locator(".answer").inner_text().split()
    assert len(words) >= LONG_WORDS
    assert page.turn.locator("table").count() >= 1
    page.turn.locator(".source-list > summary").click()
    page.turn.locator("text=Show all 200").click()
    assert page.turn.locator(".sources li").count() == 200
    began = time.monotonic()
    page.turn.locator("button.footnote").last.click()
    page.page.wait_for_selector("#side:not([hidden])")
    print(f"a source beside {len(words)} words opens after {time.monotonic() - began:.2f} s")
    page.page.screenshot(path=pictures / "long.png")


def test_a_collection_of_many_rows_is_paged(browser: Browser, tmp_path: Path) -> None:
    rows = [{"id": n, "even": n % 2 == 0} for n in range(MANY_ROWS)]
    with redask.open(tmp_path / "db", settings=load(SETTINGS, {})) as db:
        db.put("many", rows)
    with PageServer(tmp_path / "db") as opened:  # of its own: asks elsewhere need not read these
        page = browser.page(opened, "olga")
        page.go("/data/many?sort_desc=id&even__exact=true", "tbody tr")
        assert "50,000 rows" in page.page.inner_text(".pager")
        assert page.page.locator("tbody tr").count() == 50
        assert page.page.locator("tbody tr").first.inner_text().startswith("99998")
        page.page.click("text=Next")
        page.page.wait_for_selector("text=page 2 of")
        assert page.page.locator("tbody tr").first.inner_text().startswith("99898")
        page.close()
