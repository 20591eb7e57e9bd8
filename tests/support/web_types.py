"""What fixtures of tests/web are: `OpenPage`."""

from collections.abc import Callable

from page_world import WatchedPage

OpenPage = Callable[..., WatchedPage]
