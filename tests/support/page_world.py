"""A server with a database worth looking at, and a browser that looks at it: for tests/web.

    with PageServer(directory) as server:     server.url, server.tokens["mia"]
    with Browser() as browser:                browser.page(server, "mia")

The sample company, a table of sales, texts that would like to be markup, and users: mia reads,
ada audits, olga owns. Providers play: see `players`. Whatever a page loads from elsewhere, every
report of its policy and every error is noted, and `Browser.close` fails if there was any.
"""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from playwright.sync_api import BrowserContext, Dialog, Page, sync_playwright
from server_thread import SETTINGS, InventingProvider, ServerThread
from stage import Player

import redask
from redask.core import errors
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.settings import load
from redask.evaluation import sample

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "<img src=x onerror=\"window.hacked = 1\"> <svg onload='window.hacked = 1'>",
    "[click me](javascript:window.hacked=1) ![pixel](http://evil.example/pixel.png)",
    "<a href='http://evil.example/'>here</a> <iframe src='http://evil.example/'></iframe>",
    "\"><style>@import 'http://evil.example/x.css';</style><base href='http://evil.example/'>",
    "{{constructor.constructor('window.hacked=1')()}} ${window.hacked=1} `window.hacked=1`",
    "<form action='http://evil.example/'><input name=token></form><meta http-equiv=refresh "
    "content='0;url=http://evil.example/'>",
)
ODD_NAME = "<img src=x onerror=window.hacked=1>"
LONG_WORDS = 10_000
_WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
window.paints = [];
const later = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (act) => {
  const came = performance.now();
  return later((now) => { act(now); window.paints.push(performance.now() - came); });
};
"""


class PacedProvider(Player):
    """Says its pieces one by one, a moment apart."""

    async def complete(self, prompt: Prompt, knobs: Knobs, **rest: Any) -> Completion:
        emit: Callable[[str], Awaitable[None]] | None = rest["emit"]
        for piece in self.replies:
            await asyncio.sleep(0.02)
            if emit is not None:
                await emit(piece)
        return Completion("".join(self.replies), self.model, *self.usage)


def players() -> dict[str, Any]:
    """Providers by what they do."""
    said = "The ferry to Amrum leaves at nine. [^1]"
    mixed = (
        f"{said} The ferry to Amrum leaves at ten. [^1] A ticket costs 99 euros. What a nice boat!"
    )
    broken = ["The ferry to Amrum leaves at ", errors.ProviderFailed("venice", _SERVER, "gone")]
    markup = "# A title\n\n" + "\n\n".join(f"{each} [^1]" for each in HOSTILE)
    return {
        "scripted": Player("scripted", [mixed], cost=0.0123),
        "openai": InventingProvider("openai", []),
        "groq": Player("groq", [errors.ProviderRefused("groq", "no, said the model")]),
        "together": Player("together", [errors.ProviderFailed("together", _SERVER, "busy")]),
        "deepseek": Player("deepseek", [f"{said} Nobody said so. [^99]", said]),
        "venice": Player("venice", [broken]),
        "openrouter": Player("openrouter", [markup]),
        "anthropic": PacedProvider("anthropic", [f"{word} " for word in said.split(" ")]),
        "ollama": Player("ollama", [said], cost=1000.0),
        "local": Player("local", [_long()]),
    }


_SERVER = errors.Failure.SERVER


def _long() -> str:
    """An answer of many words, with everything that Markdown has."""
    paragraph = "The ferry to Amrum leaves at *nine*, and **nobody** waits for `anybody`. [^1]"
    parts = ["# A long answer", "| a | b |\n| --- | --- |\n| 1 | 2 |", "- one\n- two\n  - three"]
    while sum(len(each.split()) for each in parts) < LONG_WORDS:
        parts.append(" ".join([paragraph] * 10))
    return "\n\n".join(parts)


class PageServer(ServerThread):
    """See the module."""

    def __init__(self, directory: Path, **more: Any) -> None:
        super().__init__(directory, http_port=0, **more)
        self.settings = SETTINGS.replace("= 2000", "= 20000\ndaily_cost_cap_usd = 50.0")
        self.actors = players()

    @property
    def url(self) -> str:
        return self.addresses[0]

    def __enter__(self) -> Self:
        more = fill(self.directory)
        super().__enter__()
        self.tokens |= more
        return self


def fill(directory: Path) -> dict[str, str]:
    """The database; tokens of the users that `server_thread.fill` does not add."""
    months = [f"2026-{month:02}-01" for month in range(1, 10)]
    sales = [
        {"id": n, "month": month, "region": region, "euros": 100 + 37 * n % 90}
        for n, (month, region) in enumerate((m, r) for m in months for r in ("north", "south"))
    ]
    with redask.open(directory, settings=load(SETTINGS, {})) as db:
        sample.load(db)
        db.put("sales", sales)
        db.put("hostile", [{"id": n, "text": text} for n, text in enumerate(hostile())])
        db.put(ODD_NAME, [{"id": HOSTILE[1], HOSTILE[0]: HOSTILE[2]}])
        db.put("ports", [{"id": n, "text": f"Port number {n} has a quay."} for n in range(250)])
        for user, role in (("ada", "auditor"), ("nora", "sales")):
            db.add_user(user, role=role, attributes={"region": "north"})
        return {user: db.make_token(user) for user in ("ada", "nora")}


def hostile() -> list[str]:
    """Texts that some program did not stand; without NUL, which no entity may hold."""
    data = Path(os.environ.get("REDASK_DATA", "../shared/data")) / "text" / "blns.json"
    naughty: list[str] = json.loads(data.read_text("utf-8")) if data.exists() else []
    return [*HOSTILE, *(each for each in naughty if "\0" not in each)]


class Browser:
    """One Chromium; a page of its own for each that is asked for."""

    def __enter__(self) -> Self:
        self.playwright = sync_playwright().start()
        self.chromium = self.playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=["--no-sandbox"],  # the tests may run as root
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.chromium.close()
        self.playwright.stop()

    def context(self, **options: Any) -> BrowserContext:
        given = {"viewport": {"width": 1280, "height": 860}, "reduced_motion": "reduce", **options}
        context = self.chromium.new_context(**given)
        context.set_default_timeout(60_000)
        context.add_init_script(_WATCH)
        return context

    def page(self, server: PageServer, user: str | None = None, **options: Any) -> "WatchedPage":
        """A page at /, signed in."""
        found = WatchedPage(self.context(**options).new_page(), server.url)
        found.page.goto(server.url)
        if user is not None:
            found.sign_in(server.tokens[user])
        return found


class WatchedPage:
    """A page, and what it did that it must not."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.faults: list[str] = []
        page.on("request", lambda request: self._asked(request.url))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("console", lambda message: self._said(message.type, message.text))

    def _asked(self, url: str) -> None:
        if not url.startswith((f"{self.url}/", "blob:")):
            self.faults.append(f"loaded {url}")

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append("a dialog")
        dialog.dismiss()

    def _said(self, kind: str, text: str) -> None:
        # a status that is an error is told by the browser, too; our page shows it
        if kind == "error" and "the server responded with a status of" not in text:
            self.faults.append(f"console: {text}")

    def sign_in(self, token: str) -> None:
        self.page.fill("#token", token)
        self.page.click("button[type=submit]")
        self.page.wait_for_selector("#question")

    def go(self, address: str, ready: str) -> None:
        self.page.goto(self.url + address)
        self.page.wait_for_selector(ready)

    def ask(self, question: str, **options: str) -> None:
        """Ask, and wait until the answer or the error is there."""
        page = self.page
        before = page.locator(".turn").count()
        if options and not page.locator("details.options[open]").count():
            page.click("details.options > summary")
        for name, value in options.items():
            page.fill(f"#option-{name}", value)
        if page.locator("details.options[open]").count():
            page.click("details.options > summary")
        page.fill("#question", question)
        page.press("#question", "Enter")
        turn = page.locator(".turn").nth(before)
        turn.locator(".info, .box.bad").first.wait_for()

    @property
    def turn(self) -> Any:
        """The last turn."""
        return self.page.locator(".turn").last

    def check(self) -> None:
        """Nothing was loaded from elsewhere, run, or reported."""
        assert self.page.evaluate("window.violations") == []
        assert self.page.evaluate("window.hacked") is None
        assert self.faults == []

    def close(self) -> None:
        if self.page.is_closed():
            return
        self.check()
        self.page.context.close()
