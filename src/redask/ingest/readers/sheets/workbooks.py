"""Spreadsheets: every sheet with a header becomes a table, what else there is becomes text.

    header       the first row, of the first HEADER_ROWS, that has two cells or more (one, if the
                 sheet has one column), all of them different texts, and a row below it
    row          every row below it that is not empty: a value for each column of the header; a
                 cell without a heading is column_<its letter>
    id           the column `id` or `_id` (any case), if every row has one of its own; else the
                 number of the row, as the spreadsheet shows it
    place        of a row: its file, sheet and range of cells, from the first column to the last
    collection   the sheet's name, `<requested collection>.<name>` when one was requested; as for a
                 CSV file when it has the name that a new sheet gets ("Sheet1") and is the only one
    text         what is above the header, a last row of totals (which a sum must not count), and
                 sheets without a header: chunks with `sheet` and `cells`

Types are those of the cells: numbers, dates as ISO 8601, booleans, text.
"""

import os
import re
import zipfile
from collections.abc import Iterator
from itertools import pairwise

from redask.core import places
from redask.core.errors import BadAsk
from redask.core.model import Kind, Urn
from redask.core.text import lower
from redask.ingest.readers import documents, passages
from redask.ingest.readers.delimited import IDS, collection
from redask.ingest.readers.outlines import TABLE, TEXT, OutlineBuilder, is_dense, table
from redask.ingest.readers.sheets import ods, xlsx
from redask.ingest.readers.sheets.sheet_cells import (
    MAX_CELLS,
    CellValue,
    Sheet,
    cell_range,
    letters,
)
from redask.ingest.records import FoundFile, OpenedFile, ReadItem, ReadRecord

HEADER_ROWS = 20
_DEFAULT_NAME = re.compile(
    r"(?:sheet|tabelle|feuil|feuille|hoja|foglio|planilha|blad|arkusz|ark|list|лист|工作表|シート)"
    r"[ _]?[0-9]{1,4}",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"(?:grand |sub ?)?(?:totals?|sum|summe|gesamt|somme|suma)\b", re.IGNORECASE)
_MAX_TEXT_ROWS = 2000

SheetRow = dict[int, CellValue]


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows of all tables of a workbook, then the chunks of what is no table."""
    suffix = lower(os.path.splitext(file.found.path)[1])
    documents.check_package(suffix, file.data)
    reader = ods.sheets if suffix == ".ods" else xlsx.sheets
    try:
        found = [sheet for sheet in reader(file.data) if sheet.rows]
    except (KeyError, zipfile.BadZipFile, EOFError) as error:
        raise BadAsk(f"is damaged: {error}") from None
    builder = OutlineBuilder()
    headers = [_header(sheet) for sheet in found]
    for sheet, header in zip(found, headers, strict=True):
        builder.heading(2, " ".join(sheet.name.split())[:200] or "sheet")
        rows = sorted(sheet.rows)
        if header:
            is_only = sum(map(bool, headers)) == 1
            last = _total_row(sheet, rows)
            body = [row for row in rows if row > header and row != last]
            yield from _table(file.found, sheet, header, body, is_only)
            rows = [row for row in rows if row < header or row == last]
        _add_text(builder, sheet, rows)
    yield from passages.read_if_any(file.found, builder.outline(headed=False))


def _header(sheet: Sheet) -> int:
    """The row of the header; 0 when there is none."""
    rows = sorted(sheet.rows)
    is_narrow = max(max(cells) for cells in sheet.rows.values()) == 1
    for row, following in pairwise(rows[: HEADER_ROWS + 1]):
        cells = list(sheet.rows[row].values())
        names = {lower(" ".join(cell.split())) for cell in cells if isinstance(cell, str)}
        is_wide = len(cells) > 1 and len(sheet.rows[following]) > 1
        if len(names) == len(cells) and (is_wide or is_narrow):
            return row
    return 0


def _total_row(sheet: Sheet, rows: list[int]) -> int:
    last = sheet.rows[rows[-1]]
    first = last[min(last)]
    return rows[-1] if isinstance(first, str) and _TOTAL.match(first.strip()) else 0


def _table(
    found: FoundFile, sheet: Sheet, header: int, rows: list[int], is_only: bool
) -> Iterator[ReadItem]:
    into = _collection(found, sheet.name, is_only)
    names = {
        column: " ".join(str(name).split())[:200] for column, name in sheet.rows[header].items()
    }
    for row in rows:
        for column in sheet.rows[row].keys() - names.keys():
            names[column] = f"column_{letters(column)}"
    columns = sorted(names)
    if len(rows) * len(columns) > MAX_CELLS + 20 * sum(len(sheet.rows[row]) for row in rows):
        raise BadAsk(f"has a sheet that is nearly empty: {len(columns):,} columns")
    key = next((column for column in columns if lower(names[column]) in IDS), None)
    ids = [str(sheet.rows[row].get(key, "")) for row in rows] if key else []
    if not ids or "" in ids or len(set(ids)) < len(ids):
        ids = list(map(str, rows))
    for row, own in zip(rows, ids, strict=True):
        cells = sheet.rows[row]
        content: dict[str, object] = {names[column]: cells.get(column) for column in columns}
        place = {"path": found.name, "sheet": sheet.name, "cells": cell_range([row], columns)}
        yield ReadItem(Urn(Kind.ROW, into, own), {places.PLACE: place, **content})


def _collection(found: FoundFile, name: str, is_only: bool) -> str:
    by_path, own = collection(found), " ".join(name.split()) or "sheet"
    if _DEFAULT_NAME.fullmatch(own):
        return by_path if is_only else f"{by_path}.{own}"
    return own if found.requested_collection is None else f"{found.requested_collection}.{own}"


def _add_text(builder: OutlineBuilder, sheet: Sheet, rows: list[int]) -> None:
    """Rows as text: runs of them that follow each other, as a table if they have columns."""
    run: list[int] = []
    for row in [*rows[:_MAX_TEXT_ROWS], 0]:
        if run and row != run[-1] + 1:
            cells = [sheet.rows[each] for each in run]
            columns = sorted({column for each in cells for column in each})
            if is_dense(len(run), len(columns), sum(map(len, cells))):
                lines = [[_shown(each.get(column, "")) for column in columns] for each in cells]
            else:
                lines = [[_shown(each[column]) for column in sorted(each)] for each in cells]
            place = {"sheet": sheet.name, "cells": cell_range(run, columns)}
            if len(columns) > 1 and len(run) > 1:
                builder.block(table(lines), TABLE, 0, place)
            else:
                builder.block("\n".join(" ".join(line) for line in lines), TEXT, 0, place)
            run = []
        run.append(row)


def _shown(value: CellValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
