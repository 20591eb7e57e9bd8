"""The logs as tables: the tenant's rows for an auditor or owner, one's own for others.

    red_ask_audit     the log of asks
    red_access_log    SELECTs, searches, refused sign-ins, changes of who may do what

    seq, hash         the row's number in the log, and its hash
    refused           why an answer says no (`rules.auditing.ask_outcomes`); NULL: it does not
    the rest          the keys of a row

One is made anew for each reader that names it, from the backend's `AuditLog`.
"""

import json
from typing import TYPE_CHECKING

from redask.core.model import Caller
from redask.core.ports import AuditEntry, AuditLog
from redask.core.rules import audit
from redask.core.rules.auditing import access_rows
from redask.core.sql.types import SqlType
from redask.core.wire.json import text
from redask.stores.columnar.json_columns import jsonb_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

AUDIT, ACCESS_LOG = "red_ask_audit", "red_access_log"
_PAGE = 10_000
_TYPES = {
    **dict.fromkeys(
        ("seq", "ts", "prompt_tokens", "completion_tokens", "retry_count", "count"), "int8"
    ),
    **dict.fromkeys(("cost_usd", "temperature"), "float8"),
    **dict.fromkeys(("cache_hit", "validation_ok"), "bool"),
    **dict.fromkeys(("sources_urns", "citations", "errors"), "jsonb"),
}
LOG_COLUMNS = {
    name: tuple(
        (key, SqlType(_TYPES.get(key, "text")), f"c{number}")
        for number, key in enumerate(("seq", "hash", *keys), start=1)
    )
    for name, keys in ((AUDIT, (*audit.KEYS, "refused")), (ACCESS_LOG, access_rows.KEYS))
}


def make_audit_table(
    connection: "DuckDBPyConnection", name: str, log: AuditLog | None, caller: Caller
) -> str:
    """Write what the caller may see of a log into a new table, in its order. → its name in DuckDB.

    A temporary table is this connection's own, and goes with it.
    """
    columns, made = LOG_COLUMNS[name], {AUDIT: "audit", ACCESS_LOG: "accesses"}[name]
    shape = ", ".join(f"{column} {kind.duckdb_type}" for _, kind, column in columns)
    connection.execute(f"CREATE TEMP TABLE {made} ({shape})")
    pages = []
    before = None
    while log is not None:
        found = log.entries(caller, limit=_PAGE, before=before)
        pages.append([(each.seq, each.hash, _with_refusal(each)) for each in found])
        if len(found) < _PAGE:
            break
        before = min(each.seq for each in found)
    entries = sorted((entry for page in pages for entry in page), key=lambda entry: entry[0])
    for start in range(0, len(entries), _PAGE):
        rows = [
            [_cell(kind, {"seq": seq, "hash": digest, **row}.get(key))
             for key, kind, _ in columns]
            for seq, digest, row in entries[start : start + _PAGE]
        ]  # fmt: skip
        values = ", ".join(
            f"unnest(from_json(?, '[\"{kind.duckdb_type}\"]'))" for _, kind, _ in columns
        )
        given = [json.dumps(column) for column in zip(*rows, strict=True)]
        connection.execute(f"INSERT INTO {made} SELECT {values}", given)
    return f"temp.main.{made}"


def _with_refusal(entry: AuditEntry) -> dict[str, object]:
    return {**entry.row, "refused": entry.refused or None}


def _cell(kind: SqlType, value: object) -> object:
    if value is None:
        return None
    if kind.name == "jsonb":
        return jsonb_text(text(value))
    return text(value) if kind.name == "text" and not isinstance(value, str) else value
