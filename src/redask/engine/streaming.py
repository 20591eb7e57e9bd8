"""The answer of one provider call, as it comes and as it is sent: `AnswerStream`.

    take        a piece: one marker in each bracket, then through the gate of the strictness in
                force (`rules.grounding.commit`) to the listener
    complete    the provider has finished; what it did not send piece by piece comes here
    accept      the answer stands: what was not sent goes now

Under STRICT SUPPORTED nothing is sent that was not examined; where a model judges the claims,
nothing before it has. A sentence that fails stops the
provider (`Ungrounded` is raised where it hands over its piece), and `examined` says why.
Where nobody listens, nothing is examined before it is complete.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from redask.core.errors import Ungrounded
from redask.core.model import Source, Strictness
from redask.core.rules import citations, validation
from redask.core.rules.grounding import marker_groups
from redask.core.rules.grounding.commit import MarkerGate, SentenceGate
from redask.core.rules.grounding.source_text import SourceText
from redask.core.rules.validation import Examined
from redask.engine.ask_state import AskState

Hop = Callable[[Callable[[], Examined]], Awaitable[Examined]]  # run it in a thread
Examine = Callable[..., Examined]


@dataclass(slots=True)
class AnswerStream:
    """One call's answer; see the module."""

    run: AskState
    sources: Sequence[Source]
    hop: Hop
    examine: Examine = validation.examine
    stopped: Examined | None = None
    refuses: bool = False
    _read: dict[int, SourceText] = field(default_factory=dict)
    _answer: list[str] = field(default_factory=list)
    _groups: marker_groups.GroupRewriter = field(default_factory=marker_groups.GroupRewriter)
    _gate: MarkerGate | SentenceGate = field(init=False)
    _streamed: bool = False
    _waiting: list[str] = field(default_factory=list)  # passed, and to be judged

    def __post_init__(self) -> None:
        supported = self.run.in_force is Strictness.SUPPORTED
        self._gate = SentenceGate() if supported else MarkerGate(len(self.sources))

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self._answer)

    async def take(self, piece: str) -> None:
        """A piece of the answer, while it is written."""
        self._streamed = True
        await self._let(self._groups.take(_with_utf8(piece)))

    async def complete(self, text: str, *, refuses: bool) -> None:
        """The whole answer, of which some or all may have come in pieces."""
        self.refuses = refuses
        if self._streamed:
            await self._let(self._groups.end())
        else:
            self._answer = [marker_groups.rewrite(_with_utf8(text))]
        self.run.answer = self.text
        if self.run.in_force is not Strictness.SUPPORTED:
            await self._send_rest()

    async def examined(self) -> Examined:
        """What was found in the answer; or in the sentence that stopped it."""
        return self.stopped or await self._examine(self.run.answer)

    async def accept(self) -> None:
        """Send what was held back until now."""
        if self.run.in_force is Strictness.SUPPORTED:
            await self._send_rest()

    async def _send_rest(self) -> None:
        rest = self._gate.end() if self._streamed else self.text
        await self.run.token("".join([*self._waiting, rest]))

    async def _let(self, piece: str) -> None:
        if not piece:
            return
        self._answer.append(piece)
        if isinstance(self._gate, MarkerGate):
            await self.run.token(self._gate.take(piece))
        elif (due := self._gate.take(piece)) is not None:
            await self._commit(self._gate, due)

    async def _commit(self, gate: SentenceGate, due: str) -> None:
        """Send the sentences that are whole; none of them, if one fails."""
        found = await self._examine(due)
        start, until = gate.whole([finding.claim for finding in found.findings])
        issues = tuple(issue for issue in found.issues if start <= issue.span[0] < until)
        examined = replace(found, issues=issues)
        verdict = validation.judge(examined, self.run.in_force, self.run.attempt)
        if not isinstance(verdict, validation.Accept):
            self.run.answer = self.text
            cited = citations.parse(self.run.answer, len(self.sources)).citations
            self.stopped = replace(examined, citations=cited)
            raise Ungrounded("a sentence of the answer was refused", ())
        if start < until:
            passed = gate.send(until)
            if self.run.judge:
                self._waiting.append(passed)
            else:
                await self.run.token(passed)

    async def _examine(self, text: str) -> Examined:
        """Examine a text: in a thread, unless it and what it cites are short."""
        question = self.run.ask.question
        work = partial(self.examine, text, self.sources, self._read, question, refused=self.refuses)
        if validation.is_short(text, self.sources):
            return work()
        return await self.hop(work)


def _with_utf8(piece: str) -> str:
    """What has no UTF-8 becomes the replacement character."""
    return piece.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
