"""Which column a name means: `Scope`, the relations that one query can see, inside its parent.

A relation can be named in front of a column (`is_named`), and its columns can stand alone
(`is_open`); a JOIN with USING closes its two sides and opens the merged columns. A name that is
not found is looked up in the query around, one deeper. Unknown: 42703, several: 42702.
"""

import difflib
from dataclasses import dataclass

from redask.core.sql.binder.bound import Bound, Read, ShownValue, fail
from redask.core.sql.types import SqlType


@dataclass(frozen=True, slots=True)
class RelationColumn:
    """A column of a relation: its name, and the text that reads it."""

    name: str
    sql: str
    type: SqlType
    digits: tuple[int, int] | None = None
    scale: int | None = None
    shown: ShownValue | None = None  # of an item of the outermost select list


class Relation:
    """Something in FROM."""

    def __init__(
        self,
        name: str | None,
        columns: tuple[RelationColumn, ...],
        *,
        is_named: bool = True,
        schema: str | None = None,
    ) -> None:
        self.name = name
        self.columns = columns
        self.is_named = is_named
        self.is_open = True
        self.is_scalar = False  # a function of one value: its name is its value too
        self.schema = schema
        self.hidden: tuple[RelationColumn, ...] = ()  # system columns, which `*` leaves out


@dataclass(frozen=True, slots=True)
class CommonTable:
    """A query of WITH, by the name it has in the generated text."""

    alias: str
    columns: tuple[RelationColumn, ...]


class Scope:
    """What the names of one query can mean. `groups` are the texts of GROUP BY, once known."""

    def __init__(
        self,
        parent: "Scope | None" = None,
        depth: int = 0,
        relations: list[Relation] | None = None,
        tables: dict[str, CommonTable] | None = None,
    ) -> None:
        self.parent = parent
        self.depth = depth
        self.relations = [] if relations is None else relations
        self.tables = {} if tables is None else tables
        self.groups: frozenset[str] | None = None
        self.windows: dict[str, dict[str, object]] = {}

    def inner(self) -> "Scope":
        """The scope of a query inside."""
        return Scope(self, self.depth + 1)

    def common_table(self, name: str) -> CommonTable | None:
        """A query of WITH, of this query or one around."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.tables:
                return scope.tables[name]
            scope = scope.parent
        return None

    def add(self, relation: Relation, location: int) -> None:
        """Another relation; two of one name are refused."""
        if relation.is_named and any(
            each.is_named and each.name == relation.name and each.name is not None
            for each in self.relations
        ):
            fail("42712", f'table name "{relation.name}" specified more than once', location)
        self.relations.append(relation)

    def column(self, names: list[str], location: int) -> Bound:
        """The column that a name means."""
        scope: Scope | None = self
        while scope is not None:
            found = scope._own(names, location)
            if found is not None:
                read = Read(scope.depth, ".".join(names), location, found.sql)
                return Bound(
                    found.sql,
                    found.type,
                    found.digits,
                    found.scale,
                    columns=(read,),
                    location=location,
                    name=found.name,
                )
            scope = scope.parent
        return self._missing(names, location)

    def _own(self, names: list[str], location: int) -> RelationColumn | None:
        *path, name = names
        if path:
            relation = self.relation(path, location)
            if relation is None:
                return None
            own = [each for each in relation.columns if each.name == name] or [
                each for each in relation.hidden if each.name == name
            ]
            if not own:
                fail("42703", f"column {'.'.join(names)} does not exist", location,
                     _hint(name, [relation]))  # fmt: skip
        else:
            own = [
                each
                for relation in self.relations
                if relation.is_open
                for each in (*relation.columns, *relation.hidden)
                if each.name == name
            ]
        if len(own) > 1:
            fail("42702", f'column reference "{name}" is ambiguous', location)
        return own[0] if own else None

    def relation(self, path: list[str], location: int) -> Relation | None:
        """The relation of this query that is named so."""
        *schema, name = path
        found = [
            each
            for each in self.relations
            if each.is_named and each.name == name and (not schema or each.schema == schema[-1])
        ]
        if len(found) > 1:
            fail("42P09", f'table reference "{name}" is ambiguous', location)
        return found[0] if found else None

    def _missing(self, names: list[str], location: int) -> Bound:
        *path, name = names
        if path:
            fail("42P01", f'missing FROM-clause entry for table "{path[-1]}"', location)
        near = [
            relation
            for scope in self._outward()
            for relation in scope.relations
            if relation.is_open
        ]
        fail("42703", f'column "{name}" does not exist', location, _hint(name, near))

    def _outward(self) -> "list[Scope]":
        scopes: list[Scope] = []
        scope: Scope | None = self
        while scope is not None:
            scopes.append(scope)
            scope = scope.parent
        return scopes


def _hint(name: str, relations: list[Relation]) -> str:
    """PostgreSQL folds names without quotes: the likely mistake is a missing quote."""
    known = sorted({each.name for relation in relations for each in relation.columns})
    folded = [each for each in known if each.lower() == name.lower()]
    near = folded or difflib.get_close_matches(name, known, 1, 0.7)
    if not near:
        return ""
    shown = near[0] if near[0].islower() and near[0].isidentifier() else f'"{near[0]}"'
    return f"Perhaps you meant to reference the column {shown}."
