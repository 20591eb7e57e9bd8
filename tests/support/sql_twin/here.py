"""redask's side: `Here` announces the tables and runs statements. The one file that knows how."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

from redask.core.errors import AskError, DeadlineExceeded, SqlError
from redask.core.model import Caller
from redask.core.ports import TableShape
from redask.core.sql.types import SqlType
from redask.stores.selectors import open_selector
from sql_twin.cases import Case
from sql_twin.cells import canonical, written
from sql_twin.reference import TIMEOUT_MS, quoted
from sql_twin.verdict import CRASHED, Refusal, Rows

CALLER = Caller()
MOST = 1_000_000
Columns = Sequence[tuple[str, str]]


class Here:
    """A redask database."""

    def __init__(self, directory: Path) -> None:
        self._selector = open_selector(str(directory))

    def __enter__(self) -> "Here":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._selector.close()

    def run_here(
        self, sql: str, params: Sequence[object], declared: Sequence[str | None] = ()
    ) -> tuple[Columns, Sequence[Sequence[object]]]:
        """The columns and rows of a statement."""
        result = self._selector.select(
            sql, params, CALLER, declared=declared, timeout_ms=TIMEOUT_MS, max_rows=MOST
        )
        return result.columns, result.rows

    def tables(self) -> Iterator[tuple[TableShape, Sequence[Sequence[object]]]]:
        """Every table with its rows, in the order of URNs; not the system's own."""
        for table in self._selector.tables(CALLER):
            if not table.name.startswith("red_"):
                names = ", ".join(quoted(name) for name, _ in table.columns)
                sql = f"SELECT {names} FROM {quoted(table.name)} ORDER BY urn"
                yield table, self.run_here(sql, ())[1]

    def run(self, case: Case) -> Rows | Refusal:
        """Describe and run it, as a transport does."""
        try:
            shape = None
            if case.params:
                shape = self._selector.describe(case.sql, CALLER, declared=case.declared)
            columns, rows = self.run_here(case.sql, case.params, case.declared)
        except AskError as error:
            return _refusal(error)
        except Exception as error:
            return Refusal(CRASHED, f"{type(error).__name__}: {error}")
        types = [SqlType.parse(each) for _, each in columns]
        return Rows(
            tuple((name, kind) for (name, _), kind in zip(columns, types, strict=True)),
            tuple(
                tuple(canonical(written(*cell), cell[1]) for cell in zip(row, types, strict=True))
                for row in rows
            ),
            tuple(SqlType.parse(each) for each in shape.parameters) if shape else (),
        )


def _refusal(error: AskError) -> Refusal:
    if isinstance(error, SqlError):
        return Refusal(error.sqlstate, error.message)
    state = "57014" if isinstance(error, DeadlineExceeded) else error.kind
    return Refusal(state, error.message)
