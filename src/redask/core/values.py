"""Values of clauses and settings: each function validates one type of value or raises `Unfit`.

Values come from a statement, from JSON, keyword arguments or TOML alike. A boolean is never a
number; 20.0 counts as 20; NaN is in no range; names follow `core.text`. `Unfit` says what was
expected and what was found; its catcher adds the position (a column, an option's path).
"""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TypeGuard

from redask.core.errors import BadTtl
from redask.core.model import PlanChoice, Strictness, Turn
from redask.core.rules.caching import parse_ttl
from redask.core.rules.failover import parse_using
from redask.core.text import MAX_NAME, codepoint, forbidden, name_fault, question_fault

Reader = Callable[[object], object]
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = 32
MAX_NAMES = 1000
MAX_TURNS = 20
MAX_HISTORY_BYTES = 64 * 1024
_STRICTNESS = ("true", "false", *(f'"{word}"' for word in Strictness))
_NAME = f"a name of 1 to {MAX_NAME} printable characters"


class Unfit(Exception):
    """A value that is not valid; `path` is the path inside it, `item` the index in a list."""

    def __init__(self, expected: str, found: str, path: str = "", item: int = 0) -> None:
        super().__init__(f"expected {expected}, found {found}")
        self.expected = expected
        self.found = found
        self.path = path
        self.item = item


def whole(low: int, high: int) -> Reader:
    """A whole number in a range; 20.0 is one, 1.5 and true are not."""
    expected = f"a whole number from {low} to {high}"

    def read(value: object) -> int:
        if _in_range(value, low, high) and value == int(value):
            value = int(value)
        if not _in_range(value, low, high) or not isinstance(value, int):
            raise Unfit(expected, shown(value))
        return value

    return read


def real(low: int, high: int) -> Reader:
    """A number in a range, as a double; -0.0 becomes 0.0."""
    expected = f"a number from {low} to {high}"

    def read(value: object) -> float:
        if not _in_range(value, low, high):
            raise Unfit(expected, shown(value))
        return float(value) + 0.0

    return read


def _in_range(value: object, low: int, high: int) -> TypeGuard[int | float | Decimal]:
    """Whether it is a number in the range; a Decimal may be NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    return not (isinstance(value, Decimal) and value.is_nan()) and low <= value <= high


def boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unfit("true or false", shown(value))
    return value


def strictness(value: object) -> Strictness:
    """A word of STRICT in lower case; true is on, false is off."""
    if isinstance(value, bool):
        return Strictness.ON if value else Strictness.OFF
    if not isinstance(value, str) or value not in set(Strictness):
        raise Unfit(f"{', '.join(_STRICTNESS[:-1])} or {_STRICTNESS[-1]}", shown(value))
    return Strictness(value)


def plan_choice(value: object) -> PlanChoice:
    """A word of PLAN in lower case."""
    if not isinstance(value, str) or value not in set(PlanChoice):
        raise Unfit("auto, off or only", shown(value))
    return PlanChoice(value)


def name(value: object) -> str:
    if not isinstance(value, str):
        raise Unfit("a name", shown(value))
    fault = name_fault(value)
    if fault:
        raise Unfit(_NAME, f"one that {fault}")
    return value


def names(value: object) -> tuple[str, ...]:
    """One name or a list of them, each once."""
    if isinstance(value, str):
        return (name(value),)
    if not isinstance(value, list | tuple) or not value:
        raise Unfit("a name or a list of names", shown(value))
    if len(value) > MAX_NAMES:
        raise Unfit(f"at most {MAX_NAMES} names", str(len(value)))
    read = []
    for item, each in enumerate(value):
        try:
            read.append(name(each))
        except Unfit as unfit:
            raise Unfit(unfit.expected, unfit.found, f"[{item}]", item) from None
    return tuple(dict.fromkeys(read))


def providers(value: object) -> tuple[str, ...]:
    """Providers as 'a,b,c'; none means those in the settings."""
    if not isinstance(value, str):
        raise Unfit("a provider or several, such as 'openai,groq'", shown(value))
    bad = forbidden(value)  # before parsing, which would strip some of them
    if bad is not None:
        raise Unfit(_NAME, f"one that holds the character {codepoint(value[bad])}")
    return tuple(name(each) for each in parse_using(value))


def fallback(value: object) -> tuple[str, ...]:
    """One provider or more, as a list or as 'a,b,c'."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ",".join(value)
    named = providers(value)
    if not named:
        raise Unfit("at least one provider", "none")
    return named


def one_provider(value: object) -> str | None:
    """A provider; None for an empty text."""
    named = providers(value)
    if len(named) > 1:
        raise Unfit("one provider; several go into ask.providers.fallback", str(len(named)))
    return named[0] if named else None


def ttl(value: object) -> int:
    """A time to live such as "5m", as seconds."""
    expected = "a time to live such as 5m"
    if not isinstance(value, str):
        raise Unfit(expected, shown(value))
    try:
        return parse_ttl(value)
    except BadTtl as error:
        raise Unfit(expected, f"{error.detail}: {error.message}") from None


def cache(value: object) -> int:
    """`{"ttl": "5m"}` as seconds."""
    if not isinstance(value, dict):
        raise Unfit('an object such as {"ttl": "5m"}', shown(value))
    for key in value:
        if key != "ttl":
            raise Unfit("no other key than ttl", shown(key), f".{printable(key)}")
    try:
        return ttl(value.get("ttl"))
    except Unfit as unfit:
        raise Unfit(unfit.expected, unfit.found, ".ttl") from None


def turns(value: object) -> tuple[Turn, ...]:
    """The earlier turns of a conversation, `[{"question": …, "answer": …}]`, the oldest first."""
    if not isinstance(value, list | tuple):
        raise Unfit("a list of turns", shown(value))
    if len(value) > MAX_TURNS:
        raise Unfit(f"at most {MAX_TURNS} turns", str(len(value)))
    read = tuple(_turn(each, f"[{number}]") for number, each in enumerate(value))
    size = sum(len(each.question.encode()) + len(each.answer.encode()) for each in read)
    if size > MAX_HISTORY_BYTES:
        raise Unfit(f"at most {MAX_HISTORY_BYTES} bytes", str(size))
    return read


def newest_turns(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The newest of these turns that are a history within its bounds."""
    size, kept = 0, 0
    for turn in reversed(turns[-MAX_TURNS:]):
        size += len(turn.question.encode()) + len(turn.answer.encode())
        if size > MAX_HISTORY_BYTES:
            break
        kept += 1
    return tuple(turns[len(turns) - kept :])


def _turn(value: object, path: str) -> Turn:
    if not isinstance(value, dict):
        raise Unfit("an object with question and answer", shown(value), path)
    for key in value:
        if key not in ("question", "answer"):
            raise Unfit(
                "no other key than question and answer", shown(key), f"{path}.{printable(key)}"
            )
    question, answer = value.get("question"), value.get("answer")
    if not isinstance(question, str):
        raise Unfit("a question, as text", shown(question), f"{path}.question")
    if fault := question_fault(question):
        raise Unfit("a question", f"one that {fault}", f"{path}.question")
    if not isinstance(answer, str):
        raise Unfit("an answer, as text", shown(answer), f"{path}.answer")
    if bad := _SURROGATE.search(answer):
        found = f"one that holds the character {codepoint(bad[0])}"
        raise Unfit("an answer", found, f"{path}.answer")
    return Turn(question, answer)


def shown(value: object) -> str:
    """A value for an error message: short, printable, on one line."""
    if isinstance(value, str):
        text = ascii(value) if len(value) <= _SHOWN else ascii(value[: _SHOWN - 1]) + "…"
    elif value is None or isinstance(value, bool):
        text = {None: "null", True: "true", False: "false"}[value]
    elif isinstance(value, int) and value.bit_length() > 128:
        text = "a number of more than 38 digits"
    elif isinstance(value, int | float):
        text = str(value)
    elif isinstance(value, list | tuple):
        text = "a list" if value else "an empty list"
    else:
        text = "an object" if isinstance(value, dict) else type(value).__name__
    return text


def printable(key: object) -> str:
    """A key as part of a path in a message: ASCII and short, whatever was sent."""
    if not isinstance(key, str):
        return shown(key)
    text = key.encode("ascii", "backslashreplace").decode()
    return text if len(key) <= _SHOWN and text.isprintable() else shown(key)
