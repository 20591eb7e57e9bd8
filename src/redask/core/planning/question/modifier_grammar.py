"""The grammar of what follows the things asked for: conditions, extremes, order, groups.

    tail       := { glue modifier } [ ending | that they VERB ]
    modifier   := condition | sort | each | extreme | counted | levelled | mention
    sort       := sorted by measure [direction] | direction [by measure]
    each       := for each TABLE | for each COLUMN [and COLUMN] | each [one]
    extreme    := [n] EXTREME measure | [n] most TABLE | top n [EXTREME] measure | most common
                | EXTREME average COLUMN | ADJECTIVE COLUMN
    counted    := [compare] NUMBER [or more] TABLE
    levelled   := average COLUMN [is] compare NUMBER
    mention    := TABLE, behind a word that says how it takes part

`tail` keeps the cheapest few, so that the work is bounded on any text.
"""

from collections.abc import Iterator

from redask.core.planning.question import cues
from redask.core.planning.question.condition_grammar import ConditionGrammar
from redask.core.planning.question.name_phrases import ColumnPhrase
from redask.core.planning.question.phrase_reader import FoundModifier, Glue
from redask.core.planning.question.phrases import Phrases
from redask.core.planning.question.readings import (
    AskedCondition,
    Belonging,
    Counted,
    Each,
    Extreme,
    Levelled,
    Modifier,
    Sort,
    TableMention,
    Verb,
)

_KEPT, _VERB_COST = 8, 2
_HAVING = frozenset("with have has had having".split())
_SOME = frozenset("most least fewest".split())
_WORKING = frozenset("work works worked working employed logged".split())  # may be a state
_ENDING = (cues.ENDING | cues.LIGHT | frozenset("from at to".split())) - _WORKING
_WORKED = frozenset("work worked logged".split())
_DID = frozenset("did does do has have".split())
_RELATING = frozenset("that which where they in to for at on".split())
_SAYING = cues.RELATIVES | cues.AUXILIARIES
ModifierTail = tuple[tuple[Modifier, ...], int]


class ModifierGrammar(ConditionGrammar):
    """The rules over the phrases of one question."""

    def __init__(self, phrases: Phrases) -> None:
        super().__init__(phrases)
        self._tails: dict[int, tuple[ModifierTail, ...]] = {}
        self.furthest = 0

    def tail(self, place: int) -> tuple[ModifierTail, ...]:
        """The cheapest ways to read everything from a word to the end."""
        if place not in self._tails:
            found: dict[tuple[Modifier, ...], int] = {}
            if self._is_end(place):
                found[()] = 0
            elif self._is_belonging(place):
                found[Belonging(),] = 1
            for glue in self.glue(place):
                self.furthest = max(self.furthest, glue.end)
                verbs = (Verb(glue.verb),) if glue.verb else ()
                for node, end, cost in self.modifier(glue):
                    for rest, more in self.tail(end):
                        whole = (*verbs, node, *rest)
                        total = _VERB_COST * len(verbs) + cost + more
                        found[whole] = min(total, found.get(whole, total))
            best = sorted(found.items(), key=lambda each: (each[1], len(each[0])))
            self._tails[place] = tuple(best[:_KEPT])
        return self._tails[place]

    def _is_end(self, place: int) -> bool:
        """Whether nothing but words without meaning is left; "work" is one behind "did NAME"."""
        ending = _ENDING | _WORKED if _DID & set(self._lows(0)[:place]) else _ENDING
        return all(token.kind == "mark" or token.low in ending for token in self.words[place:])

    def _is_belonging(self, place: int) -> bool:
        """`they are in`, `that they climbed`, to the end: what was named belongs together."""
        words = [token.low for token in self.words[place:] if token.kind != "mark"]
        while words and words[0] in _RELATING:
            del words[0]
        if len(words) == len(self.words[place:]) or "they" not in self._lows(place):
            return False
        verbs = [word for word in words if word not in _ENDING | cues.AUXILIARIES]
        verbs = [word for word in verbs if word not in cues.PREPOSITIONS]
        return len(verbs) <= 1 and all(each in cues.RELATIONS | cues.LIGHT for each in verbs)

    def _lows(self, place: int) -> list[str]:
        return [token.low for token in self.words[place:]]

    def modifier(self, glue: Glue) -> Iterator[FoundModifier]:
        """Every modifier that starts behind some glue."""
        if glue.end >= self.size:
            return
        if glue.verb and not glue.alternative:
            yield from self._linked(glue)
        if glue.alternative and not glue.verb:
            yield from self.conditions(glue)
        if glue.verb or glue.alternative:
            return
        yield from self.conditions(glue)
        yield from self._counted(glue)
        yield from self._mentions(glue)
        if not glue.negative:
            yield from self._sorts(glue)
            yield from self.each(glue)
            yield from self._extremes(glue)
            yield from self._levelled(glue)

    def _linked(self, glue: Glue) -> Iterator[FoundModifier]:
        """What a verb may link to: another table, or a moment at which it happened."""
        yield from self._mentions(glue)
        yield from self._counted(glue)
        if not glue.negative:
            for node, end, cost in self._extremes(glue):
                if isinstance(node, Extreme) and node.table is not None:
                    yield node, end, cost
        for node, end, cost in (*self.value_conditions(glue), *self.compared(glue)):
            if isinstance(node, AskedCondition) and (node.near is not None or _is_moment(node)):
                yield node, end, cost

    # --- order and groups ------------------------------------------------------------------

    def _sorts(self, glue: Glue) -> Iterator[FoundModifier]:
        cue = self.cue(glue.end, "sort")
        if cue is not None:
            for column, table, end, cost in self.measures(cue.end):
                after = self.cue(end, "direction")
                direction = cue.payload or (after.payload if after else "asc")
                yield Sort(direction, column, table), after.end if after else end, 1 + cost
        alone = self.cue(glue.end, "direction")
        if alone is not None:
            yield Sort(alone.payload), alone.end, 2
            if self.low(alone.end) == "by":
                for column, table, end, cost in self.measures(alone.end + 1):
                    yield Sort(alone.payload, column, table), end, 1 + cost

    def each(self, glue: Glue) -> Iterator[FoundModifier]:
        """What to group by."""
        cue = self.cue(glue.end, "each")
        if cue is None:
            return
        last = cue.end + (1 if self.low(cue.end) == "one" else 0)
        if last >= self.size or self.words[last].kind == "mark":
            yield Each(), last, 1
        yield from self.groups(cue.end)

    def groups(self, place: int) -> Iterator[FoundModifier]:
        """A table or columns to group by."""
        for table in self.tables(place):
            yield Each((), table), table.end, 1 + table.links[0].cost
        for columns, end, cost in self._column_lists(place):
            yield Each(columns), end, 1 + cost

    def _column_lists(self, place: int) -> Iterator[tuple[tuple[ColumnPhrase, ...], int, int]]:
        """One column, or two joined by `and`."""
        for first in self.columns(place):
            cost = first.links[0].cost
            yield (first,), first.end, cost
            if self.low(first.end) == "and":
                for second in self.columns(first.end + 1):
                    yield (first, second), second.end, cost + second.links[0].cost

    # --- extremes --------------------------------------------------------------------------

    def _extremes(self, glue: Glue) -> Iterator[FoundModifier]:
        place, number = self.leading_number(glue.end)
        top = self.cue(place, "top")
        if top is not None:
            behind, number = self.leading_number(top.end)
            word = self.cue(behind, "extreme")
            for column, table, end, cost in self.measures(word.end if word else behind):
                direction = word.payload if word else top.payload
                yield Extreme(direction, column, table, number), end, 1 + cost
        common = self.cue(place, "common")
        if common is not None:
            yield Extreme(common.payload, None, None, number, common=True), common.end, 1
        yield from self._adjectives(place, number)
        if cues.AUXILIARIES & set(glue.words):
            behind, adjective = self.superlative(place)
            if adjective:
                yield Extreme("max", None, None, number, adjective), behind, 1
        yield from self._superlatives(place, number)

    def _adjectives(self, place: int, number: int) -> Iterator[FoundModifier]:
        """`the shortest duration`: an adjective and the column it measures."""
        behind, adjective = self.superlative(place)
        for column in self.columns(behind) if adjective else ():
            sign = self.signed(adjective, column)
            if sign:
                yield Extreme("max" if sign > 0 else "min", column, None, number), column.end, 1

    def _superlatives(self, place: int, number: int) -> Iterator[FoundModifier]:
        word = self.cue(place, "extreme")
        if word is None:
            return
        some = self.low(place) in _SOME
        for column, table, end, cost in self.measures(word.end):
            yield Extreme(word.payload, column, table, number, loose=some), end, 1 + cost
        for table in self.tables(word.end) if some else ():
            yield Extreme(word.payload, None, table, number), table.end, 1 + table.links[0].cost
        inner = self.cue(word.end, "aggregate")
        for column in self.columns(inner.end) if inner else ():
            name = inner.payload if inner else ""
            node = Extreme(word.payload, column, None, number, "", name)
            yield node, column.end, 1 + column.links[0].cost

    # --- other tables, tests of groups -------------------------------------------------------

    def _counted(self, glue: Glue) -> Iterator[FoundModifier]:
        cue = self.cue(glue.end, "compare")
        for value, digits in self.numbers(cue.end if cue else glue.end):
            behind, op = value.end, cue.payload if cue else "="
            upward = self.cue(behind, "upward")
            if upward is not None:
                behind, op = upward.end, upward.payload
            if digits.isdecimal() and (cue or upward or _HAVING & set(glue.words)):
                for table in self.tables(behind):
                    node = Counted(op, digits, table, glue.negative)
                    yield node, table.end, 1 + table.links[0].cost

    def _levelled(self, glue: Glue) -> Iterator[FoundModifier]:
        """`whose average salary is above 42000`: a test of each group."""
        word = self.cue(glue.end, "aggregate", "extreme")
        if word is None or self.low(glue.end) in _SOME:
            return
        for column in self.columns(word.end):
            for inner in self.links(column.end, glue):
                cue = self.cue(inner.end, "compare")
                if cue is not None and not inner.negative:
                    for value, digits in self.numbers(cue.end):
                        node = Levelled(word.payload, column, cue.payload, digits)
                        yield node, value.end, 1 + column.links[0].cost

    def _mentions(self, glue: Glue) -> Iterator[FoundModifier]:
        said = set(glue.words)
        if not said or (said & cues.JOINING and not said & _SAYING):
            return
        loose = said <= cues.PREPOSITIONS
        for table in self.tables(glue.end):
            yield TableMention(table, glue.negative, loose), table.end, 1 + table.links[0].cost


def _is_moment(node: AskedCondition) -> bool:
    """Whether a condition is on a year or a date that names no column."""
    return node.column is None and not any(value.stored for value in node.values)
