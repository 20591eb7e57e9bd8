"""What a caller's tables hold, read through a projection, and what the store says they hold."""

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

from redask.core.errors import Denied
from redask.core.model import Caller
from redask.core.rules import urn as urns
from redask.core.sql.column_names import sql_names
from redask.core.sql.column_typing import column_type, value_classes
from redask.core.sql.types import SqlType
from redask.core.wire.json import text
from redask.stores.backend import EntityStore
from redask.stores.columnar.json_columns import jsonb_text
from redask.stores.columnar.projection import ColumnarProjection

Table = tuple[list[tuple[str, str]], list[tuple[object, ...]]]


def read_table(projection: ColumnarProjection, name: str, caller: Caller) -> Table:
    """Names and types of the columns, and the rows, in the order in which a scan gives them."""
    with projection.reading(caller) as tables:
        columns = tables.columns(name)
        assert columns is not None
        listed = ", ".join(physical for _, _, physical in columns)
        rows = tables.cursor.execute(f"SELECT {listed} FROM {tables.physical(name)}").fetchall()
    return [(each, str(kind)) for each, kind, _ in columns], rows


def read_all(projection: ColumnarProjection, caller: Caller) -> dict[str, Table]:
    """Every table of a caller but the audit log."""
    with projection.reading(caller) as tables:
        names = tables.names()
    return {name: read_table(projection, name, caller) for name in names if name[:4] != "red_"}


def expected_table(store: EntityStore, collection: str, caller: Caller) -> Table:
    """The same from what the store shows, value by value."""
    shown = store.page(collection, caller, limit=1_000_000)
    payloads = []
    for source in shown:
        payload = json.loads(source.payload)
        if payload.get("id") is None:
            payload["id"] = urns.decode(source.urn).id
        payloads.append((source.urn, payload))
    keys = sorted({key for _, payload in payloads for key in payload} - {"id"})
    names = sql_names(keys, taken=("id", "urn"))
    types = {
        key: column_type(
            {each for _, payload in payloads if key in payload
             for each in value_classes(payload[key])}
        )
        for key in ("id", *keys)
    }  # fmt: skip
    rows = [
        (
            value_of(types["id"], payload["id"]),
            urn,
            *(value_of(types[key], payload.get(key)) for key in keys),
        )
        for urn, payload in sorted(payloads)
    ]
    columns = [("id", types["id"]), ("urn", SqlType("text"))]
    columns += [(names[key], types[key]) for key in keys]
    return [(name, str(kind)) for name, kind in columns], rows


def expected(store: EntityStore, caller: Caller) -> dict[str, Table]:
    """Every table that a caller reads something of."""
    tables = {}
    for each in store.collections(caller):
        try:
            table = expected_table(store, each.name, caller)
        except Denied:
            continue
        if table[1]:
            tables[each.name] = table
    return tables


_SCALARS: dict[str, Any] = {
    "bool": bool,
    "int4": int,
    "int8": int,
    "float8": float,
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "time": time.fromisoformat,
    "uuid": UUID,
}


def value_of(kind: SqlType, value: Any) -> object:
    """A JSON value in a column of this type, as DuckDB gives it to Python."""
    if value is None:
        return None
    if kind.is_array:
        return [value_of(kind.element, each) for each in value]
    if kind.name == "text":
        return value if isinstance(value, str) else text(value)
    if kind.name == "jsonb":
        return jsonb_text(text(value))
    if kind.name == "numeric":
        return Decimal(str(value))
    if kind.name == "timestamptz":
        return datetime.fromisoformat(value).astimezone(UTC).replace(tzinfo=None)
    return _SCALARS[kind.name](value)
