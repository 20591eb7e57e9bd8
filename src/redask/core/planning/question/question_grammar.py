"""The grammar of a whole question: what is asked for, of which table, then the modifiers.

question  := [each COLUMN ,] [show] items [link noun | by group] tail
items     := item { (, | and | as well as) item }
item      := [distinct] COLUMN [of TABLE] | [full] names [of TABLE] | aggregates COLUMN
           | count (noun | COLUMN) | noun | most common COLUMN | all details | share of TABLE
noun      := [n] [ADJECTIVE] [said [[and] said]] TABLE [value] | top [n] TABLE by measure
said      := [not] FLAG | OPPOSITE | values
restated  := a second sentence: show items
"""

from collections.abc import Iterator
from dataclasses import replace

from redask.core.planning.question.modifier_grammar import ModifierGrammar
from redask.core.planning.question.name_phrases import ColumnPhrase, TablePhrase
from redask.core.planning.question.phrase_reader import FoundModifier, Glue
from redask.core.planning.question.phrases import Phrases
from redask.core.planning.question.readings import (
    AskedCondition,
    Each,
    Extreme,
    Few,
    Item,
    Modifier,
    Reading,
    Restated,
    TableMention,
)

_LINKS = frozenset("of for from in among by about on to at within across".split())
_SEPARATORS = frozenset(", and as & plus".split())
_QUANTITIES = frozenset("length duration time size".split())
_MAX_ITEMS, _KEPT = 8, 60
Items = tuple[tuple[Item, ...], tuple[Modifier, ...], int, int]
Noun = tuple[TablePhrase, tuple[Modifier, ...], int, int]


class QuestionGrammar(ModifierGrammar):
    """All readings of one question."""

    def __init__(self, phrases: Phrases) -> None:
        super().__init__(phrases)
        self._lists: dict[int, list[Items]] = {}

    def readings(self) -> list[Reading]:
        """Every reading that accounts for all words, cheapest first."""
        found: list[Reading] = []
        for prefix, start, cost in self._prefixes():
            for items, extra, end, more in self.item_lists(self._shown(start)):
                found += self._whole(items, (*prefix, *extra), end, cost + more)
        unique = dict.fromkeys(sorted(found, key=lambda reading: reading.cost))
        return list(unique)[:_KEPT]

    def _whole(
        self, items: tuple[Item, ...], before: tuple[Modifier, ...], end: int, cost: int
    ) -> Iterator[Reading]:
        self.furthest = max(self.furthest, end)
        for rest, more in self.tail(end):
            yield Reading(items, None, (*before, *rest), cost + more)
        owned = items[-1].table is not None
        if self.low(end) == "by" and all(item.aggregate for item in items):
            for node, behind, extra in self.groups(end + 1):
                for rest, more in self.tail(behind):
                    yield Reading(items, None, (*before, node, *rest), cost + extra + more)
        elif self.low(end) in _LINKS and not owned and not self.cue(end, "each", "sort", "moment"):
            for table, inner, behind, extra in self.nouns(end + 1):
                self.furthest = max(self.furthest, behind)
                for rest, more in self.tail(behind):
                    mods = (*before, *inner, *rest)
                    yield Reading(items, table, mods, cost + extra + more)

    def _prefixes(self) -> Iterator[tuple[tuple[Modifier, ...], int, int]]:
        yield (), 0, 0
        for node, end, cost in self.each(Glue(0)):
            if self.low(end) == ",":
                yield (node,), end + 1, cost

    def _shown(self, place: int) -> int:
        """Behind the words that only ask to show something."""
        cue = self.cue(place, "show")
        while cue is not None:
            place = cue.end
            cue = self.cue(place, "show")
        return place

    # --- items ---------------------------------------------------------------------------

    def item_lists(self, place: int) -> list[Items]:
        """The lists of items that start at a word."""
        if place not in self._lists:
            self._lists[place] = list(self._item_lists(place, _MAX_ITEMS))
        return self._lists[place]

    def _item_lists(self, place: int, room: int) -> Iterator[Items]:
        for items, mods, end, cost in self._items(place):
            yield items, mods, end, cost
            behind = self._separated(end)
            if behind > end and room > 1:
                for more, others, last, extra in self._item_lists(behind, room - 1):
                    yield (*items, *more), (*mods, *others), last, cost + extra

    def _separated(self, place: int) -> int:
        behind = place
        while self.low(behind) in _SEPARATORS:
            behind += 1
        if self.low(behind) == "with" and self.cue(behind + 1, "count", "aggregate"):
            behind += 1
        return self._shown(behind) if behind > place else place

    def _items(self, place: int) -> Iterator[Items]:
        each = self.cue(place, "each")
        if each is not None and each.end == place + 1:
            place = each.end
        distinct = self.cue(place, "distinct")
        start = distinct.end if distinct else place
        yield from self._plain_columns(start, distinct is not None)
        yield from self._names(start, distinct is not None)
        yield from self._aggregates(place)
        yield from self._counts(place)
        yield from self._common(place)
        for table, mods, end, cost in self.nouns(start):
            yield (Item("entity", None, table, distinct=distinct is not None),), mods, end, cost + 2
        share = self.cue(place, "share")
        for table in self.tables(share.end) if share else ():
            item = Item("count", None, table, share.payload if share else "")
            yield (item,), (), table.end, table.links[0].cost
        star = self.cue(place, "star")
        if star is not None:
            yield (Item("star"),), (), star.end, 1

    def _plain_columns(self, place: int, distinct: bool) -> Iterator[Items]:
        for column in self.columns(place):
            cost = column.links[0].cost
            alone = column.end == place + 1 or self.low(place + 1) == "of"
            if alone and self.cue(place, "aggregate"):
                continue  # "the total of orders" may be a sum
            yield (Item("column", column, distinct=distinct),), (), column.end, cost
            each = self.cue(column.end, "each")
            for table in self.tables(each.end) if each else ():
                owned = _within(column, table)
                if owned is not None:
                    item = Item("column", owned, table, distinct=distinct)
                    price = cost + table.links[0].cost
                    yield (item,), (Each((), table),), table.end, price
            if self.low(column.end) in ("of", "for"):
                for table in self.tables(column.end + 1):
                    owned = _within(column, table)
                    if owned is not None:
                        item = Item("column", owned, table, distinct=distinct)
                        more = cost + table.links[0].cost
                        yield (item,), (TableMention(table),), table.end, more

    def _names(self, place: int, distinct: bool) -> Iterator[Items]:
        """`names`, `full names`: what names a row, be it a title, or a first and a last name."""
        place += self.low(place) == "full"
        if self.low(place) in ("name", "names"):
            yield (Item("named", distinct=distinct),), (), place + 1, 3
            if self.low(place + 1) in ("of", "for"):
                for table in self.tables(place + 2):
                    item = Item("named", None, table, distinct=distinct)
                    yield (item,), (TableMention(table),), table.end, 3 + table.links[0].cost

    def _aggregates(self, place: int) -> Iterator[Items]:
        behind, adjective = self.superlative(place)
        for column in self.columns(behind) if adjective else ():
            sign = self.signed(adjective, column)
            if sign:
                item = Item("aggregate", column, None, "max" if sign > 0 else "min")
                yield (item,), (), column.end, column.links[0].cost
        names: list[str] = []
        while True:
            cue = self.cue(place, "aggregate", "extreme")
            if cue is None or self.low(place) in ("most", "least", "fewest"):
                break
            names.append(cue.payload)
            place = self._behind_quantity(cue.end)
            for column in self.columns(place):
                items = tuple(Item("aggregate", column, None, name) for name in names)
                yield items, (), column.end, column.links[0].cost
                if self.low(column.end) == "and" and not self.cue(column.end + 1, "aggregate"):
                    for other in self.columns(column.end + 1):
                        both = (*items, *(replace(item, column=other) for item in items))
                        cost = column.links[0].cost + other.links[0].cost
                        yield both, (), other.end, cost
            while self.low(place) in (",", "and"):
                place += 1

    def _behind_quantity(self, place: int) -> int:
        """`length in minutes`: behind the word that the unit says again."""
        said = self.low(place) in _QUANTITIES and self.low(place + 1) == "in"
        return place + 2 if said and not self.columns(place) else place

    def _counts(self, place: int) -> Iterator[Items]:
        cue = self.cue(place, "count")
        if cue is None:
            return
        again = self.cue(cue.end, "count")
        cue = again or cue
        if (self.low(cue.end), self.low(cue.end + 1)) == ("are", "there"):
            yield (Item("count"),), (), cue.end + 2, 1
        distinct = self.cue(cue.end, "distinct")
        start = distinct.end if distinct else cue.end
        for table, mods, end, cost in self.nouns(start):
            item = Item("count", None, table, distinct=distinct is not None)
            yield (item,), mods, end, cost + (2 if distinct else 0)
        for column in self.columns(start):
            item = Item("count", column, None, distinct=distinct is not None)
            yield (item,), (), column.end, (0 if distinct else 2) + column.links[0].cost

    def _common(self, place: int) -> Iterator[Items]:
        """`the 3 most common types`."""
        start, number = self.leading_number(place)
        cue = self.cue(start, "common")
        if cue is not None:
            for column in self.columns(cue.end):
                node = Extreme(cue.payload, None, None, number, common=True)
                yield (Item("column", column),), (node,), column.end, 1 + column.links[0].cost

    # --- nouns ---------------------------------------------------------------------------

    def nouns(self, place: int) -> Iterator[Noun]:
        """A table with what stands before it and the name behind it."""
        distinct = self.cue(place, "distinct", "each")
        if distinct is not None and distinct.end == place + 1:
            place = distinct.end
        yield from self._ranked_nouns(place)
        for mods, start, cost in self._premodifiers(place):
            for table in self.tables(start):
                price = cost + table.links[0].cost
                yield table, mods, table.end, price
                for value in self.values(table.end):
                    if value.quoted or value.stored:
                        named = AskedCondition("=", (value,), near=table, hint="name")
                        yield table, (*mods, named), value.end, price + 1

    def _ranked_nouns(self, place: int) -> Iterator[Noun]:
        """`top 3 employees by salary`."""
        top = self.cue(place, "top")
        if top is None:
            return
        start, number = self.leading_number(top.end)
        for table in self.tables(start):
            for column, counted, end, cost in (
                self.measures(table.end + 1) if self.low(table.end) == "by" else ()
            ):
                node = Extreme(top.payload, column, counted, number)
                yield table, (node,), end, 1 + table.links[0].cost + cost

    def _premodifiers(self, place: int) -> Iterator[tuple[tuple[Modifier, ...], int, int]]:
        yield (), place, 0
        start, number = self.leading_number(place)
        top = self.cue(place, "top")
        if top is not None:
            start, number = self.leading_number(top.end)
        if start > place:
            yield (Few(number),), start, 1
        behind, adjective = self.superlative(start)
        if adjective:
            yield (Extreme("max", None, None, number, adjective),), behind, 1
        for flag, end, cost in self._adjectives_before(place):
            yield (flag,), end, cost
            behind = end + (self.low(end) in ("and", ","))
            for second, last, more in self._adjectives_before(behind):
                yield (flag, second), last, cost + more

    def _adjectives_before(self, place: int) -> Iterator[FoundModifier]:
        """`active`, `unpaid`, `German`: a flag or a value."""
        negated = self.low(place) in ("not", "non")
        for column, opposite in self.flags(place + negated):
            flag = AskedCondition("flag", (), column, negated != opposite)
            yield flag, column.end, 1 + column.links[0].cost
        for values, end, joined in self.value_lists(place):
            if all(value.stored for value in values):
                yield AskedCondition("=", values, joined=joined, hint="adjective"), end, 1

    # --- second sentences ----------------------------------------------------------------

    def modifier(self, glue: Glue) -> Iterator[FoundModifier]:
        """The modifiers, and what a second sentence says."""
        yield from super().modifier(glue)
        if glue.end < self.size and not glue.negative and not glue.alternative:
            if glue.sentence and self.cue(glue.end, "show"):
                for items, mods, end, cost in self.item_lists(self._shown(glue.end)):
                    if not mods:
                        yield Restated(items), end, 1 + cost
            if "that" in glue.words:
                for column in self.columns(glue.end):
                    yield Each((column,)), column.end, 2 + column.links[0].cost


def _within(column: ColumnPhrase, table: TablePhrase) -> ColumnPhrase | None:
    """The column phrase, of the named tables only."""
    names = {link.table for link in table.links}
    links = tuple(replace(link, owned=True) for link in column.links if link.table in names)
    return ColumnPhrase(column.start, column.end, links) if links else None
