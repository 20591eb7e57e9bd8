"""The grammar of conditions.

condition  := COLUMN [is] [not] [compare] values [COLUMN]     whose age is over 20
            | COLUMN between NUMBER and NUMBER
            | COLUMN compare average [COLUMN]                 whose budget is above average
            | COLUMN contains TEXT | contains TEXT [in COLUMN]
            | compare NUMBER [in] COLUMN                      more than 100 members
            | compare average COLUMN
            | values [COLUMN | TABLE]                         in the Physics department
            | moment [year | COLUMN] VALUE [or later]         opened before 1990
            | is [not] FLAG | is OPPOSITE                     are not active, are inactive
            | have [no] COLUMN | COLUMN [to] anyone           without an email
            | ADJECTIVE than NUMBER | NUMBER years old        older than 20
"""

from collections.abc import Iterator
from dataclasses import replace

from redask.core.planning.question import cues
from redask.core.planning.question.name_phrases import ColumnPhrase
from redask.core.planning.question.phrase_reader import FoundModifier, Glue, PhraseReader
from redask.core.planning.question.phrases import Cue, ValuePhrase
from redask.core.planning.question.readings import AskedCondition
from redask.core.planning.question.words import identifier_words

_BEFORE_VALUES = frozenset("as of in either to equal equals named called value that which".split())
_HAVING = frozenset("have has had having with without".split())
_ANYTHING = frozenset("anyone anybody anything someone somebody something".split())
_YEARS_OLD = (("years", "old"), ("year", "old"))


def _condition(
    op: str,
    values: tuple[ValuePhrase, ...],
    column: ColumnPhrase | None,
    glue: Glue,
    *,
    against: str = "",
    joined: str = "",
) -> AskedCondition:
    said = set(glue.words)
    return AskedCondition(
        op,
        values,
        column,
        glue.negative,
        against,
        joined=joined,
        both="both" in said,
        apart=bool(said & cues.JOINING),
        alternative=glue.alternative,
    )


class ConditionGrammar(PhraseReader):
    """The rules of conditions over the phrases of one question."""

    def conditions(self, glue: Glue) -> Iterator[FoundModifier]:
        """Every condition that starts behind some glue."""
        yield from self.compared(glue)
        yield from self._column_conditions(glue)
        yield from self.value_conditions(glue)
        yield from self._dimensions(glue)
        yield from self._contents(glue)

    # --- what is said of a column that is named ------------------------------------------

    def _column_conditions(self, glue: Glue) -> Iterator[FoundModifier]:
        if (cues.AUXILIARIES | {"not"}) & set(glue.words):
            for flag, opposite in self.flags(glue.end):
                said = replace(glue, negative=glue.negative != opposite)
                yield _condition("flag", (), flag, said), flag.end, 1 + flag.links[0].cost
        for column in self.columns(glue.end):
            cost = 1 + column.links[0].cost
            yield from self._presence(column, glue, cost)
            for inner in self.links(column.end, glue):
                for node, end, more in self._predicate(column, inner):
                    yield node, end, cost + more

    def _presence(self, column: ColumnPhrase, glue: Glue, cost: int) -> Iterator[FoundModifier]:
        """`have no email`, `without an email`, `do not report to anyone`."""
        if glue.words and _HAVING & set(glue.words[-2:]):
            yield _condition("present", (), column, glue), column.end, cost
        behind = column.end + (1 if self.low(column.end) in cues.PREPOSITIONS else 0)
        if self.low(behind) in _ANYTHING:
            yield _condition("present", (), column, glue), behind + 1, cost

    def links(self, place: int, glue: Glue) -> list[Glue]:
        """What may stand between a column and its value: is, as, of, not."""
        inner = replace(glue, end=place)
        found = [inner]
        while inner.end < self.size:
            low = self.low(inner.end)
            negative = low in cues.NEGATIVE or low.endswith("n't")
            if not negative and low not in cues.AUXILIARIES and low not in _BEFORE_VALUES:
                break
            inner = replace(inner, end=inner.end + 1, negative=inner.negative or negative)
            found.append(inner)
        return found

    def _predicate(self, column: ColumnPhrase, glue: Glue) -> Iterator[FoundModifier]:
        """What is said of a column."""
        cue = self.cue(glue.end, "compare", "moment")
        behind = cue.end if cue else glue.end
        if cue is not None:
            yield from self._against(glue, column, cue)
            behind = self._behind_year(behind)
        for values, end, joined in self.value_lists(behind):
            if cue is None or len(values) == 1:
                op, last = self._upward(cue.payload if cue else "=", end)
                node = _condition(op, values, column, glue, joined=joined)
                yield node, last, 0
                if self._is_money(last, column):
                    yield node, last + 1, 0
                for again in self.columns(last):
                    if set(again.links) & set(column.links):
                        yield node, again.end, 0
        contains = self.cue(glue.end, "contain")
        if contains is not None:
            for value in self.values(contains.end):
                if value.quoted:
                    yield _condition(contains.payload, (value,), column, glue), value.end, 0
        between = self.cue(glue.end, "between")
        if between is not None:
            for values, end, joined in self.value_lists(between.end):
                if len(values) == 2 and joined == "and":
                    yield _condition("between", values, column, glue), end, 0

    def _behind_year(self, place: int) -> int:
        """Behind "year" or "year of", which only say what the number is."""
        if self.low(place) != "year":
            return place
        return place + (2 if self.low(place + 1) == "of" else 1)

    def _is_money(self, place: int, column: ColumnPhrase) -> bool:
        """Whether a word says only that the amounts of a column are money."""
        named = identifier_words(column.links[0].column)
        return self.low(place) in cues.MONEY and bool(cues.MONEY_NOUNS & set(named))

    def _upward(self, op: str, place: int) -> tuple[str, int]:
        """`2011 or later`: the comparison that stands behind a value."""
        cue = self.cue(place, "upward")
        return (cue.payload, cue.end) if cue is not None and op == "=" else (op, place)

    def _against(
        self, glue: Glue, column: ColumnPhrase | None, cue: Cue
    ) -> Iterator[FoundModifier]:
        """`more than the average budget`, `above average`."""
        word = self.cue(cue.end, "aggregate", "extreme")
        if word is None or word.payload == "sum":
            return
        for other in self.columns(word.end):
            if column is None or column.links == other.links:
                node = _condition(cue.payload, (), other, glue, against=word.payload)
                yield node, other.end, 1 + other.links[0].cost
        if column is not None:
            yield _condition(cue.payload, (), column, glue, against=word.payload), word.end, 1

    # --- what names its column late, or not at all -----------------------------------------

    def compared(self, glue: Glue) -> Iterator[FoundModifier]:
        """`more than 2000 balance`; `over 20 years old`; `after 2000`."""
        cue = self.cue(glue.end, "compare", "moment")
        if cue is None:
            return
        for value, _ in self.numbers(cue.end):
            if (self.low(value.end), self.low(value.end + 1)) in _YEARS_OLD:
                node = _condition(cue.payload, (value,), None, glue)
                yield replace(node, dimension="older"), value.end + 2, 1
            if self.low(value.end) in cues.MONEY:
                node = _condition(cue.payload, (value,), None, glue)
                yield replace(node, dimension="expensive"), value.end + 1, 1
            behind = value.end + (1 if self.low(value.end) == "in" else 0)
            for column in self.columns(behind):
                node = _condition(cue.payload, (value,), column, glue)
                yield node, column.end, 1 + column.links[0].cost
        if cue.kind == "moment":
            yield from self._moments(glue, cue)
        yield from self._against(glue, None, cue)

    def _moments(self, glue: Glue, cue: Cue) -> Iterator[FoundModifier]:
        """`before 1990`, `after the year 1989`, `in year 2008 or 2010`, `after season 2007`."""
        for values, end, joined in self.value_lists(self._behind_year(cue.end)):
            if len(values) == 1 or (joined == "or" and cue.payload == "="):
                op, last = self._upward(cue.payload, end)
                yield _condition(op, values, None, glue, joined=joined), last, 2
        for column in self.columns(cue.end):
            for value in self.values(column.end):
                op, last = self._upward(cue.payload, value.end)
                node = _condition(op, (value,), column, glue)
                yield node, last, 1 + column.links[0].cost

    def value_conditions(self, glue: Glue) -> Iterator[FoundModifier]:
        """`from China`, `in the Physics department`, `in 1997`."""
        for values, end, joined in self.value_lists(glue.end):
            if any(value.number is not None and not value.is_place for value in values):
                if len(values) == 1 and "in" in glue.words and len(values[0].number or "") == 4:
                    op, last = self._upward("=", end)
                    yield _condition(op, values, None, glue), last, 2
                continue
            plain = _condition("=", values, None, glue, joined=joined)
            yield plain, end, 1 + self._doubtful(values[0])
            for column in self.columns(end):
                yield replace(plain, column=column), column.end, 1 + column.links[0].cost
            for table in self.tables(end):
                yield replace(plain, near=table), table.end, 1 + table.links[0].cost

    def _doubtful(self, value: ValuePhrase) -> int:
        """A cost for a value that is a plain word, and the name of a column or table as well."""
        if value.quoted or value.end > value.start + 1 or not value.text.islower():
            return 0
        costs = [name.links[0].cost for name in self.columns(value.start)]
        costs += [name.links[0].cost for name in self.tables(value.start)]
        return 3 if min(costs, default=2) <= 1 else 0

    def _dimensions(self, glue: Glue) -> Iterator[FoundModifier]:
        """`20 years old`, `older than 20`."""
        for value, _ in self.numbers(glue.end):
            if (self.low(value.end), self.low(value.end + 1)) in _YEARS_OLD:
                node = replace(_condition("=", (value,), None, glue), dimension="older")
                yield node, value.end + 2, 1
        low = self.low(glue.end)
        if low in cues.COMPARATIVES and self.low(glue.end + 1) == "than":
            for value, _ in self.numbers(glue.end + 2):
                node = replace(_condition(">", (value,), None, glue), dimension=low)
                end = value.end + (1 if self.low(value.end) in ("years", "year") else 0)
                yield node, end, 1
                yield from self._units(node, value.end)

    def _units(self, node: AskedCondition, place: int) -> Iterator[FoundModifier]:
        """`longer than 20 minutes`, of a column that is named as the unit."""
        units = cues.UNITS.get(node.dimension, {})
        for column in self.columns(place):
            sign = units.get(self.words[place].stem, 0) if column.end == place + 1 else 0
            if sign and column.links[0].cost <= 1:
                op = ">" if sign > 0 else "<"
                yield replace(node, op=op, dimension="", column=column), column.end, 1

    def _contents(self, glue: Glue) -> Iterator[FoundModifier]:
        """`which contain 'CV'`, said of the column that is shown; `have the word 'CV' in NAME`."""
        cue = self.cue(glue.end, "contain")
        for value in self.values(cue.end) if cue else ():
            if cue is not None and value.quoted:
                node = _condition(cue.payload, (value,), None, glue)
                yield node, value.end, 1
                if self.low(value.end) == "in":
                    for column in self.columns(value.end + 1):
                        cost = 1 + column.links[0].cost
                        yield replace(node, column=column), column.end, cost
