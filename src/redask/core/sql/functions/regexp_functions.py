"""regexp_match, regexp_split_to_array and the like, with patterns that are literals."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import INT4, TEXT, Bound, held, made, quoted, unsupported
from redask.core.sql.functions.special_functions import Special
from redask.core.sql.runtime.patterns import pg_patterns
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_TEXTS = SqlType("text", (), True)


def _parts(
    self: "Expressions", name: str, values: list[Bound], *, repeated: bool, groups: str = "none"
) -> tuple[Bound, str, int, str] | None:
    """The subject, the pattern as a literal, its number of groups and the options."""
    if not 2 <= len(values) <= 3 or any(each.type.category not in ("S", "X") for each in values):
        return None
    texts = [each.literal for each in values[1:]]
    if any(each is None for each in texts):
        unsupported(f"{name} with a pattern or option that is no literal", values[1].location)
    flags = (texts[1] or "") if len(texts) > 1 else ""
    known = "gi" if name == "regexp_matches" else "i"
    if set(flags) - set(known):
        unsupported(f"the option {flags!r} of {name}", values[2].location)
    every = repeated or "g" in flags
    found = (
        pg_patterns.found_pattern(texts[0] or "", "i" in flags, groups="returned", repeated=every)
        if groups == "returned"
        else pg_patterns.found_pattern(texts[0] or "", "i" in flags, repeated=every)
    )
    return self.coercion.coerce(values[0], TEXT), quoted(found.text), found.groups, flags


def _match(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    parts = _parts(self, "regexp_match", values, repeated=False, groups="returned")
    if parts is None:
        return None
    subject, pattern, groups, _ = parts
    return made(held(_one_match(pattern, groups), subject), _TEXTS, subject)


def _one_match(pattern: str, groups: int) -> Callable[..., str]:
    numbers = range(1, groups + 1) if groups else range(1)

    def text(subject: str) -> str:
        found = ", ".join(f"regexp_extract({subject}, {pattern}, {each}, 's')" for each in numbers)
        return f"(CASE WHEN regexp_matches({subject}, {pattern}, 's') THEN [{found}] END)"

    return text


def matches(self: "Expressions", values: list[Bound], location: int) -> tuple[str, Bound] | None:
    """The rows of regexp_matches as a list of arrays, and the subject."""
    parts = _parts(self, "regexp_matches", values, repeated=False, groups="returned")
    if parts is None:
        return None
    subject, pattern, groups, flags = parts
    if "g" not in flags:
        one = held(_one_match(pattern, groups), subject)
        return f"list_filter([{one}], lambda x: x IS NOT NULL)", subject
    numbers = range(1, groups + 1) if groups else range(1)

    def text(value: str) -> str:
        lists = [f"regexp_extract_all({value}, {pattern}, {each}, 's')" for each in numbers]
        if len(lists) > 1:
            unsupported("regexp_matches with several groups and g", location)
        return f"list_transform({lists[0]}, lambda x: [x])"

    return held(text, subject), subject


def _split(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    parts = _parts(self, "regexp_split_to_array", values, repeated=True)
    if parts is None:
        return None
    subject, pattern, _, _ = parts
    return made(f"string_split_regex({subject.sql}, {pattern}, 's')", _TEXTS, subject)


def _count(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    parts = _parts(self, "regexp_count", values, repeated=True)
    if parts is None or len(values) > 2:
        return None
    subject, pattern, _, _ = parts
    found = f"regexp_extract_all({subject.sql}, {pattern}, 0, 's')"
    return made(f"CAST(len({found}) AS INTEGER)", INT4, subject)


def _substr(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    parts = _parts(self, "regexp_substr", values, repeated=False)
    if parts is None or len(values) > 2:
        return None
    subject, pattern, _, _ = parts
    text = f"list_extract(regexp_extract_all({subject.sql}, {pattern}, 0, 's'), 1)"
    return made(text, TEXT, subject)


SPECIAL: "dict[str, Special]" = {
    "regexp_match": _match,
    "regexp_split_to_array": _split,
    "regexp_count": _count,
    "regexp_substr": _substr,
}
