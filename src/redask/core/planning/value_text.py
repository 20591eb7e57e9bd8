"""When two texts are the same value, loosely: `normalised(text)` is equal for both.

    case, Unicode's compatibility forms      ignored (`ﬁ` is `fi`, `Ｂ` is `b`)
    `-` and `_`, other dashes, white space   one space; none at the ends
    longer than `LONGEST_VALUE`              not looked up: ""

`normalised` of its own result changes nothing.
"""

import re
import unicodedata

LONGEST_VALUE = 100  # characters of a value that can be found

_SPACES = re.compile(r"[\s\-_\u2010-\u2015\u2212]+")


def normalised(text: str) -> str:
    """The text as values are compared; "" for one that is not looked up."""
    if len(text) > LONGEST_VALUE:
        return ""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _SPACES.sub(" ", plain).strip()
