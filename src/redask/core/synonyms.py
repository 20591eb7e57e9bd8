"""The user's own words for tables, columns and values: `synonyms.toml` beside `redask.toml`.

    [tables]                          words for a table, by its name in SELECT
    customer = ["client", "buyer"]
    [columns.customer]                words for, or a description of, its columns
    country = ["nation"]
    [values.customer.country]         words for values of a column, as they are stored
    Brazil = ["BR", "Brasil"]

A word alone may stand without its list. Other shapes are `Misconfigured`. A name that is unknown
is not: the caller may not read it, or it is not there yet; `unknown` tells the owner. A word for a
value is found where the value itself is: so it shows nobody what is hidden.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from redask.core.errors import Misconfigured
from redask.core.planning.plan_schema import PlanSchema, PlanTable, StoredValue, ValueIndex
from redask.core.planning.value_text import normalised

FILE = "synonyms.toml"
_PARTS = ("tables", "columns", "values")
_Words = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Words by table, by table and column, and by table, column and value."""

    tables: _Words = field(default_factory=dict)
    columns: Mapping[str, _Words] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, _Words]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.tables or self.columns or self.values)


def read(text: str) -> Synonyms:
    """What the file says; `Misconfigured` when it cannot be read."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"{FILE}: {error}") from None
    for key in document:
        if key not in _PARTS:
            raise Misconfigured(f"{FILE}: {key!a} is none of {', '.join(_PARTS)}", detail=key)
    tables = _words("tables", document.get("tables", {}))
    columns = {
        table: _words(f"columns.{table}", words)
        for table, words in _section("columns", document.get("columns", {})).items()
    }
    values = {
        table: {
            column: _words(f"values.{table}.{column}", words)
            for column, words in _section(f"values.{table}", named).items()
        }
        for table, named in _section("values", document.get("values", {})).items()
    }
    return Synonyms(tables, columns, values)


def applied(synonyms: Synonyms, schema: PlanSchema) -> PlanSchema:
    """The schema with the words for what is in it."""
    if not synonyms:
        return schema
    return replace(schema, tables=tuple(_with_words(synonyms, each) for each in schema.tables))


def unknown(synonyms: Synonyms, tables: Mapping[str, Collection[str]]) -> Iterator[str]:
    """The names in the file that are no table, or no column of it, in the order of the file."""
    for table in dict.fromkeys((*synonyms.tables, *synonyms.columns, *synonyms.values)):
        if table not in tables:
            yield f"{FILE} has words for the table {table!a}, which is not there"
            continue
        named = (*synonyms.columns.get(table, {}), *synonyms.values.get(table, {}))
        for column in dict.fromkeys(named):
            if column not in tables[table]:
                yield f"{FILE} has words for {table}.{column}, which is not there"


class SynonymValues:
    """A `ValueIndex` that also finds values by the words for them."""

    def __init__(self, index: ValueIndex, synonyms: Synonyms) -> None:
        self._index = index
        self._meant: dict[str, list[StoredValue]] = {}
        for table, columns in synonyms.values.items():
            for column, values in columns.items():
                for value, words in values.items():
                    for word in words:
                        meant = self._meant.setdefault(normalised(word), [])
                        meant.append(StoredValue(table, column, value))

    def find(self, texts: Sequence[str]) -> Mapping[str, tuple[StoredValue, ...]]:
        """See `ValueIndex`."""
        meant = {text: self._meant.get(normalised(text), ()) for text in texts}
        found = self._index.find(
            list(dict.fromkeys([*texts, *(each.value for own in meant.values() for each in own)]))
        )
        told: dict[str, tuple[StoredValue, ...]] = {}
        for text in texts:
            own = [*found.get(text, ())]
            for wanted in meant[text]:
                place = (wanted.table, wanted.column)
                own += [
                    each
                    for each in found.get(wanted.value, ())
                    if (each.table, each.column) == place
                ]
            if own:
                ordered = sorted(set(own), key=lambda each: (each.table, each.column, each.value))
                told[text] = tuple(ordered)
        return told


def _with_words(synonyms: Synonyms, table: PlanTable) -> PlanTable:
    words = synonyms.columns.get(table.name, {})
    columns = tuple(
        replace(each, words=(*each.words, *words.get(each.name, ()))) for each in table.columns
    )
    own = (*table.words, *synonyms.tables.get(table.name, ()))
    return replace(table, columns=columns, words=own)


def _section(name: str, given: object) -> Mapping[str, object]:
    if not isinstance(given, dict):
        raise Misconfigured(f"{FILE}: {name} is a table of words, not {given!a}", detail=name)
    return given


def _words(name: str, given: object) -> _Words:
    found = {}
    for key, value in _section(name, given).items():
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            raise Misconfigured(f"{FILE}: {name}.{key} is a list of words", detail=f"{name}.{key}")
        found[key] = tuple(each for each in listed if each.strip())
    return found
