"""From a text to a plan: parsed, bound to the caller's tables, and remembered.

A remembered plan is used again if the tables it reads are to this caller what they were when it was
bound: same columns, same types. What depends on the clock or on a look-up by name (regclass, a
setting, a privilege) is bound anew each time, and EXPLAIN too, which reads no table itself.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from redask.core.errors import SqlError
from redask.core.model import Caller
from redask.core.sql.binder.bound_statement import BoundStatement, bind
from redask.core.sql.binder.context import Facts
from redask.core.sql.binder.explanations import explained, explanation
from redask.core.sql.text_limits import check_text
from redask.core.sql.types import SqlType
from redask.stores.columnar.statements.caller_schema import CallerSchema
from redask.stores.columnar.statements.parsing import in_code_points, parse
from redask.stores.columnar.statements.result_values import output_text

_LONGEST, _MOST = 4096, 512
_FRESH = re.compile(
    "now|current|local|clock|_timestamp|age|reg|today|setting|config|privilege|_size|explain|_pid",
    re.IGNORECASE,
)
_TOLD = ("session:user", "session:database", "session:version", "TimeZone", "IntervalStyle")
_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A statement of a caller: `declared` and `facts` as in `ports.Selector`."""

    sql: str
    caller: Caller
    declared: tuple[str | None, ...]
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """A bound statement; `outputs` selects its columns as Python can take them."""

    bound: BoundStatement
    outputs: str

    def text(self, names: list[str], max_rows: int | None) -> str:
        """The text to run, with the names of the tables in DuckDB; None: all rows there are."""
        inner = self.bound.render(names)
        limit = "" if max_rows is None else f" LIMIT {max_rows + 1}"
        return f"SELECT {self.outputs} FROM ({inner}) AS q{limit}"


class Plans:
    """The plans of one projection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[_Key, Plan] = OrderedDict()

    def plan(
        self,
        request: Request,
        schema: CallerSchema,
        scales: Mapping[int, tuple[int, int]] | None = None,
        shown: Mapping[int, object] | None = None,
    ) -> Plan:
        """The plan of a statement; `scales` are those of its numeric parameters.

        `shown` are the values of those that can only be shown: such a plan is not remembered.
        """
        if not isinstance(request.sql, str):
            raise SqlError("42601", f"a statement is text, not {type(request.sql).__name__}")
        if shown or len(request.sql) > _LONGEST or _FRESH.search(request.sql):
            return _bound(request, schema, scales or {}, shown)
        key = (
            *(request.sql, request.declared, tuple(sorted((scales or {}).items()))),
            *(request.caller.user, request.caller.tenant),  # what functions of the session tell
            *(value for name, value in sorted(request.facts.items()) if name in _TOLD),
        )
        with self._lock:
            known = self._known.get(key)
        if known is not None and all(
            schema.table(each.schema, each.name) == each for each in known.bound.tables
        ):
            return known
        plan = _bound(request, schema, scales or {})
        with self._lock:
            self._known[key] = plan
            if len(self._known) > _MOST:
                self._known.popitem(last=False)
        return plan


def _bound(
    request: Request,
    schema: CallerSchema,
    scales: Mapping[int, tuple[int, int]],
    shown: Mapping[int, object] | None = None,
) -> Plan:
    sql, caller, facts = request.sql, request.caller, request.facts
    tree = _parsed(sql)
    user = facts.get("session:user", caller.user)
    database = facts.get("session:database", caller.tenant)
    known = Facts(user, database, datetime.now(UTC), facts)
    declared = [None if each is None else SqlType.parse(each) for each in request.declared]
    try:
        inner = explained(tree)
        bound = bind(
            inner or tree, sql, schema, known, declared=declared, scales=scales, shown=shown
        )
    except SqlError as error:
        raise in_code_points(sql, error) from None
    if inner is not None:
        bound = explanation(inner, bound)
    outputs = ", ".join(
        f"{output_text(f'q.o{place}', type)} AS o{place}"
        for place, (_, type) in enumerate(bound.columns, 1)
    )
    return Plan(bound, outputs or "1")


@lru_cache(maxsize=_MOST)
def _remembered(sql: str) -> dict[str, Any]:
    return parse(sql)


def _parsed(sql: str) -> dict[str, Any]:
    check_text(sql)
    return _remembered(sql) if len(sql) <= _LONGEST else parse(sql)
