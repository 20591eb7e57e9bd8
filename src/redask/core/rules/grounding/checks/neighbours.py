"""How far two places have the same neighbours: `Neighbours` of one, and its `likeness` to others.

From 0 to 9. On each side 2 for the same next word, half a point more for the next two, and half a
point for each meaningful word of the nearest NEAR that is among the nearest REACH there; 1 if both
are at the edge.
"""

from collections.abc import Sequence

from redask.core.rules.grounding.stems import has_meaning

_NEAR = 4
_REACH = 6
_NEXT_WORD = 2.0
_NEAR_WORD = 0.5
_AT_EDGE = 1.0


class Neighbours:
    """The words around the words `first` to `end` (half-open) of a claim, ordered outwards."""

    __slots__ = ("_left", "_right")

    def __init__(self, forms: tuple[str, ...], first: int, end: int) -> None:
        self._left = _Side(forms[max(0, first - _NEAR) : first][::-1])
        self._right = _Side(forms[end : end + _NEAR])

    def likeness(self, forms: tuple[str, ...], first: int, end: int) -> float:
        """How far they are those around the words `first` to `end` of another text."""
        before = forms[first - _REACH if first > _REACH else 0 : first][::-1]
        return self._left.likeness(before) + self._right.likeness(forms[end : end + _REACH])


class _Side:
    __slots__ = ("_meaningful", "_words")

    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = words
        self._meaningful = [word for word in words if has_meaning(word)]

    def likeness(self, others: Sequence[str]) -> float:
        words = self._words
        if not words or not others:
            return 0.0 if words or others else _AT_EDGE
        score = 0.0
        if words[0] == others[0]:
            score = _NEXT_WORD
            if len(words) > 1 and words[1:2] == others[1:2]:
                score += _NEAR_WORD
        for word in self._meaningful:
            if word in others:
                score += _NEAR_WORD
        return score
