"""The verdict on one attack: `failures(figures, calm, bounds)`; pure.

of the honest client's asks       all answered, their p95 at most `ratio` times the calm one
of the probe                      every call answered, the worst within `probe_seconds`
of memory                         server, and each other process, below its ceiling
of the server                     it answers as quickly as before, within a minute
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is promised."""

    ratio: float = 3.0
    probe_seconds: float = 0.5
    server_bytes: int = 1_000 * MEGABYTE
    process_bytes: int = 2_400 * MEGABYTE

    def under(self, ratio: float | None) -> "Bounds":
        """The same, with what is promised under one attack."""
        return self if ratio is None else replace(self, ratio=ratio)


@dataclass(frozen=True, slots=True)
class SiegeFigures:
    """What was measured while something went on."""

    asks: Sequence[float]  # seconds
    unanswered: int
    probes: Sequence[float]
    unhealthy: int
    server_bytes: int
    process_bytes: int  # the largest of the others
    answers_afterwards: bool = True


def at_share(values: Sequence[float], share: float) -> float:
    """The value that so large a share of all does not exceed; nearest rank."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)] if values else float("inf")


def ratio(figures: SiegeFigures, calm: SiegeFigures) -> float:
    """How many times the calm p95 the honest client waits."""
    return at_share(figures.asks, 0.95) / at_share(calm.asks, 0.95)


def failures(figures: SiegeFigures, calm: SiegeFigures, bounds: Bounds) -> list[str]:
    """What does not hold."""
    found = []
    if figures.unanswered:
        found.append(f"{figures.unanswered} asks unanswered")
    if not figures.asks:
        found.append("no ask answered")
    elif ratio(figures, calm) > bounds.ratio:
        found.append(f"p95 {ratio(figures, calm):.1f} times the calm one")
    if figures.unhealthy:
        found.append(f"{figures.unhealthy} probes unanswered")
    if not figures.probes:
        found.append("no probe answered")
    elif max(figures.probes) > bounds.probe_seconds:
        found.append(f"a probe took {max(figures.probes) * 1000:.0f} ms")
    if figures.server_bytes > bounds.server_bytes:
        found.append(f"the server had {figures.server_bytes // MEGABYTE} MB")
    if figures.process_bytes > bounds.process_bytes:
        found.append(f"another process had {figures.process_bytes // MEGABYTE} MB")
    if not figures.answers_afterwards:
        found.append("no quick answer within a minute afterwards")
    return found
