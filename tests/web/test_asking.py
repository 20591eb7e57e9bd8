"""A person asks on the page: stream, footnotes, checks, follow-ups, tables, errors, keys."""

import json
from pathlib import Path
from typing import Any

from page_world import PageServer
from web_types import OpenPage

FERRY = "When does the ferry leave?"


def test_somebody_signs_in_asks_and_signs_out(open_page: OpenPage, server: PageServer) -> None:
    page = open_page()
    page.page.fill("#token", "redask_wrong_token")
    page.page.click("button[type=submit]")
    page.page.wait_for_selector(".box.bad")
    assert "not good here" in page.page.inner_text(".box.bad")
    page.sign_in(server.tokens["mia"])
    assert "mia · reader" in page.page.inner_text("#who")
    assert page.page.evaluate("document.cookie") == ""
    page.ask(FERRY)
    stored = page.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert server.tokens["mia"] not in stored
    local, session = json.loads(stored)
    assert local == {}  # nothing of a question outlives the tab
    assert "redask.conversation" in session
    page.page.click("text=Sign out")
    page.page.wait_for_selector("#token")
    assert page.page.evaluate("sessionStorage.length") == 0
    page.page.reload()
    page.page.wait_for_selector("#token")
    assert page.page.locator(".turn").count() == 0


def test_a_footnote_opens_its_source_with_the_passage_marked(
    open_page: OpenPage, pictures: Path
) -> None:
    page = open_page("olga")
    page.ask("When does a gold customer get money back for a late delivery?")
    assert page.turn.locator(".verdict.supported").count() >= 2
    assert "said by its source" in page.turn.locator(".answer").inner_text()  # in words, for all
    page.turn.locator("button.footnote").first.click()
    page.page.wait_for_selector("#side mark")
    marked = page.page.locator("#side mark").first.inner_text()
    assert marked.startswith("A gold customer with a late delivery gets the shipping costs back")
    assert "file shipping.md" in page.page.inner_text("#side .place")
    page.page.screenshot(path=pictures / "answer.png")
    page.page.keyboard.press("Escape")
    assert page.page.locator("#side").is_hidden()
    info = page.turn.locator(".info").inner_text()
    assert info.startswith("extractive · ")
    for word in ("tokens", "$0", "not cached", "strict", " s"):
        assert word in info


def test_each_sentence_shows_what_its_sources_say_to_it(
    open_page: OpenPage, pictures: Path
) -> None:
    page = open_page("mia")
    page.ask("When does the ferry to Amrum leave?", using="scripted", collection="notes")
    shown = page.turn.locator(".answer .verdict").evaluate_all(
        "all => all.map(each => each.className.split(' ')[1])"
    )
    assert shown[0] == "supported"
    assert shown[1] in ("unsupported", "contradicted")
    assert shown[2] == "uncited"
    styles = page.turn.locator(".answer .claim").evaluate_all(
        "all => all.map(each => getComputedStyle(each).textDecorationStyle)"
    )
    assert len(set(styles)) >= 3  # lines differ, not only colours
    assert "$0.01" in page.turn.locator(".info").inner_text()
    page.page.screenshot(path=pictures / "verdicts.png")


def test_a_follow_up_shows_what_it_was_understood_as(open_page: OpenPage) -> None:
    page = open_page("olga")
    page.ask("Which country is the supplier Yirga Union from?")
    page.ask("And Finca El Mirador?")
    understood = page.turn.locator(".understood").inner_text()
    assert understood.startswith("Understood as:")
    assert "country" in understood
    page.page.reload()
    page.page.wait_for_selector(".turn")
    assert page.page.locator(".turn").count() == 2  # this tab remembers


def test_a_computed_answer_has_its_statement_a_chart_and_runs_again(
    open_page: OpenPage, pictures: Path
) -> None:
    page = open_page("olga")
    page.ask("How many orders are there for each status?")
    area = page.turn.locator("textarea.code")
    assert area.input_value().startswith("SELECT status, count(*)")
    assert page.turn.locator(".chart .bar").count() == 3
    page.page.screenshot(path=pictures / "computed.png", full_page=True)
    area.fill("SELECT month, sum(euros) AS euros FROM sales GROUP BY month ORDER BY month")
    page.turn.locator("text=Run").click()
    page.turn.locator(".chart path.line").wait_for()
    assert page.turn.locator(".result tbody tr").count() == 9
    area.fill("SELECT nothing FROM sales")
    page.turn.locator("text=Run").click()
    page.turn.locator(".box.bad").wait_for()
    assert 'column "nothing" does not exist' in page.turn.locator(".box.bad").inner_text()
    area.fill("DELETE FROM sales")
    area.press("Control+Enter")
    page.turn.locator(".box.bad", has_text="DELETE").wait_for()


def test_a_stream_is_painted_as_it_comes_and_can_be_stopped(open_page: OpenPage) -> None:
    page = open_page("mia")
    page.page.evaluate("window.paints.length = 0")
    page.ask(FERRY, using="anthropic")
    paints = page.page.evaluate("window.paints")
    assert len(paints) >= 3  # piece by piece, not all at once
    print(f"a frame is painted after {max(paints):.0f} ms at most, {len(paints)} of them")
    assert "leaves at nine" in page.turn.locator(".answer").inner_text()


def test_a_retry_and_a_failover_are_told(open_page: OpenPage, pictures: Path) -> None:
    page = open_page("mia")
    page.ask(FERRY, using="deepseek")
    assert "asked once more" in page.turn.locator("[data-reset=retry]").inner_text()
    assert "asked twice" in page.turn.locator(".info").inner_text()
    assert "Nobody said so" not in page.turn.locator(".answer").inner_text()
    page.ask(FERRY, using="venice,scripted")
    assert "the next one asked" in page.turn.locator("[data-reset=failover]").inner_text()
    assert page.turn.locator(".info").inner_text().startswith("scripted · ")
    page.page.screenshot(path=pictures / "retry.png", full_page=True)


def test_errors_are_told_in_plain_words(open_page: OpenPage, pictures: Path) -> None:
    page = open_page("mia")
    for options, kind, words in (
        ({"using": "openai"}, "ungrounded", "not held by its sources"),
        ({"using": "groq"}, "provider_refused", "The provider refused"),
        ({"using": "together"}, "providers_exhausted", "No provider could answer"),
        ({"using": "nobody"}, "bad_ask", "not valid"),
        ({"using": "ollama"}, "limit_exceeded", "more than a limit allows"),
    ):
        page.ask(FERRY, **options)
        assert page.turn.locator(f"[data-kind={kind}]").count() == 1, kind
        assert words in page.turn.locator(".box.bad").inner_text()
    page.page.screenshot(path=pictures / "errors.png", full_page=True)
    page.ask(FERRY, using="", collection="secrets")
    assert page.turn.locator("[data-kind=denied]").count() == 1


def test_keys_do_what_the_mouse_does(open_page: OpenPage) -> None:
    page = open_page("mia")
    page.ask("When does the ferry to Amrum leave?")
    page.page.keyboard.press("Tab")  # out of the question
    page.page.locator("body").focus()
    page.page.evaluate("document.activeElement.blur()")
    page.page.keyboard.press("1")
    page.page.wait_for_selector("#side:not([hidden])")
    page.page.keyboard.press("Escape")
    page.page.keyboard.press("/")
    assert page.page.evaluate("document.activeElement.id") == "question"
    page.page.fill("#question", "one")
    page.page.press("#question", "Shift+Enter")
    assert page.page.input_value("#question") == "one\n"


def test_the_newest_answer_is_not_behind_the_form(open_page: OpenPage) -> None:
    page = open_page("olga", viewport={"width": 1280, "height": 600})
    for _ in range(3):
        page.ask("When does a gold customer get money back for a late delivery?")
    page.page.wait_for_function(
        """() => {
          const bottom = [...document.querySelectorAll(".turn .answer")].at(-1)
            .getBoundingClientRect().bottom;
          return bottom <= document.querySelector(".ask-form").getBoundingClientRect().top;
        }"""
    )


def test_an_ask_can_be_taken_along(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page("mia")
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.ask("When does the ferry's crew leave?", limit="3")
    copied: dict[str, str] = {}
    for name in ("ASK statement", "curl", "Python", "Answer"):
        page.turn.locator(".menu summary", has_text="Copy").click()
        page.turn.locator(".menu button", has_text=name).click()
        copied[name] = page.page.evaluate("navigator.clipboard.readText()")
        page.page.keyboard.press("Escape")
    assert copied["ASK statement"] == "ASK 'When does the ferry''s crew leave?'\n  LIMIT 3"
    assert '"limit":3' in copied["curl"]
    assert "/v1/ask" in copied["curl"]
    compile(copied["Python"], "copied", "exec")
    for name, check in (("Markdown", "# When"), ("HTML", "<!doctype html>"), ("JSON", "{")):
        page.turn.locator(".menu summary", has_text="Save").click()
        with page.page.expect_download() as saved:
            page.turn.locator(".menu button", has_text=name).click()
        text = Path(saved.value.path()).read_text("utf-8")
        assert text.startswith(check)
        page.page.keyboard.press("Escape")
    whole: Any = json.loads(text)
    assert whole["question"] == "When does the ferry's crew leave?"
    assert {"answer", "sources_flat", "citations", "evidence"} <= set(whole)


def test_questions_are_kept_only_where_somebody_says_so(open_page: OpenPage) -> None:
    page = open_page("mia")
    page.page.click("details.history > summary")
    page.page.check("#keep")
    page.ask("Is the lighthouse open?")
    assert "Is the lighthouse open?" in page.page.evaluate(
        "localStorage.getItem('redask.questions')"
    )
    assert "Sundays" not in page.page.evaluate("JSON.stringify({...localStorage})")
    page.page.uncheck("#keep")
    assert page.page.evaluate("localStorage.length") == 0


def test_explain_draws_how_ranks_fuse(open_page: OpenPage, pictures: Path) -> None:
    page = open_page("olga")
    page.page.fill("#question", "late delivery of a gold customer")
    page.page.click(".ask-more >> text=Explain")
    page.page.wait_for_selector("svg.fusion")
    assert page.page.locator(".rank.final").count() == 10
    assert page.page.locator(".flow").count() >= 6
    told = page.page.inner_text("#side")
    for word in ("words (bm25)", "links (graph)", "provider", "prompt", "knobs"):
        assert word in (page.page.text_content("#side") or "")
    assert "Nobody was asked" in told
    page.page.screenshot(path=pictures / "explain.png")
