"""Whether a question is relative in time: `is_relative("How many orders came in last week?")`.

Then, and only then, a prompt tells today's date: the same question on another day is another one.

    relative        today, yesterday, now, recently, … ago, this, last, past and next with a unit
    not relative    a date, a year, first and latest (those are asked of the data), a quarter of a
                    named year

English only. A false alarm costs one line of the prompt; the date is recorded with the call.
"""

import re

_UNITS = (
    r"seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|quarters?|years?|decades?|"
    r"mornings?|afternoons?|evenings?|spring|summer|autumn|fall|winter|season|semester|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|"
    r"september|october|november|december"
)
_AMOUNT = r"(?:[0-9]{1,4}|a few|few|couple of|several|two|three|four|five|six|seven|ten|twelve)"
_RELATIVE = re.compile(
    r"(?<!\w)(?:today|tonight|yesterday|tomorrow|now|nowadays|currently|ago|recent|recently|lately|"
    r"so far|upcoming|overdue|year to date|month to date|ytd|mtd|at the moment|these days|"
    rf"(?:this|last|past|next|previous|current|coming) (?:{_AMOUNT} )?(?:{_UNITS})|"
    rf"how old (?:is|are))(?!\w)",
    re.IGNORECASE,
)


def is_relative(question: str) -> bool:
    """Whether what a question asks for depends on the day it is asked on."""
    return _RELATIVE.search(question) is not None
