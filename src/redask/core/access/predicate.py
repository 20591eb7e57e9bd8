"""Row conditions: `parse` one over columns and the user's attributes, then `holds`.

    condition   conjunction ("or" conjunction)*      conjunction   factor ("and" factor)*
    factor      "not" factor | "(" condition ")" | "true" | "false" | comparison
    comparison  operand ("=" | "<>" | "!=" | "<" | "<=" | ">" | ">=") operand
              | operand ["not"] "in" ( "(" operand ("," operand)* ")" | ":user.name" )
              | operand "is" ["not"] "null"
    operand     column | "column" | 'text' | number | true | false | :user.name

Keywords in any ASCII case; columns are top-level keys, as written. At most 4 KiB, 32 levels
deep and 500 comparisons, so that evaluation is cheap. Two columns are not compared with each
other.

Three-valued logic, as in SQL: true, false and unknown. Unknown is a comparison with null, with a
missing column, with an attribute the user lacks, with a list or an object, or between two types
(text, number, boolean). Text is ordered by code points. **Only true admits a row**: unknown
denies, also under a `not`.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from redask.core.errors import BadStatement

MAX_BYTES = 4096
MAX_TEXT = 1000  # characters of a literal or an attribute; a policy class keeps no more of a value
_MAX_DEPTH = 32
_MAX_COMPARISONS = 500

Ternary = bool | None
Values = Mapping[str, object]
_Check = Callable[[Values, Values], Ternary]
_Operand = Callable[[Values, Values], object]

_TOKEN = re.compile(
    r"""\s*(?:(?P<word>[A-Za-z_][A-Za-z0-9_]*+)
      | (?P<quoted>"[^"]*+(?:""[^"]*+)*+")
      | (?P<string>'[^']*+(?:''[^']*+)*+')
      | (?P<number>-?(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?(?![A-Za-z0-9_.]))
      | :user\.(?P<attribute>[A-Za-z_][A-Za-z0-9_]*+)
      | (?P<mark><>|!=|<=|>=|[=<>(),]))""",
    re.VERBOSE,
)
_KEYWORDS = frozenset("and or not in is null true false".split())


@dataclass(frozen=True, slots=True)
class Condition:
    """A parsed condition: its text, the columns and attributes it reads, and its evaluation."""

    text: str
    columns: frozenset[str]
    attributes: frozenset[str]
    _check: _Check

    def holds(self, row: Values, user: Values) -> bool:
        """Whether a row is admitted for a user; unknown is false."""
        return self._check(row, user) is True


def parse(text: str) -> Condition:
    """The condition, or `BadStatement` with the position and what was expected there."""
    if len(text.encode(errors="replace")) > MAX_BYTES:
        raise BadStatement(1, 1, f"{len(text)} characters", f"at most {MAX_BYTES} bytes")
    parser = _Parser(text)
    check = parser.condition(0)
    if parser.form != "end":
        raise parser.error("`and`, `or` or the end")
    return Condition(text, frozenset(parser.columns), frozenset(parser.attributes), check)


def both(one: Condition, other: Condition) -> Condition:
    """A condition that holds where both hold."""
    return Condition(
        f"({one.text}) and ({other.text})",
        one.columns | other.columns,
        one.attributes | other.attributes,
        _all((one._check, other._check)),
    )


class _Parser:
    """A recursive descent parser."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self.columns: set[str] = set()
        self.attributes: set[str] = set()
        self._comparisons = 0
        self._next()

    def condition(self, depth: int) -> _Check:
        checks = [self._conjunction(depth)]
        while self._accept("or"):
            checks.append(self._conjunction(depth))
        return checks[0] if len(checks) == 1 else _any(checks)

    def error(self, expected: str) -> BadStatement:
        line = self._text.count("\n", 0, self._start) + 1
        column = self._start - (self._text.rfind("\n", 0, self._start) + 1) + 1
        found = "the end" if self.form == "end" else repr(self._text[self._start : self._end][:40])
        return BadStatement(line, column, found, expected)

    def _conjunction(self, depth: int) -> _Check:
        checks = [self._factor(depth)]
        while self._accept("and"):
            checks.append(self._factor(depth))
        return checks[0] if len(checks) == 1 else _all(checks)

    def _factor(self, depth: int) -> _Check:
        if depth > _MAX_DEPTH:
            raise self.error(f"at most {_MAX_DEPTH} levels")
        if self._accept("not"):
            return _not(self._factor(depth + 1))
        if self._accept("("):
            check = self.condition(depth + 1)
            self._expect(")")
            return check
        return self._comparison()

    def _comparison(self) -> _Check:
        self._comparisons += 1
        if self._comparisons > _MAX_COMPARISONS:
            raise self.error(f"at most {_MAX_COMPARISONS} comparisons")
        constant = self.value if self.form == "word" and self.value in ("true", "false") else None
        left, is_column = self._operand()
        if self._accept("is"):
            is_null = not self._accept("not")
            self._expect("null")
            return lambda row, user: (left(row, user) is None) is is_null
        negated = self._accept("not")
        if self._accept("in"):
            check = _in(left, self._members(is_column))
            return _not(check) if negated else check
        if negated:
            raise self.error("`in`")
        operator = self.value if self.form == "mark" else ""
        if operator not in _OPERATORS:
            if constant is not None:
                return lambda *_: constant == "true"
            raise self.error("a comparison")
        self._next()
        right, _ = self._operand(after_column=is_column)
        return _compare(left, _OPERATORS[operator], right)

    def _members(self, is_column: bool) -> "Sequence[_Operand] | str":
        if self.form == "attribute":
            name = self.value
            self.attributes.add(name)
            self._next()
            return name
        self._expect("(")
        members = []
        while True:
            members.append(self._operand(after_column=is_column)[0])
            if not self._accept(","):
                break
        self._expect(")")
        return members

    def _operand(self, *, after_column: bool = False) -> tuple[_Operand, bool]:
        """The next operand, and whether it is a column."""
        form, value = self.form, self.value
        if form == "column" and after_column:
            raise self.error("a value: two columns are not compared with each other")
        if form == "attribute":
            self.attributes.add(value)
            self._next()
            return (lambda _, user: user.get(value)), False
        if form == "column":
            self.columns.add(value)
            self._next()
            return (lambda row, _: row.get(value)), True
        constant: object
        if form in ("string", "number") and len(value) > MAX_TEXT:
            raise self.error(f"at most {MAX_TEXT} characters")
        if form == "string":
            constant = value
        elif form == "number":
            constant = float(value) if set(value) & set(".eE") else int(value)
            if constant in (math.inf, -math.inf):
                raise self.error("a number that a double can hold")
        elif form == "word" and value in ("true", "false"):
            constant = value == "true"
        else:
            raise self.error("a column, a value or :user.name")
        self._next()
        return (lambda *_: constant), False

    def _accept(self, word: str) -> bool:
        if self.form not in ("word", "mark") or self.value != word:
            return False
        self._next()
        return True

    def _expect(self, word: str) -> None:
        if not self._accept(word):
            raise self.error(f"`{word}`")

    def _next(self) -> None:
        found = _TOKEN.match(self._text, self._end)
        self._start = self._end if found is None else found.end() - len(found[0].lstrip())
        if found is None:
            rest = self._text[self._end :]
            self._start = self._end + len(rest) - len(rest.lstrip())
            self._end = self._start + 1
            self.form, self.value = ("end" if not rest.strip() else "fault"), ""
            return
        self._end = found.end()
        self.form = str(found.lastgroup)
        self.value = found[self.form]
        if self.form == "word" and self.value.lower() in _KEYWORDS:
            self.value = self.value.lower()
        elif self.form in ("word", "quoted"):
            if self.form == "quoted":
                self.value = self.value[1:-1].replace('""', '"')
            self.form = "column"
        elif self.form == "string":
            self.value = self.value[1:-1].replace("''", "'")


def _compare(left: _Operand, decide: Callable[[int], bool], right: _Operand) -> _Check:
    def check(row: Values, user: Values) -> Ternary:
        order = _order(left(row, user), right(row, user))
        return None if order is None else decide(order)

    return check


def _order(one: object, other: object) -> int | None:
    """−1, 0 or 1; None (unknown) when the types differ or have no order."""
    if isinstance(one, bool) or isinstance(other, bool):
        both = isinstance(one, bool) and isinstance(other, bool)
        return int(bool(one)) - int(bool(other)) if both else None
    if isinstance(one, int | float) and isinstance(other, int | float):
        return (one > other) - (one < other)
    if isinstance(one, str) and isinstance(other, str):
        return (one > other) - (one < other)
    return None


def _in(left: _Operand, members: "Sequence[_Operand] | str") -> _Check:
    def check(row: Values, user: Values) -> Ternary:
        if isinstance(members, str):
            given = user.get(members)
            values: Sequence[object] = given if isinstance(given, list | tuple) else (given,)
        else:
            values = [member(row, user) for member in members]
        orders = [_order(left(row, user), value) for value in values]
        if 0 in orders:
            return True
        return None if None in orders else False

    return check


def _any(checks: Sequence[_Check]) -> _Check:
    def check(row: Values, user: Values) -> Ternary:
        truths = [one(row, user) for one in checks]
        return True if True in truths else None if None in truths else False

    return check


def _all(checks: Sequence[_Check]) -> _Check:
    def check(row: Values, user: Values) -> Ternary:
        truths = [one(row, user) for one in checks]
        return False if False in truths else None if None in truths else True

    return check


def _not(inner: _Check) -> _Check:
    def check(row: Values, user: Values) -> Ternary:
        truth = inner(row, user)
        return None if truth is None else not truth

    return check


_OPERATORS: dict[str, Callable[[int], bool]] = {
    "=": lambda order: order == 0,
    "<>": lambda order: order != 0,
    "!=": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}
