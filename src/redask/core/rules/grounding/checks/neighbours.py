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

    __slots__ = ("_left", "_meant_left", "_meant_right", "_right")

    def __init__(self, forms: tuple[str, ...], first: int, end: int) -> None:
        self._left = forms[max(0, first - _NEAR) : first][::-1]
        self._right = forms[end : end + _NEAR]
        self._meant_left = [word for word in self._left if has_meaning(word)]
        self._meant_right = [word for word in self._right if has_meaning(word)]

    def likeness(self, forms: tuple[str, ...], first: int, end: int) -> float:
        """How far they are those around the words `first` to `end` of another text."""
        before = forms[first - _REACH if first > _REACH else 0 : first][::-1]
        return _side(self._left, self._meant_left, before) + _side(
            self._right, self._meant_right, forms[end : end + _REACH]
        )


def _side(words: Sequence[str], meant: Sequence[str], others: Sequence[str]) -> float:
    """The likeness of one side."""
    if not words or not others:
        return 0.0 if words or others else _AT_EDGE
    score = 0.0
    if words[0] == others[0]:
        score = _NEXT_WORD
        if len(words) > 1 and words[1:2] == others[1:2]:
            score += _NEAR_WORD
    for word in meant:
        if word in others:
            score += _NEAR_WORD
    return score
