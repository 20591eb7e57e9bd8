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

`read` builds it by other means than evaluation: see `Algebra`, `condition_sql`.

Three-valued logic, as in SQL: true, false and unknown. Unknown is a comparison with null, with a
missing column, with an attribute the user lacks, with a list or an object, or between two types
(text, number, boolean). Text is ordered by code points. **Only true admits a row**: unknown
denies, also under a `not`.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

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
    parser = _Parser(text, _EVALUATION)
    check = parser.whole()
    return Condition(text, frozenset(parser.columns), frozenset(parser.attributes), check)


class Algebra(Protocol):
    """What a condition is built of; operands and conditions are the algebra's own."""

    def column(self, name: str) -> Any:
        """A column of the row."""

    def attribute(self, name: str) -> Any:
        """An attribute of the user."""

    def constant(self, value: object) -> Any:
        """A text, number or boolean."""

    def truth(self, value: bool) -> Any:
        """The condition that is always so."""

    def is_null(self, operand: Any, expected: bool) -> Any:
        """Whether an operand is null, or (not expected) is not."""

    def compare(self, left: Any, operator: str, right: Any) -> Any:
        """One of the six comparisons."""

    def member(self, left: Any, members: Sequence[Any]) -> Any:
        """Whether an operand equals one of these."""

    def member_of(self, left: Any, attribute: str) -> Any:
        """Whether an operand equals the attribute, or one of the list that it is."""

    def negated(self, condition: Any) -> Any:
        """The opposite."""

    def every(self, conditions: Sequence[Any]) -> Any:
        """All of them."""

    def some(self, conditions: Sequence[Any]) -> Any:
        """One of them at least."""


def read(condition: Condition, algebra: Algebra) -> Any:
    """The condition, built anew by an algebra."""
    return _Parser(condition.text, algebra).whole()


def both(one: Condition, other: Condition) -> Condition:
    """A condition that holds where both hold."""
    return Condition(
        f"({one.text}) and ({other.text})",
        one.columns | other.columns,
        one.attributes | other.attributes,
        _EVALUATION.every((one._check, other._check)),
    )


class _Parser:
    """A recursive descent parser."""

    def __init__(self, text: str, algebra: Algebra) -> None:
        self._text = text
        self._make = algebra
        self._end = 0
        self.columns: set[str] = set()
        self.attributes: set[str] = set()
        self._comparisons = 0
        self._next()

    def whole(self) -> Any:
        made = self.condition(0)
        if self.form != "end":
            raise self.error("`and`, `or` or the end")
        return made

    def condition(self, depth: int) -> Any:
        checks = [self._conjunction(depth)]
        while self._accept("or"):
            checks.append(self._conjunction(depth))
        return checks[0] if len(checks) == 1 else self._make.some(checks)

    def error(self, expected: str) -> BadStatement:
        line = self._text.count("\n", 0, self._start) + 1
        column = self._start - (self._text.rfind("\n", 0, self._start) + 1) + 1
        found = "the end" if self.form == "end" else repr(self._text[self._start : self._end][:40])
        return BadStatement(line, column, found, expected)

    def _conjunction(self, depth: int) -> Any:
        checks = [self._factor(depth)]
        while self._accept("and"):
            checks.append(self._factor(depth))
        return checks[0] if len(checks) == 1 else self._make.every(checks)

    def _factor(self, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise self.error(f"at most {_MAX_DEPTH} levels")
        if self._accept("not"):
            return self._make.negated(self._factor(depth + 1))
        if self._accept("("):
            check = self.condition(depth + 1)
            self._expect(")")
            return check
        return self._comparison()

    def _comparison(self) -> Any:
        self._comparisons += 1
        if self._comparisons > _MAX_COMPARISONS:
            raise self.error(f"at most {_MAX_COMPARISONS} comparisons")
        constant = self.value if self.form == "word" and self.value in ("true", "false") else None
        left, is_column = self._operand()
        if self._accept("is"):
            is_null = not self._accept("not")
            self._expect("null")
            return self._make.is_null(left, is_null)
        negated = self._accept("not")
        if self._accept("in"):
            check = self._members(left, is_column)
            return self._make.negated(check) if negated else check
        if negated:
            raise self.error("`in`")
        operator = self.value if self.form == "mark" else ""
        if operator not in _OPERATORS:
            if constant is not None:
                return self._make.truth(constant == "true")
            raise self.error("a comparison")
        self._next()
        right, _ = self._operand(after_column=is_column)
        return self._make.compare(left, operator, right)

    def _members(self, left: Any, is_column: bool) -> Any:
        if self.form == "attribute":
            name = self.value
            self.attributes.add(name)
            self._next()
            return self._make.member_of(left, name)
        self._expect("(")
        members = []
        while True:
            members.append(self._operand(after_column=is_column)[0])
            if not self._accept(","):
                break
        self._expect(")")
        return self._make.member(left, members)

    def _operand(self, *, after_column: bool = False) -> tuple[Any, bool]:
        """The next operand, and whether it is a column."""
        form, value = self.form, self.value
        if form == "column" and after_column:
            raise self.error("a value: two columns are not compared with each other")
        if form == "attribute":
            self.attributes.add(value)
            self._next()
            return self._make.attribute(value), False
        if form == "column":
            self.columns.add(value)
            self._next()
            return self._make.column(value), True
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
        return self._make.constant(constant), False

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


class _Evaluation:
    """Conditions that are evaluated: functions of the row and the user."""

    def column(self, name: str) -> _Operand:
        return lambda row, _: row.get(name)

    def attribute(self, name: str) -> _Operand:
        return lambda _, user: user.get(name)

    def constant(self, value: object) -> _Operand:
        return lambda *_: value

    def truth(self, value: bool) -> _Check:
        return lambda *_: value

    def is_null(self, operand: _Operand, expected: bool) -> _Check:
        return lambda row, user: (operand(row, user) is None) is expected

    def compare(self, left: _Operand, operator: str, right: _Operand) -> _Check:
        return lambda row, user: compared(left(row, user), operator, right(row, user))

    def member(self, left: _Operand, members: Sequence[_Operand]) -> _Check:
        return lambda row, user: _equals_one(
            left(row, user), [member(row, user) for member in members]
        )

    def member_of(self, left: _Operand, attribute: str) -> _Check:
        return lambda row, user: _equals_one(left(row, user), listed(user.get(attribute)))

    def negated(self, condition: _Check) -> _Check:
        def check(row: Values, user: Values) -> Ternary:
            truth = condition(row, user)
            return None if truth is None else not truth

        return check

    def every(self, conditions: Sequence[_Check]) -> _Check:
        def check(row: Values, user: Values) -> Ternary:
            truths = [one(row, user) for one in conditions]
            return False if False in truths else None if None in truths else True

        return check

    def some(self, conditions: Sequence[_Check]) -> _Check:
        def check(row: Values, user: Values) -> Ternary:
            truths = [one(row, user) for one in conditions]
            return True if True in truths else None if None in truths else False

        return check


def compared(left: object, operator: str, right: object) -> Ternary:
    """Whether a comparison of two values holds; None is unknown."""
    order = _order(left, right)
    return None if order is None else _OPERATORS[operator](order)


def listed(given: object) -> Sequence[object]:
    """The values of an attribute: a list's, or the one that it is."""
    return given if isinstance(given, list | tuple) else (given,)


def _equals_one(value: object, others: Sequence[object]) -> Ternary:
    orders = [_order(value, other) for other in others]
    if 0 in orders:
        return True
    return None if None in orders else False


_OPERATORS: dict[str, Callable[[int], bool]] = {
    "=": lambda order: order == 0,
    "<>": lambda order: order != 0,
    "!=": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}
_EVALUATION = _Evaluation()
