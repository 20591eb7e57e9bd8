"""What transports read of tables: `collections` of a caller, and the rows that a SELECT `selected`.

Each is one unit of work for `Admission`. Integers that JavaScript would round are texts.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import BadAsk
from redask.core.sql.json_cells import json_value
from redask.core.wire import data_schemas
from redask.core.wire.row_json import for_browsers
from redask.server.request_json import whole_number

_ON_THE_LOOP = 100  # rows: more are converted in a thread


async def collections(
    session: AsyncDatabase, _: Mapping[str, object] | None = None
) -> dict[str, Any]:
    """The collections that the caller reads, by name."""
    held = {each.name: each.entities for each in (await session.sources()).collections}
    columns = {each.name: each.columns for each in await session.tables()}
    return {
        "collections": [
            {
                "columns": [{"name": name, "type": kind} for name, kind in columns.get(each, ())],
                "entities": held.get(each, {}),
                "name": each,
            }
            for each in sorted({*held, *columns})
        ]
    }


async def selected(session: AsyncDatabase, given: Mapping[str, object]) -> dict[str, object]:
    """The rows of a SELECT, at most `max_rows` of them, with the types of its columns."""
    statement, params = given.get("statement"), given.get("params", [])
    if not isinstance(statement, str):
        raise BadAsk("statement: expected a text", detail="statement")
    if not isinstance(params, list):
        raise BadAsk("params: expected a list", detail="params")
    given_most = given.get("max_rows", data_schemas.ROWS_SHOWN)
    most = whole_number(given_most, "max_rows", 1, data_schemas.MAX_ROWS_SHOWN)
    rows = await session.select(statement, params)
    shown = rows[:most]

    def made() -> object:
        return for_browsers(
            [{name: json_value(value) for name, value in each.items()} for each in shown]
        )

    return {
        "columns": [{"name": name, "type": kind} for name, kind in rows.result.columns],
        "row_count": len(rows),
        "rows": await asyncio.to_thread(made) if len(shown) > _ON_THE_LOOP else made(),
        "truncated": len(shown) < len(rows),
    }
