"""A store with the SELECT that stands beside it, for tests of what both do together."""

from pathlib import Path
from typing import Any

from redask.api.select_rows import SelectRows
from redask.stores.columnar.selector import ColumnarSelector
from redask.stores.sqlite.store import SqliteStore


class SelectingStore(SqliteStore):
    """`select`, `describe` and `tables` are the selector's."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.directory = directory
        self.selector = ColumnarSelector(str(directory))
        self.describe = self.selector.describe
        self.tables = self.selector.tables

    def select(self, *arguments: Any, **named: Any) -> SelectRows:
        return SelectRows(self.selector.select(*arguments, **named))

    def close(self) -> None:
        self.selector.close()
        super().close()
