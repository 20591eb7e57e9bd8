"""A statement by a model, when the planner is not certain: `StatementWriter(…).write(…)`.

    the reply                       what comes of it
    NONE                            None: the tables do not answer it; search as ever
    a statement that cannot be      once more, with the problem; then Uncomputed
    used, or that fails
    an empty result                 once more; what the second gives stands, empty or not
    rows                            Computed: the result is a source, as of any statement

With STEPS 2, the model sees the result and may write one more statement.

It is called like any provider (`model_replies`). What it wrote is described first, as
the caller's own SELECT; then `statement_guard` looks at it, and it runs in its one spelling.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from redask.core import errors, provider_table
from redask.core.model import Ask, Caller, Prompt, Source
from redask.core.planning.plan_schema import PlanSchema
from redask.core.planning.queries import statement_guard, statement_prompt
from redask.core.rules import failover, prompt, terms
from redask.core.rules.grounding import refused_answers
from redask.core.wire import query_source
from redask.engine.ask_state import AskState
from redask.engine.computing import Computed, Computing, QueryPlan, Uncomputed
from redask.engine.writers.model_replies import ModelReplies

BY_A_MODEL = "a statement by a model"
_NO_SUCH_TABLE = "it reads a table that is not in the schema"
_PLACE = query_source.address("schema")
_TRIES = 2
_MOST_WORDS = 80


@dataclass(frozen=True, slots=True)
class StatementWriter:
    """See the module."""

    computing: Computing
    replies: ModelReplies

    async def write(
        self, run: AskState, steps: Sequence[failover.Step]
    ) -> Computed | Uncomputed | None:
        """Have one of the providers write the statement, and run it as the caller."""
        ask, caller = run.ask, run.caller
        schema, asked = await self.replies.workers.hop(self._prompt, ask, caller)
        first = await self._statement(run, steps, schema, asked)
        if not isinstance(first, Computed) or ask.steps == 1:
            return first
        more = statement_prompt.with_result(asked, first.sources[0].payload)
        second = await self._statement(run, steps, schema, more)
        if not isinstance(second, Computed):
            return first
        return replace(first, sources=tuple(dict.fromkeys((*first.sources, *second.sources))))

    def steps(
        self,
        plan: Sequence[failover.Step],
        known: Collection[str],
        may_use: Callable[[failover.Step], bool],
    ) -> tuple[failover.Step, ...]:
        """Who writes it: whom the settings name, else those of an ask's plan who write at all."""
        chosen = self.computing.settings
        if chosen.plan_provider is None:
            return tuple(step for step in plan if provider_table.writes(step.provider))
        walk = failover.plan(
            using=(),
            model=chosen.plan_model,
            fallback=(chosen.plan_provider,),
            default=None,
            configured=(),
            known=known,
        )
        return tuple(step for step in walk if may_use(step))

    @staticmethod
    def shown(query: QueryPlan | None, steps: Sequence[failover.Step]) -> dict[str, object] | None:
        """The key `query` of a plan, where these would write the statement."""
        if steps:
            query = QueryPlan(BY_A_MODEL, 0.0, None)
        return query.shown() if query else None

    async def _statement(
        self, run: AskState, steps: Sequence[failover.Step], schema: PlanSchema, asked: Prompt
    ) -> Computed | Uncomputed | None:
        hinted, problem, sql = asked, "", ""
        empty: Computed | None = None
        for _ in range(_TRIES):
            reply = await self.replies.reply(run, steps, hinted, _PLACE)
            written = statement_prompt.read(reply)
            if written is None:
                return empty
            sql = written
            try:
                source = await self.replies.workers.hop(self._run, sql, schema, run.caller)
            except (errors.SqlError, errors.LimitExceeded) as error:
                problem = error.message
            else:
                query = QueryPlan(BY_A_MODEL, 1.0, query_source.statement_of(source.urn))
                found = Computed(query, (source,))
                if query_source.row_count(source):
                    return found
                empty, problem = found, "the result has no rows"
            hinted = prompt.with_hint(asked, statement_prompt.error_hint(sql, problem))
        if empty:
            return empty
        refusal = refused_answers.failed(problem, sql)
        query = QueryPlan(BY_A_MODEL, 0.0, None)
        return Uncomputed(refusal, query, (query_source.not_run(sql),), final=True)

    def _prompt(self, ask: Ask, caller: Caller) -> tuple[PlanSchema, Prompt]:
        schema = self.computing.schema(ask, caller)
        words = terms.words(ask.question)[:_MOST_WORDS]
        values = self.computing.sources.values(caller).find(_grams(words))
        return schema, statement_prompt.assemble(ask.question, schema, values, words)

    def _run(self, sql: str, schema: PlanSchema, caller: Caller) -> Source:
        """The result of a statement that passed every check, in its one spelling."""
        selector = self.computing.selector
        try:
            shape = selector.describe(sql, caller)
        except errors.Denied:  # a model that guesses a name is no caller who names a collection
            raise errors.SqlError("42P01", _NO_SUCH_TABLE) from None
        if shape.parameters:
            raise errors.SqlError("42P02", "a statement of a model has no parameters")
        written = selector.canonical(sql)
        problem = statement_guard.fault(written, shape.tables, schema)
        if problem:
            raise errors.SqlError("42501", problem)
        return self.computing.result(written, caller)


def _grams(words: Sequence[str]) -> list[str]:
    """Runs of up to five words."""
    return [
        " ".join(words[start : start + length])
        for length in range(1, 6)
        for start in range(len(words) - length + 1)
    ]
