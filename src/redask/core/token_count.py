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
_LONG = re.compile(r"[A-Za-z]{9,}")


def estimate(text: str) -> int:
    """The estimated number of tokens."""
    # every piece counts once, and a long one for what it has beyond that: few are, and a step of
    # Python for each piece took a sixth of an ask
    beyond = sum(-(-len(piece) // 6) - 1 for piece in _LONG.findall(text))
    return len(_PIECE.findall(text)) + beyond
