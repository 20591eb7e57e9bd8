"""Whether RE2 prefers the match that PostgreSQL returns.

PostgreSQL returns the longest match at the leftmost place, or the shortest if the expression as
a whole is non-greedy (`preference`). RE2 returns the first in the order in which its threads
stand. `order_agrees` runs those threads over every text there can be, by sets of characters that
the expression cannot tell apart, and looks where a match stands among the threads that go on:

    longest     no thread behind a match may go on to where no thread before it goes
    shortest    no thread before a match may go on

If that holds for every list of threads that can come up, both give the same match, always.
"""

from typing import NamedTuple

from redask.core.sql.runtime.pattern_tree import (
    WORD,
    Alternation,
    Anchor,
    Chars,
    Concat,
    Group,
    Node,
    Ranges,
    Repeat,
    unsupported,
)

MAX_INSTRUCTIONS = 2_000
MAX_LISTS = 1_000
_END, _START = -1, -2  # in the place of a character: the text's end, and its start


class _Step(NamedTuple):
    """`chars` is read or `anchor` holds, and `targets` follow in their order; or it is a match."""

    targets: tuple[int, ...]
    chars: Ranges | None = None
    anchor: str = ""
    match: bool = False


def preference(node: Node) -> str:
    """PostgreSQL's greediness of an expression: longest, shortest, or "" for none."""
    match node:
        case Group(inner, _):
            return preference(inner)
        case Repeat(inner, _, _, greedy, fixed):
            if fixed:
                return preference(inner)
            return "longest" if greedy else "shortest"
        case Concat(items):
            return next((found for each in items if (found := preference(each))), "")
        case Alternation(_):
            return "longest"
        case _:
            return ""


def is_nullable(node: Node) -> bool:
    """Whether it can match the empty text."""
    match node:
        case Chars(_):
            return False
        case Anchor(_):
            return True
        case Group(inner, _):
            return is_nullable(inner)
        case Repeat(inner, low, _, _, _):
            return low == 0 or is_nullable(inner)
        case Concat(items):
            return all(is_nullable(each) for each in items)
        case Alternation(branches):
            return any(is_nullable(each) for each in branches)


class _Program:
    """The instructions of RE2 for an expression."""

    def __init__(self, node: Node) -> None:
        self.steps: list[_Step] = [_Step((), match=True)]
        self.entry = self.add(node, 0)

    def step(self, step: _Step) -> int:
        if len(self.steps) >= MAX_INSTRUCTIONS:
            raise unsupported("of this size")
        self.steps.append(step)
        return len(self.steps) - 1

    def add(self, node: Node, after: int) -> int:
        """Instructions of `node` that go on at `after`; gives where they begin."""
        match node:
            case Chars(ranges):
                return self.step(_Step((after,), chars=ranges))
            case Anchor(kind):
                return self.step(_Step((after,), anchor=kind))
            case Group(inner, _):
                return self.add(inner, after)
            case Concat(items):
                for each in reversed(items):
                    after = self.add(each, after)
                return after
            case Alternation(branches):
                return self.step(_Step(tuple(self.add(each, after) for each in branches)))
            case Repeat():
                return self.repeat(node, after)

    def repeat(self, node: Repeat, after: int) -> int:
        if is_nullable(node.inner):
            raise unsupported("quantifier over what can be empty")
        start = after
        if node.high is None:
            start = self.step(_Step(()))
            body = self.add(node.inner, start)
            self.steps[start] = _Step((body, after) if node.greedy else (after, body))
        else:
            for _ in range(node.high - node.low):
                body = self.add(node.inner, start)
                start = self.step(_Step((body, after) if node.greedy else (after, body)))
        for _ in range(node.low):
            start = self.add(node.inner, start)
        return start


def _has(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)


def _representatives(steps: list[_Step]) -> list[int]:
    """One character out of every set that the expression cannot tell apart."""
    sets = sorted({step.chars for step in steps if step.chars is not None})
    if any(step.anchor in ("y", "Y", "m", "M") for step in steps if step.anchor):
        sets.append(WORD)
    edges = sorted({0} | {edge for each in sets for low, high in each for edge in (low, high + 1)})
    seen: dict[tuple[bool, ...], int] = {}
    for edge in edges:
        seen.setdefault(tuple(_has(each, edge) for each in sets), edge)
    return sorted(code for code in seen.values() if code <= 0x10FFFF)


def _holds(anchor: str, before: int, behind: int) -> bool:
    left, right = _has(WORD, before), _has(WORD, behind)
    return {
        "^": before == _START,
        "$": behind == _END,
        "y": left != right,
        "Y": left == right,
        "m": right and not left,
        "M": left and not right,
    }[anchor]


def _threads(steps: list[_Step], seeds: tuple[int, ...], before: int, behind: int) -> list[_Step]:
    """The steps that stand when all that reads nothing was followed, in order."""
    out: list[_Step] = []
    seen: set[int] = set()
    stack = list(reversed(seeds))
    while stack:
        at = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        step = steps[at]
        if step.match or step.chars is not None:
            out.append(step)
        elif not step.anchor or _holds(step.anchor, before, behind):
            stack.extend(reversed(step.targets))
    return out


def order_agrees(node: Node, wanted: str) -> bool:
    """Whether RE2 takes the longest (or the shortest) match of every text."""
    program = _Program(node)
    letters = _representatives(program.steps)
    todo = [((program.entry,), before) for before in (_START, *letters)]
    seen = set(todo)
    while todo:
        seeds, before = todo.pop()
        for letter in letters:
            ahead: list[int] = []
            behind: list[int] = []
            matched = False
            for step in _threads(program.steps, seeds, before, letter):
                matched = matched or step.match
                if step.chars is not None and _has(step.chars, letter):
                    (behind if matched else ahead).append(step.targets[0])
            if matched and (ahead if wanted == "shortest" else set(behind) - set(ahead)):
                return False
            going = () if matched and wanted == "shortest" else tuple(dict.fromkeys(ahead + behind))
            state = (going, letter)
            if going and state not in seen:
                if len(seen) >= MAX_LISTS:
                    return False
                seen.add(state)
                todo.append(state)
    return True


def _captures(node: Node) -> bool:
    match node:
        case Group(inner, number):
            return number > 0 or _captures(inner)
        case Repeat(inner, _, _, _, _):
            return _captures(inner)
        case Concat(parts) | Alternation(parts):
            return any(_captures(each) for each in parts)
        case _:
            return False


def captures_agree(node: Node) -> bool:
    """Whether the groups hold the same, given that the whole match is the same.

    PostgreSQL divides a match from the left: each part takes its longest (or shortest) share
    with which the rest can still match, and a run of parts without groups counts as one part.
    """
    match node:
        case Group(inner, _):
            return captures_agree(inner)
        case Repeat(inner, _, high, _, _):
            return not _captures(inner) or (high == 1 and captures_agree(inner))
        case Alternation(branches):
            return all(captures_agree(each) for each in branches)
        case Concat(items):
            last = max((i for i, each in enumerate(items) if _captures(each)), default=-1)
            return all(map(captures_agree, items)) and _parts_agree(items[: last + 1], items)
        case _:
            return True


def _parts_agree(parts: tuple[Node, ...], items: tuple[Node, ...]) -> bool:
    """Whether every part but the one that ends the expression takes PostgreSQL's share."""
    start = 0
    for index, each in enumerate(parts):
        if _captures(each):
            if index < len(items) - 1 and not order_agrees(each, preference(each)):
                return False
            start = index + 1
            continue
        for first in range(start, index + 1):  # PostgreSQL may take any run as one part
            run = Concat(parts[first : index + 1])
            if not order_agrees(run, preference(run)):
                return False
    return True
