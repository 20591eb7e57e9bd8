"""A change of a claim, and the bounds that keep a changed claim untrue.

A mutator is `(sentence, draw) → Edit or None`: it changes one thing, with a source of randomness
seeded by style and sentence. An edit that could leave the claim true is not made: the new value
must not stand in the passage (in digits or in words), a century must hold no year of it, a name
must share no word with it. Mutators of a kind `… of the passage` are the exception: they take a
value that stands elsewhere in the passage. `unit left out` is a kind of its own: there the
claim says less than its source, and no other unit.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random

from claims import spans
from claims.material import Passage, Sentence
from claims.spans import SMALL, Span

KINDS = ("number", "date", "name", "unit", "negation", "comparison")
_TURNS = 3
LEFT_OUT = ("unit left out",)
OF_PASSAGE = ("number of the passage", "date of the passage", "name of the passage")


@dataclass(frozen=True, slots=True)
class Edit:
    """One piece of a sentence, and what stands there instead."""

    start: int
    end: int
    now: str


Mutator = Callable[[Sentence, Random], Edit | None]
Styles = Mapping[str, Mapping[str, Mutator]]  # kind → style → mutator


@dataclass(frozen=True, slots=True)
class Changed:
    """A sentence with one thing changed."""

    kind: str
    style: str
    sentence: Sentence
    edit: Edit

    @property
    def text(self) -> str:
        """The changed sentence."""
        return applied(self.sentence.text, self.edit)

    @property
    def was(self) -> str:
        """What stood there before."""
        return self.sentence.text[self.edit.start : self.edit.end]


def applied(text: str, edit: Edit) -> str:
    """A text with an edit made."""
    return text[: edit.start] + edit.now + text[edit.end :]


def make(styles: Styles, sentences: Sequence[Sentence], most: int) -> Iterator[Changed]:
    """Up to `most` changes of each kind, of each style alike where there are as many."""
    for kind, mutators in styles.items():
        made = {
            style: list(islice(_made(kind, style, mutator, sentences), most))
            for style, mutator in mutators.items()
        }
        quota = share(most, {style: len(found) for style, found in made.items()})
        for style, found in made.items():
            yield from found[: quota[style]]


def _made(
    kind: str, style: str, mutator: Mutator, sentences: Sequence[Sentence]
) -> Iterator[Changed]:
    """The changes of one style: one of each sentence, then others of the same sentences."""
    done: set[tuple[str, int]] = set()
    for turn in range(_TURNS):
        for sentence in sentences:
            edit = mutator(sentence, Random(f"{style}/{turn}/{sentence.id}"))
            if edit is not None and (sentence.id, edit.start) not in done:
                done.add((sentence.id, edit.start))
                yield Changed(kind, style, sentence, edit)


def share(most: int, available: Mapping[str, int]) -> dict[str, int]:
    """So many of each style that their sum is `most`, as even as what is available allows."""
    given = dict.fromkeys(available, 0)
    while left := most - sum(given.values()):
        open_styles = [style for style in available if given[style] < available[style]]
        if not open_styles:
            break
        for style in open_styles:
            more = max(1, left // len(open_styles))
            given[style] += min(more, available[style] - given[style], most - sum(given.values()))
    return given


def first_of(
    found: Sequence[Span], draw: Random, changed: Callable[[Span], str | None]
) -> Edit | None:
    """An edit of one of the spans, in a drawn order, where one can be changed."""
    for span in draw.sample(found, len(found)):
        now = changed(span)
        if now is not None and now != span.text:
            return Edit(span.start, span.end, now)
    return None


def is_new_number(passage: Passage, written: str) -> bool:
    """Whether a number stands nowhere in the passage, with or without separators, or as a word."""
    plain = written.replace(",", "")
    there = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", f"{passage.title} {passage.text}")
    value = float(plain) if plain[0].isdigit() else float(SMALL.index(plain.lower()) + 2)
    if any(float(each.replace(",", "")) == value for each in there):
        return False
    return value not in range(2, 21) or not spans.holds(passage, SMALL[int(value) - 2])


def is_approximate(text: str, span: Span) -> bool:
    """Whether a number is said to be rough: then a small change may leave it true."""
    before = text[max(0, span.start - 24) : span.start].lower()
    rough = (
        r"\b(about|around|nearly|almost|roughly|approximately|some|over|more than|less than|up to"
    )
    return (
        re.search(rough + r"|at least|at most|under|fewer than|c\.|ca\.|circa|~)\W*$", before)
        is not None
    )


def grouped(value: int, like: str) -> str:
    """An integer with thousands separators if the one it replaces has them."""
    return f"{value:,}" if "," in like else str(value)


def swap(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Both directions of a table of opposites."""
    return dict(pairs) | {b: a for a, b in pairs}


def opposites(pairs: Sequence[tuple[str, str]], unless: re.Pattern[str]) -> Mutator:
    """A mutator that turns a word into its opposite, where the opposite is not said as well."""
    table = swap(pairs)
    pattern = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, table)) + r")(?![\w-])", re.I)

    def mutate(sentence: Sentence, draw: Random) -> Edit | None:
        text = sentence.text
        found = [
            Span(match.start(), match.end(), match[0])
            for match in pattern.finditer(text)
            if not unless.search(text[max(0, match.start() - 24) : match.end() + 24])
        ]

        def changed(span: Span) -> str | None:
            opposite = table[span.text.lower()]
            following = re.match(r"\W+\w+", text[span.end :])
            there = opposite + (following[0] if following else "")
            if spans.holds(sentence.passage, there) or opposite in spans.words(text):
                return None
            return opposite.capitalize() if span.text[0].isupper() else opposite

        return first_of(found, draw, changed)

    return mutate


def of_passage(find: Callable[[str], list[Span]], nearest_before: bool) -> Mutator:
    """A mutator that takes another value of the same passage, said of something else there."""

    def mutate(sentence: Sentence, draw: Random) -> Edit | None:
        if not sentence.verbatim:
            return None
        whole = " ".join(sentence.passage.text.split())
        place = whole.find(sentence.text)
        if place < 0:
            return None
        before, after = whole[:place], whole[place + len(sentence.text) :]
        others = find(before)[::-1] if nearest_before else find(after)

        def changed(span: Span) -> str | None:
            used = {word[:4] for word in spans.words(sentence.text)}
            for other in others:
                new = {word[:4] for word in spans.words(other.text)}
                if not used & new and _alike(span.text, other.text):
                    return other.text
            return None

        return first_of(find(sentence.text), draw, changed)

    return mutate


def _alike(one: str, other: str) -> bool:
    """Whether both are digits, or both are words and as many."""
    return one[0].isdigit() == other[0].isdigit() and one.count(" ") == other.count(" ")
