"""How the hashes of a Merkle tree are kept: tiles of 256, so that a proof reads a few of them.

    level 0    the leaves, 256 a tile
    level n    a hash over each full tile of level n-1, 256 a tile

A tile is its hashes one behind the other, 32 bytes each; the last of a level grows. So a proof
among 1,000,000 records reads at most ten tiles, and a record costs 32 bytes beside itself. Tiles
stay when retention takes their records: old checkpoints and proofs can be checked for ever.
"""

from collections.abc import Callable, Sequence

from redask.core.rules.auditing.merkle import DIGEST, Nodes, folded

WIDTH = 256
_BITS = 8  # 2^8 = WIDTH
Tiles = Callable[[int, int], bytes]  # level, number → the tile, nothing where there is none


def grown(size: int, leaves: Sequence[bytes], tiles: Tiles) -> dict[tuple[int, int], bytes]:
    """The tiles that change when leaves come behind `size` others, by level and number.

    `LookupError` if the tiles do not hold those.
    """
    changed: dict[tuple[int, int], bytes] = {}
    level, place, new = 0, size, list(leaves)
    while new:
        full: list[bytes] = []
        while new:
            number, offset = divmod(place, WIDTH)
            taken, new = new[: WIDTH - offset], new[WIDTH - offset :]
            before = tiles(level, number)[: offset * DIGEST] if offset else b""
            if len(before) < offset * DIGEST:
                raise LookupError(f"tile {number} of level {level} is too short")
            tile = changed[level, number] = before + b"".join(taken)
            place += len(taken)
            if len(tile) == WIDTH * DIGEST:
                full.append(folded(hashes_of(tile)))
        level, new = level + 1, full
        place = size >> (_BITS * level)
    return changed


def nodes_in(tiles: Tiles) -> Nodes:
    """The nodes of the tree that the tiles hold; `LookupError` for one that they do not."""

    def node(level: int, place: int) -> bytes:
        of, above = divmod(level, _BITS)
        count = 1 << above
        number, offset = divmod(place * count, WIDTH)
        found = hashes_of(tiles(of, number))[offset : offset + count]
        if len(found) < count:
            raise LookupError(f"the tree has no node {place} of level {level}")
        return folded(found)

    return node


def hashes_of(tile: bytes) -> list[bytes]:
    """The hashes of a tile."""
    return [tile[place : place + DIGEST] for place in range(0, len(tile), DIGEST)]
