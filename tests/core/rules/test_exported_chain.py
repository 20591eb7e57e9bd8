"""rules.auditing.exported_chain: a file verifies as it was written; every change of it is found."""

import json
from dataclasses import replace

import pytest

from redask.core.rules import audit_chain
from redask.core.rules.audit_chain import Broken, Chain, ChainReport, Head
from redask.core.rules.auditing.commitments import leaf, read_opening, values_of
from redask.core.rules.auditing.exported_chain import (
    ExportedChain,
    UnreadableExport,
    chain_line,
    leaves_line,
    record_line,
    verified,
)
from redask.core.rules.auditing.log_proofs import ProvableRecord
from redask.core.rules.auditing.merkle import nodes_of, root


def written(tenant: str = "local", *, pruned: int = 0, rows: int = 5) -> list[str]:
    """The lines of a chain; of which the first records were pruned."""
    start = audit_chain.genesis("file", "ask", tenant)
    made: list[tuple[ProvableRecord, str]] = []
    last = start
    leaves: list[bytes] = []
    for seq in range(1, rows + 1 + bool(pruned)):
        kind, row = "row", f'{{"question":"Zoë {seq}"}}'
        if seq > rows:
            before = root(pruned, nodes_of(leaves[:pruned])).hex()
            facts = {"to": pruned, "last": made[pruned - 1][1], "rule": "r", "root": before}
            kind = "pruned"
            row = json.dumps(facts, sort_keys=True, separators=(",", ":"))
        record = ProvableRecord(seq, kind, 10 * seq, row, "{}", f"{seq:064x}")
        leaves.append(record.leaf_hash())
        hashed = leaf(values_of(row), read_opening(record.opening))
        last = audit_chain.link(last, audit_chain.entry(seq, 10 * seq, kind, hashed))
        made.append((record, last))
    gone = made[pruned - 1][1] if pruned else start
    chain = Chain("ask", tenant, 0, start, Head(len(made), last, pruned, gone))
    lines = [chain_line(chain, "file", 0)]
    lines += [leaves_line(leaves[:pruned])] if pruned else []
    return lines + [record_line(*each) for each in made[pruned:]]


def only(lines: list[str]) -> ExportedChain:
    [found] = verified([f"{line}\n" for line in lines])
    return found


@pytest.mark.parametrize("pruned", [0, 3, 5])
def test_what_was_written_verifies_with_the_root_of_its_tree(pruned: int) -> None:
    found = only(written(pruned=pruned))
    assert isinstance(found.verdict, ChainReport)
    assert found.verdict.rows == 5 - pruned
    whole = only(written()) if not pruned else found
    assert found.tree.size == 5 + bool(pruned)
    assert root(5, found.nodes) == root(5, whole.nodes)
    assert root(5, found.nodes) == root(5, only(written()).nodes)
    assert found.verdict.head.hash in found.hashes


def test_chains_stand_one_behind_the_other_and_a_broken_one_does_not_hide_the_next() -> None:
    first, second = written("a"), written("b")
    found = list(verified([*first, *second]))
    assert [(each.tree.tenant, type(each.verdict)) for each in found] == [
        ("a", ChainReport),
        ("b", ChainReport),
    ]
    first[2] = first[2].replace("Zoë 2", "Zoë x")
    broken, whole = verified([*first, *second])
    assert broken.verdict == Broken(2, "row 2 is not what was written", "a")
    assert isinstance(whole.verdict, ChainReport)
    assert list(verified([])) == []


@pytest.mark.parametrize("row", range(1, 6))
def test_a_changed_dropped_or_cut_record_is_named(row: int) -> None:
    lines = written()
    changed = [line.replace(f"Zoë {row}", "Eve") for line in lines]
    assert only(changed).verdict == Broken(row, f"row {row} is not what was written", "local")
    missing = Broken(row, f"row {row} is missing", "local")
    assert only(lines[:row] + lines[row + 1 :]).verdict == missing
    assert only(lines[:row]).verdict == missing


def test_leaves_of_pruned_records_that_are_not_what_they_were_are_found() -> None:
    lines = written(pruned=3)
    changed = Broken(
        3, "row 3 and those before it were pruned; their hashes were changed since", "local"
    )
    leaves = json.loads(lines[1])["leaves"]
    forged = [*lines[:1], leaves_line([bytes(32), *map(bytes.fromhex, leaves[1:])]), *lines[2:]]
    assert only(forged).verdict == changed
    assert only([lines[0], *lines[2:]]).verdict == changed


HEADER, *RECORDS = written()


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (RECORDS, "line 1: no chain begins here"),
        (["x"], "line 1: it is no line of an export"),
        (["{" * 100_000], "line 1: it is no line of an export"),
        ([HEADER.replace("export 1", "export 2")], "line 1: no chain begins here"),
        ([HEADER.replace('"seq":5', '"seq":"5"')], "line 1: no chain begins here"),
        ([HEADER, '{"leaves":["x"]}'], "line 2: it is no line of an export"),
        ([HEADER, '{"leaves":5}'], "line 2: it is no line of an export"),
        ([HEADER, RECORDS[0], RECORDS[1][:-2]], "line 3: it is no line of an export"),
        ([HEADER, RECORDS[0].replace('"at"', '"as"')], "line 2: it is no line of an export"),
        ([HEADER, RECORDS[0].replace('"seq":1', '"seq":[]')], "line 2: it is no line"),
    ],
)
def test_a_line_that_is_none_is_named(lines: list[str], fault: str) -> None:
    with pytest.raises(UnreadableExport, match=fault):
        list(verified(lines))


def test_the_genesis_is_that_of_the_chain_it_says_it_is() -> None:
    other = HEADER.replace('"tenant":"local"', '"tenant":"other"')
    assert isinstance(only([other, *RECORDS]).verdict, Broken)
    assert replace(only([HEADER, *RECORDS]).tree, size=0).tenant == "local"
