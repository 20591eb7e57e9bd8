"""The page's own rules, module by module, in the browser: Markdown, statements, filters, charts."""

from collections.abc import Iterator
from typing import Any

import pytest
from page_world import Browser, PageServer, WatchedPage

from redask.core import clauses

_MARKDOWN = """async ([text, claims]) => {
  const { MarkdownView } = await import("/page/markdown.js");
  const node = document.createElement("div");
  const note = (n) => { const sup = document.createElement("sup"); sup.append(n); return sup; };
  const view = new MarkdownView(node, note);
  for (let at = 1; at < text.length; at += 7) view.update(text.slice(0, at));  // as it streams
  view.update(text, claims.map(([start, end, verdict]) => ({ start, end, verdict })));
  for (const each of node.querySelectorAll(".unseen")) each.remove();
  return node.innerHTML.replace(/ (tabindex|role|aria-[a-z]+|title|scope)="[^"]*"/g, "");
}"""


@pytest.fixture(scope="module")
def page(browser: Browser, server: PageServer) -> Iterator[WatchedPage]:
    opened = browser.page(server)
    yield opened
    opened.close()


def drawn(page: WatchedPage, text: str, *claims: tuple[int, int, str]) -> str:
    found: str = page.page.evaluate(_MARKDOWN, [text, [list(each) for each in claims]])
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One *two* **three** `four` [^1].",
         "<p>One <em>two</em> <strong>three</strong> <code>four</code> <sup>1</sup>.</p>"),
        ("a\nb\n\nc", "<p>a\nb</p><p>c</p>"),
        ("# Title\ntext", "<h3>Title</h3><p>text</p>"),
        ("#no title", "<p>#no title</p>"),
        ("- a\n- b\n  - c\n- d",
         "<ul><li>a</li><li>b<ul><li>c</li></ul></li><li>d</li></ul>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("- a\n  goes on", "<ul><li>a\ngoes on</li></ul>"),
        ("> said\n> twice", "<blockquote>said\ntwice</blockquote>"),
        ("```py\n*a* [^1] <b>\n```\nb", "<pre><code>*a* [^1] &lt;b&gt;</code></pre><p>b</p>"),
        ("```\nnever closed", "<pre><code>never closed</code></pre>"),
        ("| a | b |\n| --- | --: |\n| 1 | *2* |",
         '<div class="scroll"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr>'
         "<td>1</td><td><em>2</em></td></tr></tbody></table></div>"),
        ("| a | b |\nno table", "<p>| a | b |\nno table</p>"),
        ("a\n\n---\n\nb", "<p>a</p><hr><p>b</p>"),
        ("snake_case_name 2 * 3 * 4 **", "<p>snake_case_name 2 * 3 * 4 **</p>"),
        (r"\*no\* \[^1]", "<p>*no* [^1]</p>"),
        ("[^0] [^01] [^x] [^12345678901]", "<p>[^0] [^01] [^x] [^12345678901]</p>"),
        ("[a](http://evil.example) ![b](x.png) <b>c</b>",
         "<p>[a](http://evil.example) ![b](x.png) &lt;b&gt;c&lt;/b&gt;</p>"),
    ],
)  # fmt: skip
def test_markdown_becomes_these_nodes_and_no_others(
    page: WatchedPage, text: str, expected: str
) -> None:
    assert drawn(page, text) == expected


def test_claims_are_marked_where_they_stand_and_signed_once(page: WatchedPage) -> None:
    def claim(verdict: str, text: str) -> str:
        return f'<span class="claim {verdict}">{text}</span>'

    def sign(verdict: str, shown: str) -> str:
        return f'<span class="verdict {verdict}"><span>{shown}</span></span>'

    text = "It is **so** [^1]. Or not."
    assert drawn(page, text, (0, 18, "supported"), (19, 26, "uncited")) == (
        f"<p>{claim('supported', 'It is')} <strong>{claim('supported', 'so')}</strong> "
        f"<sup>1</sup>{claim('supported', '.')}{sign('supported', '✓')} "
        f"{claim('uncited', 'Or not.')}{sign('uncited', '?')}</p>"
    )
    row = "| a |\n| --- |\n| 1 |"
    assert sign("supported", "✓") in drawn(page, row, (14, 19, "supported"))


def test_an_answer_is_drawn_in_time_that_grows_with_its_length(page: WatchedPage) -> None:
    for text in (
        "*" * 20_000,
        "_a" * 10_000,
        "[^" * 10_000,
        "`" * 20_001,
        "- " * 9_000,
        "|" * 9_000,
    ):
        page.page.evaluate(
            """async (text) => {
              const { MarkdownView } = await import("/page/markdown.js");
              new MarkdownView(document.createElement("div"), () => "").update(text);
            }""",
            text,
        )


@pytest.mark.parametrize(
    ("question", "options", "expected"),
    [
        ("It's?", {}, "ASK 'It''s?'"),
        ("a", {"using": "x,y", "strict": "supported", "evidence": True},
         "ASK 'a'\n  USING 'x,y'\n  STRICT SUPPORTED\n  EVIDENCE"),
        ("a", {"collection": ["notes", 'odd "one"'], "cache": {"ttl": "5m"}, "strict": False},
         "ASK 'a'\n  COLLECTION notes, \"odd \"\"one\"\"\"\n  CACHE TTL '5m'\n  STRICT OFF"),
    ],
)  # fmt: skip
def test_an_ask_is_written_as_the_statement_that_the_server_reads(
    page: WatchedPage, server: PageServer, question: str, options: dict[str, Any], expected: str
) -> None:
    made = page.page.evaluate(
        """async ([question, options]) => (await import("/page/statement.js"))
            .askStatement(question, options)""",
        [question, options],
    )
    assert made == expected
    assert clauses.parse(made, ()) == clauses.from_options(question, options)


def test_an_address_becomes_one_select_with_its_values_as_parameters(page: WatchedPage) -> None:
    columns = [{"name": name, "type": "text"} for name in ("id", "urn", 'odd"name', "a__b")]
    search = "?odd%22name__exact=x%27y&a__b__gt=5&nobody__exact=1&id__drop=1&sort_desc=id&page=3"
    found = page.page.evaluate(
        """async ([columns, search]) => (await import("/page/data.js"))
            .browsing('t"; DROP', columns, search)""",
        [columns, search],
    )
    assert found["rows"] == (
        'SELECT * FROM "t""; DROP" WHERE "odd""name"::text = $1 AND "a__b" > $2 '
        'ORDER BY "id" DESC, "urn" LIMIT 50 OFFSET 100'
    )
    assert found["params"] == ["x'y", "5"]


@pytest.mark.parametrize(
    ("columns", "rows", "drawn_as"),
    [
        ([("status", "text"), ("count", "int8")], [["a", 1], ["b", 2]], "bar"),
        ([("day", "date"), ("sum", "numeric")], [["2026-01-01", 1], ["2026-01-02", 2]], "line"),
        ([("year", "int4"), ("sum", "float8")], [[2024, 1], [2025, 2]], "line"),
        ([("count", "int8")], [[2]], ""),
        ([("name", "text"), ("id", "int4")], [["a", 1], ["b", 2]], ""),
        ([("name", "text"), ("city", "text")], [["a", "b"], ["c", "d"]], ""),
        ([("a", "text"), ("n", "int8")], [[str(n), n] for n in range(41)], ""),
    ],
)
def test_a_result_has_a_chart_where_its_shape_suggests_one(
    page: WatchedPage, columns: list[tuple[str, str]], rows: list[list[Any]], drawn_as: str
) -> None:
    made = page.page.evaluate(
        """async ([columns, rows]) => {
          const found = (await import("/page/chart.js")).suggested(columns, rows);
          return found ? [...found.querySelectorAll(".bar, .line")].map((e) => e.classList[0]) : [];
        }""",
        [[{"name": name, "type": kind} for name, kind in columns], rows],
    )
    assert set(made) == ({drawn_as} if drawn_as else set())


def test_nodes_cannot_be_given_handlers_styles_or_foreign_links(page: WatchedPage) -> None:
    refused = page.page.evaluate(
        """async () => {
          const { el } = await import("/page/dom.js");
          const wrong = [{ onclick: "x()" }, { style: "x" }, { src: "x" }, { srcdoc: "x" },
            { href: "javascript:x" }, { href: "http://evil.example" }, { href: "//evil.example" }];
          const fails = (props) => { try { el("a", props); return false; } catch { return true; } };
          return wrong.map(fails);
        }"""
    )
    assert refused == [True] * 7
