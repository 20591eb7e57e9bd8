"""A search for slow statements: `SlowSearch(rng)` proposes, and learns what each took.

The best of each niche is kept: a niche is the template at the root of the tree and how long its
text is, so that one slow family does not drive out the others. Best is whose processor took
longest for a byte of statement. Half of what is proposed comes of the kept ones, by mutation or
by crossing two; the rest is new.
"""

import random
from dataclasses import dataclass

from slow_statements.growing import Node, crossed, drawn, mutated

_NEW = 0.35
_CROSSED = 0.15


@dataclass(frozen=True, slots=True)
class KeptStatement:
    """The best of its niche."""

    score: float
    tree: Node


class SlowSearch:
    """See the module."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._kept: dict[tuple[str, int], KeptStatement] = {}

    def propose(self) -> Node:
        """The next statement to try."""
        rng = self._rng
        if not self._kept or rng.random() < _NEW:
            return drawn(rng)
        tree = self._pick()
        if rng.random() < _CROSSED:
            return crossed(rng, tree, self._pick())
        for _ in range(rng.choice((1, 1, 2, 3))):
            tree = mutated(rng, tree)
        return tree

    def learn(self, tree: Node, length: int, seconds: float) -> None:
        """What a statement of so many bytes took of the processor."""
        niche = tree.template, length.bit_length()
        score = seconds / max(1, length)
        if niche not in self._kept or score > self._kept[niche].score:
            self._kept[niche] = KeptStatement(score, tree)

    def _pick(self) -> Node:
        """One of the kept ones, the better of two."""
        kept = list(self._kept.values())
        one, other = self._rng.choice(kept), self._rng.choice(kept)
        return one.tree if one.score >= other.score else other.tree
