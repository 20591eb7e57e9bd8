"""The second hop: `chain` gives the excerpts that lead from what the question names to its answer.

"Where was the director of film Heat born?" names the source Heat. An excerpt of it that names
another source near a word of the question ("directed by Michael Mann") is the first hop, the best
excerpt of that source the second. A question that names two sources ("Which film is older, …")
has a chain of each, in its order.

    a hop needs     a source that the question names; in it a name of another one, which the
                    question does not have, within NEAR words of a cue; and a word of the question
                    that is neither in the first name nor the cue: it is asked about
    a cue           a word of the question of the same prefix, or one of its kin: "mother" is found
                    by "son of", "wife" by "married"
    without hops    the best excerpt of each source, if the question compares two; else nothing
"""

from collections.abc import Sequence

from redask.core.rules import terms
from redask.providers.extractive.relevance import ExcerptRanker, ScoredExcerpt
from redask.providers.extractive.source_names import SourceNames

NEAR = 10
MAX_CHAIN = 4
_PREFIX = 5
_COMPARES = frozenset("and between both or than versus vs".split())
_CHILD = ("son", "daughter", "child", "children", "born")
_MARRIED = ("married", "marriage", "wife", "husband", "spouse", "widow")
_KIN = {
    **dict.fromkeys("mother father parents parent grandfather grandmother".split(), _CHILD),
    **dict.fromkeys("wife husband spouse stepmother stepfather".split(), _MARRIED),
    **dict.fromkeys("son daughter child children".split(), ("father", "mother", "parents")),
}


def chain(
    question: str, scored: Sequence[ScoredExcerpt], ranker: ExcerptRanker
) -> list[ScoredExcerpt]:
    """The excerpts of the chain in its order; empty if the question needs none."""
    names = ranker.names
    best: dict[int, ScoredExcerpt] = {}
    for one in scored:
        best.setdefault(one.number, one)
    starts = [
        number
        for number in names.named_in(question)
        if number in best and not best[number].excerpt.fields
    ][: MAX_CHAIN // 2]
    found: list[ScoredExcerpt] = []
    hops = 0
    for number in starts:
        asked = _asked(question, names.name_of(number))
        own = [one for one in scored if one.number == number]
        hop = next(filter(None, (_hop(one, asked, starts, names) for one in own)), None)
        if hop is None or hop[1] not in best:
            found.append(best[number])
        else:
            hops += 1
            found += [hop[0], best[hop[1]]]
    of_names = {word for number in starts for word in names.name_of(number)}
    compares = not _COMPARES.isdisjoint(set(terms.words(question)) - of_names)
    return found if hops or (len(starts) > 1 and compares) else []


def _asked(question: str, name: Sequence[str]) -> list[str]:
    """The words of the question that are not stop words and not of the name."""
    words = [word for word in terms.words(question) if word not in terms.ENGLISH]
    return [word for word in words if word not in name]


def _hop(
    one: ScoredExcerpt, asked: Sequence[str], starts: Sequence[int], names: SourceNames
) -> tuple[ScoredExcerpt, int] | None:
    """This excerpt, and the source that it leads to."""
    words = terms.words(one.excerpt.text)
    links = [(at, number) for at, number in names.places_in(words) if number not in starts]
    for at, number in links:
        near = words[max(0, at - NEAR) : at]
        cues = [word for word in asked if _has_cue(word, near)]
        if cues and len(asked) > len(cues):
            return one, number
    return None


def _has_cue(word: str, near: Sequence[str]) -> bool:
    kin = _KIN.get(word, ())
    return any(other[:_PREFIX] == word[:_PREFIX] or other in kin for other in near)
