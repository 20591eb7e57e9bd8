"""Sealing for tests: keys that are made here, checkpoints of logs, and the check of them."""

from collections.abc import Sequence
from pathlib import Path

from redask.core.ports import SealedLogs
from redask.core.rules.audit_chain import Broken
from redask.core.rules.auditing.checkpoints import Checkpoint
from redask.engine.auditing.sealing import CheckpointSink, Sealing
from redask.providers.sealing.ed25519_keys import KeyFile, make_key, signature_check


def new_key(directory: Path, name: str = "key.pem") -> Path:
    """A private key in a file; the public one is beside it."""
    make_key(directory / name)
    return directory / name


def sealing(logs: SealedLogs, key: Path, sinks: Sequence[CheckpointSink] = ()) -> Sealing:
    """Who seals logs with a key."""
    return Sealing(logs, lambda: KeyFile(key), sinks, signature_check, lambda: 7)


def fault(
    logs: SealedLogs, checkpoints: Sequence[Checkpoint], key: Path, log: str = "ask"
) -> Broken | None:
    """What is wrong with a log, by checkpoints that must be signed with a key."""
    check = signature_check([KeyFile(key).public])
    return sealing(logs, key).fault(log, None, checkpoints, check)
