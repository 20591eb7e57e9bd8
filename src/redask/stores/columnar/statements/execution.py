"""One SELECT, step by step: `Statements(projection).select(…)` and `describe(…)`.

1  the caller's tables are caught up                  `Projection.reading`
2  the text is checked, parsed and bound to them      `plans`
3  the generated text is read once more               `generated_text`
4  it runs, watched: deadline, cancellation, rows     `watch`, and here

`select` gives a result whole, `pages` one of any length page by page.
"""

import pickle
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from redask.core.errors import LimitExceeded
from redask.core.model import Caller
from redask.core.ports import DeclaredKey, SelectResult, SelectShape
from redask.core.ports.selecting import Columns, SelectPage
from redask.core.sql.binder.bound_statement import BoundStatement
from redask.core.sql.casting.shown_constants import refuse_marks
from redask.stores.columnar.projection import ColumnarProjection
from redask.stores.columnar.statements import parameter_values, runtime_functions
from redask.stores.columnar.statements.caller_schema import CallerSchema
from redask.stores.columnar.statements.generated_text import check_generated
from redask.stores.columnar.statements.plans import Plan, Plans, Request
from redask.stores.columnar.statements.result_values import converters
from redask.stores.columnar.statements.watch import Watch

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CATALOGUE_ROWS = 10_000
MAX_RESULT_BYTES = 64 * 1024 * 1024
_PAGE, _CHECKED = 1000, 512
_FIRST, _PAGE_CELLS, _PAGE_BYTES = 128, 20_000, 512 * 1024  # of a page
_PARAMETER = re.compile(r"\$([0-9]+)")


class Statements:
    """The SELECTs of one projection; `keys` are those that a tenant's files declare."""

    def __init__(
        self,
        projection: ColumnarProjection,
        keys: Callable[[str], Sequence[DeclaredKey]] | None = None,
    ) -> None:
        self._projection = projection
        self._keys = keys or (lambda _tenant: ())
        self._plans = Plans()
        self._lock = threading.Lock()
        self._running: set[Watch] = set()
        self._checked: OrderedDict[tuple[str, tuple[str, ...]], None] = OrderedDict()

    def interrupt(self) -> None:
        """Stop every statement that runs: nobody waits for it any more."""
        with self._lock:
            for watch in self._running:
                watch.stop("cancelled")

    def describe(self, request: Request) -> SelectShape:
        """The columns and the parameters of a statement."""
        with self._reading(request.caller, request.facts) as schema:
            bound = self._plans.plan(request, schema).bound
        columns = tuple((name, str(type)) for name, type in bound.columns)
        tables = tuple((each.schema, each.name) for each in bound.tables)
        parameters = tuple(str(type) for type in bound.parameters)
        return SelectShape(columns, parameters, tables)

    def select(
        self, request: Request, params: Sequence[object], watch: Watch, max_rows: int
    ) -> SelectResult:
        """The rows of a statement."""
        with self._reading(request.caller, request.facts) as schema:
            plan, given = self._planned(request, params, schema)
            max_rows = _most_rows(plan.bound, max_rows)
            with self._watched(watch, schema.cursor):
                text = self._text(plan, schema, max_rows)
                return _run(schema.cursor, text, given, plan.bound, max_rows)

    def pages(
        self, request: Request, params: Sequence[object], watch: Watch, max_bytes: int
    ) -> Iterator[SelectPage]:
        """The rows of a statement, at least a page; its time includes what is done with them."""
        with self._reading(request.caller, request.facts) as schema:
            plan, given = self._planned(request, params, schema)
            with self._watched(watch, schema.cursor):
                text = self._text(plan, schema, None)
                yield from _paged(schema.cursor, text, given, plan.bound, max_bytes)

    def _planned(
        self, request: Request, params: Sequence[object], schema: CallerSchema
    ) -> tuple[Plan, list[object]]:
        """The plan of a statement, and the values of its parameters."""
        plan = self._plans.plan(request, schema)
        values = parameter_values.checked(params, len(plan.bound.parameters))
        zone = request.facts.get("TimeZone", "UTC")
        shown = parameter_values.shown_values(values, plan.bound.parameters, zone)
        values = tuple(None if at in shown else each for at, each in enumerate(values, 1))
        scales = parameter_values.numeric_scales(values, plan.bound.parameters)
        if scales or shown:
            plan = self._plans.plan(request, schema, scales, shown)
        given = [
            parameter_values.parameter(value, type, number, schema.oid, zone)
            for number, (value, type) in enumerate(
                zip(values, plan.bound.parameters, strict=True), 1
            )
        ]
        return plan, given

    def _text(self, plan: Plan, schema: CallerSchema, max_rows: int | None) -> str:
        """The text to run, with its tables made, its functions registered, and checked."""
        refuse_marks(plan.bound.sql)
        names = [schema.physical(each) for each in plan.bound.tables]
        text = plan.text(names, max_rows)
        runtime_functions.register(schema.owner, text)
        key = (text, tuple(names))
        with self._lock:
            is_checked = key in self._checked
        if not is_checked:
            check_generated(schema.cursor, text, names)
            with self._lock:
                self._checked[key] = None
                if len(self._checked) > _CHECKED:
                    self._checked.popitem(last=False)
        return text

    @contextmanager
    def _watched(self, watch: Watch, cursor: "DuckDBPyConnection") -> Iterator[None]:
        with self._lock:
            self._running.add(watch)
        try:
            with watch.watching(cursor):
                yield
        finally:
            with self._lock:
                self._running.discard(watch)

    @contextmanager
    def _reading(self, caller: Caller, facts: Mapping[str, str]) -> Iterator[CallerSchema]:
        with self._projection.reading(caller) as tables:
            yield CallerSchema(tables, caller, facts, self._keys)


def _most_rows(bound: BoundStatement, max_rows: int) -> int:
    """How many rows a result may have; a client needs the catalogue whole, whatever is set."""
    schemas = {each.schema for each in bound.tables}
    return max(max_rows, CATALOGUE_ROWS) if schemas and "public" not in schemas else max_rows


def _run(
    cursor: "DuckDBPyConnection",
    text: str,
    values: list[object],
    bound: BoundStatement,
    max_rows: int,
) -> SelectResult:
    rows: list[tuple[object, ...]] = []
    size = 0
    found = _Fetched(cursor, text, values, bound)
    while page := found.next(_PAGE):
        rows += page
        size += sum(len(value) for row in page for value in row if isinstance(value, str))
        if len(rows) > max_rows:
            message = f"the result has more than {max_rows} rows: add a LIMIT"
            raise LimitExceeded("select.max_rows", message, detail="select.max_rows")
        if size + 8 * len(rows) * len(bound.columns) > MAX_RESULT_BYTES:
            message = f"the result is larger than {MAX_RESULT_BYTES >> 20} MiB"
            raise LimitExceeded("result_bytes", message, detail="result_bytes")
    return SelectResult(_columns(bound), rows)


def _paged(
    cursor: "DuckDBPyConnection",
    text: str,
    values: list[object],
    bound: BoundStatement,
    max_bytes: int,
) -> Iterator[SelectPage]:
    columns, size = _columns(bound), 0
    most = max(1, min(_PAGE, _PAGE_CELLS // max(1, len(columns))))
    step = min(_FIRST, most)
    found = _Fetched(cursor, text, values, bound)
    while page := found.next(step):
        rows = pickle.dumps(page, protocol=pickle.HIGHEST_PROTOCOL)
        size += len(rows)
        if size > max_bytes:
            limit = "select.max_bytes"
            message = f"the result has more than {max_bytes} bytes ({limit})"
            raise LimitExceeded(limit, message, detail=limit)
        yield SelectPage(columns, len(page), rows)
        # large values make small pages
        step = max(1, step // 2) if len(rows) > _PAGE_BYTES else min(most, step * 2)
    if not size:
        yield SelectPage(columns, 0, pickle.dumps([]))


def _columns(bound: BoundStatement) -> Columns:
    return tuple((name, str(type)) for name, type in bound.columns)


class _Fetched:
    """The rows of a text that runs, as Python's types."""

    def __init__(
        self, cursor: "DuckDBPyConnection", text: str, values: list[object], bound: BoundStatement
    ) -> None:
        self._cursor = cursor
        self._convert = converters([type for _, type in bound.columns], bound.shown)
        self._is_plain = bool(self._convert) and not any(self._convert)
        used = {int(each) for each in _PARAMETER.findall(text)}
        given = {str(number): value for number, value in enumerate(values, 1) if number in used}
        cursor.execute(text, given or None)

    def next(self, most: int) -> list[tuple[object, ...]]:
        """The next rows, at most so many."""
        page = self._cursor.fetchmany(most)
        return page if self._is_plain else [
            # without columns there is a value all the same, which nobody sees
            tuple(
                value if value is None or own is None else own(value)
                for own, value in zip(self._convert, row, strict=bool(self._convert))
            )
            for row in page
        ]  # fmt: skip
