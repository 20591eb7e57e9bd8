"""The typed tree of a statement: what it shows, from which tables, under which conditions.

    Statement   outputs · tables joined from a first one · where · groups · having · order · limit
    Test        Comparison · Membership · Match · Against · Missing · Recent · Existence
                Tally · Junction

A tree means one SELECT: `sql_text.write`. Rows that tie at the limit belong to the result.
"""

from dataclasses import dataclass

OPPOSITE = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


@dataclass(frozen=True, slots=True, order=True)
class ColumnOf:
    table: str
    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, or a text that is quoted."""

    text: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    column: ColumnOf
    op: str
    literal: Literal


@dataclass(frozen=True, slots=True)
class Membership:
    column: ColumnOf
    literals: tuple[Literal, ...]
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A pattern of LIKE, in any case."""

    column: ColumnOf
    pattern: str
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Against:
    """A column compared with an aggregate of the same column over all rows."""

    column: ColumnOf
    op: str
    aggregate: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether a column is NULL, or not."""

    column: ColumnOf
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Recent:
    """A month or year of a column: that of its newest date, or one `back`."""

    column: ColumnOf
    unit: str
    back: int


@dataclass(frozen=True, slots=True)
class KeyStep:
    """A join: `table` comes in, its columns equal to those of a table that is there."""

    table: str
    pairs: tuple[tuple[ColumnOf, ColumnOf], ...]


@dataclass(frozen=True, slots=True)
class Existence:
    """Whether rows exist at the end of the steps that pass the tests."""

    steps: tuple[KeyStep, ...]
    tests: tuple["Test", ...]
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows at the end of the steps pass the tests, compared with a number."""

    steps: tuple[KeyStep, ...]
    tests: tuple["Test", ...]
    op: str
    number: str


@dataclass(frozen=True, slots=True)
class Junction:
    op: str
    parts: tuple["Test", ...]


Test = Comparison | Membership | Match | Against | Missing | Recent | Existence | Tally | Junction


@dataclass(frozen=True, slots=True)
class ReferredName:
    """What names the row that a column refers to; the column's own value where nothing does."""

    column: ColumnOf
    target: ColumnOf
    names: tuple[ColumnOf, ...]


@dataclass(frozen=True, slots=True)
class NewestPeriod:
    """The month or year of a column's newest date, or one `back`, in words."""

    column: ColumnOf
    unit: str
    back: int


@dataclass(frozen=True, slots=True)
class MeasuredColumn:
    """What is shown or ordered by: a column, an aggregate of one, a count, or a share of rows.

    `share` and `percentage` are of all rows, those that pass the tests of the statement. `name`
    stands in the place of the column; `label` is what the output is called.
    """

    aggregate: str = ""
    column: ColumnOf | None = None
    distinct: bool = False
    name: ReferredName | NewestPeriod | None = None
    label: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    outputs: tuple[MeasuredColumn, ...]
    table: str
    steps: tuple[KeyStep, ...] = ()
    where: tuple[Test, ...] = ()
    groups: tuple[ColumnOf, ...] = ()
    having: tuple[tuple[MeasuredColumn, str, str], ...] = ()
    order: tuple[tuple[MeasuredColumn, str], ...] = ()
    limit: int | None = None
    distinct: bool = False
