"""When two texts are the same value, loosely: `normalised(text)` is equal for both.

    case, Unicode's compatibility forms      ignored (`ﬁ` is `fi`, `Ｂ` is `b`)
    `-` and `_`, other dashes, white space   one space
    at the ends                              spaces, quotes, brackets and `.,;:!?` go
    longer than `LONGEST_VALUE`              not looked up: ""

`normalised` of its own result changes nothing.
"""

import unicodedata

LONGEST_VALUE = 100  # characters of a value that can be found

_DASHES = dict.fromkeys((0x2212, *range(0x2010, 0x2016)), "-")
_ENDS = " .,;:!?'\"()[]{}\u2018\u2019\u201c\u201d\u00ab\u00bb"


def normalised(text: str) -> str:
    """The text as values are compared; "" for one that is not looked up."""
    if len(text) > LONGEST_VALUE:
        return ""
    plain = text.lower() if text.isascii() else _folded(text)
    return " ".join(plain.replace("-", " ").replace("_", " ").split()).strip(_ENDS)


def _folded(text: str) -> str:
    """Twice: folding case may give forms to compose, and composing letters to fold."""
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text.casefold())
    return text.translate(_DASHES)
