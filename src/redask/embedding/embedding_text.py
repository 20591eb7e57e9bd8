"""Which words of an entity are embedded: `embedding_text(payload, hidden)`, and nowhere else.

first       its title, then its name: a model reads the beginning best, and not all of it
then        every other column with text, in canonical order
left out    `id`, which means nothing to a model, and the columns that are `hidden` from
            anybody: a vector is one for all, so it may hold only what all may read
"""

from redask.index.analysis import analyzer

_FIRST = ("title", "name")


def embedding_text(payload: str, hidden: frozenset[str]) -> str:
    """The text of a payload for an embedder; empty when there is nothing to embed."""
    columns = analyzer.columns(payload)
    order = [
        *(name for name in _FIRST if name in columns),
        *(c for c in columns if c not in _FIRST),
    ]
    told = (columns[each] for each in order if each != "id" and each not in hidden)
    return "\n".join(text for text in told if text.strip())
