"""What operators see: metrics, spans and logs around each step; quiet unless asked for.

Metrics go to the default registry of `prometheus_client`, spans to whatever OpenTelemetry
provider the application has set up (none: they cost nothing), logs to the logger `redask`,
which stays silent until the application gives it a handler. Nothing here holds a question,
an answer or a key.

Neither library is imported here, which would take a command longer than its search: what somebody
wants to see metrics or spans with has imported it. Metrics count from then on; a server counts
from its start.
"""

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from opentelemetry.trace import Span, Tracer
    from prometheus_client import Counter, Histogram

_log = logging.getLogger("redask")
_log.addHandler(logging.NullHandler())

TakenSteps = list[tuple[str, float]]  # names of steps, and the seconds of each
_CHOSEN = "OTEL_PYTHON_TRACER_PROVIDER"  # names a provider that the library sets up itself
_COLLECTED: ContextVar[TakenSteps | None] = ContextVar("redask_steps", default=None)


@dataclass(frozen=True, slots=True)
class AskMetrics:
    """What is counted of asks, in the default registry."""

    asks: "Counter"
    ask_seconds: "Histogram"
    step_seconds: "Histogram"


@cache
def metrics() -> AskMetrics:
    """The metrics, which are there from the first call on."""
    from prometheus_client import Counter, Histogram

    return AskMetrics(
        Counter("redask_asks", "Finished asks by outcome.", ("outcome",)),
        Histogram("redask_ask_seconds", "Time of a whole ASK."),
        Histogram("redask_step_seconds", "Time of one step of an ASK.", ("step",)),
    )


def _seen_metrics() -> AskMetrics | None:
    """The metrics, if anybody can see them."""
    return metrics() if "prometheus_client" in sys.modules else None


def _span(name: str) -> "AbstractContextManager[Span | None]":
    """A span, if anybody has set up who gets it."""
    if "opentelemetry" not in sys.modules and _CHOSEN not in os.environ:
        return nullcontext()
    from opentelemetry import trace

    # until somebody sets one up, the provider is a proxy; a span of it goes nowhere, and a server
    # makes several an ask
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return nullcontext()
    return _tracer().start_as_current_span(name)


@cache
def _tracer() -> "Tracer":
    from opentelemetry import trace

    return trace.get_tracer("redask")


@dataclass(slots=True)
class Ending:
    """How an ASK ended: `answered`, or the kind of its error."""

    kind: str = "answered"


@contextmanager
def asking() -> Iterator[Ending]:
    """Around one ASK."""
    ending = Ending()
    started = time.perf_counter()
    with _span("redask.ask") as span:
        try:
            yield ending
        finally:
            seconds = time.perf_counter() - started
            if (seen := _seen_metrics()) is not None:
                seen.asks.labels(ending.kind).inc()
                seen.ask_seconds.observe(seconds)
            if span is not None:
                span.set_attribute("redask.outcome", ending.kind)
            _log.info("ask", extra={"outcome": ending.kind, "seconds": round(seconds, 6)})


@contextmanager
def step(name: str) -> Iterator[None]:
    """Around one step of an ASK."""
    started = time.perf_counter()
    with _span(f"redask.{name}"):
        try:
            yield
        finally:
            seconds, collected = time.perf_counter() - started, _COLLECTED.get()
            if collected is None:
                count([(name, seconds)])
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
    """Count steps that were taken, here or in another process."""
    if (seen := _seen_metrics()) is not None:
        for name, seconds in steps:
            seen.step_seconds.labels(name).observe(seconds)
