"""The text of an entity that is embedded: `embedding_text(payload, hidden)`.

first       its title, then its name: models weigh the beginning most, and truncate long texts
then        every other column with text, in canonical order
left out    `id`, which has no meaning to a model, and the `hidden` columns: one vector serves all
            callers, so it may depend only on columns that all of them may see
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
    texts = (columns[each] for each in order if each != "id" and each not in hidden)
    return "\n".join(text for text in texts if text.strip())
