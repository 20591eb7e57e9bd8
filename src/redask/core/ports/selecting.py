"""SELECT over collections as tables; no part of a backend."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from redask.core.model import Caller

SELECT_MS, SELECT_ROWS = 5_000, 10_000


@dataclass(frozen=True, slots=True)
class SelectShape:
    """What a SELECT gives and takes: `integer real text boolean json`, before it runs."""

    columns: tuple[tuple[str, str], ...]
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableShape:
    """A collection as a caller's table, with names and types of its columns."""

    name: str
    columns: tuple[tuple[str, str], ...]


class Selector(Protocol):
    """Runs SELECTs over what a caller may see of the collections; each a table of its own."""

    def select(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
    ) -> list[dict[str, object]]:
        """The rows of a SELECT."""

    def select_now(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
    ) -> list[dict[str, object]] | None:
        """The same for who cannot wait: None when it might take more than a moment."""

    def describe(self, sql: str, caller: Caller, *, timeout_ms: int = SELECT_MS) -> SelectShape:
        """What a SELECT would give, and what its parameters are."""

    def tables(self, caller: Caller) -> list[TableShape]:
        """What the caller can SELECT from, by name."""

    def version(self) -> int:
        """A number that changes with every write, of whichever process; for who cannot wait."""

    def close(self) -> None:
        """Let go of what is kept."""
