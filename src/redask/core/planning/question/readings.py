"""A reading: what a question asks for, in phrases that are not yet columns of one table.

    Item            what is shown: a column, an aggregate of one, a count, an entity, all columns
    AskedCondition  a column, or none that is named, compared with values or with its own average
    Counted         how many rows of another table belong to it
    Levelled        an aggregate of each group, compared with a number
    TableMention    another table that takes part; `negative`: that must not
    Extreme         the row or group with the most, the least, the top n
    Few             how many an extreme keeps
    Verb            a word that names how two tables are linked
    Sort            the order asked for
    Each            what to group by
    Restated        a second sentence that says again what to show
    Belonging       what was named belongs together: "mountains they climbed"

Every word of the question is in exactly one phrase, or in a closed list of function words.
"""

from dataclasses import dataclass

from redask.core.planning.question.name_phrases import ColumnPhrase, TablePhrase
from redask.core.planning.question.phrases import ValuePhrase


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to show; `kind` is column, named, aggregate, count, entity or star."""

    kind: str
    column: ColumnPhrase | None = None
    table: TablePhrase | None = None
    aggregate: str = ""
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class AskedCondition:
    """`near` is the table that the value stands beside; `apart`: joined by "and" or a comma.

    `alternative`: joined by "or" to the condition before it.
    """

    op: str
    values: tuple[ValuePhrase, ...]
    column: ColumnPhrase | None = None
    negative: bool = False
    against: str = ""
    dimension: str = ""
    near: TablePhrase | None = None
    joined: str = ""
    hint: str = ""
    both: bool = False
    apart: bool = False
    alternative: bool = False


@dataclass(frozen=True, slots=True)
class Counted:
    """At least, at most, exactly so many rows of `table`."""

    op: str
    number: str
    table: TablePhrase
    negative: bool = False


@dataclass(frozen=True, slots=True)
class Levelled:
    """A group's aggregate of a column, compared with a number."""

    aggregate: str
    column: ColumnPhrase
    op: str
    number: str


@dataclass(frozen=True, slots=True)
class TableMention:
    """A table that takes part; `loose`: only a preposition says so."""

    table: TablePhrase
    negative: bool = False
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Extreme:
    """The most or least of a column, of its aggregate, or of the rows of a table.

    `loose`: "most" of a column may mean its sum.
    """

    direction: str
    column: ColumnPhrase | None = None
    table: TablePhrase | None = None
    number: int = 1
    dimension: str = ""
    aggregate: str = ""
    common: bool = False
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb that says that rows of two tables belong together."""

    word: str


@dataclass(frozen=True, slots=True)
class Few:
    """`the 3 counties`: how many an extreme keeps."""

    number: int


@dataclass(frozen=True, slots=True)
class Sort:
    """An order; without column and table it is that of what is shown first."""

    direction: str
    column: ColumnPhrase | None = None
    table: TablePhrase | None = None


@dataclass(frozen=True, slots=True)
class Each:
    """One group for each of these."""

    columns: tuple[ColumnPhrase, ...] = ()
    table: TablePhrase | None = None


@dataclass(frozen=True, slots=True)
class Restated:
    """What a second sentence asks to show."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Belonging:
    """Rows of the tables that are shown belong together."""


Modifier = (
    AskedCondition
    | Counted
    | Levelled
    | TableMention
    | Extreme
    | Few
    | Verb
    | Sort
    | Each
    | Restated
    | Belonging
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A whole question: items, the table they are of if it is named, and what limits them."""

    items: tuple[Item, ...]
    table: TablePhrase | None
    modifiers: tuple[Modifier, ...]
    cost: int
