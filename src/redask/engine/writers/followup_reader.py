"""Follow-ups: `FollowupReader(…).understood(run, plan)` is the question as it is meant.

    no history, or it stands alone    None: nothing is done, and no byte differs
    `ask.followups = "rules"`         by the rule (`core.rules.followups`)
    `ask.followups = "model"`         by the first provider of the plan that writes, called like
                                      any; by the rule where none does, or its reply is no question

EXPLAIN and search call nobody: theirs is `whole_question.by_rule`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from redask.core import provider_table
from redask.core.model import Ask
from redask.core.rules import failover
from redask.core.rules.followups import followup_prompt, leaning, whole_question
from redask.core.wire import query_source
from redask.engine.ask_state import AskState
from redask.engine.writers.model_replies import ModelReplies

_PLACE = query_source.address("history")


@dataclass(frozen=True, slots=True)
class FollowupReader:
    """See the module."""

    replies: ModelReplies
    by_model: bool

    async def understood(self, run: AskState, plan: Sequence[failover.Step]) -> str | None:
        """The question as it is meant, or None if that is how it stands."""
        question, turns = run.ask.question, run.ask.history
        if not turns:
            return None
        whole, leans = await self.replies.workers.hop(_read, run.ask)
        writers = [step for step in plan if provider_table.writes(step.provider)]
        if not (self.by_model and leans and writers):
            return whole
        asked = followup_prompt.assemble(question, turns)
        reply = followup_prompt.read(await self.replies.reply(run, writers, asked, _PLACE))
        if reply is None:
            return whole
        return None if reply == question else reply


def _read(ask: Ask) -> tuple[str | None, bool]:
    return whole_question.understood(ask.question, ask.history), leaning.leans(ask.question)
