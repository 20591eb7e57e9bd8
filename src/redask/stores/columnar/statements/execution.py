"""One SELECT, step by step: `Statements(projection).select(…)` and `describe(…)`.

1  the caller's tables are caught up                  `Projection.reading`
2  the text is checked, parsed and bound to them      `plans`
3  the generated text is read once more               `generated_text`
4  it runs, watched: deadline, cancellation, rows     `watch`, and here
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from redask.core.errors import LimitExceeded
from redask.core.model import Caller
from redask.core.ports import DeclaredKey, SelectResult, SelectShape
from redask.core.sql.binder.bound_statement import BoundStatement
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
            plan = self._plans.plan(request, schema)
            values = parameter_values.checked(params, len(plan.bound.parameters))
            scales = parameter_values.numeric_scales(values, plan.bound.parameters)
            if scales:
                plan = self._plans.plan(request, schema, scales)
            given = [
                parameter_values.parameter(value, type, number, schema.oid)
                for number, (value, type) in enumerate(
                    zip(values, plan.bound.parameters, strict=True), 1
                )
            ]
            max_rows = _most_rows(plan.bound, max_rows)
            with self._watched(watch, schema.cursor):
                text = self._text(plan, schema, max_rows)
                return _run(schema.cursor, text, given, plan.bound, max_rows)

    def _text(self, plan: Plan, schema: CallerSchema, max_rows: int) -> str:
        """The text to run, with its tables made, its functions registered, and checked."""
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
