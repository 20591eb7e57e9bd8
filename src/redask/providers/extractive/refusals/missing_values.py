"""Values of a kind that a question names and that what would be cited does not hold: `missing`.

    asked for                  held by a cited source, outside of code and links
    a phone number             digits behind "phone", "call", "tel"; +49 …; 555-123-4567
    an e-mail address          x@y, x(at)y
    a salary, a birthday       the word
    what something costs       by a quoted line or what is below it: an amount of money, "free", or
                               a number beside "price", "cost", "fee"; records name units elsewhere

Every pattern is bounded.
"""

import re
from collections.abc import Iterable, Sequence

from redask.core.text import compiled_later

_MARKED = re.compile(r"`[^`\n]{1,200}`|\]\([^()\s]{1,500}\)|https?://\S{1,500}")  # code, links
_KINDS = tuple(  # what is asked for, and what a text with it has
    (compiled_later(asked, re.IGNORECASE), compiled_later(held, re.IGNORECASE))
    for asked, held in (
        (
            r"\b(?:tele)?phone numbers?\b",
            r"\b(?:tele|mobile |cell )?(?:phone|tel|fax|call|dial|mobile|hotline)\b[^\n]{0,60}?"
            r"[0-9](?:[ ()/.-]{0,2}[0-9]){5}"
            r"|(?<!\w)\+[0-9](?:[ ()/.-]{0,2}[0-9]){6}"
            r"|(?<![\w.-])\(?[0-9]{3,5}\)?[ .-][0-9]{3}[ .-][0-9]{4}(?![\w-])",
        ),
        (r"\be-?mail address(?:es)?\b", r"\S@\S|\w ?[(\[]at[)\]] ?\w"),
        (r"\bsalar(?:y|ies)\b", r"\bsalar"),
        (r"\bbirthday\b", r"\bborn\b|\bbirth"),
    )
)
_COSTS = re.compile(
    r"\bhow much (?:does|do|did|will|would|is it to)\b[^?]{1,200}?\b(cost)s?\b"
    r"|\bhow much (?:is|are) an? [^?]{1,60}\b(licen[cs]e|subscription|ticket|plan|seat|copy)\b"
    r"|\bwhat (?:is|are|does|do)\b[^?]{0,200}?\b(price|cost)s?\b",
    re.IGNORECASE,
)
_MONEY = compiled_later(
    r"[$€£¥₹] ?[0-9]|[0-9] ?[$€£¥₹]|\b(?:free|gratis|no (?:charge|fee|cost)|without charge)\b"
    r"|[0-9] ?(?:USD|EUR|GBP|CHF|JPY|dollars?|euros?|pounds?|cents?|yen)\b",
    re.IGNORECASE,
)
_PRICED = re.compile(r"\b(?:pric(?:e[ds]?|ing)|costs?|fees?|charges?|rates?)\b", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]")


def missing(question: str, cited: Sequence[str], quoted: Iterable[str], is_record: bool) -> str:
    """What is asked for, if neither the cited texts nor the quoted lines hold such a value."""
    for asked, held in _KINDS:
        wanted = asked.search(question)
        if wanted and not any(held.search(_MARKED.sub(" ", text)) for text in cited):
            return str(wanted[0])
    costs = None if is_record else _COSTS.search(question)
    if costs is None or any(map(_has_price, quoted)):
        return ""
    return str(next(filter(None, costs.groups())))


def _has_price(text: str) -> bool:
    told = _MARKED.sub(" ", text)
    if _MONEY.search(told):
        return True
    return bool(_PRICED.search(told) and _NUMBER.search(told))
