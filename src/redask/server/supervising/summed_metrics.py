"""The metrics of all processes of a server: `summed`, whichever of them is asked.

Counters and histograms are added up, those of processes that have ended, too; what is said of the
moment is the least ready and the busiest of those that live. The library keeps them in files of a
folder that the parent makes (`supervisor.METRICS`); what it tells of one process alone, such as its
memory, is not among them.
"""

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector


def summed() -> bytes:
    """As Prometheus reads it. It reads files."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
