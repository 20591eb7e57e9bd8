"""Which column a phrase means, among the tables that a reading names.

    found in                               price
    the table that the question is of          0
    another table that it names                2
    a table that it does not name              6, and only for a full name that no other table has

The cheapest wins; two that are equally cheap are a doubt, unless one refers to the other. So is a
column that is named in part, where its table has another one, or another table a nearer one.
"""

from dataclasses import dataclass

from redask.core.planning.question import cues
from redask.core.planning.question.linking import PART_COST, ColumnLink, Linker
from redask.core.planning.question.name_phrases import ColumnPhrase
from redask.core.planning.question.words import identifier_words, stem
from redask.core.planning.statement.key_paths import Doubt
from redask.core.planning.statement.trees import ColumnOf

_NUMERIC = frozenset(
    "int2 int4 int8 smallint integer bigint numeric decimal float4 float8 real".split()
) | {"double precision"}
_MOMENTS = frozenset(stem(word) for word in ("year", "date", "time", "day", "datetime"))


@dataclass(frozen=True, slots=True)
class ColumnScope:
    """The tables of a reading: the one it is of, all it names, and those named by themselves."""

    linker: Linker
    first: str
    named: tuple[str, ...]
    spoken: tuple[str, ...]

    def price(self, table: str) -> int:
        """What it costs to take a column of this table."""
        return 0 if table == self.first else 2 if table in self.named else 6

    def is_beside(self, table: str) -> bool:
        """Whether a table is named by itself, or a foreign key of the first refers to it."""
        return table in self.spoken or any(
            key.table == self.first and key.to_table == table
            for key in self.linker.keys_of[self.first]
        )

    def type_of(self, column: ColumnOf) -> str:
        """The column's type without its precision."""
        return self.linker.columns[column.table, column.name].type.partition("(")[0].strip()

    def is_number(self, column: ColumnOf) -> bool:
        """Whether a column holds numbers."""
        return self.type_of(column) in _NUMERIC

    def is_moment(self, column: ColumnOf) -> bool:
        """Whether a column holds dates or timestamps."""
        return self.type_of(column).startswith(("date", "timestamp"))

    def is_year(self, column: ColumnOf) -> bool:
        """Whether a column holds years as numbers."""
        return self.is_number(column) and "year" in identifier_words(column.name)

    def refers(self, left: ColumnOf, right: ColumnOf) -> bool:
        """Whether a foreign key ties these two columns."""
        return any(
            {left, right} == {ColumnOf(key.table, mine), ColumnOf(key.to_table, theirs)}
            for key in self.linker.keys_of[left.table]
            for mine, theirs in zip(key.columns, key.to_columns, strict=True)
        )


def choose(
    phrase: ColumnPhrase, scope: ColumnScope, shown: bool = False, about: str = ""
) -> tuple[ColumnOf, int]:
    """The column that a phrase means, and its cost beyond the best of the phrase.

    What is `shown` or ordered by is of the first table, or the phrase names its table.
    """
    best = phrase.links[0].cost
    priced = [
        (link.cost - best + scope.price(link.table), ColumnOf(link.table, link.column))
        for link in phrase.links
        if scope.price(link.table) < 6 and (not shown or _is_shown(link, scope))
    ]
    if not priced:
        raise Doubt("attribute_missing", about)
    cost = min(price for price, _ in priced)
    cheapest = [column for price, column in priced if price == cost]
    chosen = cheapest[0]
    if _is_vague(phrase, chosen, scope):
        raise Doubt("ambiguous", about or chosen.name)
    for other in cheapest[1:]:
        if not scope.refers(chosen, other):
            raise Doubt("ambiguous", about)
    return chosen, cost


def _is_vague(phrase: ColumnPhrase, chosen: ColumnOf, scope: ColumnScope) -> bool:
    """Whether a phrase is but a part of the chosen name, and of another name as well."""
    places = {ColumnOf(link.table, link.column): link.cost for link in phrase.links}
    cost = places.pop(chosen)
    return cost >= PART_COST and any(
        other.table == chosen.table or (price < cost and not scope.refers(chosen, other))
        for other, price in places.items()
    )


def _is_shown(link: ColumnLink, scope: ColumnScope) -> bool:
    return link.table == scope.first or (link.owned and scope.is_beside(link.table))


def measured(adjective: str, scope: ColumnScope) -> tuple[ColumnOf, int]:
    """The column that an adjective measures, and whether more of it is more: 1 or -1."""
    found = _measuring(cues.DIMENSIONS[adjective], scope)
    found = found or _measuring(cues.UNITS.get(adjective, {}), scope)
    ages = [each for each in found if "age" in identifier_words(each[0].name)]
    if len(ages) == 1:
        found = ages  # a date of birth beside it says the same
    if len(found) != 1:
        raise Doubt("ambiguous" if found else "attribute_missing", adjective)
    return found[0]


def _measuring(nouns: dict[str, int], scope: ColumnScope) -> list[tuple[ColumnOf, int]]:
    """The columns of the first table that these nouns name, each with its sign."""
    found = []
    for column in scope.linker.tables[scope.first].columns:
        place = ColumnOf(scope.first, column.name)
        signs = [nouns[word] for word in identifier_words(column.name) if word in nouns]
        if signs and (scope.is_number(place) or scope.is_moment(place)):
            found.append((place, signs[0]))
    return found


def moments(scope: ColumnScope) -> list[ColumnOf]:
    """The columns of the first table that hold dates or years."""
    table = scope.linker.tables[scope.first]
    places = [ColumnOf(scope.first, column.name) for column in table.columns]
    return [place for place in places if scope.is_moment(place) or scope.is_year(place)]


def is_plain_moment(column: ColumnOf) -> bool:
    """Whether a column is just the year or date of its rows, and not of one thing about them."""
    named = set(identifier_words(column.name)) - set(identifier_words(column.table))
    return named <= _MOMENTS
