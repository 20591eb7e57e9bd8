"""Whether a dump can be loaded: `DumpCheck`, which sees every record before one is written.

each record     what the store would refuse: names, roles, types, policies, URNs, payloads
all of them     a user or a URN that stands twice; an edge before what it joins, unless the
                tenant has that; vectors of another length or model; too many columns
"""

from collections import defaultdict
from typing import Any

from redask.app import App
from redask.core import places
from redask.core.access.credentials import check_user
from redask.core.errors import AskError, BadAsk
from redask.core.model import Caller
from redask.core.ports import Entity
from redask.core.wire import json as canonical
from redask.stores import write_rules

EDGE = "urn:reddb:edge:"

Record = dict[str, Any]


class DumpCheck:
    """What a dump held so far, beside what the tenant holds."""

    def __init__(self, app: App, caller: Caller) -> None:
        self._store, self._caller = app.backend.store, caller
        there = self._store.statistics(caller)
        self._space: write_rules.VectorSpace | None = None
        if there.model is not None and there.dimensions is not None:
            self._space = there.model, there.dimensions
        self._users: set[str] = set()
        self._urns: set[str] = set()
        self._ends: set[str] = set()  # that the tenant must have
        self._late_ends: set[str] = set()  # of edges between edges: written last, all at once
        self._columns: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, record: Record, place: int) -> None:
        """Check the record of a line; `BadAsk` names the line."""
        try:
            if record["kind"] == "entity":
                self._add_entity(record)
            else:
                self._add_setting(record)
        except AskError as error:
            message = f"line {place} of the dump: {error.message}"
            raise BadAsk(message, detail=error.detail) from None
        except (TypeError, ValueError, OverflowError, RecursionError):
            raise BadAsk(f"line {place} of the dump is no record that can be stored") from None

    def finish(self) -> None:
        """Check what all records make together."""
        wanted = sorted(self._ends | (self._late_ends - self._urns))
        there = {source.urn for source in self._store.read(wanted, self._caller)}
        write_rules.check_ends(((urn, urn) for urn in wanted), there)
        for collection, names in self._columns.items():
            known = {column.name for column in self._store.columns(collection, self._caller)}
            write_rules.check_columns(collection, len(names | known))

    def _add_entity(self, record: Record) -> None:
        entity = entity_of(record)
        draft = write_rules.draft(entity)
        write_rules.check_apart([draft], self._urns)
        self._space = write_rules.space_with(self._space, [draft], write_rules.GIVEN)
        self._columns[draft.collection].update(places.columns(draft.content))
        if is_between_edges(entity):
            self._late_ends.update(draft.ends or ())
        else:
            self._ends.update(urn for urn in draft.ends or () if urn not in self._urns)

    def _add_setting(self, record: Record) -> None:
        kind = record["kind"]
        if kind == "user":
            user = check_user(record["name"], record["role"], record["attributes"])
            if user.name in self._users:
                raise BadAsk("the user stands twice in the dump", detail="user")
            self._users.add(user.name)
            return
        collection = record["collection"]
        write_rules.check_collection(_text(collection))
        if kind == "column_type":
            write_rules.check_column_type(_text(record["key"]), _text(record["type"]))
        elif kind == "language":
            write_rules.check_language(collection, _text(record["language"]))
        else:
            self._store.check_policy(collection, record["document"], self._caller)


def entity_of(record: Record) -> Entity:
    """The entity of a record."""
    payload, vector = record["payload"], record.get("vector")
    ends = (None, None)
    if str(record["urn"]).startswith(EDGE) and isinstance(payload, dict):
        ends = payload.get("from"), payload.get("to")
    floats = None if vector is None else tuple(map(float, vector))
    return Entity(record["urn"], canonical.text(payload), *ends, vector=floats)


def is_between_edges(entity: Entity) -> bool:
    """Whether an edge joins an edge, so that it may need one that comes later."""
    return any(str(end).startswith(EDGE) for end in (entity.source, entity.target))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # half of a character cannot be stored
    return value
