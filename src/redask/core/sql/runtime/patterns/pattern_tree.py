"""A regular expression of PostgreSQL (an ARE, flavour of locale C) as a tree.

    parse(pattern, ignore_case) -> PatternNode

SqlError 2201B for what PostgreSQL calls an invalid regular expression, and 0A000, by name, for
what is valid there and not supported here: back references, lookaround, embedded options other
than `(?i)`, and rare escapes. `\\w`, `\\s`, `[[:alpha:]]` and letter case are ASCII's, as they
are in locale C.
"""

from typing import NamedTuple

from redask.core.errors import SqlError

Ranges = tuple[tuple[int, int], ...]
LAST = 0x10FFFF
MAX_REPEAT = 255  # PostgreSQL's DUPMAX
MAX_DEPTH = 100


class Chars(NamedTuple):
    """One character out of these ranges, which are sorted and apart."""

    ranges: Ranges


class Anchor(NamedTuple):
    """`kind` is one of ^ $ y Y m M."""

    kind: str


class Group(NamedTuple):
    """`number` is 0 for a group that captures nothing."""

    inner: "PatternNode"
    number: int


class Repeat(NamedTuple):
    """`high` is None for no bound; `fixed` is the spelling {m}, which has no greediness."""

    inner: "PatternNode"
    low: int
    high: int | None
    greedy: bool
    fixed: bool


class Concat(NamedTuple):
    items: "tuple[PatternNode, ...]"


class Alternation(NamedTuple):
    branches: "tuple[PatternNode, ...]"


PatternNode = Chars | Anchor | Group | Repeat | Concat | Alternation


def union(ranges: "list[tuple[int, int]]") -> Ranges:
    """The same characters as sorted ranges that are apart."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return tuple(out)


def complement(ranges: Ranges) -> Ranges:
    out: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            out.append((start, low - 1))
        start = high + 1
    return (*out, (start, LAST)) if start <= LAST else tuple(out)


def _span(text: str) -> list[tuple[int, int]]:
    return [(ord(text[index]), ord(text[index + 1])) for index in range(0, len(text), 2)]


DIGIT, SPACE = union(_span("09")), union([(9, 13), (32, 32)])
WORD = union(_span("azAZ09__"))
CLASSES: dict[str, Ranges] = {
    "alpha": union(_span("azAZ")),
    "upper": union(_span("AZ")),
    "lower": union(_span("az")),
    "digit": DIGIT,
    "alnum": union(_span("azAZ09")),
    "space": SPACE,
    "blank": union([(9, 9), (32, 32)]),
    "punct": union(_span("!/:@[`{~")),
    "cntrl": union([(0, 31), (127, 127)]),
    "graph": union([(33, 126)]),
    "print": union([(32, 126)]),
    "xdigit": union(_span("09afAF")),
}
_SHORTHANDS = {"d": DIGIT, "s": SPACE, "w": WORD}
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_ANCHORS = {"A": "^", "Z": "$", "y": "y", "Y": "Y", "m": "m", "M": "M"}


def unsupported(feature: str) -> SqlError:
    return SqlError("0A000", f"regular expression feature {feature} is not supported")


def _invalid(fault: str) -> SqlError:
    return SqlError("2201B", f"invalid regular expression: {fault}")


def both_cases(ranges: Ranges) -> Ranges:
    """The characters with the ASCII letters of the other case."""
    out = list(ranges)
    for low, high in ranges:
        for first, last, step in ((65, 90, 32), (97, 122, -32)):
            if max(low, first) <= min(high, last):
                out.append((max(low, first) + step, min(high, last) + step))
    return union(out)


class _PatternParser:
    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self.pattern = pattern
        self.ignore_case = ignore_case
        self.at = 0
        self.groups = 0
        self.depth = 0

    def here(self, count: int = 1) -> str:
        return self.pattern[self.at : self.at + count]

    def chars(self, ranges: Ranges) -> Chars:
        return Chars(both_cases(ranges) if self.ignore_case else ranges)

    def alternation(self) -> PatternNode:
        branches = [self.branch()]
        while self.here() == "|":
            self.at += 1
            branches.append(self.branch())
        return branches[0] if len(branches) == 1 else Alternation(tuple(branches))

    def branch(self) -> PatternNode:
        items: list[PatternNode] = []
        while self.here() not in ("", "|", ")"):
            items.append(self.quantified())
        return items[0] if len(items) == 1 else Concat(tuple(items))

    def quantified(self) -> PatternNode:
        atom = self.atom()
        bounds = self.quantifier()
        if bounds is None:
            return atom
        if isinstance(atom, Anchor):
            raise _invalid("quantifier operand invalid")
        low, high, fixed = bounds
        greedy = self.here() != "?"
        self.at += not greedy
        if self.quantifier() is not None:
            raise _invalid("quantifier operand invalid")
        return Repeat(atom, low, high, greedy, fixed)

    def quantifier(self) -> tuple[int, int | None, bool] | None:
        """The quantifier that stands here, if one does."""
        sign = self.here()
        if sign and sign in "*+?":
            self.at += 1
            return {"*": (0, None, False), "+": (1, None, False), "?": (0, 1, False)}[sign]
        if sign != "{" or not self.here(2)[1:].isdecimal() or not self.here(2).isascii():
            return None
        self.at += 1
        low = self.count()
        high: int | None = low
        fixed = self.here() != ","
        if not fixed:
            self.at += 1
            high = self.count() if self.here().isdecimal() else None
        if self.here() != "}":
            raise _invalid(
                "braces {} not balanced" if not self.here() else "invalid repetition count(s)"
            )
        self.at += 1
        if high is not None and low > high:
            raise _invalid("invalid repetition count(s)")
        return low, high, fixed

    def count(self) -> int:
        start = self.at
        while self.here().isdecimal() and self.here().isascii():
            self.at += 1
        number = int(self.pattern[start : self.at][:9])
        if number > MAX_REPEAT:
            raise _invalid("invalid repetition count(s)")
        return number

    def atom(self) -> PatternNode:
        sign = self.here()
        if sign in "*+?" or (sign == "{" and self.here(2)[1:].isdecimal()):
            raise _invalid("quantifier operand invalid")
        self.at += 1
        if sign == "(":
            return self.group()
        if sign == "[":
            return self.bracket()
        if sign == "\\":
            return self.escape()
        if sign == ".":
            return Chars(((0, LAST),))
        if sign in "^$":
            return Anchor(sign)
        return self.chars(((ord(sign), ord(sign)),))

    def group(self) -> PatternNode:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise unsupported(f"nesting deeper than {MAX_DEPTH}")
        number = 0
        if self.here(2) == "?:":
            self.at += 2
        elif self.here() == "?":
            raise unsupported(f"({self.here(2)}")
        else:
            self.groups += 1
            number = self.groups
        inner = self.alternation()
        if self.here() != ")":
            raise _invalid("parentheses () not balanced")
        self.at += 1
        self.depth -= 1
        return Group(inner, number)

    def escape(self) -> PatternNode:
        sign = self.here()
        self.at += 1
        if sign in _ANCHORS and sign:
            return Anchor(_ANCHORS[sign])
        if sign.lower() in _SHORTHANDS and sign:
            ranges = _SHORTHANDS[sign.lower()]
            return Chars(ranges if sign.islower() else complement(ranges))
        return self.chars(((self.escaped(sign),) * 2,))

    def escaped(self, sign: str) -> int:
        """The character that an escape stands for."""
        if not sign:
            raise _invalid("invalid escape \\ sequence")
        if sign in _CONTROLS:
            return _CONTROLS[sign]
        if sign == "u":
            digits = self.here(4)
            if len(digits) < 4 or not all(each in "0123456789abcdefABCDEF" for each in digits):
                raise _invalid("invalid escape \\ sequence")
            self.at += 4
            return int(digits, 16)
        if sign.isascii() and sign.isalnum():
            raise unsupported(f"\\{sign}")
        return ord(sign)

    def bracket(self) -> Chars:
        negated = self.here() == "^"
        self.at += negated
        ranges: list[tuple[int, int]] = []
        first = True
        while first or self.here() != "]":
            ranges += self.bracket_item()
            first = False
        self.at += 1
        found = union(both := list(ranges))
        if self.ignore_case:
            found = both_cases(union(both))
        return Chars(complement(found) if negated else found)

    def bracket_item(self) -> Ranges:
        if not self.here():
            raise _invalid("brackets [] not balanced")
        if self.here(2) == "[:":
            end = self.pattern.find(":]", self.at)
            name = self.pattern[self.at + 2 : end]
            if end < 0 or name not in CLASSES:
                raise _invalid("invalid character class")
            self.at = end + 2
            return CLASSES[name]
        if self.here() == "\\" and self.here(2)[1:] in ("d", "s", "w"):
            self.at += 2
            return _SHORTHANDS[self.pattern[self.at - 1]]
        low = self.bracket_char()
        high = low
        if self.here() == "-" and self.here(2) not in ("-]", "-"):
            self.at += 1
            high = self.bracket_char()
            if low > high:
                raise _invalid("invalid character range")
        return ((low, high),)

    def bracket_char(self) -> int:
        sign = self.here()
        if not sign:
            raise _invalid("brackets [] not balanced")
        if self.here(2) in ("[.", "[=", "[:"):
            raise unsupported(self.here(2))
        self.at += 1
        if sign != "\\":
            return ord(sign)
        escaped = self.here()
        self.at += 1
        return self.escaped(escaped)


def parse(pattern: str, ignore_case: bool = False) -> PatternNode:
    """The tree of a pattern; see the module."""
    if pattern.startswith("***"):
        raise unsupported("***")
    if pattern.startswith("(?i)"):
        pattern, ignore_case = pattern[4:], True
    parser = _PatternParser(pattern, ignore_case)
    node = parser.alternation()
    if parser.at < len(pattern):
        raise _invalid("parentheses () not balanced")
    return node
