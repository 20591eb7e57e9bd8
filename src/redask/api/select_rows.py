"""The rows of a SELECT: `SelectRows`, a list of dicts that also knows its columns and types.

    rows[0]["name"], len(rows), rows == [{…}]      a list of dicts like any other
    rows.columns                                   names and PostgreSQL's types, in order
    rows.to_arrow(), to_pandas(), to_polars()      typed tables, if the library is installed
    rows.write_parquet(path)                       a typed file

Values are Python's: date, time, datetime (in UTC for timestamptz), Decimal, UUID, lists; json,
jsonb and interval are text. PostgreSQL allows two columns of one name, a dict does not: the second
`name` is `name_2`.

`json_rows` are the same rows with values that JSON has (`core.sql.json_cells`), as the transports
send them.
"""

from functools import partial
from pathlib import Path
from typing import Any

from redask.core.ports import SelectResult
from redask.core.sql.json_cells import json_value
from redask.core.wire.row_json import distinct


class SelectRows(list[dict[str, Any]]):
    """See the module."""

    def __init__(self, result: SelectResult) -> None:
        names = distinct([name for name, _ in result.columns])
        super().__init__(map(dict, map(partial(zip, names), result.rows)))
        self.columns = result.columns
        self._result = SelectResult(
            tuple((name, kind) for name, (_, kind) in zip(names, result.columns, strict=True)),
            result.rows,
        )

    @property
    def result(self) -> SelectResult:
        """The rows as tuples, with no name twice."""
        return self._result

    def to_arrow(self) -> Any:
        """A pyarrow.Table, or an arro3.core.Table where only that is installed."""
        from redask.api.result_tables import arrow_table

        return arrow_table(self._result)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; a column of integers or booleans with NULLs is a nullable one."""
        from redask.api.result_tables import pandas_frame

        return pandas_frame(self._result)

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        from redask.api.result_tables import polars_frame

        return polars_frame(self._result)

    def write_parquet(self, path: str | Path) -> None:
        """Write a Parquet file."""
        from redask.api.result_tables import write_parquet

        write_parquet(self._result, path)

    def json_rows(self) -> list[dict[str, Any]]:
        """The rows with values that JSON has; see the module."""
        return [{name: json_value(value) for name, value in row.items()} for row in self]
