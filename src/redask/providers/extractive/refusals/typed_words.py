"""A refusal names words as they were typed: `as_typed` undoes how the search read them.

"sick leave" that was read as "sick lease", because nothing has the word "leave", is refused for
“leave”: who asked never said “lease”.
"""

import difflib
import re
from dataclasses import replace

from redask.core.rules.grounding.refused_answers import Refusal


def as_typed(refusal: Refusal, typed: str, read: str) -> Refusal:
    """The refusal of a question that was read as another."""
    text, detail = refusal.text, refusal.warning.detail
    for word, instead in _readings(typed, read):
        whole = re.compile(rf"(?<!\w){re.escape(instead)}(?!\w)")
        text, detail = whole.sub(word, text), whole.sub(word, detail)
    return replace(refusal, text=text, warning=replace(refusal.warning, detail=detail))


def _readings(typed: str, read: str) -> list[tuple[str, str]]:
    """What was typed and what it was read as, where the two differ."""
    before, after = (re.findall(r"[^\W_]+", each) for each in (typed, read))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [
        (" ".join(before[start:end]), " ".join(after[first:last]))
        for tag, start, end, first, last in matcher.get_opcodes()
        if tag == "replace"
    ]
