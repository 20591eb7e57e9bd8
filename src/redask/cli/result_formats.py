"""The rows of a SELECT as text: `table` for people, and formats for other programs.

    csv      as PostgreSQL's COPY … CSV HEADER writes it: NULL is nothing, an empty text is ""
    json     an array with an object for each row, keys in the order of the columns
    jsonl    the same objects, one a line
    md       a table in Markdown; | is \\|, the end of a line <br>
    parquet  a typed file, on standard output: redirect it

In csv, md and table a value is PostgreSQL's own text of it. In JSON, booleans and numbers are
JSON's, a numeric with all its digits (12.50); NaN and infinities, dates, times, UUIDs and
intervals are text, arrays are arrays, and json is the text it is.
"""

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

from redask.api.select_rows import SelectRows
from redask.cli.terminal_text import echo, terminal_console
from redask.core.errors import BadAsk
from redask.core.ports import SelectResult
from redask.core.sql.json_cells import json_value
from redask.core.sql.runtime import spelling
from redask.core.sql.types import SqlType

_TO_QUOTE = re.compile(r'[",\r\n]')


def write(rows: SelectRows, form: str) -> None:
    """Write the rows to standard output."""
    if form == "parquet":
        _write_parquet(rows)
        return
    for line in FORMATS[form](rows):
        echo(line, nl=False)


def cell_text(value: object, kind: SqlType) -> str:
    """A value as PostgreSQL's output function writes it; nothing for NULL."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "t" if value else "f"
    if kind.name == "interval":  # which is written out already
        return spelling.array_text(value) if isinstance(value, list) else str(value)
    return spelling.value_text(value, kind)


def _texts(result: SelectResult) -> Iterator[list[str | None]]:
    kinds = [SqlType.parse(kind) for _, kind in result.columns]
    for row in result.rows:
        yield [
            None if value is None else cell_text(value, kind)
            for value, kind in zip(row, kinds, strict=True)
        ]


def _csv(rows: SelectRows) -> Iterator[str]:
    alone = len(rows.columns) == 1
    yield ",".join(_quoted(name, alone) for name, _ in rows.columns) + "\n"
    for texts in _texts(rows.result):
        yield ",".join("" if each is None else _quoted(each, alone) for each in texts) + "\n"


def _quoted(text: str, alone: bool) -> str:
    if text and not _TO_QUOTE.search(text) and not (alone and text == "\\."):
        return text
    return '"' + text.replace('"', '""') + '"'


def _json(rows: SelectRows) -> Iterator[str]:
    separator = "["
    for row in rows:
        yield separator + _json_text(row)
        separator = ",\n"
    yield "]\n" if rows else "[]\n"


def _jsonl(rows: SelectRows) -> Iterator[str]:
    for row in rows:
        yield _json_text(row) + "\n"


def _json_text(value: object) -> str:
    if isinstance(value, dict):
        members = (f"{_json_text(name)}:{_json_text(each)}" for name, each in value.items())
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_json_text, value)) + "]"
    if isinstance(value, Decimal) and value.is_finite():
        return format(value, "f")
    return json.dumps(json_value(value), ensure_ascii=False)


def _markdown(rows: SelectRows) -> Iterator[str]:
    yield _markdown_line([name for name, _ in rows.columns])
    yield _markdown_line(["---:" if _is_number(kind) else "---" for _, kind in rows.columns])
    for texts in _texts(rows.result):
        yield _markdown_line([each or "" for each in texts])


def _markdown_line(cells: list[str]) -> str:
    lines = ("<br>".join(cell.splitlines()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(lines)} |\n"


def _is_number(kind: str) -> bool:
    return SqlType.parse(kind).category == "N"


def _table(rows: SelectRows) -> Iterator[str]:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console = terminal_console(highlight=False)
    if rows:
        table = Table(box=box.SIMPLE_HEAD)
        for name, kind in rows.columns:
            justify = "right" if _is_number(kind) else "left"
            table.add_column(Text(name), justify=justify, overflow="fold")  # type: ignore[arg-type]  # one of its words
        for texts in _texts(rows.result):
            table.add_row(*(Text(each or "") for each in texts))
        console.print(table)
    console.print(f"{len(rows)} row{'' if len(rows) == 1 else 's'}")
    yield from ()


def _write_parquet(rows: SelectRows) -> None:
    if sys.stdout.isatty():
        raise BadAsk("a Parquet file is not for a terminal: redirect it to a file, > rows.parquet")
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "rows.parquet"
        rows.write_parquet(file)
        sys.stdout.buffer.write(file.read_bytes())


FORMATS: dict[str, Callable[[SelectRows], Iterator[str]]] = {
    "table": _table,
    "csv": _csv,
    "json": _json,
    "jsonl": _jsonl,
    "md": _markdown,
}
