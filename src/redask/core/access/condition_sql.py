"""A condition of a policy as SQL of PostgreSQL: `condition_sql(condition, columns, user)`.

It holds for a row of the source just where the condition holds for the same row here: three-valued,
text by code points, numbers exactly, a comparison of different types unknown. The user's attributes
are put in as values. `Inexpressible` for what could come out otherwise: a condition on a column
whose values are kept in another way here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from redask.core.access.predicate import Condition, compared, listed, read

UNKNOWN = "NULL::boolean"


class Inexpressible(Exception):
    """A condition that cannot be evaluated in the source; it names the column."""


@dataclass(frozen=True, slots=True)
class ConditionColumn:
    """A column as it is compared: `text`, `number` or `boolean`, and by which expression.

    `whole` is what is null where the column is, if that is not the expression; `as_text` is what a
    text is compared with, where some values of the column are texts here.
    """

    kind: str
    sql: str
    whole: str = ""
    as_text: str = ""


@dataclass(frozen=True, slots=True)
class _Value:
    value: object


_Operand = ConditionColumn | _Value


def condition_sql(
    condition: Condition,
    columns: Mapping[str, ConditionColumn | None],
    user: Mapping[str, object],
) -> str:
    """The SQL; `columns` has those of the table, None for one that cannot be compared there."""
    made: str = read(condition, _SqlAlgebra(columns, user))
    return made


@dataclass(frozen=True, slots=True)
class _SqlAlgebra:
    """See `predicate.Algebra`: conditions are SQL, operands columns and values."""

    columns: Mapping[str, ConditionColumn | None]
    user: Mapping[str, object]

    def column(self, name: str) -> _Operand:
        if name not in self.columns:
            return _Value(None)
        found = self.columns[name]
        if found is None:
            raise Inexpressible(name)
        return found

    def attribute(self, name: str) -> _Operand:
        return _Value(self.user.get(name))

    def constant(self, value: object) -> _Operand:
        return _Value(value)

    def truth(self, value: bool) -> str:
        return "TRUE" if value else "FALSE"

    def is_null(self, operand: _Operand, expected: bool) -> str:
        if isinstance(operand, _Value):
            return self.truth((operand.value is None) is expected)
        return f"({operand.whole or operand.sql} IS {'' if expected else 'NOT '}NULL)"

    def compare(self, left: _Operand, operator: str, right: _Operand) -> str:
        if isinstance(left, _Value) and isinstance(right, _Value):
            known = compared(left.value, operator, right.value)
            return UNKNOWN if known is None else self.truth(known)
        column = left if isinstance(left, ConditionColumn) else right
        value = right if isinstance(right, _Value) else left
        assert isinstance(column, ConditionColumn)
        assert isinstance(value, _Value)
        shown, kind = column.sql, column.kind
        if column.as_text and isinstance(value.value, str):
            shown, kind = column.as_text, "text"
        literal = _literal(kind, value.value)
        if literal is None:
            return UNKNOWN
        sides = (shown, literal) if column is left else (literal, shown)
        return f"({sides[0]} {operator} {sides[1]})"

    def member(self, left: _Operand, members: Sequence[_Operand]) -> str:
        return self.some([self.compare(left, "=", each) for each in members])

    def member_of(self, left: _Operand, attribute: str) -> str:
        return self.member(left, [_Value(each) for each in listed(self.user.get(attribute))])

    def negated(self, condition: str) -> str:
        return f"(NOT {condition})"

    def every(self, conditions: Sequence[str]) -> str:
        return f"({' AND '.join(conditions)})"

    def some(self, conditions: Sequence[str]) -> str:
        return f"({' OR '.join(conditions)})" if conditions else "FALSE"


def _literal(kind: str, value: object) -> str | None:
    """A value as it is compared with such a column; None where that is unknown."""
    if kind == "boolean":
        return ("TRUE" if value else "FALSE") if isinstance(value, bool) else None
    if kind == "number":
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return f"'{format(Decimal(value), 'f')}'::numeric"
    return f'{text_literal(value)} COLLATE "C"' if isinstance(value, str) else None


def text_literal(value: str) -> str:
    """A text as a literal that means the same whatever the session's settings are."""
    plain = value.replace("'", "''")
    if "\\" not in plain:
        return f"'{plain}'"
    return "E'" + plain.replace("\\", "\\\\") + "'"
