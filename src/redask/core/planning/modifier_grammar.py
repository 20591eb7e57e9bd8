"""The grammar of what follows the things asked for: conditions, extremes, order, groups.

    tail       := { glue modifier } [ ending ]
    glue       := { relative | auxiliary | preposition | light verb | negative | and | or | , }
    modifier   := sort | each | extreme | counted | condition | mention | restated
    condition  := COLUMN [is] [not] [compare] values | compare NUMBER COLUMN | values [COLUMN | TABLE]
                | COLUMN compare average | COLUMN contains TEXT | ADJECTIVE than NUMBER
                | moment YEAR
    counted    := [compare] NUMBER TABLE
    extreme    := EXTREME [n] COLUMN | EXTREME [number of] TABLE | top n COLUMN

Each rule gives every way to read what starts at a word: the node, the word behind it, the cost.
`tail` keeps the cheapest few, so that the work is bounded on any text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from redask.core.planning import cues
from redask.core.planning.phrases import ColumnPhrase, Cue, Phrases, TablePhrase, ValuePhrase
from redask.core.planning.readings import (
    Condition,
    Counted,
    Each,
    Extreme,
    Levelled,
    Mention,
    Modifier,
    Sort,
    Verb,
)

_KEPT = 8
_STOPS = frozenset(
    "sort direction each compare moment contain between extreme top common upward".split()
)
_BEFORE_VALUES = frozenset("as of in either to equal equals named called value that which".split())
_YEARS_OLD = (("years", "old"), ("year", "old"))
_HAVING = frozenset("with have has had having".split())
Found = tuple[Modifier, int, int]


@dataclass(frozen=True, slots=True)
class Glue:
    """What joins a modifier to what came before."""

    end: int
    negative: bool = False
    either: bool = False
    neither: bool = False
    words: tuple[str, ...] = ()
    verb: str = ""
    sentence: bool = False

    @property
    def cost(self) -> int:
        """A verb that no list knows must be what links two tables."""
        return 2 if self.verb else 0


class ModifierGrammar:
    """The rules over the phrases of one question."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases
        self.words = phrases.words
        self.size = len(phrases.words)
        self._tails: dict[int, tuple[tuple[tuple[Modifier, ...], int], ...]] = {}
        self.furthest = 0

    def cue(self, place: int, *kinds: str) -> Cue | None:
        """The longest cue of these kinds that starts at a word."""
        if place >= self.size:
            return None
        return next((cue for cue in self.phrases.cues[place] if cue.kind in kinds), None)

    def low(self, place: int) -> str:
        """The word at a place, in lower case; nothing behind the end."""
        return self.words[place].low if place < self.size else ""

    def columns(self, place: int) -> tuple[ColumnPhrase, ...]:
        return self.phrases.columns[place] if place < self.size else ()

    def tables(self, place: int) -> tuple[TablePhrase, ...]:
        return self.phrases.tables[place] if place < self.size else ()

    def values(self, place: int) -> tuple[ValuePhrase, ...]:
        return self.phrases.values[place] if place < self.size else ()

    # --- tails ---------------------------------------------------------------------------

    def tail(self, place: int) -> tuple[tuple[tuple[Modifier, ...], int], ...]:
        """The cheapest ways to read everything from a word to the end."""
        if place not in self._tails:
            self._tails[place] = ()
            found: dict[tuple[Modifier, ...], int] = {}
            if self._is_end(place):
                found[()] = 0
            for glue in self.glue(place):
                self.furthest = max(self.furthest, glue.end)
                for node, end, cost in self.modifier(glue):
                    for rest, more in self.tail(end):
                        whole = (*((Verb(glue.verb),) if glue.verb else ()), node, *rest)
                        total = glue.cost + cost + more
                        found[whole] = min(total, found.get(whole, total))
            best = sorted(found.items(), key=lambda each: (each[1], len(each[0])))
            self._tails[place] = tuple(best[:_KEPT])
        return self._tails[place]

    def _is_end(self, place: int) -> bool:
        """Whether nothing but words without meaning is left."""
        return all(
            token.kind == "mark"
            or token.low in cues.ENDING
            or token.low in cues.LIGHT
            or token.low in ("from", "at", "to")
            for token in self.words[place:]
        )

    def glue(self, place: int) -> list[Glue]:
        """The ways to read the joining words from a place on, longest first."""
        found = []
        negative = either = neither = sentence = False
        words: list[str] = []
        verb = ""
        while True:
            state = (negative, either, neither, tuple(words), verb)
            if place >= self.size or self._starts(place):
                found.append(Glue(place, *state, sentence=sentence))
            if place >= self.size:
                break
            token = self.words[place]
            low = token.low
            if token.kind == "mark":
                sentence = sentence or low in ".?!"
            elif low in cues.NEGATIVE or low.endswith("n't"):
                neither = neither or low in ("neither", "nor")
                negative = True
            elif low == "or":
                either = True
            elif not self._is_glue(place):
                if verb or not self._is_verb(place):
                    break
                verb = low
            words.append(low)
            place += 1
        return found[::-1]

    def _starts(self, place: int) -> bool:
        phrases = self.phrases
        return bool(
            phrases.columns[place]
            or phrases.tables[place]
            or phrases.values[place]
            or phrases.cues[place]
            or self.low(place) in cues.DIMENSIONS
        )

    def _is_glue(self, place: int) -> bool:
        token = self.words[place]
        if token.kind != "word" or self.cue(place, *_STOPS):
            return False
        return (
            token.low in cues.PREPOSITIONS
            or token.low in cues.RELATIVES
            or token.low in cues.AUXILIARIES
            or token.low in cues.JOINING
            or token.low in cues.LIGHT
        )

    def _is_verb(self, place: int) -> bool:
        """Whether a word that nothing knows stands where a verb does."""
        token = self.words[place]
        if token.kind != "word" or not token.low.isalpha() or self.phrases.cues[place]:
            return False
        if self.columns(place) or self.tables(place) or self.values(place):
            return False
        return token.low.endswith("ed") or token.low in cues.PAST

    # --- modifiers -----------------------------------------------------------------------

    def modifier(self, glue: Glue) -> Iterator[Found]:
        """Every modifier that starts behind some glue."""
        if glue.end >= self.size:
            return
        if glue.verb:
            yield from self._linked(glue)
            return
        yield from self._sorts(glue)
        yield from self._each(glue)
        yield from self._extremes(glue)
        yield from self._counted(glue)
        yield from self._compared(glue)
        yield from self._column_conditions(glue)
        yield from self._value_conditions(glue)
        yield from self._dimensions(glue)
        yield from self._mentions(glue)
        yield from self._contents(glue)
        yield from self._aggregated(glue)

    def _linked(self, glue: Glue) -> Iterator[Found]:
        """What a verb may link to: another table, or a moment at which it happened."""
        yield from self._mentions(glue)
        yield from self._counted(glue)
        for node, end, cost in self._extremes(glue):
            if isinstance(node, Extreme) and node.table is not None:
                yield node, end, cost
        for node, end, cost in (*self._value_conditions(glue), *self._compared(glue)):
            if isinstance(node, Condition) and (node.near is not None or _is_moment(node)):
                yield node, end, cost

    def _sorts(self, glue: Glue) -> Iterator[Found]:
        cue = self.cue(glue.end, "sort")
        if cue is not None and not glue.negative:
            for column, table, end, cost in self.measures(cue.end):
                after = self.cue(end, "direction")
                direction = cue.payload or (after.payload if after else "asc")
                end = after.end if after else end
                yield Sort(direction, column, table), end, 1 + cost
        alone = self.cue(glue.end, "direction")
        if alone is not None and not glue.negative:
            yield Sort(alone.payload), alone.end, 2
            if self.low(alone.end) == "by":
                for column, table, end, cost in self.measures(alone.end + 1):
                    yield Sort(alone.payload, column, table), end, 1 + cost

    def measures(
        self, place: int
    ) -> Iterator[tuple[ColumnPhrase | None, TablePhrase | None, int, int]]:
        """A column, or the number of rows of a table."""
        counts = self.cue(place, "count")
        if counts is not None:
            for table in self.tables(counts.end):
                yield None, table, table.end, 1 + table.links[0].cost
            for column in self.columns(counts.end):
                counted = replace(column, counting=True)
                yield counted, None, column.end, 1 + column.links[0].cost
        for column in self.columns(place):
            yield column, None, column.end, column.links[0].cost

    def _each(self, glue: Glue) -> Iterator[Found]:
        cue = self.cue(glue.end, "each")
        if cue is None or glue.negative:
            return
        last = cue.end + (1 if self.low(cue.end) == "one" else 0)
        if last >= self.size or self.words[last].kind == "mark":
            yield Each(), last, 1
        for table in self.tables(cue.end):
            yield Each((), table), table.end, 1 + table.links[0].cost
        for columns, end, cost in self.column_lists(cue.end):
            yield Each(columns), end, 1 + cost

    def column_lists(self, place: int) -> Iterator[tuple[tuple[ColumnPhrase, ...], int, int]]:
        """One column, or two joined by `and`."""
        for first in self.columns(place):
            cost = first.links[0].cost
            yield (first,), first.end, cost
            if self.low(first.end) == "and":
                for second in self.columns(first.end + 1):
                    both = (first, second)
                    yield both, second.end, cost + second.links[0].cost

    def _extremes(self, glue: Glue) -> Iterator[Found]:
        if glue.negative:
            return
        place, number = self._leading_number(glue.end)
        top = self.cue(place, "top")
        if top is not None:
            behind, number = self._leading_number(top.end)
            word = self.cue(behind, "extreme")
            for column, table, end, cost in self.measures(word.end if word else behind):
                direction = word.payload if word else top.payload
                yield Extreme(direction, column, table, number), end, 1 + cost
        common = self.cue(place, "common")
        if common is not None:
            yield Extreme(common.payload, None, None, number, common=True), common.end, 1
        low = self.low(place)
        if low in cues.DIMENSIONS and low not in cues.COMPARATIVES:
            nouns = cues.DIMENSIONS[low][1]
            for column in self.columns(place + 1):
                stems = [token.stem for token in self.words[column.start : column.end]]
                signs = [nouns[stem] for stem in stems if stem in nouns]
                if signs:
                    direction = "max" if signs[0] > 0 else "min"
                    yield Extreme(direction, column, None, number), column.end, 1
        word = self.cue(place, "extreme")
        if word is None:
            return
        loose = self.low(word.start) in ("most", "least", "fewest")
        for column, table, end, cost in self.measures(word.end):
            node = Extreme(word.payload, column, table, number, loose=loose)
            yield node, end, 1 + cost
        for table in self.tables(word.end):
            if word.payload == "max" and self.low(word.start) != "most":
                continue
            yield Extreme(word.payload, None, table, number), table.end, 1 + table.links[0].cost
        inner = self.cue(word.end, "aggregate")
        if inner is not None:
            for column in self.columns(inner.end):
                node = Extreme(word.payload, column, None, number, "", inner.payload)
                yield node, column.end, 1 + column.links[0].cost

    def _leading_number(self, place: int) -> tuple[int, int]:
        """A small number before an extreme, and where the extreme starts."""
        for value in self.values(place):
            if value.number is not None and value.number.isdecimal() and len(value.number) < 4:
                return value.end, int(value.number)
        return place, 1

    def _counted(self, glue: Glue) -> Iterator[Found]:
        cue = self.cue(glue.end, "compare")
        place, op = (cue.end, cue.payload) if cue else (glue.end, "=")
        for value in self.values(place):
            if value.number is None or not value.number.isdecimal():
                continue
            behind, asked = value.end, op
            upward = self.cue(behind, "upward")
            if upward is not None:
                behind, asked = upward.end, upward.payload
            if asked != "=" or cue is not None or _HAVING & set(glue.words):
                for table in self.tables(behind):
                    node = Counted(asked, value.number, table, glue.negative)
                    yield node, table.end, 1 + table.links[0].cost

    # --- conditions ----------------------------------------------------------------------

    def value_lists(self, place: int) -> Iterator[tuple[tuple[ValuePhrase, ...], int, str]]:
        """Values joined by `or`, `and` or commas: the values, the word behind, what joins them."""
        for first in self.values(place):
            values, end, joined = [first], first.end, ""
            while True:
                behind, word = self._joint(end)
                following = self.values(behind) if behind > end else ()
                if word != "or" or not following:
                    yield tuple(values), end, joined
                if not following:
                    break
                values.append(following[0])
                end, joined = following[0].end, word or joined or ","

    def _joint(self, place: int) -> tuple[int, str]:
        behind, word = place, ""
        if self.low(behind) == ",":
            behind += 1
        if self.low(behind) in ("or", "and", "nor"):
            word = self.low(behind)
            behind += 1
        return behind, word

    def _compared(self, glue: Glue) -> Iterator[Found]:
        """`more than 2000 balance`; `after 2000`."""
        cue = self.cue(glue.end, "compare", "moment")
        if cue is None:
            return
        for value in self.values(cue.end):
            old = (self.low(value.end), self.low(value.end + 1))
            if value.number is not None and old in _YEARS_OLD:
                node = self._condition(cue.payload, (value,), None, glue)
                yield replace(node, dimension="older"), value.end + 2, 1
            if value.number is not None:
                behind = value.end + (1 if self.low(value.end) == "in" else 0)
                for column in self.columns(behind):
                    node = self._condition(cue.payload, (value,), column, glue)
                    yield node, column.end, 1 + column.links[0].cost
            if cue.kind == "moment":
                op, end = self._upward(cue.payload, value.end)
                yield self._condition(op, (value,), None, glue), end, 2
        if cue.kind == "moment" and cue.payload == "=":
            for values, end, joined in self.value_lists(cue.end):
                if joined == "or":
                    yield self._condition("=", values, None, glue, joined=joined), end, 2
        if cue.kind == "moment" and self.low(cue.end) == "year":
            behind = cue.end + (2 if self.low(cue.end + 1) == "of" else 1)
            for value in self.values(behind):
                op, end = self._upward(cue.payload, value.end)
                yield self._condition(op, (value,), None, glue), end, 2
        if cue.kind == "moment":
            for column in self.columns(cue.end):
                for value in self.values(column.end):
                    op, end = self._upward(cue.payload, value.end)
                    cost = 1 + column.links[0].cost
                    yield self._condition(op, (value,), column, glue), end, cost
        yield from self._against(glue, None, cue, cue.end)

    def _upward(self, op: str, place: int) -> tuple[str, int]:
        cue = self.cue(place, "upward")
        return (cue.payload, cue.end) if cue is not None and op == "=" else (op, place)

    def _against(
        self, glue: Glue, column: ColumnPhrase | None, cue: Cue, place: int
    ) -> Iterator[Found]:
        """`more than the average budget`, `above average`."""
        word = self.cue(place, "aggregate", "extreme")
        if word is None or word.payload == "sum":
            return
        for other in self.columns(word.end):
            node = self._condition(cue.payload, (), column or other, glue, word.payload)
            if column is None or column.links == other.links:
                yield node, other.end, 1 + other.links[0].cost
        if column is not None:
            yield self._condition(cue.payload, (), column, glue, word.payload), word.end, 1

    @staticmethod
    def _condition(
        op: str,
        values: tuple[ValuePhrase, ...],
        column: ColumnPhrase | None,
        glue: Glue,
        against: str = "",
        joined: str = "",
    ) -> Condition:
        said = set(glue.words)
        condition = Condition(op, values, column, glue.negative, glue.either, against)
        return replace(
            condition, joined=joined, both="both" in said, apart=bool(said & cues.JOINING)
        )

    def _column_conditions(self, glue: Glue) -> Iterator[Found]:
        for column in self.columns(glue.end):
            cost = 1 + column.links[0].cost
            for inner in self._links(column.end, glue):
                yield from (
                    (node, end, cost + more) for node, end, more in self._predicate(column, inner)
                )

    def _links(self, place: int, glue: Glue) -> list[Glue]:
        """What may stand between a column and its value: is, as, of, not."""
        negative, words = glue.negative, glue.words
        found = [Glue(place, negative, glue.either, words=words)]
        while place < self.size:
            low = self.low(place)
            if low in cues.NEGATIVE or low.endswith("n't"):
                negative = True
            elif low not in cues.AUXILIARIES and low not in _BEFORE_VALUES:
                break
            place += 1
            found.append(Glue(place, negative, glue.either, words=words))
        return found

    def _predicate(self, column: ColumnPhrase, glue: Glue) -> Iterator[Found]:
        """What is said of a column."""
        place = glue.end
        cue = self.cue(place, "compare", "moment")
        if cue is not None:
            yield from self._against(glue, column, cue, cue.end)
        behind = cue.end if cue else place
        if cue is not None and self.low(behind) in ("year", "than"):
            behind += 1
        for values, end, joined in self.value_lists(behind):
            op, last = self._upward(cue.payload if cue else "=", end)
            if cue is None or len(values) == 1:
                node = self._condition(op, values, column, glue, joined=joined)
                yield node, last, 0
                for again in self.columns(last):
                    if set(again.links) & set(column.links):
                        yield node, again.end, 0
        contains = self.cue(place, "contain")
        if contains is not None:
            for value in self.values(contains.end):
                if value.quoted or value.end == contains.end + 1:
                    yield self._condition(contains.payload, (value,), column, glue), value.end, 0
        between = self.cue(place, "between")
        if between is not None:
            for values, end, joined in self.value_lists(between.end):
                if len(values) == 2 and joined == "and":
                    yield self._condition("between", values, column, glue), end, 0

    def _value_conditions(self, glue: Glue) -> Iterator[Found]:
        for values, end, joined in self.value_lists(glue.end):
            if any(value.number is not None and not value.stored for value in values):
                if len(values) == 1 and "in" in glue.words and len(values[0].number or "") == 4:
                    op, last = self._upward("=", end)
                    yield self._condition(op, values, None, glue), last, 2
                continue
            plain = self._condition("=", values, None, glue, joined=joined)
            yield plain, end, 1 + self._doubtful(values)
            for column in self.columns(end):
                named = self._condition("=", values, column, glue, joined=joined)
                yield named, column.end, 1 + column.links[0].cost
            for table in self.tables(end):
                beside = replace(plain, near=table)
                yield beside, table.end, 1 + table.links[0].cost

    def _doubtful(self, values: tuple[ValuePhrase, ...]) -> int:
        """A cost for a value that is a plain word, and the name of a column or table as well."""
        first = values[0]
        if first.quoted or first.end > first.start + 1 or not first.text.islower():
            return 0
        names = (*self.columns(first.start), *self.tables(first.start))
        return 3 if any(name.links[0].cost <= 1 for name in names) else 0

    def _dimensions(self, glue: Glue) -> Iterator[Found]:
        """`older than 20`."""
        low = self.low(glue.end)
        for value in self.values(glue.end):
            behind = (self.low(value.end), self.low(value.end + 1))
            if value.number is not None and behind in _YEARS_OLD:
                node = replace(self._condition("=", (value,), None, glue), dimension="older")
                yield node, value.end + 2, 1
        if low not in cues.COMPARATIVES or self.low(glue.end + 1) != "than":
            return
        for value in self.values(glue.end + 2):
            if value.number is not None:
                node = replace(self._condition(">", (value,), None, glue), dimension=low)
                end = value.end + (1 if self.low(value.end) in ("years", "year") else 0)
                yield node, end, 1

    def _aggregated(self, glue: Glue) -> Iterator[Found]:
        """`whose average salary is above 42000`: a test of each group."""
        word = self.cue(glue.end, "aggregate", "extreme")
        if word is None or self.low(glue.end) in ("most", "least", "fewest"):
            return
        for column in self.columns(word.end):
            for inner in self._links(column.end, glue):
                cue = self.cue(inner.end, "compare")
                for value in self.values(cue.end) if cue else ():
                    if cue is not None and value.number is not None and not inner.negative:
                        node = Levelled(word.payload, column, cue.payload, value.number)
                        yield node, value.end, 1 + column.links[0].cost

    def _contents(self, glue: Glue) -> Iterator[Found]:
        """`which contain 'CV'`, said of the column that is shown."""
        cue = self.cue(glue.end, "contain")
        if cue is not None:
            for value in self.values(cue.end):
                if value.quoted:
                    node = self._condition(cue.payload, (value,), None, glue)
                    yield node, value.end, 1
                    if self.low(value.end) == "in":
                        for column in self.columns(value.end + 1):
                            cost = 1 + column.links[0].cost
                            yield replace(node, column=column), column.end, cost

    def _mentions(self, glue: Glue) -> Iterator[Found]:
        said = set(glue.words)
        if not said or (said & cues.JOINING and not said & (cues.RELATIVES | cues.AUXILIARIES)):
            return
        loose = set(glue.words) <= cues.PREPOSITIONS
        for table in self.tables(glue.end):
            yield Mention(table, glue.negative, loose), table.end, 1 + table.links[0].cost


def _is_moment(node: Condition) -> bool:
    """Whether a condition is on a year or a date that names no column."""
    return node.column is None and not any(value.stored for value in node.values)
