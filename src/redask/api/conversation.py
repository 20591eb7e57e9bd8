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
from redask.core.values import MAX_HISTORY_BYTES, MAX_TURNS

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
        self._turns: list[Turn] = []

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns so far, the oldest first."""
        return tuple(self._turns)

    def history(self) -> list[dict[str, str]]:
        """The option `history` of the next question."""
        return [{"answer": turn.answer, "question": turn.question} for turn in self._turns]

    def _keep(self, question: str, answer: CitedAnswer) -> CitedAnswer:
        warned = {each.kind: each.detail for each in answer.validation.warnings}
        self._turns.append(Turn(warned.get(UNDERSTOOD_AS, question), answer.answer))
        while len(self._turns) > MAX_TURNS or self._size() > MAX_HISTORY_BYTES:
            del self._turns[0]
        return answer

    def _size(self) -> int:
        return sum(len((turn.question + turn.answer).encode()) for turn in self._turns)


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
