"""Who pays for what is embedded elsewhere: `Payer`, in force for the work `paying` is around.

It is a context variable, as an embedder is called from deep inside a search, in a thread that has
the context of the call it works for. What a payer was charged is in the audit row of an ask.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from redask.core.model import Caller, Notice


@dataclass(slots=True)
class Payer:
    """A caller, and what this call was charged beside its completions.

    `charges` has each request by its number: the worst it may cost until it is settled, so that
    an ask that is cut off meanwhile tells of it. `notices` say of what nobody knows the price.
    """

    caller: Caller
    charges: dict[int, float] = field(default_factory=dict)
    notices: dict[Notice, None] = field(default_factory=dict)

    @property
    def usd(self) -> float:
        """US dollars in all."""
        return math.fsum(list(self.charges.values()))


_PAYER: ContextVar[Payer | None] = ContextVar("redask_payer", default=None)


@contextmanager
def paying(payer: Payer) -> Iterator[Payer]:
    """What is done in here is paid for by this payer."""
    token = _PAYER.set(payer)
    try:
        yield payer
    finally:
        _PAYER.reset(token)


def payer_in_force() -> Payer:
    """Who pays; that somebody does is whoever's duty who lets work begin."""
    found = _PAYER.get()
    if found is None:
        raise RuntimeError("nobody pays for what is to be embedded")
    return found
