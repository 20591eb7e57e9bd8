"""regexp_match, regexp_replace and the like, with patterns that are literals (`pattern_calls`)."""

from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import BOOL, INT4, TEXT, Bound, made, unsupported
from redask.core.sql.functions.special_functions import Special
from redask.core.sql.runtime.patterns import pattern_calls
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_TEXTS = SqlType("text", (), True)


def _constants(name: str, values: list[Bound], counts: tuple[int, ...]) -> list[str] | None:
    """The literals after the subject; None when the call is another function's."""
    if len(values) not in counts or any(each.type.category not in ("S", "X") for each in values):
        return None
    found = []
    for value in values[1:]:
        if value.literal is None:
            unsupported(f"{name} with a pattern or option that is no literal", value.location)
        found.append(value.literal)
    return found


def _called(name: str, gives: SqlType, *counts: int) -> Special:
    """A function of so many arguments."""

    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        constants = _constants(name, values, counts)
        if constants is None:
            return None
        subject = self.coercion.coerce(values[0], TEXT)
        text = pattern_calls.regexp_text(name, subject.sql, constants)
        return made(text, gives, subject, location=location)

    return call


def matches(self: "Expressions", values: list[Bound]) -> str | None:
    """The rows of regexp_matches as a list of arrays."""
    constants = _constants("regexp_matches", values, (2, 3))
    if constants is None:
        return None
    subject = self.coercion.coerce(values[0], TEXT)
    return pattern_calls.regexp_text("regexp_matches", subject.sql, constants)


def _substring(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """substring(x from pattern)."""
    constants = _constants("substring", values, (2,))
    if constants is None:
        return None
    subject = self.coercion.coerce(values[0], TEXT)
    return made(pattern_calls.substring_text(subject.sql, constants[0]), TEXT, subject)


SPECIAL: "dict[str, Special]" = {
    "regexp_match": _called("regexp_match", _TEXTS, 2, 3),
    "regexp_split_to_array": _called("regexp_split_to_array", _TEXTS, 2, 3),
    "regexp_like": _called("regexp_like", BOOL, 2, 3),
    "regexp_replace": _called("regexp_replace", TEXT, 3, 4),
    "regexp_count": _called("regexp_count", INT4, 2),
    "regexp_substr": _called("regexp_substr", TEXT, 2),
    "substring": _substring,
}
