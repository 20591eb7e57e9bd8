"""DuckDB's text for a PostgreSQL call with a constant pattern, over a subject's text.

    match_text("c", "^a", False)                      c ~ '^a'
    like_text("c", "a%", None, ignore_case=True)      c ILIKE 'a%'
    regexp_text("regexp_replace", "c", ["a", "b"])    regexp_replace(c, 'a', 'b')

`subject` is written once, so that nested calls stay short. Flags are `i` and `c`, and `g` where
PostgreSQL allows it; the others are refused. The start and the count that regexp_count and
regexp_substr have before their flags must be 1, and are left out here. A call with a NULL among
its constants is NULL, which is the binder's business.
"""

from collections.abc import Sequence

from redask.core.errors import SqlError
from redask.core.sql.runtime.native_texts import native_text
from redask.core.sql.runtime.patterns.pattern_tree import unsupported
from redask.core.sql.runtime.patterns.pg_patterns import (
    FoundPattern,
    found_pattern,
    like_pattern,
    match_pattern,
    replacement_text,
    similar_pattern,
)

_KNOWN_FLAGS = "begimnpqstwx"
_UPPER_TO_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def match_text(subject: str, pattern: str, ignore_case: bool) -> str:
    """`~` and `~*`."""
    return f"regexp_matches({subject}, {quoted(match_pattern(pattern, ignore_case))})"


def similar_text(subject: str, pattern: str, escape: str | None = None) -> str:
    """SIMILAR TO."""
    return match_text(subject, similar_pattern(pattern, escape), False)


def like_text(
    subject: str,
    pattern: str,
    escape: str | None = None,
    *,
    ignore_case: bool = False,
    simple: bool = False,
) -> str:
    """LIKE and ILIKE; `simple` is a subject that is a column."""
    written = like_pattern(pattern, escape)
    if ignore_case:
        written = written.translate(_UPPER_TO_LOWER)
        subject = native_text("lower", [subject], [simple]) or subject
    return f"({subject} LIKE {quoted(written)} ESCAPE '\\')"


def _flags(function: str, flags: str, is_global_known: bool) -> tuple[bool, bool]:
    """Whether case is ignored, and whether all matches are meant."""
    ignore_case = False
    for flag in flags:
        if flag in "ic":
            ignore_case = flag == "i"
        elif flag == "g" and not is_global_known:
            message = f'{function}() does not support the "global" option'
            raise SqlError("22023", message)
        elif flag != "g" and flag not in _KNOWN_FLAGS:
            raise SqlError("22023", f'invalid regular expression option: "{flag}"')
        elif flag != "g":
            raise unsupported(f'option "{flag}"')
    return ignore_case, "g" in flags


def substring_text(subject: str, pattern: str) -> str:
    """substring(subject FROM pattern): the first group, or the whole match if there is none."""
    found = found_pattern(pattern)
    if found.groups:
        found = found_pattern(pattern, groups="returned")
    return f"regexp_extract_all({subject}, {quoted(found.text)}, {min(found.groups, 1)})[1]"


def _replace(subject: str, pattern: str, replacement: str, flags: str) -> str:
    ignore_case, every = _flags("regexp_replace", flags, True)
    found = found_pattern(pattern, ignore_case, repeated=every)
    new, names_a_group = replacement_text(replacement, found.groups)
    if names_a_group:
        found_pattern(pattern, ignore_case, groups="replaced")
    tail = ", 'g'" if every else ""
    return f"regexp_replace({subject}, {quoted(found.text)}, {quoted(new)}{tail})"


def _groups(subject: str, found: FoundPattern) -> str:
    """The array that regexp_match gives."""
    text = quoted(found.text)
    numbers = range(1, found.groups + 1) if found.groups else range(1)
    parts = ", ".join(f"regexp_extract(pg_subject, {text}, {number})" for number in numbers)
    body = f"CASE WHEN regexp_matches(pg_subject, {text}) THEN [{parts}] END"
    return f"list_transform([{subject}], lambda pg_subject: {body})[1]"


def _all_groups(subject: str, found: FoundPattern) -> str:
    """The rows that regexp_matches gives with `g`, as a list."""
    text = quoted(found.text)
    numbers = range(1, found.groups + 1) if found.groups else range(1)
    lists = ", ".join(f"regexp_extract_all(pg_subject, {text}, {number})" for number in numbers)
    rows = (
        f"list_transform(regexp_extract_all(pg_subject, {text}, 0), "
        f"lambda whole, place: list_transform([{lists}], lambda each: each[place]))"
    )
    return f"list_transform([{subject}], lambda pg_subject: {rows})[1]"


def regexp_text(function: str, subject: str, constants: Sequence[str]) -> str:
    """One of PostgreSQL's regexp functions; `constants` are its arguments after the subject."""
    if function == "regexp_replace" and len(constants) in (2, 3):
        return _replace(subject, constants[0], constants[1], "".join(constants[2:]))
    if len(constants) not in (1, 2):
        raise unsupported(f"{function} with these arguments")
    pattern, flags = constants[0], "".join(constants[1:])
    ignore_case, every = _flags(function, flags, function == "regexp_matches")
    match function:
        case "regexp_like":
            return match_text(subject, pattern, ignore_case)
        case "regexp_match":
            return _groups(subject, found_pattern(pattern, ignore_case, groups="returned"))
        case "regexp_matches":
            found = found_pattern(pattern, ignore_case, groups="returned", repeated=every)
            if every:
                return _all_groups(subject, found)
            one = _groups(subject, found)
            return f"list_filter([{one}], lambda found: found IS NOT NULL)"
        case "regexp_split_to_array":
            found = found_pattern(pattern, ignore_case, repeated=True)
            return f"string_split_regex({subject}, {quoted(found.text)})"
        case "regexp_count":
            found = found_pattern(pattern, ignore_case, repeated=True)
            return f"CAST(len(regexp_extract_all({subject}, {quoted(found.text)})) AS INTEGER)"
        case "regexp_substr":
            found = found_pattern(pattern, ignore_case)
            return f"regexp_extract_all({subject}, {quoted(found.text)}, 0)[1]"
        case _:
            raise unsupported(f"in {function}")
