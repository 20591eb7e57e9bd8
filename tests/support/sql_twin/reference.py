"""The real PostgreSQL: `Reference` holds the tables that redask announces, and runs statements."""

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any

import psycopg
from psycopg import pq

from redask.core.ports import TableShape
from redask.core.sql.types import BY_OID, SqlType
from sql_twin.cases import Case
from sql_twin.cells import canonical, written
from sql_twin.verdict import Refusal, Rows

TIMEOUT_MS = 10_000
_LENGTHS = ("varchar", "bpchar")


def quoted(name: str) -> str:
    """An identifier as it is."""
    return '"' + name.replace('"', '""') + '"'


class Reference:
    """A connection to PostgreSQL."""

    def __init__(self, where: dict[str, Any]) -> None:
        self._connection = psycopg.connect(**where, autocommit=True)
        self._connection.execute(f"SET statement_timeout = {TIMEOUT_MS}".encode())

    def __enter__(self) -> "Reference":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def load(self, table: TableShape, rows: Iterable[Sequence[object]]) -> None:
        """Make a table of the same name, columns and rows, in this order."""
        types = [SqlType.parse(each) for _, each in table.columns]
        columns = ", ".join(
            f"{quoted(name)} {kind.sql_name}"
            for (name, _), kind in zip(table.columns, types, strict=True)
        )
        self._connection.execute(f"CREATE TABLE {quoted(table.name)} ({columns})".encode())
        copy = f"COPY {quoted(table.name)} FROM STDIN".encode()
        with self._connection.cursor() as cursor, cursor.copy(copy) as into:
            for row in rows:
                into.write_row([written(*each) for each in zip(row, types, strict=True)])
        self._connection.execute(f"ANALYZE {quoted(table.name)}".encode())

    def run(self, case: Case) -> Rows | Refusal:
        """Prepare, describe and run it, as a driver does."""
        wire = self._connection.pgconn
        declared = [SqlType.parse(each).oid if each else 0 for each in case.declared]
        result = wire.prepare(b"", case.sql.encode(), declared)
        if result.status != pq.ExecStatus.COMMAND_OK:
            return _refusal(result)
        described = wire.describe_prepared(b"")
        parameters = [described.param_type(at) for at in range(described.nparams)]
        values: Any = [_parameter(each) for each in case.params]  # None is NULL
        result = wire.exec_prepared(b"", values)
        if result.status != pq.ExecStatus.TUPLES_OK:
            return _refusal(result)
        return _rows(result, tuple(map(_type, parameters)))


def _parameter(value: object) -> bytes | None:
    """A parameter in text form."""
    if value is None:
        return None
    if isinstance(value, bool):
        return b"t" if value else b"f"
    if isinstance(value, list):
        items = ["NULL" if each is None else f'"{each}"' for each in value]
        return ("{" + ",".join(items) + "}").encode()
    return str(value).encode()


def _refusal(result: Any) -> Refusal:
    state = result.error_field(pq.DiagnosticField.SQLSTATE) or b"?"
    message = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"?"
    return Refusal(state.decode(), message.decode())


def _type(oid: int, modifier: int = -1) -> SqlType:
    kind = BY_OID.get(oid) or SqlType(f"oid{oid}")
    if modifier < 4:
        return kind
    if kind.name == "numeric":
        return SqlType(
            kind.name, ((modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF), kind.is_array
        )
    return SqlType(kind.name, (modifier - 4,), kind.is_array) if kind.name in _LENGTHS else kind


def _rows(result: Any, parameters: tuple[SqlType, ...]) -> Rows:
    width = range(result.nfields)
    columns = tuple(
        (result.fname(at).decode(), _type(result.ftype(at), result.fmod(at))) for at in width
    )
    rows = tuple(
        tuple(_cell(result.get_value(row, at), columns[at][1]) for at in width)
        for row in range(result.ntuples)
    )
    return Rows(columns, rows, parameters)


def _cell(value: bytes | None, of: SqlType) -> Any:
    return canonical(None if value is None else value.decode(), of)
