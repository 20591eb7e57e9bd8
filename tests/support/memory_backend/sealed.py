"""The trees and checkpoints of the logs, in memory."""

from collections.abc import Sequence

from memory_backend.calls import Calls
from memory_backend.state import Access
from redask.core.ports import SinkFault
from redask.core.rules.auditing.checkpoints import Checkpoint, TreeState
from redask.core.rules.auditing.log_proofs import ProvableRecord
from redask.core.rules.auditing.merkle import Nodes, nodes_of


class MemorySealedLogs:
    """See `ports.SealedLogs`; the leaves are kept as rows are written."""

    def __init__(self, access: Access, calls: Calls) -> None:
        self._access = access
        self._calls = calls

    def grow(self) -> None:
        self._access.check()

    def trees(self) -> list[TreeState]:
        self._access.check()
        found = sorted(self._calls.leaves.items())
        return [TreeState("memory", *key, 0, len(leaves)) for key, leaves in found]

    def nodes(self, log: str, tenant: str) -> Nodes:
        return nodes_of(list(self._calls.leaves.get((log, tenant), ())))

    def record(self, log: str, tenant: str, seq: int) -> ProvableRecord | None:
        records = self._calls.records.get((log, tenant), ())
        return next((each.provable() for each in records if each.seq == seq), None)

    def keep(self, checkpoints: Sequence[Checkpoint]) -> None:
        self._calls.checkpoints.update({each.chain: each for each in checkpoints})

    def checkpoints(self) -> list[Checkpoint]:
        return [each for _, each in sorted(self._calls.checkpoints.items())]

    def undelivered(self, sink: str) -> list[Checkpoint]:
        got = self._calls.delivered
        return [each for each in self.checkpoints() if got[sink, each.chain] < each.size]

    def delivered(self, sink: str, checkpoints: Sequence[Checkpoint]) -> None:
        for each in checkpoints:
            self._calls.delivered[sink, each.chain] = each.size
        self._calls.sink_faults.pop(sink, None)

    def failed(self, sink: str, now: int, fault: str) -> None:
        before = self._calls.sink_faults.get(sink, SinkFault(sink, now, fault))
        self._calls.sink_faults[sink] = SinkFault(sink, before.since, fault)

    def faults(self) -> list[SinkFault]:
        return [each for _, each in sorted(self._calls.sink_faults.items())]
