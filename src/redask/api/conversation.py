"""A conversation: `db.conversation()` keeps its turns, and `ask` may lean on them.

    talk = db.conversation()
    talk.ask("Who supplies Sencha?")
    talk.ask("And its phone number?")       understood as "What is the phone number of …?"

The turns go along as the option `history`, the newest that are within its bounds, each with the
question as it was understood. An ask that fails is no turn. `stream` is the same while the answer
is written; the turn is kept with its last event.
"""

from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing
from typing import Generic, Protocol, TypeVar

from redask.api.results import CitedAnswer
from redask.core.model import Answer, Answered, Event, Turn
from redask.core.rules.followups.whole_question import UNDERSTOOD_AS
from redask.core.values import newest_turns

_D = TypeVar("_D")
_A = TypeVar("_A", bound=Answer)


class AskingDatabase(Protocol):
    """A database that can be asked."""

    def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question."""

    def stream(self, question: str, **options: object) -> Iterator[Event]:
        """The events of an answer."""


class AsyncAskingDatabase(Protocol):
    """A database that can be asked, for asyncio."""

    async def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question."""

    def stream(self, question: str, **options: object) -> AsyncGenerator[Event, None]:
        """The events of an answer."""


class Turns(Generic[_D]):
    """The turns of a conversation over a database; `turns` are those that went before."""

    def __init__(self, database: _D, turns: Iterable[Turn] = ()) -> None:
        self._database = database
        self._turns = tuple(turns)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns so far, the oldest first."""
        return self._turns

    def history(self) -> list[dict[str, str]]:
        """The option `history` of the next question."""
        return [{"answer": turn.answer, "question": turn.question} for turn in self._turns]

    def _with_history(self, options: dict[str, object]) -> dict[str, object]:
        return {"history": self.history(), **options}

    def _keep(self, question: str, answer: _A) -> _A:
        warned = {each.kind: each.detail for each in answer.validation.warnings}
        turn = Turn(warned.get(UNDERSTOOD_AS, question), answer.answer)
        self._turns = newest_turns([*self._turns, turn])
        return answer


class Conversation(Turns[AskingDatabase]):
    """A conversation; see the module."""

    def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question that may lean on the earlier ones; every clause is an option."""
        return self._keep(question, self._database.ask(question, **self._with_history(options)))

    def stream(self, question: str, **options: object) -> Iterator[Event]:
        """The events of such an answer while it is written."""
        for event in self._database.stream(question, **self._with_history(options)):
            if isinstance(event, Answered):
                self._keep(question, event.answer)
            yield event


class AsyncConversation(Turns[AsyncAskingDatabase]):
    """A conversation for asyncio; one question after the other."""

    async def ask(self, question: str, **options: object) -> CitedAnswer:
        """Answer a question that may lean on the earlier ones; every clause is an option."""
        asked = self._database.ask(question, **self._with_history(options))
        return self._keep(question, await asked)

    async def stream(self, question: str, **options: object) -> AsyncGenerator[Event, None]:
        """The events of such an answer while it is written."""
        asked = self._database.stream(question, **self._with_history(options))
        async with aclosing(asked) as events:
            async for event in events:
                if isinstance(event, Answered):
                    self._keep(question, event.answer)
                yield event
