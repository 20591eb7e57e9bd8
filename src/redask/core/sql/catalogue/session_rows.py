"""Catalogue rows about the caller's own sessions: activity, prepared statements, cursors.

The facts are JSON in `CatalogueFacts.session`, written by the transport; without them, as at
transports that keep no session, the tables are empty.
"""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from redask.core.sql.catalogue.object_ids import OWNER

if TYPE_CHECKING:
    from redask.core.sql.catalogue.catalogue_rows import CatalogueFacts

_Row = dict[str, object]


def _listed(session: Mapping[str, str], name: str) -> list[list[object]]:
    found: list[list[object]] = json.loads(session.get(name, "[]"))
    return found


def _activity(facts: "CatalogueFacts") -> list[_Row]:
    return [
        {"datid": 5, "datname": facts.database, "pid": pid, "usesysid": OWNER,
         "usename": facts.user, "application_name": application, "state": state, "query": query,
         "backend_type": "client backend", "leader_pid": None, "client_port": None,
         "backend_xid": None, "backend_xmin": None, "query_id": None}
        for pid, state, query, application in _listed(facts.session, "session:activity")
    ]  # fmt: skip


def _prepared(facts: "CatalogueFacts") -> list[_Row]:
    return [
        {"name": name, "statement": statement, "prepare_time": since, "parameter_types": types}
        for name, statement, since, types in _listed(facts.session, "session:prepared")
    ]


def _cursors(facts: "CatalogueFacts") -> list[_Row]:
    return [
        {"name": name, "statement": statement, "is_holdable": held, "is_binary": binary,
         "is_scrollable": scrolls, "creation_time": since}
        for name, statement, held, binary, scrolls, since
        in _listed(facts.session, "session:cursors")
    ]  # fmt: skip


SESSION_ROWS: "dict[str, Callable[[CatalogueFacts], list[_Row]]]" = {
    "pg_catalog.pg_stat_activity": _activity,
    "pg_catalog.pg_prepared_statements": _prepared,
    "pg_catalog.pg_cursors": _cursors,
}
