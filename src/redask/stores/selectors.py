"""SELECT beside a backend: `SELECTORS` by URL scheme, opened from the backend's location."""

from collections.abc import Callable
from typing import NoReturn

from redask.core.errors import Misconfigured
from redask.core.ports import Selector
from redask.stores.backends import backend_for
from redask.stores.sqlite.select.prepared import SqliteSelector

SELECTORS: dict[str, Callable[[str], Selector]] = {"": SqliteSelector}


def open_selector(location: str) -> Selector:
    """SELECT for the database at a location, which is there already."""
    row = backend_for(location)
    return SELECTORS[row.scheme](location) if row.scheme in SELECTORS else NoSelector(row.name)


def has_selector(location: str) -> bool:
    """Whether there is a SELECT for the backend of a location."""
    return backend_for(location).scheme in SELECTORS


class NoSelector:
    """SELECT where there is none: everything is refused."""

    def __init__(self, backend: str) -> None:
        self._backend = backend

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise Misconfigured(f"SELECT is not available on the backend {self._backend}")

    select = describe = tables = _refuse

    def close(self) -> None:
        """Nothing is open."""
