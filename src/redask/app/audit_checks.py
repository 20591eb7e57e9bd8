"""Sealing, proving, verifying, exporting and erasing, for a caller; and verifying elsewhere.

    seal                        the owner of the directory, for it signs every tenant's chains
    prove, verify, export       who may audit: of the tenant, or (the owner of the directory) of all
    erase                       an owner, of the tenant's rows

What is verified without a database needs nobody's leave.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from redask.app import App
from redask.core.access.policy import must_audit, must_own
from redask.core.errors import BadAsk, Denied
from redask.core.model import Caller
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.rules.auditing.checkpoints import (
    Checkpoint,
    UnreadableCheckpoint,
    checked_seals,
    read_checkpoints,
)
from redask.core.rules.auditing.exported_chain import UnreadableExport, verified
from redask.core.rules.auditing.log_proofs import (
    ProofSubject,
    UnreadableProof,
    proof_fault,
    proof_subject,
)
from redask.engine.auditing.sealing import chain_of, checkpoints_fault
from redask.providers.sealing.ed25519_keys import KeyFile, make_key, public_key, signature_check
from redask.stores.auditing.audit_rows import verdict as verdict_of

__all__ = [
    "LogChecks",
    "SealReport",
    "erase",
    "export",
    "make_key",
    "prove",
    "prove_since",
    "seal",
    "verify",
    "verify_export",
    "verify_proof",
]
_MOST_REASON = 1000
_MOST_PROOF_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SealReport:
    """What was sealed: the newest checkpoint of each chain, and what could not be delivered."""

    checkpoints: tuple[dict[str, object], ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogChecks:
    """What a log is verified with beside itself: `keys` are files or hex digits."""

    checkpoints: Sequence[str | Path] = ()
    head: str | None = None
    keys: Sequence[str] = ()


def seal(app: App, caller: Caller) -> SealReport:
    """Sign a checkpoint of every chain that has new rows, and hand it to the sinks."""
    if caller != Caller():
        raise Denied("a seal is of every tenant: make it without a token and without a tenant")
    made = app.sealing.seal()
    app.sealing.deliver()
    return SealReport(tuple(each.plain() for each in made), tuple(app.sealing.problems()))


def prove(app: App, caller: Caller, seq: int, log: str) -> str:
    """The proof that a row of the caller's tenant is in the log that was sealed last."""
    must_audit(caller)
    app.log(log)
    return app.sealing.prove(log, caller.tenant, seq)


def prove_since(app: App, caller: Caller, path: str | Path, log: str) -> str:
    """The proof that the log begins with the one of the first checkpoint in a file."""
    must_audit(caller)
    app.log(log)
    mine = [each for each in _read(path) if (each.log, each.tenant) == (log, caller.tenant)]
    if not mine:
        raise BadAsk(f"{str(path)!a} holds no checkpoint of this chain", detail="checkpoint")
    return app.sealing.prove_since(mine[0], caller.tenant)


def verify(app: App, caller: Caller, log: str, checks: LogChecks) -> Intact | Broken:
    """Whether a log is what was written, and what was sealed; see `App.verify_audit`."""
    verdict = app.verify_audit(caller, log)
    if isinstance(verdict, Broken):
        return verdict
    tenant = None if caller == Caller() else caller.tenant
    if checks.head is not None and not app.log(log).holds(checks.head, tenant):
        return _no_head(checks.head)
    found = _all(checks.checkpoints)
    given = [each for each in found if each.log == log and tenant in (None, each.tenant)]
    sealing = app.sealing
    fault = None
    if checks.checkpoints:
        if not given:
            raise BadAsk(f"none of the checkpoints is of the {log} log", detail="checkpoint")
        fault = sealing.fault(log, tenant, given, signature_check(_keys(app, checks.keys)))
    # its own copy of the last checkpoint needs no key: it only has to be what the log gives
    own = sealing.logs.checkpoints()
    fault = fault or sealing.fault(log, tenant, own, lambda _: None)
    return fault or _sealed(verdict, found, given)


def export(app: App, caller: Caller, log: str, write: Callable[[str], object]) -> int:
    """Write the chains of a log, each line with its end. → how many lines"""
    must_audit(caller)
    count = 0
    for line in app.log(log).exported(None if caller == Caller() else caller.tenant):
        write(f"{line}\n")
        count += 1
    return count


def erase(
    app: App, caller: Caller, seq: int, fields: Collection[str], *, reason: str, log: str
) -> tuple[str, ...]:
    """Take values out of a row of the caller's tenant, on record. → what was still there"""
    must_own(caller)
    if isinstance(fields, str) or not fields or not all(isinstance(each, str) for each in fields):
        raise BadAsk("name the fields to erase, such as question", detail="fields")
    if not isinstance(reason, str) or not 0 < len(reason.strip()) <= _MOST_REASON:
        raise BadAsk(f"an erasure has a reason of 1 to {_MOST_REASON} characters", detail="reason")
    erased = app.log(log).erase(caller.tenant, seq, fields, caller.user, reason)
    app.backend.anchor()
    return erased


def verify_export(path: str | Path, checks: LogChecks) -> Intact | Broken:
    """Whether the chains of an exported file are what was written, and what was sealed."""
    with _opened(path) as lines:
        try:
            chains = list(verified(lines))
        except UnreadableExport as error:
            raise BadAsk(f"{str(path)!a}: {error}") from None
    if not chains:
        raise BadAsk(f"{str(path)!a} holds no chain: see `redask audit export --records`")
    verdict = verdict_of([each.verdict for each in chains], None)
    if isinstance(verdict, Broken):
        return verdict
    if checks.head is not None and not any(checks.head in each.hashes for each in chains):
        return _no_head(checks.head)
    if not checks.checkpoints:
        return verdict
    known = {chain_of(each.tree): (each.tree, each.nodes) for each in chains}
    whose = {chain[1:3] for chain in known}
    found = _all(checks.checkpoints)
    given = [each for each in found if (each.log, each.tenant) in whose]
    if not given:
        raise BadAsk("none of the checkpoints is of a chain of the file", detail="checkpoint")
    check = signature_check([public_key(each) for each in _named(checks.keys)])
    return checkpoints_fault(given, check, known.get) or _sealed(verdict, found, given)


def _sealed(verdict: Intact, found: Sequence[Checkpoint], given: Sequence[Checkpoint]) -> Intact:
    """The verdict, with the checkpoints that agree; `given` are those `found` that are of it."""
    return replace(verdict, seals=checked_seals(given), other_seals=len(found) - len(given))


def verify_proof(path: str | Path, keys: Sequence[str]) -> str | ProofSubject:
    """What a proof in a file shows, or what is wrong with it."""
    check = signature_check([public_key(each) for each in _named(keys)])
    with _opened(path) as lines:
        text = lines.read(_MOST_PROOF_BYTES).strip()
    try:
        return proof_fault(text, check) or proof_subject(text)
    except UnreadableProof as error:
        raise BadAsk(f"{str(path)!a}: {error}") from None


def _keys(app: App, given: Sequence[str]) -> list[str]:
    """The keys that are trusted: those given, or the operator's own."""
    own = app.settings.sealing
    if given:
        return [public_key(each) for each in given]
    if own.public_key:
        return [public_key(own.public_key)]
    return [KeyFile(Path(own.key)).public] if own.key else _named(given)


def _named(keys: Sequence[str]) -> list[str]:
    if not keys:
        raise BadAsk("say with which public key checkpoints are signed", detail="key")
    return list(keys)


def _no_head(head: str) -> Broken:
    return Broken(0, f"no row has the hash {head}: the log is another, or that row was pruned")


def _all(paths: Sequence[str | Path]) -> list[Checkpoint]:
    return [each for path in paths for each in _read(path)]


def _read(path: str | Path) -> list[Checkpoint]:
    with _opened(path) as lines:
        try:
            return read_checkpoints(lines)
        except UnreadableCheckpoint as error:
            raise BadAsk(f"{str(path)!a}: {error}", detail="checkpoint") from None


@contextmanager
def _opened(path: str | Path) -> Iterator[IO[str]]:
    """A file of the user's; what cannot be read is `BadAsk`."""
    try:
        with open(path, encoding="utf-8", newline="\n") as lines:
            yield lines
    except OSError as error:
        raise BadAsk(f"{str(path)!a} cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL in the path, or bytes that are no UTF-8
        raise BadAsk(f"{str(path)!a} is no text file") from None
