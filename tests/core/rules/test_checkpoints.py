"""rules.auditing.checkpoints: one line each, read back as written; the first wrong row is named."""

import json
from dataclasses import replace

import pytest

from redask.core.rules.auditing.checkpoints import (
    CheckedSeals,
    Checkpoint,
    TreeState,
    UnreadableCheckpoint,
    checked_seals,
    checkpoint_of,
    read_checkpoints,
    seal_fault,
)
from redask.core.rules.auditing.merkle import leaf_hash, nodes_of, root

MADE = Checkpoint("file", "ask", "Zoë & Co", 7, 12, "ab" * 32, 99, "cd" * 32, "ef" * 64)


def test_a_line_is_canonical_json_and_reads_back() -> None:
    line = MADE.text()
    assert line == json.dumps(
        json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert read_checkpoints([line + "\n", "\n", line]) == [MADE, MADE]
    assert MADE.chain == ("file", "ask", "Zoë & Co", 7)
    assert MADE.last == 19


def test_what_is_signed_is_the_line_without_its_signature() -> None:
    document = json.loads(MADE.text())
    del document["signature"]
    assert MADE.signed_bytes().decode() == json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("format", "redask checkpoint 2", "it is no JSON object with the format"),
        ("root", "ab", "its root is not 64 hex digits"),
        ("root", "AB" * 32, "its root is not 64 hex digits"),
        ("signature", None, "its signature is not 128 hex digits"),
        ("tenant", 5, "its tenant is not a text"),
        ("size", -1, "its size is no number"),
        ("size", True, "its size is no number"),
        ("ts", "1", "its ts is no number"),
        ("more", 1, "it has keys that nobody signed"),
    ],
)
def test_what_is_no_checkpoint_is_refused_by_name(name: str, value: object, fault: str) -> None:
    with pytest.raises(UnreadableCheckpoint, match=fault):
        checkpoint_of({**MADE.plain(), name: value})
    with pytest.raises(UnreadableCheckpoint, match=f"line 2: {fault}"):
        read_checkpoints([MADE.text(), json.dumps({**MADE.plain(), name: value})])


@pytest.mark.parametrize("line", ["x", "[" * 100_000, "1"])
def test_a_line_that_is_no_json_object_is_named(line: str) -> None:
    with pytest.raises(UnreadableCheckpoint, match="line 1: it is no JSON"):
        read_checkpoints([line])


def sealed_at(nodes_size: int, *sizes: int, other: int | None = None) -> tuple[int, str] | None:
    leaves = [leaf_hash(f"{number:064x}") for number in range(40)]
    made = [
        replace(MADE, size=size, root=root(size, nodes_of(leaves[:size])).hex()) for size in sizes
    ]
    now = [b"x" * 32 if place == other else leaf for place, leaf in enumerate(leaves)][:nodes_size]
    return seal_fault(TreeState("file", "ask", "Zoë & Co", 7, len(now)), nodes_of(now), made)


def test_a_log_that_only_grew_agrees_with_every_checkpoint() -> None:
    assert sealed_at(20, 5, 20, 1, 13) is None
    assert sealed_at(20) is None


def test_a_log_that_is_too_short_lacks_a_row_behind_the_last_checkpoint_that_holds() -> None:
    why = "is missing: so many were sealed, and the log ends with"
    assert sealed_at(20, 5, 25) == (13, f"one of the rows 13 to 32 {why} 27")
    assert sealed_at(20, 20, 21) == (28, f"row 28 {why} 27")


def test_a_row_that_differs_is_between_the_checkpoints_around_it() -> None:
    wrong = sealed_at(20, 12, 16, 5, other=13)
    assert wrong == (20, "one of the rows 20 to 23 is not what was sealed")
    assert sealed_at(20, 13, 14, other=13) == (21, "row 21 is not what was sealed")


def test_what_was_checked_is_told_chain_by_chain() -> None:
    larger, other = replace(MADE, size=20), replace(MADE, tenant="acme")
    assert checked_seals([larger, MADE, other]) == (
        CheckedSeals(2, larger),
        CheckedSeals(1, other),
    )
    assert checked_seals([]) == ()
