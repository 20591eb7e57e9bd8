"""For the start of a `redask serve` under test: its providers are those of `server_thread`.

Each of its processes executes this first. A revoked token may come as often as there are
transports. What the provider that never ends was asked is a line of the file $REDASK_TEST_CALLS.
"""

import os
from typing import Any

from server_thread import EndlessProvider, actors

import redask.api.sync
from redask.api.asynchronous import AsyncDatabase
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.server import wrong_tokens

_open = redask.api.sync.open_async


async def open_with_actors(*given: Any, **named: Any) -> AsyncDatabase:
    return await _open(*given, providers=actors(), **named)


_complete = EndlessProvider.complete


async def noted(self: EndlessProvider, prompt: Prompt, knobs: Knobs, **rest: Any) -> Completion:
    with open(os.environ["REDASK_TEST_CALLS"], "a", encoding="utf-8") as calls:
        calls.write(f"{prompt.question}\n")
    return await _complete(self, prompt, knobs, **rest)


EndlessProvider.complete = noted  # type: ignore[method-assign]
redask.api.sync.open_async = open_with_actors
vars(wrong_tokens)["FREE_OF_NAME"] = 100
