"""An embedder that takes vectors from files where they have them: `TakenVectors`.

What no file has (it was written since) is embedded here, as if there were no file. The vectors of
the first texts that a file has are made here as well and must be equal to the bit: a machine that
computes otherwise, or a file that somebody else wrote, would make answers that nobody can repeat.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from redask.core.errors import BadAsk
from redask.core.ports import Embedder
from redask.embedding.vector_files import VectorFile, text_hash

TRIED = 8  # texts of each file


class TakenVectors:
    """The embedder with the vectors of these files; it counts what it took and what it made."""

    def __init__(self, embedder: Embedder, files: Sequence[VectorFile]) -> None:
        self._embedder, self._files = embedder, files
        self.model, self.dimensions = embedder.model, embedder.dimensions
        self.languages = embedder.languages
        self.taken = self.made = 0
        self._tried: Counter[str] = Counter()

    def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        found = {text: self._find(text) for text in texts}
        tried = [text for text, (path, _) in found.items() if path and self._is_tried(path)]
        missing = [text for text, (path, _) in found.items() if not path]
        made = dict(zip([*missing, *tried], self._embedder.embed([*missing, *tried]), strict=True))
        for text in tried:
            path, vector = found[text]
            if np.array(made[text], np.float32).tolist() != list(vector):
                raise BadAsk(
                    f"{path!a} has another vector of a text than this machine makes: it was made "
                    "by another kind of processor, or is not what it says it is",
                    detail="vectors",
                )
        self.taken += len(found) - len(missing)
        self.made += len(missing)
        return [found[text][1] or made[text] for text in texts]

    def _find(self, text: str) -> tuple[str, tuple[float, ...]]:
        """The first file that has it, and its vector; nothing where none has."""
        digest = text_hash(text)
        for file in self._files:
            if vector := file.find(digest):
                return str(file.path), vector
        return "", ()

    def _is_tried(self, path: str) -> bool:
        self._tried[path] += 1
        return self._tried[path] <= TRIED
