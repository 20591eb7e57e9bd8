"""Whether RE2 prefers the match that PostgreSQL returns.

PostgreSQL returns the longest match at the leftmost place, or the shortest if the expression as
a whole is non-greedy (`preference`). RE2 returns the first in the order in which its threads
stand. `order_agrees` runs those threads over every text there can be, by sets of characters that
the expression cannot tell apart, and looks where a match stands among the threads that go on:

    longest     what a thread behind a match can still match, one before it can too
    shortest    no thread before a match may go on

If that holds for every list of threads that can come up, both give the same match, always.
"""

from typing import NamedTuple

from redask.core.sql.runtime.patterns.pattern_tree import (
    WORD,
    Alternation,
    Anchor,
    Chars,
    Concat,
    Group,
    PatternNode,
    Ranges,
    Repeat,
    unsupported,
)

MAX_INSTRUCTIONS = 2_000
MAX_WORK = 50_000  # threads looked at: about half a second
_END, _START = -1, -2  # in the place of a character: the text's end, and its start


class PatternWork:
    """What looking through the threads may cost: patterns are the caller's."""

    def __init__(self) -> None:
        self.left = MAX_WORK

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise unsupported("pattern of this size")


class _Step(NamedTuple):
    """`chars` is read or `anchor` holds, and `targets` follow in their order; or it is a match."""

    targets: tuple[int, ...]
    chars: Ranges | None = None
    anchor: str = ""
    match: bool = False


def preference(node: PatternNode) -> str:
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


def is_nullable(node: PatternNode) -> bool:
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

    def __init__(self, node: PatternNode, work: PatternWork) -> None:
        self.work = work
        self.steps: list[_Step] = [_Step((), match=True)]
        self.entry = self.add(node, 0)

    def step(self, step: _Step) -> int:
        if len(self.steps) >= MAX_INSTRUCTIONS:
            raise unsupported("pattern of this size")
        self.steps.append(step)
        return len(self.steps) - 1

    def add(self, node: PatternNode, after: int) -> int:
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


def _reads(step: _Step, letter: int) -> bool:
    return step.chars is not None and _has(step.chars, letter)


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


def _threads(program: _Program, seeds: tuple[int, ...], before: int, behind: int) -> list[_Step]:
    """The steps that stand when all that reads nothing was followed, in order."""
    out: list[_Step] = []
    seen: set[int] = set()
    stack = list(reversed(seeds))
    while stack:
        at = stack.pop()
        if at in seen:
            continue
        seen.add(at)
        step = program.steps[at]
        if step.match or step.chars is not None:
            out.append(step)
        elif not step.anchor or _holds(step.anchor, before, behind):
            stack.extend(reversed(step.targets))
    program.work.spend(1 + len(seen))
    return out


def _covers(program: _Program, ahead: list[int], behind: list[int], before: int) -> bool:
    """Whether every match of the threads behind is, in its length, one of the threads ahead."""
    letters = _representatives(program.steps)
    todo = [(frozenset(ahead), frozenset(behind) - frozenset(ahead), before)]
    seen = set(todo)
    while todo:
        first, second, before = todo.pop()
        if not second:
            continue
        for letter in (*letters, _END):
            there = _threads(program, tuple(sorted(first)), before, letter)
            here = _threads(program, tuple(sorted(second)), before, letter)
            if any(step.match for step in here) and not any(step.match for step in there):
                return False
            after = [
                frozenset(step.targets[0] for step in steps if _reads(step, letter))
                for steps in (there, here)
            ]
            state = (after[0], after[1] - after[0], letter)
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return True


def order_agrees(
    node: PatternNode, wanted: str, work: PatternWork, *, throughout: bool = False
) -> bool:
    """Whether RE2 takes the longest (or the shortest) match of every text.

    `throughout`: also the next longest (or shortest) before the one after that, and so on.
    """
    program = _Program(node, work)
    letters = _representatives(program.steps)
    entry: tuple[int, ...] = (program.entry,)
    todo = [(entry, before) for before in (_START, *letters)]
    seen = set(todo)
    while todo:
        seeds, before = todo.pop()
        for letter in letters:
            ahead: list[int] = []
            behind: list[int] = []
            matched = False
            for step in _threads(program, seeds, before, letter):
                matched = matched or step.match
                if _reads(step, letter):
                    (behind if matched else ahead).append(step.targets[0])
            if matched and wanted == "shortest" and ahead:
                return False
            if matched and wanted != "shortest" and not _covers(program, ahead, behind, letter):
                return False
            if matched and wanted == "shortest":
                ahead = behind if throughout else []
            going = tuple(dict.fromkeys(ahead))
            state = (going, letter)
            if going and state not in seen:
                seen.add(state)
                todo.append(state)
    return True


def _captures(node: PatternNode) -> bool:
    match node:
        case Group(inner, number):
            return number > 0 or _captures(inner)
        case Repeat(inner, _, _, _, _):
            return _captures(inner)
        case Concat(parts) | Alternation(parts):
            return any(_captures(each) for each in parts)
        case _:
            return False


def captures_agree(node: PatternNode, work: PatternWork) -> bool:
    """Whether the groups hold the same, given that the whole match is the same.

    PostgreSQL divides a match from the left: each part takes its longest (or shortest) share
    with which the rest can still match, and a run of parts without groups counts as one part.
    """
    match node:
        case Group(inner, _):
            return captures_agree(inner, work)
        case Repeat(inner, _, high, _, _):
            return not _captures(inner) or (high == 1 and captures_agree(inner, work))
        case Alternation(branches):
            return all(captures_agree(each, work) for each in branches)
        case Concat(items):
            last = max((i for i, each in enumerate(items) if _captures(each)), default=-1)
            return all(captures_agree(each, work) for each in items) and _parts_agree(
                items[: last + 1], last == len(items) - 1, work
            )
        case _:
            return True


def _parts_agree(parts: tuple[PatternNode, ...], last_ends: bool, work: PatternWork) -> bool:
    """Whether every part but the one that ends the expression takes PostgreSQL's share."""
    run: tuple[PatternNode, ...] = ()
    for index, each in enumerate(parts):
        if not _captures(each):
            run = (*run, each)
            continue
        if len({preference(one) for one in run} - {""}) > 1:
            return False
        ends = last_ends and index == len(parts) - 1
        for part in (Concat(run), each) if not ends else (Concat(run),):
            if not order_agrees(part, preference(part), work, throughout=True):
                return False
        run = ()
    return True
