"""The token count of a text: `estimate` it, in linear time, without a vocabulary.

    a run of up to 8 ASCII letters       1        a longer one          1 for every 6, rounded up
    up to 3 digits                       1        any other character   1, white space 0
    a line feed                          1

On English, German, Spanish and Chinese passages the mean is 0.84 to 1.20 of what the
vocabularies cl100k and o200k count. A real tokeniser in Python took six minutes for 100 KB
without a space, and a limit must hold for hostile text, too. Usage that a provider reports
replaces the estimate.
"""

import re

_PIECE = re.compile(r"[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]|\n")
_SHORT = 8


def estimate(text: str) -> int:
    """The estimated number of tokens."""
    return sum(1 if len(piece) <= _SHORT else -(-len(piece) // 6) for piece in _PIECE.findall(text))
