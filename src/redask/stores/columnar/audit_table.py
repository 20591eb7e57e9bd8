"""`red_ask_audit` as a table: the tenant's rows for an auditor or owner, one's own for others.

    seq, hash       the row's number in the log, and its hash
    the rest        the keys of an audit row

It is made anew for each reader that names it, from the backend's `AuditLog`.
"""

import json
from typing import TYPE_CHECKING

from redask.core.model import Caller
from redask.core.ports import AuditLog
from redask.core.rules.audit import KEYS
from redask.core.sql.types import SqlType
from redask.core.wire.json import text
from redask.stores.columnar.json_columns import jsonb_text

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

AUDIT = "red_ask_audit"
_PAGE = 10_000
_TYPES = {
    **dict.fromkeys(("seq", "ts", "prompt_tokens", "completion_tokens", "retry_count"), "int8"),
    **dict.fromkeys(("cost_usd", "temperature"), "float8"),
    **dict.fromkeys(("cache_hit", "validation_ok"), "bool"),
    **dict.fromkeys(("sources_urns", "citations", "errors"), "jsonb"),
}
AUDIT_COLUMNS = tuple(
    (key, SqlType(_TYPES.get(key, "text")), f"c{number}")
    for number, key in enumerate(("seq", "hash", *KEYS), start=1)
)


def make_audit_table(
    connection: "DuckDBPyConnection", name: str, log: AuditLog | None, caller: Caller
) -> None:
    """Write what the caller may see of the log into a new table, in the order of the log."""
    shape = ", ".join(f"{column} {kind.duckdb_type}" for _, kind, column in AUDIT_COLUMNS)
    connection.execute(f"CREATE TEMP TABLE {name} ({shape})")
    pages = []
    before = None
    while log is not None:
        found = log.entries(caller, limit=_PAGE, before=before)
        pages.append([(each.seq, each.hash, each.row) for each in found])
        if len(found) < _PAGE:
            break
        before = min(each.seq for each in found)
    entries = sorted((entry for page in pages for entry in page), key=lambda entry: entry[0])
    for start in range(0, len(entries), _PAGE):
        rows = [
            [_cell(kind, {"seq": seq, "hash": digest, **row}.get(key))
             for key, kind, _ in AUDIT_COLUMNS]
            for seq, digest, row in entries[start : start + _PAGE]
        ]  # fmt: skip
        values = ", ".join(
            f"unnest(from_json(?, '[\"{kind.duckdb_type}\"]'))" for _, kind, _ in AUDIT_COLUMNS
        )
        given = [json.dumps(column) for column in zip(*rows, strict=True)]
        connection.execute(f"INSERT INTO {name} SELECT {values}", given)


def _cell(kind: SqlType, value: object) -> object:
    if value is None:
        return None
    if kind.name == "jsonb":
        return jsonb_text(text(value))
    return text(value) if kind.name == "text" and not isinstance(value, str) else value
