"""A refusal names words as they were typed: `as_typed` undoes how the search read them.

"sick leave" that was read as "sick lease", because nothing has the word "leave", is refused for
“leave”: who asked never said “lease”.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from redask.core.rules.grounding.refused_answers import Refusal

_MOST_ALIGNED = 200  # words


def as_typed(refusal: Refusal, typed: str, read: str) -> Refusal:
    """The refusal of a question that was read as another."""
    text, detail = refusal.text, refusal.warning.detail
    for word, instead in dict.fromkeys(_readings(typed, read)):
        if instead not in text and instead not in detail:
            continue
        whole = re.compile(rf"(?<!\w){re.escape(instead)}(?!\w)")
        text, detail = whole.sub(word, text), whole.sub(word, detail)
    return replace(refusal, text=text, warning=replace(refusal.warning, detail=detail))


def _readings(typed: str, read: str) -> Iterator[tuple[str, str]]:
    """What was typed and what it was read as, where the two differ.

    A word is mostly read as one other word. Where words were joined or split they are aligned,
    which takes the square of their number: of a long question only the beginning.
    """
    before, after = (re.findall(r"[^\W_]+", each) for each in (typed, read))
    if len(before) == len(after):
        pairs = zip(before, after, strict=True)
        for differs, run in groupby(pairs, lambda pair: pair[0] != pair[1]):
            if differs:
                was, became = zip(*run, strict=True)
                yield " ".join(was), " ".join(became)
        return
    before, after = before[:_MOST_ALIGNED], after[:_MOST_ALIGNED]
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "replace":
            yield " ".join(before[start:end]), " ".join(after[first:last])
