"""Proofs that leave the log, as JSON: one record of it, or that it only grew. `proof_fault`.

    {"checkpoint": {…}, "format": "redask inclusion proof 1", "path": [hex, …],
     "record": {"at", "beside", "kind", "opening", "row", "seq"}}

    {"format": "redask consistency proof 1", "new": {…}, "old": {…}, "path": [hex, …]}

`checkpoint`, `old` and `new` are checkpoints; `path` is as `merkle` says. The record is whole, as
the log keeps it: who reads the proof hashes it (`commitments`, `audit_chain.entry`). Erased values
are missing, and their commitments stand in `opening`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from redask.core.rules.audit_chain import entry
from redask.core.rules.auditing import merkle
from redask.core.rules.auditing.checkpoints import (
    Checkpoint,
    SignatureCheck,
    UnreadableCheckpoint,
    checkpoint_of,
)
from redask.core.rules.auditing.commitments import leaf, read_opening, values_of
from redask.core.rules.auditing.merkle import Nodes

INCLUSION, CONSISTENCY = "redask inclusion proof 1", "redask consistency proof 1"


class UnreadableProof(Exception):
    """What is no proof, and why."""


@dataclass(frozen=True, slots=True)
class ProvableRecord:
    """A record as the log keeps it: `row`, `beside` and `opening` as they are stored."""

    seq: int
    kind: str
    at: int
    row: str
    beside: str
    opening: str

    def parts(self) -> dict[str, str]:
        """Its values by name, each as canonical JSON."""
        opening = self.opening if self.opening.startswith("{") else f'"{self.opening}"'
        named = {"at": str(self.at), "beside": self.beside, "kind": f'"{self.kind}"'}
        return {**named, "opening": opening, "row": self.row, "seq": str(self.seq)}

    def leaf_hash(self) -> bytes:
        """Its leaf in the tree."""
        values = {**values_of(self.row), **values_of(self.beside)}
        made = leaf(values, read_opening(self.opening))
        return merkle.leaf_hash(entry(self.seq, self.at, self.kind, made))


def inclusion_text(record: ProvableRecord, checkpoint: Checkpoint, nodes: Nodes) -> str:
    """The proof that a checkpoint covers a record."""
    path = merkle.inclusion_proof(record.seq - checkpoint.first - 1, checkpoint.size, nodes)
    parts = {"checkpoint": checkpoint.text(), "format": f'"{INCLUSION}"'}
    return json_object({**parts, "path": _hexes(path), "record": json_object(record.parts())})


def consistency_text(old: Checkpoint, new: Checkpoint, nodes: Nodes) -> str:
    """The proof that the log of one checkpoint begins with that of another."""
    path = merkle.consistency_proof(old.size, new.size, nodes)
    parts = {"format": f'"{CONSISTENCY}"', "new": new.text(), "old": old.text()}
    return json_object({**parts, "path": _hexes(path)})


@dataclass(frozen=True, slots=True)
class ProofSubject:
    """What a proof is about: row `seq` of the log of `new`; or, from `old`, that it only grew."""

    new: Checkpoint
    seq: int | None = None
    old: Checkpoint | None = None


def proof_subject(text: str) -> ProofSubject:
    """What a proof that holds has shown."""
    parts = values_of(text)
    if json.loads(parts["format"]) == INCLUSION:
        checkpoint = checkpoint_of(json.loads(parts["checkpoint"]))
        return ProofSubject(checkpoint, seq=json.loads(values_of(parts["record"])["seq"]))
    old, new = (checkpoint_of(json.loads(parts[each])) for each in ("old", "new"))
    return ProofSubject(new, old=old)


def proof_fault(text: str, check: SignatureCheck) -> str | None:
    """What is wrong with a proof; None: it holds. `UnreadableProof`: it is none."""
    try:
        parts = values_of(text)
        form = json.loads(parts["format"])
        path = [bytes.fromhex(each) for each in json.loads(parts["path"])]
        if form == INCLUSION:
            checkpoint = checkpoint_of(json.loads(parts["checkpoint"]))
            return check(checkpoint) or _inclusion_fault(parts["record"], checkpoint, path)
        if form == CONSISTENCY:
            old, new = (checkpoint_of(json.loads(parts[each])) for each in ("old", "new"))
            return check(old) or check(new) or _consistency_fault(old, new, path)
    except UnreadableCheckpoint as error:
        raise UnreadableProof(f"its checkpoint cannot be read: {error}") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UnreadableProof("it is no proof as `redask audit prove` writes it") from None
    raise UnreadableProof(f'its format is neither "{INCLUSION}" nor "{CONSISTENCY}"')


def _inclusion_fault(given: str, checkpoint: Checkpoint, path: list[bytes]) -> str | None:
    parts = values_of(given)
    seq, at, kind, opening = (json.loads(parts[name]) for name in ("seq", "at", "kind", "opening"))
    kept = opening if isinstance(opening, str) else parts["opening"]
    record = ProvableRecord(seq, kind, at, parts["row"], parts["beside"], kept)
    index = seq - checkpoint.first - 1
    whole = bytes.fromhex(checkpoint.root)
    if merkle.includes(record.leaf_hash(), index, checkpoint.size, path, whole):
        return None
    return f"row {seq} as the proof has it is not in the log that was sealed"


def _consistency_fault(old: Checkpoint, new: Checkpoint, path: list[bytes]) -> str | None:
    if old.chain != new.chain:
        return "the checkpoints are of two chains"
    roots = bytes.fromhex(old.root), bytes.fromhex(new.root)
    if merkle.extends(old.size, new.size, *roots, path):
        return None
    return f"the log of {new.size} rows does not begin with the log of {old.size} rows"


def _hexes(path: list[bytes]) -> str:
    return "[" + ",".join(f'"{each.hex()}"' for each in path) + "]"


def json_object(parts: Mapping[str, str]) -> str:
    """A canonical JSON object, of values that are canonical JSON."""
    return "{" + ",".join(f'"{name}":{parts[name]}' for name in sorted(parts)) + "}"
