"""Words that turn a statement round: negations, opposite directions, superlatives.

    negation       plain: not, no, never, n't, neither, none …; else: without, fail, lack, unable …
    direction      a word of one of the SCALES below and the end of it that the word is near: more
                   and less, before and after, best and worst. Two words are opposite if they are
                   near different ends of one scale.
    superlative    largest, most …, -est of any adjective; only as far as a source uses one

Words are forms (`stems.form`). The scales are common English antonyms; other languages have
neither directions nor superlatives here, and of negations only what is listed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from redask.core.rules.grounding.stems import form

_PLAIN = frozenset(
    map(
        form,
        """
        not no never cannot neither nor none nobody nothing nowhere n't ain't aren't can't couldn't
        didn't doesn't don't hadn't hasn't haven't isn't mustn't needn't shan't shouldn't wasn't
        weren't won't wouldn't
        nicht kein keine keinen nie niemals jamais nunca
        """.split(),
    )
)
_NEGATIONS = _PLAIN | frozenset(
    map(
        form,
        """
        without hardly scarcely barely rarely seldom fail fails failed failing failure refuse
        refused refuses deny denied denies lack lacks lacked lacking unable absent absence false
        falsely incapable unlikely unclear unknown ohne sans sin
        """.split(),
    )
)
# one scale a line: words near one end | words near the other
_SCALES = """
more higher greater larger bigger increase rise rose risen grow grew grown growth gain climb expand
 exceed up elevate enhance raise upregulate boost strengthen double majority maximum increasingly
 | less fewer lower smaller decrease fall fell fallen decline drop shrink shrank lose loss reduce
 reduction diminish down downregulate weaken halve minority minimum decreasingly attenuate impair
most highest greatest largest biggest maximum | least fewest lowest smallest minimum
above over exceed | below under
before earlier prior previously precede | after later subsequently following follow
first earliest oldest eldest begin began beginning start | last latest newest youngest end final
better improve best | worse worsen worst deteriorate
best | worst
longer longest long | shorter shortest short
stronger strong strongest | weaker weak weakest
older old oldest | younger young youngest newer new newest
faster fast fastest quick quicker quickest rapid | slower slow slowest
hotter hot warm warmer hottest warmest | cold colder cool cooler coldest
tall taller tallest high highest higher | low lower lowest
heavy heavier heaviest | light lighter lightest
rich richer richest | poor poorer poorest
near nearer nearest close closer closest | far farther further farthest furthest
many | few
always | never rarely seldom
all every each | no none
with | without
include | exclude
positive positively | negative negatively
activate activation promote induce stimulate | inhibit inhibition suppress suppression prevent block
sensitive sensitivity susceptible | resistant resistance
win won winner victory | lose lost loser defeat
accept approve allow permit | reject refuse deny ban forbid prohibit
legal | illegal
same similar equal identical | different
north northern | south southern
east eastern | west western
left | right
male man men boy father son brother husband he his
 | female woman women girl mother daughter sister wife she her
inside indoor | outside outdoor
open opened | close closed
arrive enter | depart leave exit
buy bought purchase | sell sold
true | false
success successful successfully succeed | failure unsuccessful unsuccessfully fail
"""


@dataclass(frozen=True, slots=True)
class Direction:
    """A word near one end (+1 or -1) of a scale."""

    scale: int
    end: int


def _read_scales() -> dict[str, tuple[Direction, ...]]:
    found: dict[str, dict[Direction, None]] = {}
    for scale, line in enumerate(_SCALES.replace("\n ", " ").strip().split("\n")):
        for end, part in zip((1, -1), line.split("|"), strict=True):
            for word in part.split():
                found.setdefault(form(word), {})[Direction(scale, end)] = None
    return {word: tuple(ends) for word, ends in found.items()}


_DIRECTIONS = _read_scales()
_DIRECTED = frozenset(_DIRECTIONS)


def is_negation(word: str) -> bool:
    """Whether a form negates what follows it."""
    return word in _NEGATIONS


def is_plain(word: str) -> bool:
    """Whether a form does nothing but negate."""
    return word in _PLAIN


def negations(words: Sequence[str]) -> list[int]:
    """The places of the forms that negate."""
    if _NEGATIONS.isdisjoint(words):
        return []
    return [at for at, word in enumerate(words) if word in _NEGATIONS]


def directed(words: Sequence[str]) -> list[int]:
    """The places of the forms that have a direction."""
    if _DIRECTED.isdisjoint(words):
        return []
    return [at for at, word in enumerate(words) if word in _DIRECTED]


def directions(word: str) -> tuple[Direction, ...]:
    """What a form says of direction; empty for most."""
    return _DIRECTIONS.get(word, ())


def opposite(one: Sequence[Direction], other: Sequence[Direction]) -> bool:
    """Whether two words are near different ends of a scale, and never near the same one."""
    if any(each in other for each in one):
        return False
    return any(Direction(each.scale, -each.end) in other for each in one)


def alike(one: Sequence[Direction], other: Sequence[Direction]) -> bool:
    """Whether two words are near the same end of a scale."""
    return any(each in other for each in one)
