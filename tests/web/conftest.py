"""One server for all tests of the page, and a browser a module; pictures in a folder of the run.

Playwright's event loop runs in this thread as long as the browser does: no test of another module
could run one of its own.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from page_world import Browser, PageServer, WatchedPage
from web_types import OpenPage


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    with PageServer(tmp_path_factory.mktemp("page") / "db") as opened:
        yield opened


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots go; `pytest -s` prints it."""
    folder = tmp_path_factory.mktemp("pictures")
    print(f"\npictures of the page: {folder}")
    return folder


@pytest.fixture
def open_page(browser: Browser, server: PageServer) -> Iterator[OpenPage]:
    """Opens a page as a user; at the end none may have done what it must not."""
    opened: list[WatchedPage] = []

    def make(user: str | None = None, **options: object) -> WatchedPage:
        opened.append(browser.page(server, user, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()
