"""Questions that compare two things: `sides` of one, and which of them a text is about.

    difference between read timeout and pool timeout     read · pool
    how do timeouts differ between httpx and requests    httpx · requests
    difference between basic and digest authentication   basic · digest

A side is the words that the other one lacks, as they are written: "requested" is not `requests`.
"""

import re

from redask.core.rules import terms

Side = frozenset[str]

_BETWEEN = re.compile(
    r"\bdiffer(?:s|ent|ence|ences)?\b[^?]{0,40}?\bbetween (?P<one>[^?]{1,60}?)"
    r" and (?P<other>[^?,;]{1,60})",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(r"\b(?:for|in|on|when|regarding|concerning|with|of)\b", re.IGNORECASE)

_CONTRAST = re.compile(
    r"\b(?:while|whereas|where as|unlike|but|however|instead|rather|than|differ\w{0,5}|contrast"
    r"|otherwise|only|not|no|n['’]t|other hand|compared|same|both|similar\w{0,3})\b",
    re.IGNORECASE,
)


def sides(question: str) -> tuple[Side, Side] | None:
    """The two things that a question compares, if it says "the difference between"."""
    found = _BETWEEN.search(question)
    if found is None:
        return None
    first = _meaning(found["one"])
    second = _meaning(_OUTSIDE.split(found["other"])[0])[: len(first)]
    one, other = frozenset(first), frozenset(second)
    return (one - other, other - one) if one - other and other - one else None


def holds(side: Side, text: str) -> bool:
    """Whether a text names a side."""
    return not side.isdisjoint(terms.words(text))


def contrasts(compared: tuple[Side, Side], text: str) -> bool:
    """Whether a text names both sides, and says what is otherwise: "while", "unlike", "not"."""
    return all(holds(side, text) for side in compared) and _CONTRAST.search(text) is not None


def topic(question: str) -> frozenset[str]:
    """What two things are compared in: the words of a question outside of its comparison."""
    found = _BETWEEN.search(question)
    if found is None:
        return frozenset()
    start, end = found.span("other")
    behind = question[start + len(_OUTSIDE.split(question[start:end])[0]) :]
    return _words(question[: found.start()]) | _words(behind)


def _words(text: str) -> Side:
    return frozenset(_meaning(text))


def _meaning(text: str) -> list[str]:
    return [word for word in terms.words(text) if word not in terms.ENGLISH]
