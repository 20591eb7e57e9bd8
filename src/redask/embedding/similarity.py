"""Semantic similarity of a question and some lines: `Similarity`, for the extractive provider.

It embeds both and returns the cosines, in the order of the lines; None when the embedder does not
support the language of the question. The vectors of lines are cached, because sources recur from
question to question. The cache changes no result: an embedder is deterministic.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from redask.core.ports import Embedder

MAX_CACHED = 20_000
TextVector = tuple[float, ...]


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
        vectors = self._vectors([question, *lines])
        query = vectors[0]
        return [sum(a * b for a, b in zip(query, vector, strict=True)) for vector in vectors[1:]]

    def _vectors(self, texts: Sequence[str]) -> list[TextVector]:
        with self._lock:
            found = {text: self._cache[text] for text in texts if text in self._cache}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        found.update(zip(missing, self.embedder.embed(missing), strict=True))
        with self._lock:
            if len(self._cache) + len(missing) > MAX_CACHED:
                self._cache.clear()
            self._cache.update((text, found[text]) for text in missing)
        return [found[text] for text in texts]
