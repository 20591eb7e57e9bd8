"""A person looks at data, adds a file, audits, tries a policy; on a phone, and in the dark."""

import re
from pathlib import Path

import pytest
from page_world import Browser, PageServer
from web_types import OpenPage

from redask.core.wire import json as canonical


def test_a_collection_is_browsed_by_its_address(open_page: OpenPage, pictures: Path) -> None:
    page = open_page("olga")
    page.page.click("#places >> text=Data")
    page.page.wait_for_selector("table")
    page.page.click("table >> text=orders")
    page.page.wait_for_selector("th")
    assert page.page.url.endswith("/data/orders")
    page.page.click("th a[aria-label='Order by bags']")
    page.page.wait_for_url("**/data/orders?sort=bags")
    page.page.wait_for_selector("th >> text=bags ↑")
    page.page.click("text=Add a filter")
    page.page.select_option("[aria-label=Column]", "status")
    page.page.select_option("[aria-label=Condition]", "exact")
    page.page.fill("[aria-label=Value]", "delivered")
    page.page.click("button >> text=Show")
    page.page.wait_for_url("**/data/orders?sort=bags&status__exact=delivered")
    page.page.wait_for_selector("text=2 rows")
    shown = [each.split("\t")[1] for each in page.page.locator("tbody tr").all_inner_texts()]
    assert shown == ["12", "25"]
    page.page.go_back()
    page.page.wait_for_selector("text=4 rows")
    page.go("/data/orders?bags__gt=20&sort_desc=bags", "tbody tr")  # an address is enough
    assert [each.split("\t")[1] for each in page.page.locator("tbody tr").all_inner_texts()] == [
        *("60", "40", "25")
    ]
    page.page.screenshot(path=pictures / "browse.png")
    page.go("/data/orders?bags__gt=x", ".box.bad")  # what is no number is told


def test_an_entity_shows_its_neighbours(open_page: OpenPage, pictures: Path) -> None:
    page = open_page("olga")
    page.go("/entity?urn=urn%3Areddb%3Arow%3Aorders%2FFDD-12313", "svg.graph")
    assert page.page.locator("svg.graph a").count() == 4
    page.page.screenshot(path=pictures / "entity.png")
    page.page.click("svg.graph a[aria-label='customers / 1']")
    page.page.wait_for_selector("h1 >> text=customers / 1")
    page.go("/entity?urn=urn%3Areddb%3Arow%3Anowhere%2F1", "text=Not found")


def test_a_search_ranks_as_a_question_is_searched(
    open_page: OpenPage, server: PageServer, pictures: Path
) -> None:
    page = open_page("mia")
    page.page.click("#places >> text=Data")
    page.page.fill("#search", "late delivery")
    page.page.press("#search", "Enter")
    page.page.wait_for_selector(".hit")
    assert page.page.url.endswith("/data?q=late%20delivery")
    mia = server.run(server.db.signed_in(server.tokens["mia"]))
    hits = server.run(mia.search("late delivery", limit=50))
    links = page.page.locator(".hit h3 a").evaluate_all("all => all.map(each => each.href)")
    assert len(links) == len(hits)
    assert hits[0].urn.rpartition("/")[2].partition("%")[0] in links[0]
    assert not page.page.locator("text=Add files").count()  # a reader adds none
    page.page.screenshot(path=pictures / "search.png")


def test_a_file_is_added_and_found(open_page: OpenPage, tmp_path: Path, pictures: Path) -> None:
    page = open_page("olga")
    page.page.click("#places >> text=Data")
    note = tmp_path / "tides.md"
    note.write_text("# Tides\n\nHigh water at Dagebuell is at 14:35 on Monday.\n")
    bad = tmp_path / "picture.xyz"
    bad.write_bytes(b"\0\1")
    page.page.wait_for_selector("#files")
    page.page.fill("#into", "tides")
    page.page.set_input_files("#files", [note, bad])
    page.page.wait_for_selector("a >> text=tides")
    note.write_text("# Tides\n\nHigh water at Dagebuell is at 15:10 on Monday.\n")
    page.page.fill("#into", "tides")
    page.page.set_input_files("#files", note)
    page.page.locator(".past", has_text="written").wait_for()
    page.page.screenshot(path=pictures / "ingest.png")
    page.go("/data/tides", "tbody tr")
    assert "15:10" in page.page.inner_text("tbody")
    assert "14:35" not in page.page.inner_text("tbody")  # the same name is brought up to date


def test_auditors_see_costs_and_the_chain_and_others_their_own(
    open_page: OpenPage, server: PageServer, pictures: Path
) -> None:
    reader = open_page("nora")
    reader.ask("What does a ticket for the ferry cost?", using="scripted")
    reader.ask("Nobody knows this?", using="groq")
    reader.page.click("#places >> text=Audit")
    reader.page.wait_for_selector("tbody tr")
    assert reader.page.inner_text("h1") == "What you asked"
    assert reader.page.locator("tbody tr").count() == 2
    assert not reader.page.locator("text=all as written").count()
    page = open_page("ada")
    page.page.click("#places >> text=Audit")
    page.page.wait_for_selector("text=Audit log:")
    assert page.page.locator(".box.good").count() == 2
    page.page.wait_for_selector("text=Cost by user")
    page.page.screenshot(path=pictures / "audit.png", full_page=True)
    page.page.fill("[name=user]", "nora")
    page.page.select_option("[name=outcome]", "failed")
    page.page.click("button >> text=Show")
    page.page.wait_for_url("**/audit?user=nora&outcome=failed")
    page.page.wait_for_selector("text=✕ provider_refused")
    assert page.page.locator("tbody tr").count() == 1
    page.page.click("tbody button.link")
    page.page.wait_for_selector("#side dl")
    told = page.page.inner_text("#side")
    assert "Nobody knows this?" in told
    assert "hash in the chain" in told
    page.page.keyboard.press("Escape")
    with page.page.expect_download() as saved:
        page.page.click("text=Export all rows")
    rows = Path(saved.value.path()).read_text("utf-8").splitlines()
    newest = server.run(server.db.audit(1))[0]
    assert newest.hash in rows[0]


def test_a_policy_is_tried_on_real_rows_before_it_is_set(
    open_page: OpenPage, server: PageServer, pictures: Path
) -> None:
    page = open_page("olga")
    page.page.click("#places >> text=Policies")
    page.page.wait_for_selector("table")
    page.page.click("table >> text=sales")
    page.page.wait_for_selector(".share")
    apply = page.page.locator("button", has_text="Set this policy")
    assert apply.is_disabled()
    rule = {"roles": ["sales"], "rows": "region = :user.region", "mask": ["euros"]}
    page.page.fill("[aria-label='Policy as JSON']", canonical.text({"read": [rule]}))
    assert apply.is_disabled()
    page.page.select_option("[aria-label='Who would read']", "user:nora")
    page.page.click("button:text-is('Try it')")
    page.page.wait_for_selector(".preview")
    told = page.page.inner_text(".preview")
    assert "nora would read 9 of 18 rows. masked: euros" in told
    assert "***" in told
    assert "south" not in told
    page.page.screenshot(path=pictures / "policy.png", full_page=True)
    page.page.select_option("[aria-label='Who would read']", "user:mia")
    page.page.click("button:text-is('Try it')")
    page.page.wait_for_selector("text=mia would read nothing")
    before = server.run(server.db.policies())
    assert "sales" not in before
    page.page.fill("[aria-label='Policy as JSON']", '{"read": [{"roles": ["x"]}')
    assert apply.is_disabled()  # another text than the one that was tried
    page.page.click("button:text-is('Try it')")
    page.page.wait_for_selector("text=this is no JSON")
    page.page.fill("[aria-label='Policy as JSON']", canonical.text({"read": [rule]}))
    page.page.click("button:text-is('Try it')")
    page.page.wait_for_selector(".preview")
    apply.click()
    page.page.wait_for_selector("text=Remove the policy")
    assert server.run(server.db.policies())["sales"] == {"read": [rule]}
    nora = open_page("nora")
    nora.go("/data/sales", "tbody tr")
    assert "south" not in nora.page.inner_text("tbody")
    assert "***" in nora.page.inner_text("tbody")
    assert not nora.page.locator("#places >> text=Policies").count()
    page.page.click("text=Remove the policy")
    page.page.wait_for_selector("text=there is none yet")
    page.go("/policies", "tbody tr")
    log = page.page.locator("tbody tr", has_text="red_ask_audit")
    assert "everybody: their own rows; auditors and owners: all" in log.inner_text()
    assert log.locator("a").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_on_a_phone_in_light_and_dark(
    open_page: OpenPage, pictures: Path, scheme: str
) -> None:
    phone = {"viewport": {"width": 375, "height": 740}, "color_scheme": scheme}
    page = open_page("olga", **phone, has_touch=True)
    page.ask("When does a gold customer get money back for a late delivery?")
    page.turn.locator("button.footnote").first.click()
    page.page.wait_for_selector("#side mark")
    page.page.screenshot(path=pictures / f"phone-{scheme}.png")
    page.page.keyboard.press("Escape")
    for address, ready in (("/data", "table"), ("/audit", "table"), ("/", ".turn")):
        page.go(address, ready)
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.page.evaluate(wide) <= 0, address
    ground = page.page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = sum(map(int, re.findall(r"\d+", ground)[:3])) < 200
    assert dark is (scheme == "dark")
    page.page.click("[aria-label^=Colours]")
    page.page.click("[aria-label^=Colours]")
    assert page.page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_page_on_a_server_without_sign_in(browser: Browser, tmp_path: Path) -> None:
    with PageServer(tmp_path / "db", anonymous=True) as opened:
        page = browser.page(opened)
        page.page.wait_for_selector("#question")
        assert "local · owner" in page.page.inner_text("#who")
        assert not page.page.locator("text=Sign out").count()
        page.close()
