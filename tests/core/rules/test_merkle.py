"""rules.auditing.merkle: RFC 6962's tree; every proof holds, and no other does."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules.auditing import merkle
from redask.core.rules.auditing.merkle import (
    consistency_proof,
    extends,
    includes,
    inclusion_proof,
    leaf_hash,
    node_hash,
    nodes_of,
    root,
)

SIZES = range(1, 34)
LEAVES = [leaf_hash(f"{number:064x}") for number in range(40)]
NODES = nodes_of(LEAVES)


def by_definition(leaves: list[bytes]) -> bytes:
    """The root as section 2.1 of RFC 6962 defines it."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while 2 * split < len(leaves):
        split *= 2
    left, right = by_definition(leaves[:split]), by_definition(leaves[split:])
    return hashlib.sha256(b"\x01" + left + right).digest()


def test_the_hashes_are_those_of_the_format() -> None:
    entry = "ab" * 32
    assert leaf_hash(entry) == hashlib.sha256(b"\x00" + bytes.fromhex(entry)).digest()
    left, right = LEAVES[:2]
    assert node_hash(left, right) == hashlib.sha256(b"\x01" + left + right).digest()


def test_rfc_6962s_own_vectors_hold() -> None:
    """Of its reference implementation: eight leaves, whose data is not 32 bytes long."""
    data = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"]
    data.append("606162636465666768696a6b6c6d6e6f")
    leaves = [hashlib.sha256(b"\x00" + bytes.fromhex(each)).digest() for each in data]
    nodes = nodes_of(leaves)
    assert root(0, nodes).hex() == hashlib.sha256(b"").hexdigest()
    assert root(8, nodes).hex() == (
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
    )
    assert [each.hex()[:16] for each in inclusion_proof(5, 8, nodes)] == [
        "bc1a0643b12e4d2d",
        "ca854ea128ed050b",
        "d37ee418976dd957",
    ]


@pytest.mark.parametrize("size", [0, *SIZES])
def test_the_root_is_the_one_of_the_definition(size: int) -> None:
    assert root(size, NODES) == by_definition(LEAVES[:size])


@pytest.mark.parametrize("size", SIZES)
def test_every_leaf_has_a_proof_and_no_other_leaf_place_or_root_has(size: int) -> None:
    whole = root(size, NODES)
    for index in range(size):
        path = inclusion_proof(index, size, NODES)
        assert len(path) <= (size - 1).bit_length()
        assert includes(LEAVES[index], index, size, path, whole)
        assert not includes(LEAVES[index + 1], index, size, path, whole)
        assert not includes(LEAVES[index], index, size, path, b"0" * 32)
        assert not includes(LEAVES[index], index, size, [*path, LEAVES[0]], whole)
        for other in range(-1, size + 1):
            if other != index:
                assert not includes(LEAVES[index], other, size, path, whole)
        for place in range(len(path)):
            assert not includes(LEAVES[index], index, size, path[:place] + path[place + 1 :], whole)


@pytest.mark.parametrize("new", SIZES)
def test_a_tree_extends_each_that_it_began_with_and_no_other(new: int) -> None:
    whole = root(new, NODES)
    for old in range(1, new + 1):
        before, path = root(old, NODES), consistency_proof(old, new, NODES)
        assert extends(old, new, before, whole, path)
        assert not extends(old, new, b"0" * 32, whole, path)
        assert not extends(old, new, before, b"0" * 32, path)
        assert not extends(old, new, before, whole, [*path, LEAVES[0]])
        assert not extends(new + 1, new, before, whole, path)
        for place in range(len(path)):
            changed = [*path[:place], b"1" * 32, *path[place + 1 :]]
            assert not extends(old, new, before, whole, changed)
            assert not extends(old, new, before, whole, path[:place])
    assert not extends(0, new, root(0, NODES), whole, [])
    assert consistency_proof(0, new, NODES) == []


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 39))
def test_a_tree_with_one_other_leaf_does_not_extend_the_old_one(
    old: int, more: int, at: int
) -> None:
    new, at = min(40, old + more), at % old
    other = nodes_of([b"x" * 32 if place == at else each for place, each in enumerate(LEAVES)])
    path = consistency_proof(old, new, other)
    assert not extends(old, new, root(old, NODES), root(new, other), path)


def test_a_power_of_two_needs_its_proof() -> None:
    assert not extends(3, 5, root(3, NODES), root(5, NODES), [])
    assert merkle.folded(LEAVES[:4]) == root(4, NODES)
