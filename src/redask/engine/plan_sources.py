"""What a question is planned with: `PlanSources`, the selector's schema and values in one place.

schema(caller)    the tables that the caller may read, with the user's words for them
values(caller)    the text values that the caller may read, by themselves or by such words
"""

from collections.abc import Mapping, Sequence

from redask.core import synonyms
from redask.core.model import Caller
from redask.core.planning.plan_schema import PlanSchema, StoredValue, ValueIndex
from redask.core.ports import Selector
from redask.core.synonyms import Synonyms, SynonymValues


class CallerValues:
    """The values that one caller reads: see `ValueIndex`."""

    def __init__(self, selector: Selector, caller: Caller) -> None:
        self._selector = selector
        self._caller = caller

    def find(self, texts: Sequence[str]) -> Mapping[str, tuple[StoredValue, ...]]:
        """The values that are equal to each text, loosely; none: no key."""
        return self._selector.find_values(texts, self._caller)


class PlanSources:
    """See the module."""

    def __init__(self, selector: Selector, words: Synonyms) -> None:
        self._selector = selector
        self.words = words
        self._applied: tuple[PlanSchema, PlanSchema] | None = None  # the last schema, with words

    def schema(self, caller: Caller) -> PlanSchema:
        """The tables that the caller may plan a SELECT with."""
        plain = self._selector.plan_schema(caller)
        known = self._applied
        if known is None or known[0] is not plain:
            known = self._applied = (plain, synonyms.applied(self.words, plain))
        return known[1]

    def values(self, caller: Caller) -> ValueIndex:
        """The values that the caller may plan a SELECT with."""
        values = CallerValues(self._selector, caller)
        return SynonymValues(values, self.words) if self.words.values else values

    def warnings(self, owner: Caller) -> list[str]:
        """The names in `synonyms.toml` that are not there; for the owner, who reads everything."""
        if not self.words:
            return []
        tables = {each.name: dict(each.columns) for each in self._selector.tables(owner)}
        return list(synonyms.unknown(self.words, tables))
