"""The words of a question with their shares: `QuestionShares` compares texts with them."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

SAME_PREFIX = 0.6
PREFIX = 5
_K1, _B = 1.2, 0.75


class QuestionShares:
    """The question's tokens with their shares, and which of them are adjacent."""

    def __init__(self, shares: dict[str, float], order: list[str]) -> None:
        self._shares = shares
        self._position = {token: position for position, token in enumerate(shares)}
        self._by_prefix: dict[str, list[str]] = {}
        for token in shares:
            if len(token) >= PREFIX:
                self._by_prefix.setdefault(token[:PREFIX], []).append(token)
        asked = [token for token in order if token in shares]
        self._pairs = {
            frozenset(pair): min(shares[pair[0]], shares[pair[1]])
            for pair in pairwise(asked)
            if pair[0] != pair[1]
        }

    def matched_by(self, tokens: list[str]) -> dict[str, float]:
        """The tokens of the question among these with their shares, in the question's order."""
        found = sorted(self._shares.keys() & tokens, key=self._position.__getitem__)
        return {token: self._shares[token] for token in found}

    def intersects(self, tokens: frozenset[str]) -> bool:
        """Whether a token of the question is among these."""
        return not tokens.isdisjoint(self._shares)

    def same_prefix(self, tokens: list[str]) -> list[str]:
        """The tokens of the question that have the prefix of one of these."""
        return [other for token in tokens for other in self._by_prefix.get(token[:PREFIX], ())]

    def coverage(
        self, credit: dict[str, float], matched: Mapping[str, float], same_prefix: list[str]
    ) -> float:
        """The share of the question that is covered; `credit` has the weights of context words."""
        for token in same_prefix:
            credit[token] = max(SAME_PREFIX, credit.get(token, 0.0))
        credit.update(dict.fromkeys(matched, 1.0))
        found = sorted(self._position.keys() & credit.keys(), key=self._position.__getitem__)
        return sum(self._shares[token] * credit[token] for token in found)

    def agreement(self, tokens: frozenset[str]) -> float:
        """From 0 to 1: how far a heading says what the question says, no less and no more."""
        own = {token[:PREFIX] for token in self._shares if len(token) >= PREFIX}
        held = [one for one in tokens if one in self._shares or one[:PREFIX] in own]
        if not held:
            return 0.0
        prefixes = {one[:PREFIX] for one in held}
        found = (share for token, share in self._shares.items() if token[:PREFIX] in prefixes)
        return math.fsum(found) * len(held) / len(tokens)

    def bm25(self, tokens: Iterable[str], length: float) -> float:
        """The BM25 score of a text; `length` is relative to the average."""
        counts = Counter(token for token in tokens if token in self._shares)
        saturation = _K1 * (1 - _B + _B * length)
        return sum(
            share * counts[token] * (_K1 + 1) / (counts[token] + saturation)
            for token, share in self._shares.items()
            if token in counts
        )

    def proximity(self, tokens: list[str]) -> float:
        """The share of the question's adjacent word pairs that are within two tokens here."""
        positions = [position for position, token in enumerate(tokens) if token in self._shares]
        found: dict[frozenset[str], float] = {}
        for start, position in enumerate(positions):
            for other in positions[start + 1 : start + 3]:
                pair = frozenset((tokens[position], tokens[other]))
                if other - position <= 2 and pair in self._pairs:
                    found[pair] = self._pairs[pair]
        return math.fsum(found.values())
