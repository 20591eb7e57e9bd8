"""A store with the SELECT that stands beside it, for tests of what both do together."""

from pathlib import Path

from redask.stores.sqlite.select.prepared import SqliteSelector
from redask.stores.sqlite.store import SqliteStore


class SelectingStore(SqliteStore):
    """`select`, `select_now`, `describe` and `tables` are the selector's."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.selector = SqliteSelector(directory)
        self.select = self.selector.select
        self.select_now = self.selector.select_now
        self.describe = self.selector.describe
        self.tables = self.selector.tables

    def close(self) -> None:
        self.selector.close()
        super().close()
