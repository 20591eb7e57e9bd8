"""The text of an entity that is embedded: `embedding_text(payload, hidden)`.

first       its title, then its name, however these columns are capitalised: models weigh the
            beginning most, and truncate long texts
then        every other column with words (`rules.search.words_in_text`), in canonical order
left out    `id`, numbers, dates and codes, which have no meaning to a model, and the `hidden`
            columns: one vector serves all callers, so it may depend only on columns that all of
            them may see

A title or name is text whatever it says: the album `1984`. An entity without any text is not
embedded, and does not wait for it.
"""

from redask.core.rules.search.words_in_text import has_words
from redask.core.text import lower
from redask.index.analysis import analyzer

_FIRST = ("title", "name")


def embedding_text(payload: str, hidden: frozenset[str]) -> str:
    """The text of a payload for an embedder; empty when there is nothing to embed."""
    columns = analyzer.columns(payload)
    named = [column for first in _FIRST for column in columns if lower(column) == first]
    others = [each for each in columns if each not in named and each != "id"]
    names = [columns[each] for each in named if each not in hidden]
    texts = [columns[each] for each in others if each not in hidden and has_words(columns[each])]
    return "\n".join(text for text in [*names, *texts] if text.strip())
