"""The result of a statement as a source: `make` it; `not_run` for a statement that was not run.

    urn       urn:reddb:query:postgresql/<statement>, so that whoever may read the tables can run it
    payload   columns      [{name, type}], types as PostgreSQL names them
              result_hash  SHA-256 of the canonical JSON of all rows
              row_count    how many rows there are
              rows         the first of them, at most MOST_ROWS and MOST_BYTES, each a list
              sql          the statement
              truncated    whether rows were left out

Cells are JSON values (`json_cells`). There is no watermark and no time in it: equal data, equal
payload. `statement_of` is the statement that a URN carries; `row_count` and `rows_shown` are what a
payload tells.
"""

import hashlib
import json
from collections.abc import Sequence

from redask.core.model import Kind, Source, Urn
from redask.core.rules import urn as urns
from redask.core.wire import json as canonical

DIALECT = "postgresql"
MOST_ROWS = 100
MOST_BYTES = 8_192


def make(sql: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[object]]) -> Source:
    """The source of a statement that gave these columns (names and types) and rows of cells."""
    texts = [canonical.text(list(row)) for row in rows]
    shown, size = 0, 0
    for text in texts[:MOST_ROWS]:
        size += len(text.encode())
        if size > MOST_BYTES:
            break
        shown += 1
    payload = {
        "columns": [{"name": name, "type": kind} for name, kind in columns],
        "result_hash": hashlib.sha256(f"[{','.join(texts)}]".encode()).hexdigest(),
        "row_count": len(rows),
        "rows": [list(row) for row in rows[:shown]],
        "sql": sql,
        "truncated": shown < len(rows),
    }
    return Source(address(sql), canonical.text(payload))


def not_run(sql: str) -> Source:
    """The source of a statement that was not run: no columns, no rows."""
    return make(sql, (), ())


def address(sql: str) -> str:
    """The URN of a statement's result."""
    return urns.encode(Urn(Kind.QUERY, DIALECT, sql))


def statement_of(urn: str) -> str | None:
    """The statement whose result a URN addresses; None for a URN of anything else."""
    if not urn.startswith("urn:reddb:query:"):
        return None
    decoded = urns.decode(urn)
    return decoded.id if decoded.collection == DIALECT else None


def row_count(source: Source) -> int:
    """How many rows a statement gave."""
    count: int = json.loads(source.payload)["row_count"]
    return count


def rows_shown(source: Source) -> tuple[int, int] | None:
    """How many rows of how many a result shows, where it does not show all; else None."""
    if statement_of(source.urn) is None:
        return None
    payload = json.loads(source.payload)
    return (len(payload["rows"]), payload["row_count"]) if payload["truncated"] else None
