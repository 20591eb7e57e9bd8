"""What grammar rules read from: the phrases at a word, lists of them, and the words that join.

    glue    := { relative | auxiliary | preposition | light verb | negative | and | , | . } [ verb ]
    values  := VALUE { (, | or | and | nor) VALUE }
    measure := COLUMN | count TABLE | count COLUMN

A rule gives every way to read what starts at a word: the node, the word behind it, the cost.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from redask.core.planning.question import cues
from redask.core.planning.question.name_phrases import ColumnPhrase, TablePhrase
from redask.core.planning.question.phrases import Cue, Phrases, ValuePhrase
from redask.core.planning.question.readings import Modifier

_STOPS = frozenset(
    "sort direction each compare moment contain between extreme top common upward".split()
)
_GLUE = (
    cues.PREPOSITIONS | cues.RELATIVES | cues.AUXILIARIES | cues.JOINING | cues.LIGHT
) - frozenset(["or"])
FoundModifier = tuple[Modifier, int, int]
ValuePhrases = tuple[tuple[ValuePhrase, ...], int, str]


@dataclass(frozen=True, slots=True)
class Glue:
    """What joins a modifier to what came before; `verb` says that two things belong.

    An "or" stands first: what follows is an alternative to the condition before it.
    """

    end: int
    negative: bool = False
    words: tuple[str, ...] = ()
    verb: str = ""
    sentence: bool = False
    alternative: bool = False


class PhraseReader:
    """The phrases of one question, by place."""

    def __init__(self, phrases: Phrases) -> None:
        self.phrases = phrases
        self.words = phrases.words
        self.size = len(phrases.words)

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

    def flags(self, place: int) -> Iterator[tuple[ColumnPhrase, bool]]:
        """The columns that may be flags, and whether the opposite is said."""
        for column in self.columns(place):
            yield column, False
        for column in self.phrases.opposites[place] if place < self.size else ():
            yield column, True

    def numbers(self, place: int) -> Iterator[tuple[ValuePhrase, str]]:
        """The values that are numbers, and their digits."""
        for value in self.values(place):
            if value.number is not None:
                yield value, value.number

    def leading_number(self, place: int) -> tuple[int, int]:
        """Behind a small number, and that number; 1 where there is none."""
        for value, digits in self.numbers(place):
            if digits.isdecimal() and len(digits) < 4:
                return value.end, int(digits)
        return place, 1

    def superlative(self, place: int) -> tuple[int, str]:
        """Behind an adjective that measures something to its end, and the adjective; or nothing."""
        low = self.low(place)
        if low == "most" and self.low(place + 1) in ("expensive", "recent"):
            return place + 2, self.low(place + 1)
        if low in cues.DIMENSIONS and low not in cues.COMPARATIVES:
            return place + 1, low
        return place, ""

    def signed(self, adjective: str, column: ColumnPhrase) -> int:
        """Whether an adjective asks for the most (1) or the least (-1) of a column; 0: neither."""
        nouns = cues.DIMENSIONS.get(adjective, {})
        stems = (token.stem for token in self.words[column.start : column.end])
        return next((nouns[stem] for stem in stems if stem in nouns), 0)

    def value_lists(self, place: int) -> Iterator[ValuePhrases]:
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
        behind = place + 1 if self.low(place) == "," else place
        word = self.low(behind)
        return (behind + 1, word) if word in ("or", "and", "nor") else (behind, "")

    def measures(
        self, place: int
    ) -> Iterator[tuple[ColumnPhrase | None, TablePhrase | None, int, int]]:
        """A column, or the number of rows of a table, or a column that holds a number of things."""
        counts = self.cue(place, "count")
        if counts is not None:
            for table in self.tables(counts.end):
                yield None, table, table.end, 1 + table.links[0].cost
            for column in self.columns(counts.end):
                counted = replace(column, counting=True)
                yield counted, None, column.end, 1 + column.links[0].cost
        for column in self.columns(place):
            yield column, None, column.end, column.links[0].cost

    # --- glue ----------------------------------------------------------------------------

    def glue(self, place: int) -> list[Glue]:
        """The ways to read the joining words from a place on, longest first."""
        found = []
        state = Glue(place)
        while True:
            if state.end >= self.size:
                found.append(state)
                break
            if self._starts(state.end):
                found.append(state)
            longer = self._longer(state)
            if longer is None:
                break
            state = longer
        return found[::-1]

    def _longer(self, glue: Glue) -> Glue | None:
        """The glue with one more word; None where the next word joins nothing."""
        token = self.words[glue.end]
        low = token.low
        more = replace(glue, end=glue.end + 1, words=(*glue.words, low))
        if token.kind == "mark":
            return replace(more, sentence=glue.sentence or low in ".?!")
        if low == "or" and not glue.words:
            return replace(more, alternative=True)
        if low in cues.NEGATIVE or low.endswith("n't"):
            doubled = glue.negative and low != "nor"
            return None if doubled else replace(more, negative=True)
        is_month = token.text == "May" and glue.end > 0
        if token.kind == "word" and low in _GLUE and not self.cue(glue.end, *_STOPS):
            return None if is_month else more
        if not glue.verb and self._is_verb(glue.end):
            return replace(more, verb=low)
        return None

    def _starts(self, place: int) -> bool:
        """Whether a phrase or a cue starts at a word."""
        phrases = self.phrases
        return bool(
            phrases.columns[place]
            or phrases.tables[place]
            or phrases.values[place]
            or phrases.cues[place]
            or phrases.opposites[place]
            or self.low(place) in cues.DIMENSIONS
        )

    def _is_verb(self, place: int) -> bool:
        """Whether a word says that two things belong together, and names nothing.

        Before the name of a table it may be a part of a column's name: `built a mill`.
        """
        if self.low(place) not in cues.RELATIONS:
            return False
        phrases = self.phrases
        if phrases.tables[place] or phrases.values[place] or phrases.cues[place]:
            return False
        named = any(each.links[0].cost == 0 for each in self.tables(place + 1))
        whole = any(each.links[0].cost == 0 for each in phrases.columns[place])
        return not self._starts(place) or (named and not whole)
