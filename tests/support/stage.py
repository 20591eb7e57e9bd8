"""A real database in a temporary directory, a clock that is set by hand, providers that play."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redask
from redask.core.model import Capabilities, Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities, determinism
from redask.core.settings import Settings, load

DAY_NS = 86_400 * 10**9


@dataclass
class Clock:
    """Epoch nanoseconds, moved by the test."""

    now: int = 1_800_000_000 * 10**9

    def __call__(self) -> int:
        return self.now


@dataclass
class Player:
    """A provider that plays replies (a text, pieces of one, or an error) and notes its calls."""

    name: str
    replies: list[Any]
    model: str = "player-1"
    cost: float | None = 0.0
    usage: tuple[int | None, int | None] = (100, 10)
    calls: list[tuple[Prompt, Knobs]] = field(default_factory=list)

    @property
    def capabilities(self) -> Capabilities:
        return capabilities.of(self.name)

    def narrow(self, seed: int) -> int:
        return determinism.narrow_to_signed(seed)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return self.cost

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        self.calls.append((prompt, knobs))
        reply = self.replies[min(len(self.calls), len(self.replies)) - 1]
        if callable(reply):
            reply = await reply()
        if isinstance(reply, BaseException):
            raise reply
        pieces = [reply] if isinstance(reply, str) else list(reply)
        for piece in pieces:
            if isinstance(piece, BaseException):
                raise piece
            if emit is not None:
                await emit(piece)
        return Completion("".join(pieces), self.model, *self.usage)


@dataclass
class Stage:
    """Opens databases on one directory with given players and settings."""

    directory: Path
    clock: Clock = field(default_factory=Clock)
    opened: list[redask.OpenDatabase] = field(default_factory=list)

    def open(self, *players: Player, toml: str = "") -> redask.OpenDatabase:
        db = redask.open(
            self.directory,
            settings=self.settings(toml, players),
            clock=self.clock,
            providers={player.name: player for player in players},
        )
        self.opened.append(db)
        return db

    def settings(self, toml: str, players: tuple[Player, ...]) -> Settings:
        named = ",".join(player.name for player in players)
        env = {} if "embedder" in toml else {"REDASK_EMBEDDER_NAME": "none"}
        if players:
            env["REDASK_ASK_PROVIDERS_FALLBACK"] = named
        return load(toml, env)


ROWS = [
    {"id": 1, "title": "Ferry timetable", "text": "The ferry to Amrum leaves at nine."},
    {"id": 2, "title": "Ferry prices", "text": "A ticket for the ferry costs 14 euros."},
    {"id": 3, "title": "Lighthouse", "text": "The lighthouse is open on Sundays."},
]
