"""A worker's service whose phases hang when the question says so: `make`, for `app.parts`.

A question with "hang in search" stays in the search for ever: one step of C that lets no other
thread run, so that nothing but a kill ends it. `hangs-search` in the database's directory says that
it got there. "loop in search" goes on for ever in Python, and looks whether to stop.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from redask.app import worker_service
from redask.core.planning.direct import direct_plans
from redask.core.rules import prompt, validation
from redask.engine.processes.ask_service import AskService
from redask.index import SearchIndex
from redask.providers.extractive import excerpts

PHASES = ("plan", "search", "prompt", "quote", "examine")


def make(location: str, *given: Any) -> AskService:
    """The real service, with phases that may hang."""
    asked: list[str] = [""]

    def hanging(phase: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def at_work(*arguments: Any, **named: Any) -> Any:
            if f"hang in {phase}" in asked[0]:
                (Path(location) / f"hangs-{phase}").touch()
                re.match(r"(a|aa)+$", "a" * 90 + "b")
            if f"loop in {phase}" in asked[0]:
                (Path(location) / f"hangs-{phase}").touch()
                while True:
                    arguments[1].check()  # of a query
            return work(*arguments, **named)

        return at_work

    direct_plans.plan_directly = hanging("plan", direct_plans.plan_directly)
    SearchIndex.search = hanging("search", SearchIndex.search)  # type: ignore[method-assign]
    prompt.assemble = hanging("prompt", prompt.assemble)
    excerpts.read = hanging("quote", excerpts.read)
    validation.examine = hanging("examine", validation.examine)
    service = worker_service.make(location, *given)
    for name in ("find", "search", "outline", "quote", "examine"):
        setattr(service, name, _noting(getattr(service, name), asked))
    return service


def _noting(method: Callable[..., Any], asked: list[str]) -> Callable[..., Any]:
    def called(*arguments: Any) -> Any:
        asked[0] = next(
            (
                each if isinstance(each, str) else each.question
                for each in arguments[::-1]
                if hasattr(each, "question") or (isinstance(each, str) and " in " in each)
            ),
            "",
        )
        return method(*arguments)

    return called
