"""What operators see: metrics, spans and logs around each step; quiet unless asked for.

Metrics go to the default registry of `prometheus_client`, spans to whatever OpenTelemetry
provider the application has set up (none: they cost nothing), logs to the logger `redask`,
which stays silent until the application gives it a handler. Nothing here holds a question,
an answer or a key.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from opentelemetry import trace
from prometheus_client import Counter, Histogram

_log = logging.getLogger("redask")
_log.addHandler(logging.NullHandler())
_tracer = trace.get_tracer("redask")

ASKS = Counter("redask_asks", "Finished asks by outcome.", ("outcome",))
ASK_SECONDS = Histogram("redask_ask_seconds", "Time of a whole ASK.")
STEP_SECONDS = Histogram("redask_step_seconds", "Time of one step of an ASK.", ("step",))

TakenSteps = list[tuple[str, float]]  # names of steps, and the seconds of each
_COLLECTED: ContextVar[TakenSteps | None] = ContextVar("redask_steps", default=None)


@dataclass(slots=True)
class Ending:
    """How an ASK ended: `answered`, or the kind of its error."""

    kind: str = "answered"


@contextmanager
def asking() -> Iterator[Ending]:
    """Around one ASK."""
    ending = Ending()
    started = time.perf_counter()
    with _tracer.start_as_current_span("redask.ask") as span:
        try:
            yield ending
        finally:
            seconds = time.perf_counter() - started
            ASKS.labels(ending.kind).inc()
            ASK_SECONDS.observe(seconds)
            span.set_attribute("redask.outcome", ending.kind)
            _log.info("ask", extra={"outcome": ending.kind, "seconds": round(seconds, 6)})


@contextmanager
def step(name: str) -> Iterator[None]:
    """Around one step of an ASK."""
    started = time.perf_counter()
    with _tracer.start_as_current_span(f"redask.{name}"):
        try:
            yield
        finally:
            seconds, collected = time.perf_counter() - started, _COLLECTED.get()
            if collected is None:
                STEP_SECONDS.labels(name).observe(seconds)
            else:
                collected.append((name, seconds))


@contextmanager
def collected() -> Iterator[TakenSteps]:
    """Steps in here are not counted but collected: another process counts them."""
    steps: TakenSteps = []
    before = _COLLECTED.set(steps)
    try:
        yield steps
    finally:
        _COLLECTED.reset(before)


def count(steps: TakenSteps) -> None:
    """Count steps that another process took."""
    for name, seconds in steps:
        STEP_SECONDS.labels(name).observe(seconds)
