"""Questions that need computing: `Computing(…).compute(ask, caller)`, in a thread.

    the planner says     what comes of it
    certain              Computed: the statement is run as the caller; its result is the first
                         source; the same rows with names and numbers to tell follow as a second
                         where there are any, then rows behind it under their own URNs
    unclear              Uncomputed: what was not understood, and the nearest statement, not run
    not computed         None: search as ever

A statement over attached tables runs where they are (`AttachedStatements`). With PLAN OFF it is
always None, with PLAN ONLY nothing is run. A statement that fails or takes too
long is Uncomputed, too. Reading, types and errors are those of the caller's own SELECT.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from redask.core.errors import LimitExceeded, SqlError
from redask.core.model import Ask, Caller, PlanChoice, Source
from redask.core.planning.plan_schema import PlanSchema
from redask.core.ports import Selector, Store
from redask.core.ports.selecting import AttachedStatements
from redask.core.rules.grounding import refused_answers
from redask.core.rules.grounding.refused_answers import Refusal
from redask.core.settings import Settings
from redask.core.sql.json_cells import json_value
from redask.core.wire import query_source
from redask.engine import call_limits, telemetry
from redask.engine.plan_sources import PlanSources

if TYPE_CHECKING:  # the planner is imported with the first question over tables
    from redask.core.planning.plan import Certain, Planned

MOST_ROWS = 10_000
_EXAMPLES = 2
_MOST_LOST = 3


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What EXPLAIN shows of a statement: what it computes, how sure, and its text."""

    intent: str
    coverage: float
    sql: str | None

    def shown(self) -> dict[str, object]:
        """The key `query` of a plan."""
        return {"coverage": float(self.coverage), "intent": self.intent, "sql": self.sql}


@dataclass(frozen=True, slots=True)
class Computed:
    """A statement's result: the source, rows behind it, and how it came about."""

    query: QueryPlan
    sources: tuple[Source, ...]
    live: bool = False  # of tables that are elsewhere, and may change without a write here


@dataclass(frozen=True, slots=True)
class Uncomputed:
    """A question that needs computing and was not computed."""

    refusal: Refusal
    query: QueryPlan
    sources: tuple[Source, ...] = ()
    final: bool = False  # nothing else is tried: the caller wanted no more, or it failed
    named: bool = True  # the question names something of the tables
    live: bool = False


@dataclass(frozen=True, slots=True)
class Computing:
    """The planner, and what it plans over."""

    selector: Selector
    sources: PlanSources
    store: Store
    settings: Settings
    attached: AttachedStatements | None = None

    def schema(self, ask: Ask, caller: Caller) -> PlanSchema:
        """What a question may be computed from: the tables that the ASK names, or all."""
        return _only(self.sources.schema(caller), ask.collections)

    def compute(self, ask: Ask, caller: Caller) -> Computed | Uncomputed | None:
        """See the module."""
        if ask.plan is PlanChoice.OFF:
            return None
        with telemetry.step("plan"):
            schema = self.schema(ask, caller)
            planned = self._plan(ask, caller, schema) if schema.tables else None
        if planned is None:
            return _not_computed(ask)
        from redask.core.planning.plan import Certain, NotComputed, Unclear

        match planned:
            case NotComputed():
                return _not_computed(ask)
            case Unclear(missing, nearest, intent, kind, named):
                sources = (query_source.not_run(nearest),) if nearest else ()
                refusal = refused_answers.not_planned(kind, missing, nearest)
                query = QueryPlan(intent, 0.0, None)
                return Uncomputed(refusal, query, sources, _is_only(ask), named)
            case Certain(sql, intent, coverage):
                query = QueryPlan(intent, coverage, sql)
                if _is_only(ask):
                    return _plan_only(query)
                return self._run(query, planned, caller)
            case other:
                assert_never(other)

    def outline(self, ask: Ask, caller: Caller) -> dict[str, object]:
        """How a question would be computed, as plain data; nothing is run.

        `sql` is null where the planner is not certain; then `reason` and `missing` say why, and
        `nearest` is the statement that comes nearest, or null. `others` are statements that were
        considered and lost, the best first, each with the reason.
        """
        from redask.core.planning.plan import Certain, NotComputed, Unclear

        missing: tuple[str, ...] = ()
        nearest: str | None = None
        reason: str | None = None
        match self._plan(ask, caller, self.schema(ask, caller)):
            case Certain(sql, intent, coverage):
                query = QueryPlan(intent, coverage, sql)
            case Unclear() as unclear:
                missing, nearest, reason = unclear.missing, unclear.nearest, unclear.kind
                query = QueryPlan(unclear.intent, 0.0, None)
            case NotComputed():
                query = QueryPlan("lookup", 0.0, None)
            case other:
                assert_never(other)
        return {
            **query.shown(),
            "missing": list(missing),
            "nearest": nearest,
            "others": self._lost(ask, caller, query.sql or nearest),
            "reason": reason,
        }

    def _lost(self, ask: Ask, caller: Caller, chosen: str | None) -> list[dict[str, str]]:
        """The statements that were considered besides the chosen one, and why they lost."""
        from redask.core.planning.plan import considered

        values = self.sources.values(caller)
        found = considered(ask.question, self.schema(ask, caller), values)
        best = next((cost for cost, sql in found if sql == chosen), 0)
        others = [each for each in found if each[1] != chosen][:_MOST_LOST]
        return [{"sql": sql, "why": _why(cost - best)} for cost, sql in others]

    def _run(self, query: QueryPlan, planned: "Certain", caller: Caller) -> Computed | Uncomputed:
        """Run a statement as the caller. → its result as a source, or why there is none."""
        sql, examples = planned.sql, planned.examples
        live = self.attached is not None
        try:
            with telemetry.step("compute"):
                source, live = self._result(sql, caller)
                told = (self.result(planned.told, caller),) if planned.told else ()
                rows = self._examples(examples, caller) if examples else ()
        except (SqlError, LimitExceeded) as error:
            nearest = (query_source.not_run(sql),)
            refusal = refused_answers.failed(error.message, sql)
            return Uncomputed(refusal, query, nearest, True, live=live)
        return Computed(query, (source, *told, *rows), live)

    def result(self, sql: str, caller: Caller) -> Source:
        """The result of a statement as a source; the errors of SELECT."""
        return self._result(sql, caller)[0]

    def _result(self, sql: str, caller: Caller) -> tuple[Source, bool]:
        """The result of a statement, and whether it is of tables elsewhere."""
        chosen = self.settings
        timeout_ms = min(chosen.select_timeout_ms, chosen.limits.timeout_ms)
        waiting, found, live = call_limits.current(), None, False
        if self.attached is not None:
            found = self.attached.run(
                sql, caller, timeout_ms=timeout_ms, max_rows=MOST_ROWS, cancelled=waiting
            )
            live = found is not None
        if found is None:
            found = self.selector.select(
                *(sql, (), caller), timeout_ms=timeout_ms, max_rows=MOST_ROWS, cancelled=waiting
            )
        rows = [[json_value(value) for value in row] for row in found.rows]
        return query_source.make(sql, found.columns, rows), live

    def _plan(self, ask: Ask, caller: Caller, schema: PlanSchema) -> "Planned":
        from redask.core.planning.direct.direct_plans import plan_directly
        from redask.core.planning.plan import NotComputed

        if not schema.tables:
            return NotComputed()
        return plan_directly(ask.question, schema, self.sources.values(caller), None)

    def _examples(self, sql: str, caller: Caller) -> tuple[Source, ...]:
        """Rows behind a result, by a statement that gives their URNs."""
        found = self.selector.select(
            sql, (), caller, max_rows=_EXAMPLES, cancelled=call_limits.current()
        )
        return tuple(self.store.read([str(row[0]) for row in found.rows], caller))


def _why(behind: int) -> str:
    """Why a statement lost that costs so much more than the one that was chosen."""
    if behind <= 0:
        return "it is as near to the words of the question: neither is certain"
    return f"its names are further from the words of the question, by {behind}"


def _is_only(ask: Ask) -> bool:
    return ask.plan is PlanChoice.ONLY


def _not_computed(ask: Ask) -> Uncomputed | None:
    return _plan_only(QueryPlan("lookup", 0.0, None)) if _is_only(ask) else None


def _plan_only(query: QueryPlan) -> Uncomputed:
    sources = (query_source.not_run(query.sql),) if query.sql else ()
    return Uncomputed(refused_answers.plan_only(), query, sources, True)


def _only(schema: PlanSchema, names: Sequence[str]) -> PlanSchema:
    if not names:
        return schema
    tables = tuple(table for table in schema.tables if table.name in names)
    keys = tuple(key for key in schema.keys if key.table in names and key.to_table in names)
    return PlanSchema(tables, keys)
