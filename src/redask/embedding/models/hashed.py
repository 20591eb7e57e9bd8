"""Feature hashing: a small deterministic embedder without a model, for tests and trials.

Each word counts twice, each of its character trigrams (with word boundaries) once. A feature's
BLAKE2b hash selects a dimension and a sign; counts are summed and the vector is normalised to
length 1. Texts that share words, or parts of words, have a high cosine; synonyms do not. A text
without a word gets the vector of the empty feature.
"""

import hashlib
import math
import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile(r"\w+")
_WORD_WEIGHT = 2


class Hashed:
    """No dependency, any language, the same vector in every process."""

    languages: frozenset[str] = frozenset()

    def __init__(self, dimensions: int = 128) -> None:
        self.dimensions = dimensions
        self.model = f"hashed-{dimensions}-1"

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> tuple[float, ...]:
        numbers = [0] * self.dimensions
        for feature, weight in _features(text).items():
            code = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8)
            index, sign = divmod(int.from_bytes(code.digest()), 2)
            numbers[index % self.dimensions] += weight if sign else -weight
        length = math.sqrt(sum(number * number for number in numbers))
        if length == 0:  # all features cancelled out
            numbers[0], length = 1, 1.0
        return tuple(number / length for number in numbers)


def _features(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for word in _WORD.findall(text.lower()):
        counts[word] += _WORD_WEIGHT
        bordered = f"<{word}>"
        counts.update(bordered[i : i + 3] for i in range(len(bordered) - 2))
    return counts or Counter({"": 1})
