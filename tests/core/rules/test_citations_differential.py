"""A second, independent reading of contract 6, and more than 200,000 answers to agree on.

The rule looks for `[^` and reads on to the `]`. The reference below goes the other way round: it
walks character by character and decides only at a `]`, looking back at the openers
that wait for it. It was written from the contract alone and uses no regular expression.
"""

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum, auto

import pytest

from redask.core.rules import citations

Found = tuple[str, int, int, int | None]  # kind, start, end, marker
Line = Enum("Line", "INDENT TICKS TEXT FENCE")


class Fate(Enum):
    """What else can happen to an opener; counted, so that no set of answers is tame."""

    ESCAPED = auto()
    FENCED = auto()
    ABANDONED_BY_LF = auto()
    ABANDONED_TOO_LONG = auto()
    LONG_DIGITS = auto()


def unfenced(text: str, fates: Counter[Fate]) -> Iterator[tuple[int, str]]:
    """Every line feed, and of the rest what fences leave to be parsed, with positions."""
    line, ticks, fenced = Line.INDENT, 0, False
    for at, char in enumerate(text):
        if char == "\n":
            line, ticks = Line.INDENT, 0
            yield at, char
            continue
        if line is Line.INDENT and char not in " \t":
            line = Line.TICKS
        if line is Line.TICKS and char != "`":
            line = Line.TEXT
        if line is Line.TICKS:
            ticks += 1
            if ticks == 3:
                line, fenced = Line.FENCE, not fenced
        elif line is Line.TEXT and not fenced:
            yield at, char
        elif char == "[":
            fates[Fate.FENCED] += 1


def reference(text: str, sources_count: int, fates: Counter[Fate] | None = None) -> list[Found]:
    """Citations and issues in text order; an out-of-range marker gives one of each."""
    fates = Counter() if fates is None else fates
    found: list[Found] = []
    waiting: list[int] = []  # unescaped `[^` without a `]` so far, on this line
    backslashes = digits = 0  # before this character; since the last opener
    bracket: int | None = None  # an unescaped `[` right before this character
    for at, char in unfenced(text, fates):
        if char == "^" and bracket is not None:
            waiting.append(bracket)
            digits = 0
        elif char in "0123456789":
            digits += 1
        elif char in "]\n" and waiting:
            near = [start for start in waiting if at - start - 2 <= 16]
            if char == "\n":
                fates[Fate.ABANDONED_BY_LF] += 1
            elif near:
                found += _verdict(text, near[0], at, sources_count)
            elif at - waiting[-1] - 2 == digits:
                fates[Fate.LONG_DIGITS] += 1
                found += _verdict(text, waiting[-1], at, sources_count)
            else:
                fates[Fate.ABANDONED_TOO_LONG] += 1
            waiting = []
        escaped = char == "[" and backslashes % 2 == 1
        if escaped:
            fates[Fate.ESCAPED] += 1
        bracket = at if char == "[" and not escaped else None
        backslashes = backslashes + 1 if char == "\\" else 0
    return found


def _verdict(text: str, start: int, close: int, sources_count: int) -> Iterator[Found]:
    """What the span from an opener to its `]` is; its body is digits, or short."""
    value, canonical = 0, close > start + 2 and text[start + 2] != "0"
    for char in text[start + 2 : close]:
        digit = "0123456789".find(char)
        value = min(value * 10 + digit, 2**32)
        canonical = canonical and digit >= 0 and value < 2**32
    if not canonical:
        yield "malformed", start, close + 1, None
        return
    yield "citation", start, close + 1, value
    if value > sources_count:
        yield "out_of_range", start, close + 1, None


def scanned(text: str, sources_count: int) -> list[Found]:
    """What the rule under test finds, in the shape of the reference."""
    parsed = citations.parse(text, sources_count)
    assert parsed.sources_count == sources_count
    assert all(found.source_index == found.marker - 1 for found in parsed.citations)
    markers: list[Found] = [("citation", *found.span, found.marker) for found in parsed.citations]
    issues: list[Found] = [(issue.kind, *issue.span, None) for issue in parsed.issues]
    for list_ in (markers, issues):
        assert list_ == sorted(list_, key=lambda item: item[1]), text
    return sorted(markers + issues, key=lambda item: (item[1], item[0]))


def assert_agreement(answers: Iterable[str], fates: Counter[Fate] | None = None) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for number, answer in enumerate(answers):
        sources_count = number % 13
        expected = reference(answer, sources_count, fates)
        assert scanned(answer, sources_count) == expected, (answer, sources_count)
        kinds.update(kind for kind, *_ in expected)
    return kinds


PIECES = [
    *"[[[[^^^^]]]]\\\\\\`0123456789ab \t\r\n\n~-１٣²é😀\u2028\x85",
    *("[^", "[^", "[^1]", "[^2]", "[^12]", "[^0]", "[^01]", "[^]", "[^[^1]", "[^x]", "\\[^3]"),
    *("```", "\n```", "\n \t```py\n", "\n````\n", "~~~\n", "`[^4]`", "\\\\", "]]", "\n[^5]"),
    *("[^4294967295]", "[^4294967296]", "[^9999999999]", "0" * 17, "1" * 17, "[^" + "7" * 40 + "]"),
    *(
        "a" * 13,
        "a" * 14,
        "a" * 15,
        "a" * 16,
        "a" * 17,
        "[^" + "b" * 16 + "]",
        "[^" + "b" * 17 + "]",
    ),
]
PER_SEED = 20_000


def random_answers(seed: int) -> Iterator[str]:
    rng = random.Random(seed)
    for _ in range(PER_SEED):
        yield "".join(rng.choices(PIECES, k=rng.randrange(1, 16)))


@pytest.mark.parametrize("seed", range(5))
def test_the_rule_and_the_reference_agree_on_random_answers(seed: int) -> None:
    fates: Counter[Fate] = Counter()
    kinds = assert_agreement(random_answers(seed), fates)
    assert min(kinds[kind] for kind in ("citation", "malformed", "out_of_range")) > PER_SEED / 5
    assert min(fates[fate] for fate in Fate) > PER_SEED / 100


def test_the_rule_and_the_reference_agree_on_every_short_answer() -> None:
    every = itertools.product("[^]\\1\n`", repeat=6)
    assert assert_agreement(map("".join, every)).total() > 0


@pytest.mark.parametrize("length", [15, 16, 17, 18, 4299, 4300, 4301])
@pytest.mark.parametrize("char", "190a１[^\\` \n")
def test_the_rule_and_the_reference_agree_on_bodies_around_every_bound(
    length: int, char: str
) -> None:
    body = char * length
    for answer in (f"[^{body}]", f"[^[^{body}]", f"[^{body}[^1]", f"x[^{body}", f"[^{body}] [^2]"):
        assert_agreement([answer])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a [^1] b[^2]", [("citation", 2, 6, 1), ("citation", 8, 12, 2)]),
        ("[^3]", [("citation", 0, 4, 3), ("out_of_range", 0, 4, None)]),
        ("[^0][^]", [("malformed", 0, 4, None), ("malformed", 4, 7, None)]),
        ("[^[^1]", [("malformed", 0, 6, None)]),
        ("[^" + "a" * 17 + "[^1]", [("citation", 19, 23, 1)]),
        ("[^" + "a" * 16 + "]", [("malformed", 0, 19, None)]),
        ("[^" + "a" * 17 + "]", []),
        ("[^\n1][^1", []),
        ("\\[^1]\\\\[^1]", [("citation", 7, 11, 1)]),
        ("```\n[^1]\n```\n[^1]", [("citation", 13, 17, 1)]),
    ],
)
def test_the_reference_itself_reads_the_contract(text: str, expected: list[Found]) -> None:
    assert reference(text, 2) == expected
