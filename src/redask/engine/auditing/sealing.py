"""Sealing the logs: signed checkpoints of their trees, proofs against them, and the check of both.

`seal` signs a checkpoint of every chain that has new records, if the log still begins with what
was sealed before, and hands it to the sinks. A sink or signer that fails costs nobody an answer:
it is logged, noted for `doctor`, and tried again the next time. `Sealing` does not look at who
asks: its caller does.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from redask.core.errors import AskError, BadAsk, Misconfigured, StoreFailed
from redask.core.ports import SealedLogs
from redask.core.rules.audit_chain import Broken
from redask.core.rules.auditing.checkpoints import (
    Checkpoint,
    SignatureCheck,
    TreeState,
    seal_fault,
)
from redask.core.rules.auditing.log_proofs import consistency_text, inclusion_text
from redask.core.rules.auditing.merkle import Nodes, root

_log = logging.getLogger("redask.audit")
_T = TypeVar("_T")
SIGNER = "signer"


class CheckpointSigner(Protocol):
    """Who signs: `public` is the key, in hex digits."""

    public: str

    def sign(self, message: bytes) -> bytes:
        """The Ed25519 signature of a message."""


class CheckpointSink(Protocol):
    """A place of the operator's that checkpoints go to."""

    @property
    def name(self) -> str:
        """What it is called where it fails."""

    def deliver(self, lines: Sequence[str]) -> None:
        """Hand over checkpoints, one a line; `StoreFailed` if that cannot be done."""


@dataclass(frozen=True, slots=True)
class Sealing:
    """The sealing of one open database; `signer` makes who signs, None where nobody does."""

    logs: SealedLogs
    signer: Callable[[], CheckpointSigner] | None
    sinks: Sequence[CheckpointSink]
    check: Callable[[Collection[str]], SignatureCheck]
    clock: Callable[[], int]

    def seal(self) -> list[Checkpoint]:
        """Sign what is new, and hand it on. → the newest checkpoint of every chain"""
        if self.signer is None:
            raise Misconfigured(
                "nobody signs: set audit.seal.key, which `redask audit keygen` makes, "
                "in the operator's configuration",
                detail="audit.seal.key",
            )
        try:
            self.logs.grow()
            known = {each.chain: each for each in self.logs.checkpoints()}
            new = [
                tree
                for tree in self.logs.trees()
                if chain_of(tree) not in known or known[chain_of(tree)].size < tree.size
            ]
            if new:
                signer = self.signer()
                self.logs.keep([self._signed(each, known, signer) for each in new])
            self.logs.delivered(SIGNER, [])
        except AskError as error:
            self.logs.failed(SIGNER, self.clock(), error.message)
            raise
        return self.logs.checkpoints()

    def deliver(self) -> bool:
        """Hand every sink what it has not got. → whether all have all"""
        done = [self._delivered(sink) for sink in self.sinks]  # every one, whatever another does
        return all(done)

    def seal_and_deliver(self) -> bool:
        """Both, for whoever does it from time to time. → whether all is done"""
        self.seal()
        return self.deliver()

    def problems(self) -> list[str]:
        """What fails now: of the signer, and of the sinks there are."""
        names = {SIGNER, *(sink.name for sink in self.sinks)} if self.signer else set()
        return [
            f"checkpoints: {each.sink} fails: {each.fault}"
            for each in self.logs.faults()
            if each.sink in names
        ]

    def prove(self, log: str, tenant: str, seq: int) -> str:
        """The proof that a record is in the log that was sealed last."""
        checkpoint = self._newest(log, tenant)
        if checkpoint is None or seq > checkpoint.last:
            raise BadAsk(f"row {seq} is not sealed yet, or not there: run `redask audit seal`")
        record = self.logs.record(log, tenant, seq)
        if record is None or seq <= checkpoint.first:
            raise BadAsk(f"there is no audit row {seq}")
        return _whole(partial(inclusion_text, record, checkpoint, self.logs.nodes(log, tenant)))

    def prove_since(self, old: Checkpoint, tenant: str | None) -> str:
        """The proof that the log that was sealed last begins with the one of a checkpoint."""
        new = self._newest(old.log, old.tenant)
        if new is None or tenant not in (None, old.tenant) or new.chain != old.chain:
            raise BadAsk("the checkpoint is of none of the chains here", detail="checkpoint")
        if old.size > new.size:
            raise BadAsk("the checkpoint holds more rows than the newest one", detail="checkpoint")
        nodes = self.logs.nodes(old.log, old.tenant)
        return _whole(partial(consistency_text, old, new, nodes))

    def fault(
        self, log: str, tenant: str | None, given: Sequence[Checkpoint], check: SignatureCheck
    ) -> Broken | None:
        """What is wrong with a log, or with checkpoints of it; None: nothing.

        Those of other logs, and of tenants that are not asked for, are not looked at.
        """
        known = {chain_of(each): each for each in self.logs.trees()}
        return checkpoints_fault(
            [each for each in given if each.log == log and tenant in (None, each.tenant)],
            check,
            lambda chain: (known[chain], self.logs.nodes(*chain[1:3])) if chain in known else None,
        )

    def _signed(
        self,
        tree: TreeState,
        known: dict[tuple[str, str, str, int], Checkpoint],
        signer: CheckpointSigner,
    ) -> Checkpoint:
        nodes, before = self.logs.nodes(tree.log, tree.tenant), known.get(chain_of(tree))
        fault = _whole(partial(seal_fault, tree, nodes, [before] if before else []))
        if fault is not None:
            raise StoreFailed(f"{fault[1]}, so nothing is sealed: run `redask audit verify`")
        whole = _whole(partial(root, tree.size, nodes)).hex()
        made = Checkpoint(*chain_of(tree), tree.size, whole, self.clock(), signer.public)
        signed = replace(made, signature=signer.sign(made.signed_bytes()).hex())
        wrong = self.check([signer.public])(signed)
        if wrong is not None:
            raise StoreFailed("audit.seal.signer does not sign with audit.seal.public_key")
        return signed

    def _delivered(self, sink: CheckpointSink) -> bool:
        waiting = self.logs.undelivered(sink.name)
        if not waiting:
            return True
        try:
            sink.deliver([each.text() for each in waiting])
            self.logs.delivered(sink.name, waiting)
        except AskError as error:
            _log.warning("checkpoints could not be delivered to the %s: %s", sink.name, error)
            self.logs.failed(sink.name, self.clock(), error.message)
            return False
        return True

    def _newest(self, log: str, tenant: str) -> Checkpoint | None:
        found = self.logs.checkpoints()
        return next((each for each in found if (each.log, each.tenant) == (log, tenant)), None)


def chain_of(tree: TreeState) -> tuple[str, str, str, int]:
    """Which chain a tree is of, as checkpoints name it."""
    return tree.identity, tree.log, tree.tenant, tree.first


def checkpoints_fault(
    given: Sequence[Checkpoint],
    check: SignatureCheck,
    tree_of: Callable[[tuple[str, str, str, int]], tuple[TreeState, Nodes] | None],
) -> Broken | None:
    """What is wrong with checkpoints, or with the trees that they are of; None: nothing."""
    for each in given:
        wrong = check(each)
        if wrong is not None:
            return Broken(0, wrong, each.tenant)
    for chain in sorted({each.chain for each in given}):
        found = tree_of(chain)
        if found is None:
            return Broken(0, "the chain that was sealed is not there: the log is another", chain[2])
        mine = [each for each in given if each.chain == chain]
        fault = _whole(partial(seal_fault, *found, mine))
        if fault is not None:
            return Broken(*fault, chain[2])
    return None


def _whole(work: Callable[[], _T]) -> _T:
    """Read a tree; one that lacks hashes is damaged."""
    try:
        return work()
    except LookupError:
        raise StoreFailed("the tree of hashes is damaged: run `redask audit verify`") from None
