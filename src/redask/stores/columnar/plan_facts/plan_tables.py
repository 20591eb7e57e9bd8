"""The schema and the values that a caller may plan with: `PlanTables`, over one projection.

Everything is counted in the caller's own tables, so in what the caller reads and nothing else;
declared keys are told if all their columns are the caller's. What was counted is kept for as long
as the rows are the same: for each state of each table, and for each schema as a whole. Of a table
in which a few rows changed only these are counted. What is kept goes with the generation it was
counted in, or the longest unused first beyond `MAX_BYTES`.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from redask.core.planning.plan_schema import (
    ForeignKey,
    PlanColumn,
    PlanSchema,
    PlanTable,
    StoredValue,
)
from redask.core.ports import DeclaredKey
from redask.stores.columnar.audit_table import LOG_COLUMNS
from redask.stores.columnar.duckdb_connections import columnar_errors
from redask.stores.columnar.generations.open_generation import OpenGeneration
from redask.stores.columnar.plan_facts.key_inference import ColumnReference, primary_key, references
from redask.stores.columnar.plan_facts.table_facts import (
    TableFacts,
    following_facts,
    read_facts,
    told_columns,
)
from redask.stores.columnar.plan_facts.value_hashes import CombinedHashes, WantedTexts
from redask.stores.columnar.readable_tables import FactsKey, ReadableTables
from redask.stores.columnar.typed_tables import TableColumn

MAX_BYTES = 512 << 20
_SCHEMAS, _INCLUSIONS = 64, 4096

_Facts = dict[str, TableFacts]
_Inclusion = tuple[FactsKey, str, FactsKey, str]


@dataclass(frozen=True, slots=True)
class _Kept:
    """Facts, and the step of the state in which they were counted."""

    facts: TableFacts
    step: int


@dataclass(frozen=True, slots=True)
class _State:
    """All that one caller plans with in one state."""

    facts: _Facts
    schema: PlanSchema
    values: CombinedHashes


class _Known:
    """What was counted in one generation; all but `states` is for who holds `counting`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counting = threading.Lock()
        self.tables: OrderedDict[FactsKey, _Kept] = OrderedDict()
        self.inclusions: OrderedDict[_Inclusion, bool] = OrderedDict()
        self._states: OrderedDict[object, _State] = OrderedDict()

    def state(self, key: object) -> _State | None:
        """What is known of a state, if anything is."""
        with self._lock:
            if key in self._states:
                self._states.move_to_end(key)
            return self._states.get(key)

    def keep(self, key: object, state: _State) -> None:
        """Keep what was counted of a state, and of no more than some."""
        with self._lock:
            self._states[key] = state
            if len(self._states) > _SCHEMAS:
                self._states.popitem(last=False)


class PlanTables:
    """See the module; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: weakref.WeakKeyDictionary[OpenGeneration, _Known] = weakref.WeakKeyDictionary()

    def schema(self, tables: ReadableTables, declared: Sequence[DeclaredKey]) -> PlanSchema:
        """The tables of the caller, but for the audit log and what is searched only."""
        return self._state(tables, declared).schema

    def find(
        self, tables: ReadableTables, declared: Sequence[DeclaredKey], texts: Sequence[str]
    ) -> dict[str, tuple[StoredValue, ...]]:
        """The values that are equal to each text, loosely: see `ValueIndex`."""
        state = self._state(tables, declared)
        wanted = WantedTexts(texts)
        found: dict[str, list[StoredValue]] = {}
        for name, text, number, value in state.values.find(wanted):
            column = state.facts[name].columns[number].column.name
            found.setdefault(text, []).append(StoredValue(name, column, value))
        return {
            text: tuple(sorted(values, key=lambda one: (one.table, one.column, one.value)))
            for normal, values in found.items()
            for text in wanted.spelt(normal)
        }

    def _state(self, tables: ReadableTables, declared: Sequence[DeclaredKey]) -> _State:
        with self._lock:
            known = self._known.setdefault(tables.owner, _Known())
        key = (tables.state_key, tuple(tables.names()), tuple(declared))
        state = known.state(key)
        if state is None:
            with known.counting:  # what two callers need is counted once
                state = known.state(key)
                if state is None:
                    state = _Reading(known, tables).state(declared)
                    known.keep(key, state)
        return state


class _Reading:
    """One caller's tables, counted where they have not been yet."""

    def __init__(self, known: _Known, tables: ReadableTables) -> None:
        self._known = known
        self._tables = tables

    def state(self, declared: Sequence[DeclaredKey]) -> _State:
        names = [name for name in self._tables.names() if name not in LOG_COLUMNS]
        every = {name: self._facts(name) for name in names}
        facts = {name: each for name, each in every.items() if each.is_table}
        by_collection = {self._tables.collection(name): name for name in facts}
        keys = [_named(each, by_collection, facts) for each in declared]
        primary = {each.table: each.columns for each in keys if each and not each.to_table}
        foreign = tuple(dict.fromkeys(each for each in keys if each and each.to_table))
        planned = tuple(_table(name, each, primary.get(name)) for name, each in facts.items())
        schema = PlanSchema(planned, (*foreign, *self._inferred(planned, foreign)))
        values = CombinedHashes({name: each.values for name, each in facts.items()})
        return _State(facts, schema, values)

    def _facts(self, name: str) -> TableFacts:
        key, kept = self._tables.facts(name), self._known.tables
        if key in kept:
            kept.move_to_end(key)
            return kept[key].facts
        earlier = [
            (other, each)
            for other, each in kept.items()
            if _same_but_later(key, other) and each.step <= self._tables.step
        ]
        with columnar_errors():
            facts = self._counted(name, key, max((e for _, e in earlier), default=None, key=_step))
        for other, _ in earlier:  # nobody reads an earlier state again
            del kept[other]
        kept[key] = _Kept(facts, self._tables.step)
        size = sum(each.facts.size for each in kept.values())
        while size > MAX_BYTES and len(kept) > 1:
            _, oldest = kept.popitem(last=False)
            size -= oldest.facts.size
        return facts

    def _counted(self, name: str, key: FactsKey, earlier: "_Kept | None") -> TableFacts:
        """The facts of a table: counted, or made of earlier ones and what changed since."""
        tables = self._tables
        physical, has_ids = tables.physical(name), tables.has_ids(name)
        if earlier is not None and _tells(earlier.facts, told_columns(key[2], has_ids=has_ids)):
            changed = tables.changed(name, earlier.step)
            if changed is not None:
                facts = following_facts(earlier.facts, tables.cursor, physical, changed)
                if facts is not None:
                    return facts
        return read_facts(tables.cursor, physical, key[2], has_ids=has_ids)

    def _inferred(
        self, tables: Sequence[PlanTable], foreign: Sequence[ForeignKey]
    ) -> list[ForeignKey]:
        declared = {
            table.name: frozenset(
                name for key in foreign if key.table == table.name for name in key.columns
            )
            for table in tables
        }
        found: dict[tuple[str, str], ForeignKey] = {}
        for each in references(tables, declared):
            place = (each.table, each.column)
            if place not in found and self._is_included(each):
                found[place] = ForeignKey(
                    each.table, (each.column,), each.to_table, (each.to_column,), declared=False
                )
        return list(found.values())

    def _is_included(self, reference: ColumnReference) -> bool:
        """Whether every value of a column is in the one that it may reference."""
        own, other = self._tables.facts(reference.table), self._tables.facts(reference.to_table)
        child = _physical(own, reference.column)
        parent = _physical(other, reference.to_column)
        known = self._known.inclusions
        key = (own, child, other, parent)
        if key not in known:
            # the target is unique: each value that is there is there once
            with columnar_errors():
                (there,) = self._tables.cursor.execute(
                    f"SELECT count(*) FROM {self._tables.physical(reference.to_table)}"
                    f" WHERE {parent} IN"
                    f" (SELECT {child} FROM {self._tables.physical(reference.table)})"
                ).fetchone() or (0,)
            known[key] = there == reference.distinct
            if len(known) > _INCLUSIONS:
                known.popitem(last=False)
        return known[key]


def _step(kept: _Kept) -> int:
    return kept.step


def _same_but_later(key: FactsKey, other: FactsKey) -> bool:
    """Whether two keys are of one table as the same callers read it, with the same columns."""
    (collection, stamps, columns), (theirs, others, shape) = key, other
    return (collection, columns) == (theirs, shape) and (
        [group for group, _ in stamps] == [group for group, _ in others]
    )


def _tells(facts: TableFacts, columns: Sequence[TableColumn]) -> bool:
    return [each.column for each in facts.columns] == list(columns)


def _physical(key: FactsKey, column: str) -> str:
    return next(each.physical for each in key[2] if each.name == column)


def _named(
    key: DeclaredKey, by_collection: Mapping[str | None, str], facts: _Facts
) -> ForeignKey | None:
    """A declared key in the caller's names; None where the caller does not read all of it.

    A primary key is told as one that references no table.
    """
    own = _own(key.collection, key.columns, by_collection, facts)
    if own is None or key.target is None:
        return own and ForeignKey(*own, "", ())
    other = _own(key.target, key.target_columns, by_collection, facts)
    return other and ForeignKey(*own, *other)


def _own(
    collection: str,
    keys: Sequence[str],
    by_collection: Mapping[str | None, str],
    facts: _Facts,
) -> tuple[str, tuple[str, ...]] | None:
    table = by_collection.get(collection)
    if table is None:
        return None
    names = {each.column.key: each.column.name for each in facts[table].columns}
    found = tuple(names[key] for key in keys if key in names)
    return (table, found) if len(found) == len(keys) else None


def _table(name: str, facts: TableFacts, primary: tuple[str, ...] | None) -> PlanTable:
    columns = tuple(
        PlanColumn(
            each.column.name, str(each.column.type), each.distinct, each.nulls, flag=each.flag
        )
        for each in facts.columns
    )
    table = PlanTable(name, columns, primary or (), facts.rows)
    return table if primary else replace(table, primary_key=primary_key(table))
