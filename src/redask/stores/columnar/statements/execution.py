"""One SELECT, step by step: `Statements(projection, catalogue).select(…)` and `describe(…)`.

    1  the text is checked and parsed                     `text_limits`, `parsing`
    2  the caller's tables are caught up                  `Projection.reading`
    3  the tree is bound to them                          `core.sql.binder`
    4  the generated text is read once more               `generated_text`
    5  it runs, watched: deadline, cancellation, rows     here

What was parsed and bound is kept for the next run of the same text over the same state.
"""

import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from redask.core.errors import LimitExceeded, SqlError
from redask.core.model import Caller
from redask.core.ports import SelectResult, SelectShape
from redask.core.ports.selecting import Cancellation
from redask.core.sql.binder.context import Facts
from redask.core.sql.binder.statement import BoundStatement, bind
from redask.core.sql.text_limits import check_statement
from redask.core.sql.types import SqlType
from redask.stores.columnar.projection import Projection
from redask.stores.columnar.statements import parameter_values, runtime_functions
from redask.stores.columnar.statements.caller_schema import CallerSchema
from redask.stores.columnar.statements.generated_text import check_generated
from redask.stores.columnar.statements.parsing import in_code_points, parse
from redask.stores.columnar.statements.result_values import converters, output_text
from redask.stores.columnar.statements.watch import Watch

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_RESULT_BYTES = 64 * 1024 * 1024
_PARAMETER = re.compile(r"\$([0-9]+)")
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Plan:
    """A bound statement and whether its text was checked already."""

    bound: BoundStatement
    text: str  # with the output columns as Python takes them


class Statements:
    """The SELECTs of one projection."""

    def __init__(self, projection: Projection) -> None:
        self._projection = projection
        self._lock = threading.Lock()
        self._running: set[Watch] = set()

    def interrupt(self) -> None:
        """Stop every statement that runs: nobody waits for it any more."""
        with self._lock:
            for watch in self._running:
                watch.stop("cancelled")

    def describe(
        self,
        sql: str,
        caller: Caller,
        declared: Sequence[str | None],
        facts: Mapping[str, str],
    ) -> SelectShape:
        """The columns and the parameters of a statement."""
        with self._reading(caller, facts) as tables:
            plan = self._plan(sql, caller, declared, facts, {}, tables)
        columns = tuple((name, str(type)) for name, type in plan.bound.columns)
        return SelectShape(columns, tuple(str(type) for type in plan.bound.parameters))

    def select(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        declared: Sequence[str | None],
        facts: Mapping[str, str],
        timeout_ms: int,
        max_rows: int,
        cancelled: Cancellation | None,
    ) -> SelectResult:
        """The rows of a statement."""
        end = time.monotonic() + timeout_ms / 1000
        with self._reading(caller, facts) as tables:
            plan = self._plan(sql, caller, declared, facts, {}, tables)
            values = parameter_values.checked(params, len(plan.bound.parameters))
            scales = parameter_values.numeric_scales(values, plan.bound.parameters)
            if scales:
                plan = self._plan(sql, caller, declared, facts, scales, tables)
            given = [
                parameter_values.parameter(value, type, number, tables.oid)
                for number, (value, type) in enumerate(
                    zip(values, plan.bound.parameters, strict=True), 1
                )
            ]
            names = [tables.physical(each) for each in plan.bound.tables]
            text = plan.bound.render(names)
            text = f"{plan.text.format(text)} LIMIT {max_rows + 1}"
            with self._watched(tables.cursor, end, timeout_ms, cancelled):
                runtime_functions.register(tables.owner, text)
                check_generated(tables.cursor, text, names)
                return _run(tables.cursor, text, given, plan.bound, max_rows)

    @contextmanager
    def _watched(
        self,
        cursor: "DuckDBPyConnection",
        end: float,
        timeout_ms: int,
        cancelled: Cancellation | None,
    ) -> Iterator[None]:
        watch = Watch(cursor, end, timeout_ms, cancelled)
        with self._lock:
            self._running.add(watch)
        try:
            with watch.watching():
                yield
        finally:
            with self._lock:
                self._running.discard(watch)

    @contextmanager
    def _reading(self, caller: Caller, facts: Mapping[str, str]) -> Iterator["CallerSchema"]:
        with self._projection.reading(caller) as tables:
            yield CallerSchema(tables, caller, facts)

    def _plan(
        self,
        sql: str,
        caller: Caller,
        declared: Sequence[str | None],
        facts: Mapping[str, str],
        scales: Mapping[int, tuple[int, int]],
        schema: "CallerSchema",
    ) -> Plan:
        tree = _parsed(sql)
        user = facts.get("session:user", caller.user)
        database = facts.get("session:database", caller.tenant)
        now = Facts(user, database, datetime.now(UTC), facts)
        types = [None if each is None else SqlType.parse(each) for each in declared]
        try:
            bound = bind(tree, sql, schema, now, types, scales)
        except SqlError as error:
            raise in_code_points(sql, error) from None
        outputs = ", ".join(
            f"{output_text(f'q.o{place}', type)} AS o{place}"
            for place, (_, type) in enumerate(bound.columns, 1)
        )
        return Plan(bound, f"SELECT {outputs} FROM ({{}}) AS q")


@lru_cache(maxsize=512)
def _kept(sql: str) -> dict[str, Any]:
    return parse(sql)


def _parsed(sql: str) -> dict[str, Any]:
    check_statement(sql)
    return _kept(sql) if len(sql) <= 4096 else parse(sql)


def _run(
    cursor: "DuckDBPyConnection",
    text: str,
    values: list[object],
    bound: BoundStatement,
    max_rows: int,
) -> SelectResult:
    types = [type for _, type in bound.columns]
    convert = converters(types)
    is_plain = not any(convert)
    rows: list[tuple[object, ...]] = []
    size = 0
    used = {int(each) for each in _PARAMETER.findall(text)}
    given = {str(number): value for number, value in enumerate(values, 1) if number in used}
    cursor.execute(text, given or None)
    while page := cursor.fetchmany(_PAGE):
        rows += page if is_plain else [
            tuple(
                value if value is None or own is None else own(value)
                for own, value in zip(convert, row, strict=True)
            )
            for row in page
        ]  # fmt: skip
        size += sum(len(value) for row in page for value in row if isinstance(value, str))
        if len(rows) > max_rows:
            message = f"the result has more than {max_rows} rows: add a LIMIT"
            raise LimitExceeded("select.max_rows", message, detail="select.max_rows")
        if size + 8 * len(rows) * len(types) > MAX_RESULT_BYTES:
            message = f"the result is larger than {MAX_RESULT_BYTES >> 20} MiB"
            raise LimitExceeded("result_bytes", message, detail="result_bytes")
    return SelectResult(tuple((name, str(type)) for name, type in bound.columns), rows)
