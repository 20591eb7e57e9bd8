"""A conversation: `db.conversation()` keeps its turns, and `ask` may lean on them.

    talk = db.conversation()
    talk.ask("Who supplies Sencha?")
    talk.ask("And its phone number?")       understood as "What is the phone number of …?"

The turns go along as the option `history`, the newest that are within its bounds, each with the
question as it was understood. An ask that fails is no turn.
"""

from typing import Generic, Protocol, TypeVar

from redask.api.results import CitedAnswer
from redask.core.model import Turn
from redask.core.rules.followups.whole_question import UNDERSTOOD_AS
from redask.core.values import newest_turns

_D = TypeVar("_D")


class AskingDatabase(Protocol):
    """A database that can be asked."""

    def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question."""


class AsyncAskingDatabase(Protocol):
    """A database that can be asked, for asyncio."""

    async def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question."""


class Turns(Generic[_D]):
    """The turns of a conversation over a database."""

    def __init__(self, database: _D) -> None:
        self._database = database
        self._turns: tuple[Turn, ...] = ()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns so far, the oldest first."""
        return self._turns

    def history(self) -> list[dict[str, str]]:
        """The option `history` of the next question."""
        return [{"answer": turn.answer, "question": turn.question} for turn in self._turns]

    def _keep(self, question: str, answer: CitedAnswer) -> CitedAnswer:
        warned = {each.kind: each.detail for each in answer.validation.warnings}
        turn = Turn(warned.get(UNDERSTOOD_AS, question), answer.answer)
        self._turns = newest_turns([*self._turns, turn])
        return answer


class Conversation(Turns[AskingDatabase]):
    """A conversation; see the module."""

    def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question that may lean on the earlier ones; every clause is an option."""
        return self._keep(
            question, self._database.ask(question, **{"history": self.history(), **options})
        )


class AsyncConversation(Turns[AsyncAskingDatabase]):
    """A conversation for asyncio; one question after the other."""

    async def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question that may lean on the earlier ones; every clause is an option."""
        asked = self._database.ask(question, **{"history": self.history(), **options})
        return self._keep(question, await asked)
