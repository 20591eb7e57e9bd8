"""Selectors for the tests of SELECT in worker processes; `make_selector` is their factory."""

import pickle
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

from redask.core.errors import SqlError
from redask.core.model import Caller
from redask.core.planning.plan_schema import PlanColumn, PlanSchema, PlanTable, StoredValue
from redask.core.ports import SelectResult, SelectShape, TableShape
from redask.core.ports.selecting import SelectPage

TYPED = SelectResult(
    (
        ("n", "int8"),
        ("n", "numeric(18,2)"),
        ("d", "date"),
        ("t", "time"),
        ("at", "timestamp"),
        ("zoned", "timestamptz"),
        ("u", "uuid"),
        ("f", "float8"),
        ("b", "bool"),
        ("j", "jsonb"),
        ("i", "interval"),
        ("l", "int4[]"),
        ("q", "numeric"),
        ("x", "text"),
    ),
    [
        (
            *(1, Decimal("12.50"), date(2026, 5, 4), time(9, 30, 0, 500_000)),
            *(datetime(2026, 5, 4, 9, 30), datetime(2026, 5, 4, 9, 30, tzinfo=UTC)),
            *(UUID("123e4567-e89b-12d3-a456-426614174000"), 0.5, True, '{"a": 1}'),
            *("1 mon 2 days", [1, None, 3], Decimal("0.3333333333"), 'a "b", ü\n'),
        ),
        (None,) * 14,
        (
            *(-3, Decimal("-0.05"), date(1, 1, 1), time(0, 0)),
            *(datetime(1999, 12, 31, 23, 59, 59, 1), datetime(2000, 1, 1, tzinfo=UTC)),
            *(UUID(int=0), 1e20, False, "null", "00:00:01", [], Decimal(7), ""),
        ),
    ],
)


class FakeSelector:
    """Says what it was asked, or does what its statement says."""

    def __init__(self, directory: str) -> None:
        self._directory = Path(directory)
        self._stop = threading.Event()

    def select(
        self, sql: str, params: Sequence[object], caller: Caller, **options: Any
    ) -> SelectResult:
        columns = (("a", "int8"), ("b", "text"))
        match sql.split():
            case ["rows", count]:
                return SelectResult(columns, [(n, "x") for n in range(int(count))])
            case ["wide", rows, width]:
                one = tuple(range(int(width)))
                return SelectResult(tuple((f"c{n}", "int8") for n in one), [one] * int(rows))
            case ["typed"]:
                return TYPED
            case ["wait"]:
                self._stop.clear()
                (self._directory / "started").touch()
                self._stop.wait()
                raise SqlError("57014", "canceling statement due to user request")
            case ["fail"]:
                raise SqlError("22012", "division by zero", position=3, hint="none")
        del options["timeout_ms"]
        return SelectResult((("asked", "text"),), [(repr((sql, params, caller, options)),)])

    def select_pages(
        self, sql: str, params: Sequence[object], caller: Caller, **options: Any
    ) -> Iterator[SelectPage]:
        """What `select` gives, a row a page."""
        options.pop("max_bytes", None)
        found = self.select(sql, params, caller, **options)
        for row in found.rows:
            yield SelectPage(found.columns, 1, pickle.dumps([row]))
        if not found.rows:
            yield SelectPage(found.columns, 0, pickle.dumps([]))

    def select_json(
        self, sql: str, params: Sequence[object], caller: Caller, **options: Any
    ) -> Iterator[bytes]:
        yield repr((sql, params, caller.user, options["browsers"])).encode()
        yield b"."

    def describe(self, sql: str, caller: Caller, **options: Any) -> SelectShape:
        del options["timeout_ms"]
        return SelectShape(((sql, "text"),), tuple(map(str, options["declared"])))

    def tables(self, caller: Caller) -> list[TableShape]:
        return [TableShape(caller.user, (("id", "int8"),))]

    def plan_schema(self, caller: Caller) -> PlanSchema:
        return PlanSchema((PlanTable(caller.user, (PlanColumn("id", "int8", 2, 1),)),))

    def find_values(
        self, texts: Sequence[str], caller: Caller
    ) -> Mapping[str, tuple[StoredValue, ...]]:
        return {text: (StoredValue(caller.user, "name", text.upper()),) for text in texts}

    def canonical(self, sql: str) -> str:
        return sql.upper()

    def catch_up(self, caller: Caller) -> None:
        """Nothing to do."""

    def fix_type(self, column: str, type_name: str | None, caller: Caller) -> None:
        (self._directory / "fixed").write_text(f"{column} {type_name} {caller.user}")

    def interrupt(self) -> None:
        self._stop.set()

    def close(self) -> None:
        """Nothing is open."""


def make_selector(directory: str) -> FakeSelector:
    return FakeSelector(directory)
