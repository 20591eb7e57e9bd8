"""The Merkle trees of the logs, and the checkpoints of them: `SealedLogs`, for who seals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from redask.core.rules.auditing.checkpoints import Checkpoint, TreeState
from redask.core.rules.auditing.log_proofs import ProvableRecord
from redask.core.rules.auditing.merkle import Nodes


@dataclass(frozen=True, slots=True)
class SinkFault:
    """Where checkpoints could not be delivered, since when (epoch ns), and why."""

    sink: str
    since: int
    fault: str


class SealedLogs(Protocol):
    """What sealing reads and keeps of both logs of a database.

    Of each chain the newest checkpoint is kept: it holds all that older ones held.
    """

    def grow(self) -> None:
        """Bring the trees up to date with the chains."""

    def trees(self) -> list[TreeState]:
        """The trees as far as they have grown, by log and tenant; empty ones are left out."""

    def nodes(self, log: str, tenant: str) -> Nodes:
        """The nodes of a tree; `LookupError` for one that is not there."""

    def record(self, log: str, tenant: str, seq: int) -> ProvableRecord | None:
        """A record of a chain, if it is there."""

    def keep(self, checkpoints: Sequence[Checkpoint]) -> None:
        """Keep checkpoints, each in place of its chain's last."""

    def checkpoints(self) -> list[Checkpoint]:
        """The newest checkpoint of each chain."""

    def undelivered(self, sink: str) -> list[Checkpoint]:
        """The checkpoints that a sink has not got."""

    def delivered(self, sink: str, checkpoints: Sequence[Checkpoint]) -> None:
        """A sink has got these."""

    def failed(self, sink: str, now: int, fault: str) -> None:
        """A sink did not take what it was given."""

    def faults(self) -> list[SinkFault]:
        """The sinks that failed and have taken nothing since, by name."""
