"""Which fields of a record are quoted: `shown` picks them by the question's words.

    the question names fields whose value    these, and behind them what says which record it is:
    it does not have ("status of order 7")   a name or title, a value of the question; two at most
    it names none                            those with question words, then others, in their
                                             order; MOST_FIELDS, MAX_LENGTH characters at most

One is always shown. A field is "name: value"; `HireDate` is named by "hired": date, time and number
need not be.
"""

from collections.abc import Callable, Collection, Sequence

from redask.core.text import lower
from redask.providers.extractive import result_text

MOST_FIELDS = 5
MAX_LENGTH = 300
_MOST_NAMES = 2
_NAMES = ("name", "title")
_GENERIC = frozenset(("date", "time", "number"))


def shown(
    fields: Sequence[str],
    asked: Collection[str],
    tokens: Callable[[str], list[str]],
    capitals: Collection[str] = (),
) -> str:
    """The fields to quote, on one line; `asked` are the tokens of the question.

    `capitals` are values that it names and that are no tokens: IT, US.
    """
    wanted, names = [], []
    for field in fields:
        name, _, value = field.partition(": ")
        named = frozenset(tokens(result_text.label(name))) - _GENERIC
        valued = frozenset(tokens(value))
        if value in capitals or (valued and valued <= frozenset(asked)):
            names.append(field)
        elif named and named <= frozenset(asked):
            wanted.append(field)
        elif lower(name) in _NAMES:
            names.append(field)
    if wanted:
        return ", ".join([*wanted, *names[:_MOST_NAMES]])
    is_match = [not frozenset(asked).isdisjoint(tokens(field)) for field in fields]
    chosen: list[int] = []
    length = 0
    for index in sorted(range(len(fields)), key=lambda index: (not is_match[index], index)):
        length += len(fields[index]) + 2
        if chosen and (length > MAX_LENGTH or len(chosen) == MOST_FIELDS):
            break
        chosen.append(index)
    return ", ".join(fields[index] for index in sorted(chosen))
