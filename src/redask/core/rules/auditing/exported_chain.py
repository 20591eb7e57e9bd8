"""Chains of a log in a file, one JSON object a line, to be verified without the database.

    {"first":…,"format":"redask audit export 1","hash":…,"identity":…,"log":…,"pruned_hash":…,
     "pruned_seq":…,"seq":…,"start":…,"tenant":…}           a chain: start, head, what was pruned
    {"leaves":[hex, …]}                                     of the tree, of records that were pruned
    {"at":…,"beside":{…},"hash":…,"kind":…,"opening":…,"row":{…},"seq":…}        its records, all

The numbers are those of `audit_chain`; `first` is that of the tree. A file holds one chain after
the other. `verified` reads it once, line by line; what is no such line is `UnreadableExport`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redask.core.rules import audit_chain
from redask.core.rules.audit_chain import (
    Broken,
    Chain,
    ChainRecord,
    ChainReport,
    Head,
    Remembered,
)
from redask.core.rules.auditing.checkpoints import TreeState
from redask.core.rules.auditing.commitments import leaf, read_opening, values_of
from redask.core.rules.auditing.log_proofs import ProvableRecord, json_object
from redask.core.rules.auditing.merkle import Nodes, leaf_hash, nodes_of, root

FORMAT = "redask audit export 1"
LEAVES = 256  # in a line
_TEXTS = ("identity", "log", "tenant", "hash", "pruned_hash")
_NUMBERS = ("first", "start", "seq", "pruned_seq")


class UnreadableExport(Exception):
    """What is no line of an export, and why."""


@dataclass(frozen=True, slots=True)
class ExportedChain:
    """One chain of a file: the verdict on it, and its tree."""

    verdict: ChainReport | Broken
    tree: TreeState
    nodes: Nodes
    hashes: frozenset[str]  # of its records, and of the last that was pruned


def chain_line(chain: Chain, identity: str, first: int) -> str:
    """The line that begins a chain."""
    head = chain.head
    facts = {"format": FORMAT, "identity": identity, "log": chain.log, "tenant": chain.tenant}
    numbers = {"first": first, "start": chain.start, "seq": head.seq, "hash": head.hash}
    gone = {"pruned_seq": head.pruned_seq, "pruned_hash": head.pruned_hash}
    whole = {**facts, **numbers, **gone}
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def leaves_line(leaves: Sequence[bytes]) -> str:
    """A line of leaves whose records are gone."""
    return '{"leaves":[' + ",".join(f'"{each.hex()}"' for each in leaves) + "]}"


def record_line(record: ProvableRecord, digest: str) -> str:
    """A line of a record, with its hash in the chain."""
    return json_object({**record.parts(), "hash": f'"{digest}"'})


def verified(lines: Iterable[str]) -> Iterator[ExportedChain]:
    """Verify the chains of a file, each when it has been read."""
    reader = _ChainReader(lines)
    while (header := reader.next_chain()) is not None:
        yield _verified(reader, header)


def _verified(reader: "_ChainReader", header: Mapping[str, Any]) -> ExportedChain:
    chain, first = _chain(header), int(header["first"])
    leaves = reader.leaves()
    hashes = {chain.head.pruned_hash}

    def seen(_: int, entry: str) -> None:
        leaves.append(leaf_hash(entry))

    def records() -> Iterator[ChainRecord]:
        for each in reader.records():
            hashes.add(each.hash)
            yield each

    gone = len(leaves)
    verdict = audit_chain.verify(chain, records(), Remembered(), seen)
    pruned = chain.head.pruned_seq
    if isinstance(verdict, ChainReport) and pruned > first:
        nodes = nodes_of(leaves[:gone])
        if gone != pruned - first or root(gone, nodes).hex() != verdict.pruned_root:
            what = f"row {pruned} and those before it were pruned; their hashes were changed since"
            verdict = Broken(pruned, what, chain.tenant)
    tree = TreeState(header["identity"], chain.log, chain.tenant, first, len(leaves))
    return ExportedChain(verdict, tree, nodes_of(leaves), frozenset(hashes))


def _chain(header: Mapping[str, Any]) -> Chain:
    start = audit_chain.genesis(
        header["identity"], header["log"], header["tenant"], header["start"]
    )
    head = Head(header["seq"], header["hash"], header["pruned_seq"], header["pruned_hash"])
    return Chain(header["log"], header["tenant"], header["start"], start, head)


class _ChainReader:
    """The lines of a file, one looked at ahead."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = enumerate(lines, start=1)
        self._number, self._line = next(self._lines, (0, ""))
        self._begun = False

    def next_chain(self) -> dict[str, Any] | None:
        """The next line that begins a chain; None at the end."""
        while self._line and self._begun and "format" not in self._parts():
            self._step()  # the rest of a chain that is broken
        if not self._line:
            return None
        self._begun = True
        header = {name: json.loads(value) for name, value in self._parts().items()}
        if (
            header.get("format") != FORMAT
            or not all(isinstance(header.get(name), str) for name in _TEXTS)
            or not all(type(header.get(name)) is int for name in _NUMBERS)
        ):
            raise UnreadableExport(f"line {self._number}: no chain begins here as {FORMAT} has it")
        self._step()
        return header

    def leaves(self) -> list[bytes]:
        """The leaves that come next."""
        found: list[bytes] = []
        while self._line and "leaves" in (parts := self._parts()):
            try:
                found += [bytes.fromhex(each) for each in json.loads(parts["leaves"])]
            except (ValueError, TypeError):
                raise self._unreadable() from None
            self._step()
        return found

    def records(self) -> Iterator[ChainRecord]:
        """The records that come next."""
        while self._line and "format" not in (parts := self._parts()):
            try:
                record = _record(parts)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                raise self._unreadable() from None
            self._step()
            yield record

    def _parts(self) -> dict[str, str]:
        try:
            return values_of(self._line.strip())
        except (ValueError, LookupError, RecursionError):
            raise self._unreadable() from None

    def _step(self) -> None:
        self._number, self._line = next(self._lines, (self._number + 1, ""))

    def _unreadable(self) -> UnreadableExport:
        return UnreadableExport(f"line {self._number}: it is no line of an export")


def _record(parts: Mapping[str, str]) -> ChainRecord:
    seq, at, kind, digest = (json.loads(parts[name]) for name in ("seq", "at", "kind", "hash"))
    given = json.loads(parts["opening"])
    opening = read_opening(given if isinstance(given, str) else parts["opening"])
    values = {**values_of(parts["row"]), **values_of(parts["beside"])}
    facts = {} if kind == audit_chain.ROW else json.loads(parts["row"])
    made = leaf(values, opening)
    return ChainRecord(int(seq), kind, at, made, digest, facts, frozenset(opening.erased))
