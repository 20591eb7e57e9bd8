"""What a question counts, if the sources speak of another kind of it: `unheld`.

    How many days of parental leave do I get?     "25 days of annual leave"      parental leave
    How much sick leave is there?                  the same                       sick leave

It is the word right before another one in what is counted; sources have the latter, and none has
the former. A thing that no source has at all is not of another kind: it may be called otherwise. Of
a name there are no kinds: "how many inhabitants spoke Polish".
"""

import re
from collections.abc import Collection
from itertools import pairwise

from redask.core.rules.grounding import stems

_COUNTED = re.compile(
    r"\bhow (?:many|much|long)(?: (?:is|are|was|were|does|do|did|the|an?|my|our)){0,3}"
    r"((?: [\w'-]{1,40}){1,6})",
    re.IGNORECASE,
)
_ENDS = frozenset(
    """
    is are was were be been do does did has have had can could will would should shall must may
    might per in on at by for to from with the a an that which who when
    """.split()
)


def unheld(question: str, held: Collection[str]) -> str:
    """The kind and the thing, as they are written; `held` are forms of words of the sources."""
    counted = _COUNTED.search(question)
    if counted is None:
        return ""
    phrase: list[str] = []
    for word in counted[1].split():
        if word.lower() in _ENDS:
            break
        phrase.append(word)
    roots = {form[: stems.ROOT] for form in held}
    for kind, thing in pairwise(phrase):
        forms = stems.form(kind.lower()), stems.form(thing.lower())
        is_held = forms[0] in held or forms[0][: stems.ROOT] in roots
        is_kind = thing.islower() and all(map(stems.has_meaning, forms))
        if is_kind and forms[1] in held and not is_held:
            return f"{kind} {thing}"
    return ""
