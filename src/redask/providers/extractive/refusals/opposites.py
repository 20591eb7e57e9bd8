"""A line that says the opposite of what is asked: `find` the word of the question.

    shipping inside the European Union    "Orders outside the European Union …"    inside
    the last emperor of China             "the first emperor of China"             last

The word is not in the text, a word near the other end of its scale is, and both stand before the
same word. Without the same word behind them they may belong to other things. Whoever asks for a yes
or a no is answered by the opposite: "Are rides paid outside the city?", "inside the city only".
"""

from collections.abc import Sequence

from redask.core.rules.grounding import polarity, stems
from redask.providers.extractive import expected_answer


def find(question: str, text: str, beside: str = "") -> str:
    """The word of the question whose opposite the text has in its place; empty if there is none.

    `beside` is what is quoted with it: a word that is there is said.
    """
    if expected_answer.asks_yes_or_no(question):
        return ""
    said, asked = stems.forms(text), stems.forms(question)
    held = frozenset((*said, *stems.forms(beside)))
    there = [(said[at], _following(said, at)) for at in polarity.directed(said)]
    for at in polarity.directed(asked):
        word, behind = asked[at], _following(asked, at)
        if word in held or not behind:
            continue
        ends = polarity.directions(word)
        if any(
            follows == behind and polarity.opposite(ends, polarity.directions(other))
            for other, follows in there
        ):
            start, end = stems.spans(question)[at]
            return question[start:end]
    return ""


def _following(forms: Sequence[str], at: int) -> str:
    """The next word with a meaning, if it is one of the next two."""
    near = forms[at + 1 : at + 3]
    return next((form for form in near if form not in stems.STOP_WORDS), "")
