"""rules.auditing.tree_tiles, tree_check: tiles grow in any steps to one tree, and are checked."""

import pytest

from redask.core.rules.auditing.merkle import folded, leaf_hash, nodes_of, root
from redask.core.rules.auditing.tree_check import TreeCheck
from redask.core.rules.auditing.tree_tiles import WIDTH, grown, hashes_of, nodes_in

SIZE = WIDTH * WIDTH + WIDTH + 7
ENTRIES = [f"{number:064x}" for number in range(SIZE)]
LEAVES = [leaf_hash(each) for each in ENTRIES]
Kept = dict[tuple[int, int], bytes]


def tiles_of(kept: Kept, size: int, *steps: int) -> Kept:
    for until in (*steps, size):
        done = sum(len(tile) // 32 for (level, _), tile in kept.items() if level == 0)
        changed = grown(done, LEAVES[done:until], lambda *at: kept.get(at, b""))
        kept.update(changed)
    return kept


@pytest.fixture(scope="module")
def whole() -> Kept:
    return tiles_of({}, SIZE)


def test_growing_in_steps_gives_the_same_tiles_as_at_once(whole: Kept) -> None:
    assert tiles_of({}, SIZE, 1, 255, 256, 257, 65_535, 65_536, 65_537) == whole
    assert {level: len(whole[level, 0]) // 32 for level, number in whole if number == 0} == {
        0: 256,
        1: 256,
        2: 1,
    }


@pytest.mark.parametrize("size", [1, 5, 256, 300, 65_536, SIZE])
def test_the_tree_in_tiles_has_the_root_of_its_leaves(whole: Kept, size: int) -> None:
    nodes = nodes_in(lambda *at: whole.get(at, b""))
    assert root(size, nodes) == root(size, nodes_of(LEAVES[:size]))


def test_a_node_that_no_tile_has_is_an_error(whole: Kept) -> None:
    nodes = nodes_in(lambda *at: whole.get(at, b""))
    with pytest.raises(LookupError, match="no node"):
        nodes(0, SIZE)


def test_a_tree_whose_last_tile_is_too_short_does_not_grow() -> None:
    with pytest.raises(LookupError, match="tile 0 of level 0 is too short"):
        grown(5, LEAVES[5:6], lambda *_: b"x" * 32)


def checked(
    kept: Kept, size: int, *, first: int = 10, entries: list[str] | None = None
) -> TreeCheck:
    check = TreeCheck(first, size, lambda *at: kept.get(at, b""))
    for place, entry in enumerate(entries if entries is not None else ENTRIES[:size]):
        check.add(first + 1 + place, entry)
    return check


def test_a_tree_that_follows_from_its_records_has_no_fault(whole: Kept) -> None:
    check = checked(whole, SIZE)
    check.add(3, "00" * 32)  # not of the tree
    check.add(10 + SIZE + 1, "00" * 32)  # it has not grown so far
    assert check.fault(10 + SIZE, 10, "") is None
    assert checked({}, 0, entries=[]).fault(10, 10, "") is None


@pytest.mark.parametrize("place", [0, 255, 256, 599])
def test_a_record_that_is_another_is_named(place: int) -> None:
    kept = tiles_of({}, 600)
    other = [*ENTRIES[:place], "ff" * 32, *ENTRIES[place + 1 : 600]]
    fault = checked(kept, 600, entries=other).fault(610, 10, "")
    assert fault == (11 + place, "is not what was written: the tree remembers another")


def test_a_record_that_the_tree_has_and_the_chain_has_not_is_missing() -> None:
    kept = tiles_of({}, 600)
    fault = checked(kept, 600, entries=ENTRIES[:580]).fault(590, 10, "")
    assert fault == (591, "is missing: the tree remembers it")


@pytest.mark.parametrize(
    ("at", "row"), [((0, 1), 267), ((1, 0), 11), ((1, 1), 65_547), ((2, 0), 11)]
)
def test_a_tile_that_is_missing_or_does_not_follow_is_found(
    whole: Kept, at: tuple[int, int], row: int
) -> None:
    damaged = "begins a part of the tree of hashes that is damaged"
    without = {key: tile for key, tile in whole.items() if key != at}
    assert TreeCheck(10, SIZE, lambda *at: without.get(at, b"")).fault(10 + SIZE, 10, "") == (
        row,
        damaged,
    )
    if at[0]:
        wrong = {**whole, at: b"x" + whole[at][1:]}
        found = TreeCheck(10, SIZE, lambda *at: wrong.get(at, b"")).fault(10 + SIZE, 10, "")
        assert found == (row, damaged)


def test_leaves_whose_records_were_pruned_are_checked_by_the_root_on_record() -> None:
    kept = tiles_of({}, 600)
    before = root(300, nodes_of(LEAVES[:300])).hex()

    def fault(tiles: Kept, known: str, pruned: int = 310) -> tuple[int, str] | None:
        check = TreeCheck(10, 600, lambda *at: tiles.get(at, b""))
        for seq in range(pruned + 1, 611):
            check.add(seq, ENTRIES[seq - 11])
        return check.fault(1000, pruned, known)

    assert fault(kept, before) is None
    changed = (310, "and those before it were pruned; their hashes were changed since")
    assert fault(kept, "00" * 32) == changed
    forged = {**kept, (0, 1): b"x" + kept[0, 1][1:]}
    forged[1, 0] = b"".join(folded(hashes_of(forged[0, number])) for number in range(2))
    assert fault(forged, before) == changed
    assert fault(kept, before, pruned=700) == (700, changed[1])
