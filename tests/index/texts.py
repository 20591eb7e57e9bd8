"""Deterministic texts for tests, with a Zipf-like distribution of words."""

import random
from bisect import bisect
from itertools import accumulate

from redask.core.model import Kind, Urn
from redask.core.ports import Entity, Query
from redask.core.rules import terms
from redask.core.rules import urn as urns
from redask.core.wire.json import text

_SYLLABLES = "ba cor de fi gan hu jo kal lem mi nor pu ra sel ti vor wen xi yo zan".split()
_SIZE = 4_000
WORDS = [
    "".join(_SYLLABLES[number // 20**power % 20] for power in range(3)) for number in range(_SIZE)
]
_WEIGHTS = list(accumulate(1 / (rank + 3) for rank in range(_SIZE)))


def words(count: int, chance: random.Random) -> str:
    """`count` words, drawn by that distribution."""
    return " ".join(WORDS[bisect(_WEIGHTS, chance.random() * _WEIGHTS[-1])] for _ in range(count))


def row(number: int, collection: str = "t", **columns: object) -> Entity:
    return Entity(urns.encode(Urn(Kind.ROW, collection, str(number))), text(columns))


def corpus(count: int, seed: int = 0) -> list[Entity]:
    """Entities with prose of uneven length; every tenth repeats its predecessor's text.

    Some have a name, which others may mention.
    """
    chance = random.Random(seed)
    entities = []
    prose = ""
    for number in range(count):
        if number % 10:
            prose = words(chance.randrange(4, 30), chance)
        columns = {"text": prose, "code": f"AB-{number % 50}"}
        if number % 25 == 3:
            columns["title"] = " ".join(WORDS[number * step % _SIZE] for step in (7, 11))
        entities.append(row(number, "even" if number % 2 else "odd", **columns))
    return entities


def ask(question: str, **options: object) -> Query:
    return Query(question, terms.extract(question), **options)  # type: ignore[arg-type]


def questions(count: int, seed: int = 1) -> list[Query]:
    """Questions with one to six words, some with literals or phrases, some over one collection."""
    chance = random.Random(seed)
    found = []
    for number in range(count):
        question = f"what is the {words(chance.randrange(1, 7), chance)}"
        question += f" in AB-{chance.randrange(60)}" * (number % 5 == 0)
        question += f' "{words(2, chance)}"' * (number % 7 == 0)
        collections = ("even",) if number % 4 == 0 else ()
        found.append(ask(question, collections=collections, top_k=(5, 20, 100)[number % 3]))
    return found
