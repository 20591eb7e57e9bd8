"""Semantic similarity of a question and some lines: `Similarity`, for the extractive provider.

It embeds both and returns the cosines, in the order of the lines; None when the embedder does not
support the language of the question, or the caller may not use it (`[[allow]]`). The vectors of
lines are cached, because sources recur from question to question. The cache changes no result: an
embedder is deterministic, and a vector is cached without loss: as float32 where that holds every
number of it (those of `minilm` always: 31 MB for 20,000 of 384 dimensions), else as float64.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from redask.core.errors import Denied
from redask.core.ports import Embedder

MAX_CACHED = 20_000
TextVector = npt.NDArray[np.float32] | npt.NDArray[np.float64]


@dataclass(slots=True)
class Similarity:
    """An embedder, and a function that detects the language of a question."""

    embedder: Embedder
    language_of: Callable[[str], str]
    _cache: dict[str, TextVector] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, question: str, lines: Sequence[str]) -> list[float] | None:
        """The cosine of each line with the question."""
        languages = self.embedder.languages
        if languages and self.language_of(question) not in languages:
            return None
        try:
            vectors = self._vectors([question, *lines])
        except Denied:  # the caller's role may not use it
            return None
        query = vectors[0].astype(np.float64)
        # products in float64, summed from first to last: the same bytes on every machine
        return [sum((query * vector).tolist()) for vector in vectors[1:]]

    def _vectors(self, texts: Sequence[str]) -> list[TextVector]:
        with self._lock:
            found = {text: self._cache[text] for text in texts if text in self._cache}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        made = map(_lossless, self.embedder.embed(missing))
        found.update(zip(missing, made, strict=True))
        with self._lock:
            if len(self._cache) + len(missing) > MAX_CACHED:
                self._cache.clear()
            self._cache.update((text, found[text]) for text in missing)
        return [found[text] for text in texts]


def _lossless(vector: Sequence[float]) -> TextVector:
    """The smallest array that holds just these numbers."""
    wide = np.array(vector, np.float64)
    narrow = wide.astype(np.float32)
    return narrow if np.array_equal(narrow, wide) else wide
