"""telemetry: counts and times what happens, and stays silent unless somebody listens."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry import trace
from prometheus_client import REGISTRY

from redask.engine import telemetry


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_an_ask_is_counted_by_its_outcome() -> None:
    before = value("redask_asks_total", outcome="denied")
    with telemetry.asking() as ending:
        ending.kind = "denied"
    assert value("redask_asks_total", outcome="denied") == before + 1


def test_an_ask_that_raises_is_counted_too() -> None:
    before = value("redask_asks_total", outcome="internal")

    def ask() -> None:
        with telemetry.asking() as ending:
            ending.kind = "internal"
            raise ValueError("bug")

    with pytest.raises(ValueError, match="bug"):
        ask()
    assert value("redask_asks_total", outcome="internal") == before + 1


def test_a_step_is_timed_also_when_it_fails() -> None:
    before = value("redask_step_seconds_count", step="test")
    with telemetry.step("test"):
        pass
    with pytest.raises(ValueError, match="bug"), telemetry.step("test"):
        raise ValueError("bug")
    assert value("redask_step_seconds_count", step="test") == before + 2


def test_the_library_prints_nothing_by_itself(capfd: pytest.CaptureFixture[str]) -> None:
    with telemetry.asking():
        pass
    assert capfd.readouterr() == ("", "")
    assert any(
        isinstance(each, logging.NullHandler) for each in logging.getLogger("redask").handlers
    )


def test_a_log_record_carries_the_outcome_and_no_question(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="redask"), telemetry.asking():
        pass
    [record] = caplog.records
    assert (record.message, vars(record)["outcome"]) == ("ask", "answered")


class Provider:
    """A tracer that remembers the names of its spans, and who has it."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def get_tracer(self, *_: object, **__: object) -> "Provider":
        return self

    @contextmanager
    def start_as_current_span(self, name: str) -> Iterator[trace.Span]:
        self.names.append(name)
        yield trace.INVALID_SPAN


def test_spans_are_made_once_somebody_has_set_up_who_gets_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    telemetry._tracer.cache_clear()
    with telemetry._span("before") as span:
        assert span is None  # the library is imported, and nobody wants spans
    provider = Provider()
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    with telemetry.asking(), telemetry.step("search"):
        pass
    telemetry._tracer.cache_clear()
    assert provider.names == ["redask.ask", "redask.search"]
