"""PostgreSQL's patterns, constant in the statement, as texts for DuckDB's RE2 and LIKE.

    match_pattern(p, ignore_case)        for `~`, `~*` and regexp_like: whether there is a match
    found_pattern(p, …, groups=…)        for what returns a match: substring, regexp_match,
                                         regexp_replace, regexp_count, regexp_split_to_array
    replacement_text(r, groups)          the replacement of regexp_replace as RE2 writes it
    similar_pattern(p, escape)           SIMILAR TO as a regular expression
    like_pattern(p, escape)              LIKE with the backslash as its escape character

RE2 takes linear time for every pattern. Whether a text matches does not depend on which match is
preferred; what is returned does, so `found_pattern` refuses (0A000) every pattern for which
RE2's choice could differ from PostgreSQL's (see `pattern_order`). A backslash, a range or a
class is written out in code points, so that nothing depends on RE2's reading of it.
"""

from typing import NamedTuple

from redask.core.errors import SqlError
from redask.core.sql.runtime.patterns.pattern_order import (
    MAX_INSTRUCTIONS,
    PatternWork,
    captures_agree,
    is_nullable,
    order_agrees,
    preference,
)
from redask.core.sql.runtime.patterns.pattern_tree import (
    LAST,
    WORD,
    Alternation,
    Anchor,
    Chars,
    Concat,
    Group,
    PatternNode,
    Ranges,
    Repeat,
    parse,
    union,
    unsupported,
)

_ANCHORS = {"^": r"\A", "$": r"\z", "y": r"\b", "Y": r"\B"}


class FoundPattern(NamedTuple):
    """A pattern for RE2; `groups` counts its capturing groups."""

    text: str
    groups: int
    nullable: bool


def match_pattern(pattern: str, ignore_case: bool = False) -> str:
    """The RE2 text that matches the same texts."""
    return _text(_parsed(pattern, ignore_case))


def found_pattern(
    pattern: str, ignore_case: bool = False, *, groups: str = "ignored", repeated: bool = False
) -> FoundPattern:
    """The RE2 text that finds the same match.

    `groups` is `ignored`, `replaced` (a missing one is empty) or `returned` (a missing one would
    be NULL, which DuckDB does not tell). `repeated` is for functions that go on after a match.
    """
    node = _parsed(pattern, ignore_case)
    found = FoundPattern(_text(node), _count(node), is_nullable(node))
    if repeated and found.nullable:
        raise unsupported("pattern that can match nothing, in a function that goes on")
    work = PatternWork()
    if not order_agrees(node, preference(node), work):
        raise unsupported("pattern whose longest match RE2 does not prefer")
    if groups != "ignored" and found.groups and not captures_agree(node, work):
        raise unsupported("group whose text RE2 would choose otherwise")
    if groups == "returned" and _may_be_missing(node):
        raise unsupported("group that can be missing from a match")
    return found


def pattern_fault(pattern: str) -> str | None:
    """Why a pattern cannot be used in a match test, or None."""
    try:
        match_pattern(pattern)
    except SqlError as error:
        return error.message
    return None


def replacement_text(replacement: str, groups: int) -> tuple[str, bool]:
    """RE2's form of a replacement, and whether it names a group other than the whole match."""
    out: list[str] = []
    named = False
    at = 0
    while at < len(replacement):
        sign, after = replacement[at], replacement[at + 1 : at + 2]
        at += 1
        if sign != "\\":
            out.append(sign)
        elif after and after in "123456789":
            named = True
            at += 1
            out.append(f"\\{after}" if int(after) <= groups else "")
        elif after == "&":
            at += 1
            out.append("\\0")
        else:
            at += after == "\\"
            out.append("\\\\")
    return "".join(out), named


def _escape(escape: str | None) -> str:
    if escape is not None and len(escape) > 1:
        hint = "Escape string must be empty or one character."
        raise SqlError("22025", "invalid escape string", hint=hint)
    return "\\" if escape is None else escape


def like_pattern(pattern: str, escape: str | None = None) -> str:
    """The pattern with the backslash as its escape character.

    PostgreSQL refuses an escape character at the end only when it comes to read it; here always.
    """
    sign = _escape(escape)
    out: list[str] = []
    at = 0
    while at < len(pattern):
        each = pattern[at]
        if each == sign:
            at += 1
            if at >= len(pattern):
                raise SqlError("22025", "LIKE pattern must not end with escape character")
            out.append("\\" + pattern[at])
        else:
            out.append("\\\\" if each == "\\" else each)
        at += 1
    return "".join(out)


def similar_pattern(pattern: str, escape: str | None = None) -> str:
    """The regular expression that PostgreSQL makes of a SIMILAR TO pattern."""
    sign = _escape(escape)
    out: list[str] = []
    escaped = inside = False
    for each in pattern:
        if escaped:
            if each == '"' and not inside:
                raise unsupported("escape-double-quote")
            out.append("\\" + each)
            escaped = False
        elif each == sign:
            escaped = True
        elif inside:
            out.append("\\\\" if each == "\\" else each)
            inside = each != "]"
        else:
            inside = each == "["
            out.append(_SIMILAR.get(each, each))
    return f"^(?:{''.join(out)})$"


_SIMILAR = {"%": ".*", "_": ".", "(": "(?:", "\\": "\\\\", ".": "\\.", "^": "\\^", "$": "\\$"}


def _parsed(pattern: str, ignore_case: bool) -> PatternNode:
    node = parse(pattern, ignore_case)
    if _size(node) > MAX_INSTRUCTIONS:
        raise unsupported("pattern of this size")
    if "\\Y" in pattern and is_nullable(node):
        # RE2 would find it between the bytes of one character
        raise unsupported("\\Y in a pattern that can match nothing")
    return node


def _size(node: PatternNode) -> int:
    match node:
        case Group(inner, _):
            return _size(inner)
        case Repeat(inner, low, high, _, _):
            return _size(inner) * max(low + 1, high or 0)
        case Concat(parts) | Alternation(parts):
            return 1 + sum(map(_size, parts))
        case _:
            return 1


def _count(node: PatternNode) -> int:
    match node:
        case Group(inner, number):
            return (number > 0) + _count(inner)
        case Repeat(inner, _, _, _, _):
            return _count(inner)
        case Concat(parts) | Alternation(parts):
            return sum(map(_count, parts))
        case _:
            return 0


def _may_be_missing(node: PatternNode, optional: bool = False) -> bool:
    match node:
        case Group(inner, number):
            return (number > 0 and optional) or _may_be_missing(inner, optional)
        case Repeat(inner, low, _, _, _):
            return _may_be_missing(inner, optional or low == 0)
        case Concat(items):
            return any(_may_be_missing(each, optional) for each in items)
        case Alternation(branches):
            return any(_may_be_missing(each, True) for each in branches)
        case _:
            return False


def _class(ranges: Ranges) -> str:
    if ranges == ((0, LAST),):
        return "(?s:.)"
    if not ranges:
        raise unsupported("class of no character")
    return "[" + "".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in ranges) + "]"


def _text(node: PatternNode) -> str:
    match node:
        case Chars(ranges):
            return _class(ranges)
        case Anchor(kind):
            if kind in "mM":
                raise unsupported(f"\\{kind} where no word is certain beside it")
            return _ANCHORS[kind]
        case Group(inner, number):
            text = _text(inner)
            # DuckDB 2.0 does not find a literal that stands beside an empty group
            return f"({text})" if number else text and f"(?:{text})"
        case Repeat(inner, low, high, greedy, _):
            text = _text(inner)
            bounds = f"{{{low},{'' if high is None else high}}}"
            return "" if not text or high == 0 else f"(?:{text}){bounds}{'' if greedy else '?'}"
        case Alternation(branches):
            return "|".join(map(_text, branches))
        case Concat(items):
            return "".join(_item(items, index) for index in range(len(items)))


def _item(items: tuple[PatternNode, ...], index: int) -> str:
    """One part of a sequence; `\\m` and `\\M` are a `\\b` where a word character is certain."""
    item = items[index]
    if item == Anchor("m") and _is_word(_edge(items[index + 1 :], 0)):
        return r"\b"
    if item == Anchor("M") and _is_word(_edge(items[:index], -1)):
        return r"\b"
    return _text(item)


def _is_word(ranges: Ranges) -> bool:
    return bool(ranges) and union([*ranges, *WORD]) == WORD


def _edge(items: tuple[PatternNode, ...], side: int) -> Ranges:
    """The characters that can stand first (or last); () where there need be none."""
    if not items:
        return ()
    match items[side]:
        case Chars(ranges):
            return ranges
        case Group(inner, _):
            return _edge((inner,), side)
        case Repeat(inner, low, _, _, _):
            return _edge((inner,), side) if low else ()
        case Concat(inside):
            return _edge(inside, side)
        case Alternation(branches):
            edges = [_edge((each,), side) for each in branches]
            return union([each for edge in edges for each in edge]) if all(edges) else ()
        case _:
            return ()
