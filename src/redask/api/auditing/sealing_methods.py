"""Sealing and proving the audit log, from Python; and checking what left it. See docs/audit.md.

db.seal_audit()                          signs a checkpoint of every chain (audit.seal.key)
db.prove_audit(7)                        a proof that row 7 is in the log that was sealed
db.prove_audit_since("old.jsonl")        … that the log begins with the one of a checkpoint
db.export_audit("log.jsonl")             all records; redask.verify_export checks them elsewhere
db.erase_audit(7, ["question"], reason="request 12")
redask.verify_proof("row7.json", keys=["audit.pem.pub"])       None, or what is wrong
"""

import os
from collections.abc import Callable, Collection, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

from redask.app import App, audit_checks
from redask.app.audit_checks import LogChecks, SealReport
from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.rules.auditing.log_proofs import ProofSubject

_T = TypeVar("_T")
FilePath = str | Path


class AsyncSealingMethods:
    """Sealing, proving and erasing, for asyncio; see the module."""

    _app: App

    async def _as_caller(self, work: Callable[[Caller], _T], who: list[Caller] | None = None) -> _T:
        raise NotImplementedError

    async def verify_audit(
        self,
        *,
        log: str = "ask",
        checkpoints: FilePath | Sequence[FilePath] = (),
        head: str | None = None,
        keys: Sequence[str] = (),
    ) -> Intact | Broken:
        """Whether the audit log, or the access log, is what was written, and what was sealed.

        `checkpoints` are files of them, `keys` the public keys they are signed with (those of the
        settings if not given); `head` is a hash that `verify_audit` told before.
        """
        checks = LogChecks(_listed(checkpoints), head, keys)
        return await self._as_caller(
            lambda caller: audit_checks.verify(self._app, caller, log, checks)
        )

    async def seal_audit(self) -> SealReport:
        """Sign a checkpoint of every chain that has new rows, and hand it to the sinks."""
        return await self._as_caller(lambda caller: audit_checks.seal(self._app, caller))

    async def prove_audit(self, seq: int, *, log: str = "ask") -> str:
        """The proof that a row is in the log that was sealed last, as JSON."""
        if type(seq) is not int:
            raise BadAsk("a row is named by its number", detail="seq")
        return await self._as_caller(lambda caller: audit_checks.prove(self._app, caller, seq, log))

    async def prove_audit_since(self, checkpoint: FilePath, *, log: str = "ask") -> str:
        """The proof that the log begins with that of the first checkpoint in a file, as JSON."""
        return await self._as_caller(
            lambda caller: audit_checks.prove_since(self._app, caller, checkpoint, log)
        )

    async def export_audit(self, path: FilePath, *, log: str = "ask") -> int:
        """Write all records of a log to a file, for `redask.verify_export`. → how many lines"""
        return await self._as_caller(lambda caller: _exported(self._app, caller, log, Path(path)))

    async def export_audit_lines(self, write: Callable[[str], object], *, log: str = "ask") -> int:
        """The same, each line given to a function."""
        return await self._as_caller(
            lambda caller: audit_checks.export(self._app, caller, log, write)
        )

    async def erase_audit(
        self, seq: int, fields: Collection[str], *, reason: str, log: str = "ask"
    ) -> tuple[str, ...]:
        """Take values out of a row for ever, on record; for owners. → what was still there"""
        if type(seq) is not int:
            raise BadAsk("a row is named by its number", detail="seq")
        return await self._as_caller(
            lambda caller: audit_checks.erase(
                self._app, caller, seq, fields, reason=reason, log=log
            )
        )


class SyncSealingMethods:
    """Sealing, proving and erasing for everybody else."""

    _async: AsyncSealingMethods

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        raise NotImplementedError

    def verify_audit(
        self,
        *,
        log: str = "ask",
        checkpoints: FilePath | Sequence[FilePath] = (),
        head: str | None = None,
        keys: Sequence[str] = (),
    ) -> Intact | Broken:
        """Whether the audit log, or the access log, is what was written, and what was sealed.

        `checkpoints` are files of them, `keys` the public keys they are signed with (those of the
        settings if not given); `head` is a hash that `verify_audit` told before.
        """
        return self._run(
            self._async.verify_audit(log=log, checkpoints=checkpoints, head=head, keys=keys)
        )

    def seal_audit(self) -> SealReport:
        """Sign a checkpoint of every chain that has new rows, and hand it to the sinks."""
        return self._run(self._async.seal_audit())

    def prove_audit(self, seq: int, *, log: str = "ask") -> str:
        """The proof that a row is in the log that was sealed last, as JSON."""
        return self._run(self._async.prove_audit(seq, log=log))

    def prove_audit_since(self, checkpoint: FilePath, *, log: str = "ask") -> str:
        """The proof that the log begins with that of the first checkpoint in a file, as JSON."""
        return self._run(self._async.prove_audit_since(checkpoint, log=log))

    def export_audit(self, path: FilePath, *, log: str = "ask") -> int:
        """Write all records of a log to a file, for `redask.verify_export`. → how many lines"""
        return self._run(self._async.export_audit(path, log=log))

    def export_audit_lines(self, write: Callable[[str], object], *, log: str = "ask") -> int:
        """The same, each line given to a function."""
        return self._run(self._async.export_audit_lines(write, log=log))

    def erase_audit(
        self, seq: int, fields: Collection[str], *, reason: str, log: str = "ask"
    ) -> tuple[str, ...]:
        """Take values out of a row for ever, on record; for owners. → what was still there

        The hashes stay, so that the log and old proofs verify. The file is written anew, which
        takes as long as it is large.
        """
        return self._run(self._async.erase_audit(seq, fields, reason=reason, log=log))


def make_audit_key(path: FilePath) -> str:
    """Make a pair of keys for checkpoints: `path`, and `path`.pub. → the public one's hex digits"""
    return audit_checks.make_key(Path(path))


def verify_export(
    path: FilePath,
    *,
    checkpoints: FilePath | Sequence[FilePath] = (),
    head: str | None = None,
    keys: Sequence[str] = (),
) -> Intact | Broken:
    """Whether an exported log is what was written, and what was sealed. `redask.verify_export`."""
    return audit_checks.verify_export(path, LogChecks(_listed(checkpoints), head, keys))


def verify_proof(path: FilePath, *, keys: Sequence[str]) -> str | None:
    """What is wrong with a proof in a file; None: it holds. `redask.verify_proof`."""
    found = check_proof(path, keys=keys)
    return found if isinstance(found, str) else None


def check_proof(path: FilePath, *, keys: Sequence[str]) -> str | ProofSubject:
    """What is wrong with a proof in a file, or what it shows."""
    return audit_checks.verify_proof(path, keys)


def _listed(paths: FilePath | Sequence[FilePath]) -> Sequence[FilePath]:
    return [paths] if isinstance(paths, str | Path) else paths


def _exported(app: App, caller: Caller, log: str, path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            return audit_checks.export(app, caller, log, file.write)
    except OSError as error:
        raise BadAsk(f"{str(path)!a} cannot be written: {error.strerror}") from None
