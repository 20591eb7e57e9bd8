"""What the catalogue tells of a session: `session_facts(sql, state)`, for `core…session_rows`.

Lists go along only with a statement that names their table: they may be long.
"""

import json
from datetime import UTC, datetime

from redask.core.sql.types import BY_OID
from redask.server.pgwire.session.session_state import SessionState


async def session_facts(sql: str, state: SessionState) -> dict[str, str]:
    """The facts by name, as text."""
    named = sql.lower()
    facts = {"session:transaction": str(state.transactions)}
    if state.own is not None:
        facts["session:pid"] = str(state.own.process)
        if "pg_stat_activity" in named:
            facts["session:activity"] = json.dumps(
                [
                    [process, each.state, each.query, each.application]
                    for process, each in await state.own.activity()
                ]
            )
    if "pg_prepared_statement" in named:
        facts["session:prepared"] = json.dumps(_prepared(state))
    if "pg_cursor" in named:
        facts["session:cursors"] = json.dumps(_cursors(state))
    return facts


def _prepared(state: SessionState) -> list[list[object]]:
    found: list[list[object]] = []
    for name, each in state.prepared.statements.items():
        if name and each.planned is not None:
            types = [BY_OID[oid].sql_name for oid in each.planned.parameters if oid in BY_OID]
            found.append([name, each.text, _moment(each.made), types])
    return found


def _cursors(state: SessionState) -> list[list[object]]:
    return [
        [
            *(name, each.prepared.text.strip(), each.is_held, each.is_binary),
            *(each.scan is None or each.scan.scrolls, _moment(each.prepared.made)),
        ]
        for name, each in state.prepared.portals.items()
        if name
    ]


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
