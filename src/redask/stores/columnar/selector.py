"""SELECT on a database's columnar projection: `ColumnarSelector(location)`; see `ports.Selector`.

It opens the backend of the location once more, for itself: what it reads is the change log, the
policies and the logs. The projection is in the folder `columnar` of the database. What runs and
plans statements is imported with the first of them: a question over documents needs none of it.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from redask.core.model import Caller
from redask.core.planning.plan_schema import PlanSchema, StoredValue
from redask.core.ports import SELECT_MS, SELECT_ROWS, SelectResult, SelectShape, TableShape
from redask.core.ports.selecting import SELECT_BYTES, Cancellation, SelectPage
from redask.stores.backends import backend_for

if TYPE_CHECKING:
    from redask.stores.columnar.plan_facts.plan_tables import PlanTables
    from redask.stores.columnar.projection import ColumnarProjection
    from redask.stores.columnar.statements.execution import Statements
    from redask.stores.columnar.statements.plans import Request

FOLDER = "columnar"
_NO_TABLE = PlanSchema(())


class ColumnarSelector:
    """SELECT over the collections of the database at a location, which is there already."""

    def __init__(self, location: str, *, closed: bool = False) -> None:
        row = backend_for(location)
        self._backend = row.open(location, closed=closed)
        self._folder = row.directory(location) / FOLDER
        self._once = threading.RLock()
        self._tables: ColumnarProjection | None = None
        self._runner: Statements | None = None
        self._planner: PlanTables | None = None

    @property
    def _projection(self) -> "ColumnarProjection":
        from redask.stores.columnar.projection import ColumnarProjection

        with self._once:
            if self._tables is None:
                kept = self._backend
                logs = kept.audit, kept.access
                self._tables = ColumnarProjection(self._folder, kept.store, *logs)
            return self._tables

    @property
    def _statements(self) -> "Statements":
        from redask.stores.columnar.statements.execution import Statements

        with self._once:
            if self._runner is None:
                self._runner = Statements(self._projection, self._backend.manifest.declared_keys)
            return self._runner

    @property
    def _planning(self) -> "PlanTables":
        from redask.stores.columnar.plan_facts.plan_tables import PlanTables

        with self._once:
            if self._planner is None:
                self._planner = PlanTables()
            return self._planner

    def select(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
        cancelled: Cancellation | None = None,
    ) -> SelectResult:
        """The rows of a SELECT."""
        from redask.stores.columnar.statements.watch import Watch

        request = _request(sql, caller, declared, facts)
        return self._statements.select(request, params, Watch(timeout_ms, cancelled), max_rows)

    def select_json(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        browsers: bool,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
        cancelled: Cancellation | None = None,
    ) -> Iterator[bytes]:
        """The rows of a SELECT as JSON, in pieces."""
        from redask.core.wire.row_json import rows_json

        found = self.select(
            sql, params, caller, timeout_ms=timeout_ms, max_rows=max_rows, cancelled=cancelled
        )
        return rows_json([name for name, _ in found.columns], found.rows, browsers=browsers)

    def select_pages(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
        timeout_ms: int = SELECT_MS,
        max_bytes: int = SELECT_BYTES,
        cancelled: Cancellation | None = None,
    ) -> Iterator[SelectPage]:
        """The rows of a SELECT of any length, page by page."""
        from redask.stores.columnar.statements.watch import Watch

        request = _request(sql, caller, declared, facts)
        return self._statements.pages(request, params, Watch(timeout_ms, cancelled), max_bytes)

    def describe(
        self,
        sql: str,
        caller: Caller,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
        timeout_ms: int = SELECT_MS,  # noqa: ARG002 - nothing is run
        cancelled: Cancellation | None = None,  # noqa: ARG002
    ) -> SelectShape:
        """What a SELECT would give, and what its parameters are."""
        return self._statements.describe(_request(sql, caller, declared, facts))

    def tables(self, caller: Caller) -> list[TableShape]:
        """What the caller can SELECT from, by name."""
        with self._projection.reading(caller) as tables:
            return [
                TableShape(
                    name,
                    tuple((own, str(type)) for own, type, _ in tables.columns(name) or ()),
                )
                for name in tables.names()
            ]

    def plan_schema(self, caller: Caller) -> PlanSchema:
        """The tables that the caller may plan a SELECT with, counted in what the caller reads."""
        if self._tables is None and self._backend.store.is_only_searched(caller):
            return _NO_TABLE
        declared = self._backend.manifest.declared_keys(caller.tenant)
        with self._projection.reading(caller) as tables:
            return self._planning.schema(tables, declared)

    def find_values(
        self, texts: Sequence[str], caller: Caller
    ) -> Mapping[str, tuple[StoredValue, ...]]:
        """The text values that the caller reads and that are equal to these: see `ValueIndex`."""
        declared = self._backend.manifest.declared_keys(caller.tenant)
        with self._projection.reading(caller) as tables:
            return self._planning.find(tables, declared, texts)

    def catch_up(self, caller: Caller) -> None:
        """Bring the tables up to date, however long that takes."""
        with self._projection.reading(caller):
            pass

    def canonical(self, sql: str) -> str:
        """The one spelling of a SELECT that was described; rows that tie at its LIMIT belong."""
        from redask.stores.columnar.statements.canonical_text import canonical_text

        return canonical_text(sql)

    def interrupt(self) -> None:
        """Stop the statements that run."""
        if self._runner is not None:
            self._runner.interrupt()

    def fix_type(self, column: str, type_name: str | None, caller: Caller) -> None:
        """Fix the type of a column, `table.column`, or (None) take it from the data; for owners."""
        from redask.core.sql.fixed_types import read_type

        kind = None if type_name is None else read_type(type_name)
        with self._projection.reading(caller) as tables:
            known = set(tables.names())
        # a name may have a point itself: the longest table that there is
        dots = [place for place, letter in enumerate(column) if letter == "."]
        cuts = [place for place in dots if column[:place] in known]
        table, name = (column[: cuts[-1]], column[cuts[-1] + 1 :]) if cuts else (column, "")
        self._projection.fix_type(table, name, kind, caller)

    def close(self) -> None:
        """Let go of what is kept."""
        if self._tables is not None:
            self._tables.close()
        self._backend.close()


def _request(
    sql: str, caller: Caller, declared: Sequence[str | None], facts: Mapping[str, str] | None
) -> "Request":
    from redask.stores.columnar.statements.plans import Request

    return Request(sql, caller, tuple(declared), facts or {})
