"""Columns that say yes or no: `flag_of(type, values)`, and whether a name says so: `is_adjective`.

    type       values that the caller reads                     flag
    bool       any                                              true, false
    integer    0 and 1, or one of them                          1, 0
    text       yes no · y n · true false · 1 0, in any case,    as they are stored; one that is not,
               or one of a pair                                 as the other is spelled
    text       t f                                              both must be there: a grade is one

Anything else is no flag: a third value, two spellings of one. NULL is neither yes nor no.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST_VALUES = 2
INTEGERS = frozenset("int2 int4 int8 smallint integer bigint".split())
TEXTS = frozenset("text varchar bpchar".split())
_PAIRS = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("1", "0"))
_BOTH = ("t", "f")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SAYING = frozenset("is has was are can".split())
_ENDINGS = ("ed", "able", "ible", "ive", "al", "ic", "ous", "ful", "less", "ant", "ent", "ary")
_NOUNS = frozenset("total interval animal music topic president student agent parent".split())
_ADJECTIVES = frozenset(
    """new old open free paid sold done sent lost won gone built broken hidden frozen chosen taken
    written private public valid ready live dead alive single vip online offline remote current
    main secure complete adult male female sick healthy""".split()
)


@dataclass(frozen=True, slots=True)
class ColumnFlag:
    """What a column stores for yes and for no, as SQL writes it but for the quotes of a text."""

    yes: str
    no: str
    quoted: bool = False


BOOLEAN = ColumnFlag("true", "false")


def flag_of(type_name: str, values: Sequence[object]) -> ColumnFlag | None:
    """The flag that a column of these different values is, NULL left out; None: it is none."""
    kind = type_name.partition("(")[0].strip()
    if kind in ("bool", "boolean"):
        return BOOLEAN
    if not values or len(values) > MOST_VALUES:
        return None
    if kind in INTEGERS:
        return ColumnFlag("1", "0") if set(values) <= {0, 1} else None
    return _of_texts([str(value) for value in values]) if kind in TEXTS else None


def _of_texts(stored: Sequence[str]) -> ColumnFlag | None:
    by_word = {text.strip().lower(): text for text in stored}
    for yes, no in _PAIRS:
        whole = len(by_word) == len(stored) and by_word.keys() <= {yes, no}
        if whole and (len(stored) > 1 or (yes, no) != _BOTH):
            known = stored[0].strip()
            return ColumnFlag(
                by_word.get(yes, _cased(yes, known)), by_word.get(no, _cased(no, known)), True
            )
    return None


def _cased(word: str, like: str) -> str:
    """A word in the case of another."""
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word


def is_adjective(name: str) -> bool:
    """Whether the name of a column says what rows are: `is_active`, `discontinued`, `Paid`."""
    words = [part.lower() for part in _PART.findall(name)]
    if not words:
        return False
    last = words[-1]
    return (
        (len(words) > 1 and words[0] in _SAYING)
        or last in _ADJECTIVES
        or (last.endswith(_ENDINGS) and len(last) > 4 and last not in _NOUNS)
    )
