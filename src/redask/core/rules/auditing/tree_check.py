"""Whether the tiles of a tree are what the records of its chain give: `TreeCheck`.

`add` is told each record that is there, by number and entry; `fault` then names the first row
whose leaf is another, or a tile above that does not follow from those below. Leaves of records
that retention took are checked by the root that the record of it holds (`pruned`).
"""

from redask.core.rules.auditing.merkle import DIGEST, folded, leaf_hash, root
from redask.core.rules.auditing.tree_tiles import WIDTH, Tiles, hashes_of, nodes_in


class TreeCheck:
    """The check of one tree: of `size` leaves, whose first is of the record after `first`."""

    def __init__(self, first: int, size: int, tiles: Tiles) -> None:
        self._first = first
        self._size = size
        self._tiles = tiles
        self._number, self._tile = -1, b""
        self._other: int | None = None

    def add(self, seq: int, entry: str) -> None:
        """A record that is there, as it is."""
        index = seq - self._first - 1
        if self._other is not None or not 0 <= index < self._size:
            return
        number, offset = divmod(index, WIDTH)
        if number != self._number:
            self._number, self._tile = number, self._tiles(0, number)
        if self._tile[offset * DIGEST : (offset + 1) * DIGEST] != leaf_hash(entry):
            self._other = seq

    def fault(self, head: int, pruned: int, pruned_root: str) -> tuple[int, str] | None:
        """The first row that is not in the tree, or what else is wrong with it.

        `head` is the last number of the chain; `pruned` the last that retention took, with the
        root of the tree up to there.
        """
        if self._other is not None:
            return self._other, "is not what was written: the tree remembers another"
        if self._first + self._size > head:
            return head + 1, "is missing: the tree remembers it"
        wrong = self._wrong_tile()
        if wrong is not None:
            return wrong, "begins a part of the tree of hashes that is damaged"
        taken = pruned - self._first
        if (taken > 0 or pruned_root) and not self._holds(taken, pruned_root):
            return pruned, "and those before it were pruned; their hashes were changed since"
        return None

    def _holds(self, taken: int, pruned_root: str) -> bool:
        return 0 < taken <= self._size and root(taken, nodes_in(self._tiles)).hex() == pruned_root

    def _wrong_tile(self) -> int | None:
        """The first row under a tile that is missing, or does not follow from those below."""
        level, count, width = 0, self._size, 1
        while count:
            for number in range((count + WIDTH - 1) // WIDTH):
                tile = self._tiles(level, number)
                full = min(WIDTH, count - number * WIDTH)
                if len(tile) != full * DIGEST or (level and not self._follows(level, number, tile)):
                    return self._first + number * WIDTH * width + 1
            level, count, width = level + 1, count // WIDTH, width * WIDTH
        return None

    def _follows(self, level: int, number: int, tile: bytes) -> bool:
        return all(
            folded(hashes_of(self._tiles(level - 1, number * WIDTH + place))) == each
            for place, each in enumerate(hashes_of(tile))
        )
