"""Bounds that a report must keep: `parse` them, `failures` names those that it does not.

    gate      metric, one of >= <= > <, number: "citation_precision>=0.9"
    metric    the end of a path into the report: `citation_precision`, `fused.ndcg@10`,
              `answers.answerable.refused`; it must fit one path

A metric that has no value (nothing was cited) keeps no bound.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from redask.core.errors import BadAsk

_GATE = re.compile(r"\s*([^\s<>=]+)\s*(>=|<=|>|<)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*")
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound for one metric."""

    metric: str
    comparison: str
    bound: float


def parse(text: str) -> Gate:
    """The gate that a text says."""
    found = _GATE.fullmatch(text)
    if found is None:
        raise BadAsk(f'a gate is a metric, >=, <=, > or <, and a number ("recall>=0.9"): {text!r}')
    return Gate(found[1], found[2], float(found[3]))


def failures(gates: Sequence[Gate], report: Mapping[str, object]) -> list[str]:
    """A sentence for each gate that the report does not keep."""
    metrics = dict(_metrics(report, ""))
    return [said for gate in gates if (said := _failure(gate, metrics)) is not None]


def _failure(gate: Gate, metrics: Mapping[str, float | None]) -> str | None:
    path = _path(gate, metrics)
    value = metrics[path]
    said = f"gate not kept: {path} {gate.comparison} {gate.bound:g}"
    if value is None:
        return f"{said}, and there was nothing to measure"
    return (
        None if _COMPARE[gate.comparison](value, gate.bound) else f"{said}, but it is {value:.4g}"
    )


def _path(gate: Gate, metrics: Mapping[str, float | None]) -> str:
    if gate.metric in metrics:
        return gate.metric
    fitting = [path for path in metrics if path.endswith(f".{gate.metric}")]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise BadAsk(f"{gate.metric!r} is more than one metric: {', '.join(fitting)}")
    raise BadAsk(f"no metric {gate.metric!r} in this report: it has {', '.join(metrics)}")


def _metrics(part: Mapping[str, object], before: str) -> Iterator[tuple[str, float | None]]:
    """The numbers of a report by path."""
    for name, value in part.items():
        if isinstance(value, Mapping):
            yield from _metrics(value, f"{before}{name}.")
        elif value is None or isinstance(value, int | float):
            yield f"{before}{name}", value
