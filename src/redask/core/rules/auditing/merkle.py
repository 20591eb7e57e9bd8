"""The Merkle tree over the entries of a chain, hashed as RFC 6962 says: roots and proofs.

    leaf      SHA-256( 0x00 ‖ entry, 32 bytes )
    node      SHA-256( 0x01 ‖ left ‖ right )
    root      of n leaves: the node over the first 2^k of them, 2^k the largest power of two below
              n, and over the rest; of one leaf, that leaf; of none, SHA-256 of nothing

`inclusion_proof` shows that a leaf is in a tree of a size, `consistency_proof` that a tree begins
with another: whoever has the roots checks them with `includes` and `extends`, in as many steps as
the size has binary digits. To make one, `Nodes` gives the hash over 2^level leaves that begin at
place · 2^level: see `tree_tiles`, which keeps them.
"""

import hashlib
from collections.abc import Callable, Sequence

Nodes = Callable[[int, int], bytes]  # level, place → the hash of that perfect subtree
DIGEST = 32


def leaf_hash(entry: str) -> bytes:
    """The leaf of a record, by its entry (64 hex digits)."""
    return hashlib.sha256(b"\x00" + bytes.fromhex(entry)).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The node over two others."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def folded(hashes: Sequence[bytes]) -> bytes:
    """The node over so many hashes, a power of two."""
    while len(hashes) > 1:
        hashes = [node_hash(hashes[place], hashes[place + 1]) for place in range(0, len(hashes), 2)]
    return hashes[0]


def root(size: int, nodes: Nodes) -> bytes:
    """The root over the first `size` leaves."""
    return _subtree(0, size, nodes) if size else hashlib.sha256(b"").digest()


def inclusion_proof(index: int, size: int, nodes: Nodes) -> list[bytes]:
    """What leaf number `index`, from 0, is hashed with up to the root of `size` leaves."""
    path: list[bytes] = []
    first, last = 0, size
    while last - first > 1:
        split = first + _below(last - first)
        if index < split:
            path.append(_subtree(split, last, nodes))
            last = split
        else:
            path.append(_subtree(first, split, nodes))
            first = split
    return path[::-1]


def consistency_proof(old: int, new: int, nodes: Nodes) -> list[bytes]:
    """What shows that the tree of `new` leaves begins with the tree of `old` ones."""
    path: list[bytes] = []
    first, last = 0, new
    while 0 < old - first < last - first:
        split = first + _below(last - first)
        if old <= split:
            path.append(_subtree(split, last, nodes))
            last = split
        else:
            path.append(_subtree(first, split, nodes))
            first = split
    if first:  # else what is left is the old tree, whose root is known
        path.append(_subtree(first, last, nodes))
    return path[::-1]


def includes(leaf: bytes, index: int, size: int, path: Sequence[bytes], whole: bytes) -> bool:
    """Whether a leaf has this number in the tree of this size and root."""
    if not 0 <= index < size:
        return False
    place, last, made = index, size - 1, leaf
    for each in path:
        if not last:
            return False
        if place % 2 or place == last:
            made = node_hash(each, made)
            while not place % 2 and place:
                place, last = place // 2, last // 2
        else:
            made = node_hash(made, each)
        place, last = place // 2, last // 2
    return not last and made == whole


def extends(old: int, new: int, old_root: bytes, new_root: bytes, path: Sequence[bytes]) -> bool:
    """Whether the tree of size `new` begins with the one of size `old`."""
    if not 0 < old <= new:
        return False
    if old == new:
        return not path and old_root == new_root
    given = list(path) if old & (old - 1) else [old_root, *path]
    place, last = old - 1, new - 1
    while place % 2:
        place, last = place // 2, last // 2
    if not given:
        return False
    was = now = given[0]
    for each in given[1:]:
        if not last:
            return False
        if place % 2 or place == last:
            was, now = node_hash(each, was), node_hash(each, now)
            while not place % 2 and place:
                place, last = place // 2, last // 2
        else:
            now = node_hash(now, each)
        place, last = place // 2, last // 2
    return not last and (was, now) == (old_root, new_root)


def nodes_of(leaves: Sequence[bytes]) -> Nodes:
    """The nodes over leaves that are at hand; each level is made once."""
    levels = [leaves]

    def node(level: int, place: int) -> bytes:
        while len(levels) <= level:
            last = levels[-1]
            pairs = range(0, len(last) - 1, 2)
            levels.append([node_hash(last[each], last[each + 1]) for each in pairs])
        return levels[level][place]

    return node


def _subtree(first: int, last: int, nodes: Nodes) -> bytes:
    """The hash over the leaves from `first` to before `last`."""
    size = last - first
    if size & (size - 1) == 0:
        return nodes(size.bit_length() - 1, first // size)
    split = first + _below(size)
    return node_hash(_subtree(first, split, nodes), _subtree(split, last, nodes))


def _below(size: int) -> int:
    """The largest power of two below a size of two or more."""
    return 1 << (size - 1).bit_length() - 1
