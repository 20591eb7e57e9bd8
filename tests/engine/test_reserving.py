"""With a cap, the worst a call could cost is set aside: a token for every byte of both messages.

`Metered` has a price by tokens, one nano-dollar for each of the prompt, and bills the worst.
"""

from dataclasses import dataclass

import pytest
from filing import app_of
from stage import Player, Stage

import redask
from redask.core import errors
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import cost

FERRY = "When does the ferry leave? Für Fähren nach Föhr: fünf Größen."  # bytes, not letters
MOST_FRAME = 200  # tokens that may be reserved for what is around the messages


@dataclass
class Metered(Player):
    """A provider whose tokenizer makes a token of every byte."""

    reserved: int = 0
    refused: str = ""
    db: redask.OpenDatabase | None = None

    def price(self, prompt_tokens: int, completion_tokens: int) -> float:
        return cost.dollars(prompt_tokens)

    async def complete(self, prompt: Prompt, knobs: Knobs, **rest: object) -> Completion:
        assert self.db is not None
        app = app_of(self.db)
        self.reserved = app.backend.ledger.total("local", cost.day_of(app.clock()))
        self.calls.append((prompt, knobs))
        return Completion("At nine [^1].", self.model, worst(prompt), 10)


def worst(prompt: Prompt) -> int:
    return len(prompt.system.encode()) + len(prompt.user.encode())


def asked(harbour: Stage, cap: int) -> Metered:
    """A provider that was asked with a cap of so many nano-dollars; or was not, because of it."""
    player = Metered("openai", [])
    toml = f"[ask]\ndaily_cost_cap_usd = {cost.dollars(cap):.9f}"
    player.db = harbour.open(player, toml=toml)
    try:
        player.db.ask(FERRY)
    except errors.LimitExceeded as refusal:
        player.refused = refusal.limit
    return player


def test_the_system_message_is_part_of_what_is_reserved(harbour: Stage) -> None:
    player = asked(harbour, cap=10**9)
    [(prompt, _)] = player.calls
    assert len(prompt.system) > MOST_FRAME, "leaving it out would not be noticed"
    assert worst(prompt) <= player.reserved <= worst(prompt) + MOST_FRAME


@pytest.mark.parametrize("message", ["system", "user"])
def test_a_call_is_refused_when_either_message_would_break_the_cap(
    harbour: Stage, message: str
) -> None:
    [(prompt, _)] = asked(harbour, cap=10**9).calls
    part = len(getattr(prompt, message).encode())
    harbour.clock.now += 86_400 * 10**9  # a new day, with nothing spent
    player = asked(harbour, cap=worst(prompt) - part + MOST_FRAME)
    assert (player.calls, player.refused) == ([], "daily_cost_cap_usd")


def test_what_is_billed_at_worst_never_breaks_the_cap(harbour: Stage) -> None:
    first = asked(harbour, cap=10**9)
    cap = first.reserved
    harbour.clock.now += 86_400 * 10**9
    assert asked(harbour, cap - 1).refused == "daily_cost_cap_usd"
    second = asked(harbour, cap)
    assert len(second.calls) == 1
    assert second.db is not None
    app = app_of(second.db)
    assert app.backend.ledger.total("local", cost.day_of(app.clock())) <= cap
