"""The backends that the contract suite asks what every backend promises.

A backend of ours is enrolled by its row in `BACKENDS` and a line in `LOCATIONS`; without one the
whole suite fails for it. Another (in memory, for tests) adds its row to `ENROLLED`.
"""

from collections.abc import Callable
from pathlib import Path

import memory_backend
import postgres_databases

from redask.stores.backends import BACKENDS, BackendRow

LOCATIONS: dict[str, Callable[[Path], str]] = {
    "sqlite": str,
    "postgresql": postgres_databases.location,
    "memory": lambda directory: f"memory:/{directory}",
}
ENROLLED: list[BackendRow] = [*BACKENDS.values(), memory_backend.ROW]
