"""How alike in meaning a question and some lines are: `Similarity`, for a provider that quotes.

It embeds both and gives the cosines, in the order of the lines; None when the question is in a
language the embedder does not know, for then its vectors say nothing. The vectors of the last
lines are remembered: sources come back from question to question. What is remembered changes no
number, for an embedder gives the same text the same vector.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from redask.core.ports import Embedder

REMEMBERED = 20_000
TextVector = tuple[float, ...]


@dataclass(slots=True)
class Similarity:
    """An embedder, and what tells the language of a question."""

    embedder: Embedder
    language_of: Callable[[str], str]
    _known: dict[str, TextVector] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, question: str, lines: Sequence[str]) -> list[float] | None:
        """The cosine of each line to the question."""
        languages = self.embedder.languages
        if languages and self.language_of(question) not in languages:
            return None
        vectors = self._vectors([question, *lines])
        asked = vectors[0]
        return [sum(a * b for a, b in zip(asked, vector, strict=True)) for vector in vectors[1:]]

    def _vectors(self, texts: Sequence[str]) -> list[TextVector]:
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        found.update(zip(missing, self.embedder.embed(missing), strict=True))
        with self._lock:
            if len(self._known) + len(missing) > REMEMBERED:
                self._known.clear()
            self._known.update((text, found[text]) for text in missing)
        return [found[text] for text in texts]
