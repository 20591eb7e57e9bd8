"""Tables of reStructuredText as those of Markdown: `of_lines` (simple, grid), `of_list`, `of_csv`.

A cell of several lines is one of Markdown; cells that span others are not told apart. What does
not look like a table after all is given back as it is.
"""

import csv
import re
from itertools import pairwise

from redask.ingest.readers.outlines import table

CellParts = list[list[list[str]]]  # rows, cells, and the lines of each cell

_COLUMN = re.compile(r"=+")
_ITEM = re.compile(r"(\*[ ]{1,8})?([-+*])(?:[ ]{1,8}|$)")


def of_lines(lines: list[str]) -> str:
    """A simple table (columns under `===`) or a grid (`+---+`)."""
    rows = _grid(lines) if lines[0].startswith("+") else _simple(lines)
    return table(rows) if len(rows) > 1 else "\n".join(lines)


def of_list(lines: list[str], _: list[str]) -> str:
    """A list of rows, each a list of cells."""
    rows: CellParts = []
    for line in lines:
        text = line.strip()
        found = _ITEM.match(text)
        if found and (found[1] or line.startswith("*")):
            rows.append([])
            text = text[2:].strip()
            found = _ITEM.match(text)
        if found and rows:
            rows[-1].append([text[found.end() :]])
        elif rows and rows[-1] and text:
            rows[-1][-1].append(text)
    return table(_joined(rows))


def of_csv(lines: list[str], options: list[str]) -> str:
    """Records of CSV; the header is an option."""
    header = next((o.strip()[8:] for o in options if o.strip().startswith(":header:")), "")
    given = [line for line in (header.strip(), *lines) if line]
    try:
        rows = list(csv.reader(given, skipinitialspace=True))
    except csv.Error:
        return "\n".join(given)
    return table([row for row in rows if row])


def _grid(lines: list[str]) -> list[list[str]]:
    rows: CellParts = []
    is_new = True
    for line in lines:
        if line.startswith("+"):
            is_new = True
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if is_new or len(cells) != len(rows[-1]):
                rows.append([])
            _add_line(rows[-1], cells)
            is_new = False
    return _joined(rows)


def _simple(lines: list[str]) -> list[list[str]]:
    starts = [found.start() for found in _COLUMN.finditer(lines[0])]
    rows: CellParts = []
    for line in lines[1:]:
        if not line.strip() or not line.strip("=- "):
            continue
        own = [start for start in starts if start < len(line)] or starts[:1]
        cells = [line[start:end].strip() for start, end in pairwise([*own, len(line)])]
        if cells[0] or not rows:
            rows.append([])
        _add_line(rows[-1], cells)
    return _joined(rows)


def _add_line(row: list[list[str]], cells: list[str]) -> None:
    row += [[] for _ in range(len(cells) - len(row))]
    for parts, cell in zip(row, cells, strict=False):
        if cell:
            parts.append(cell)


def _joined(rows: CellParts) -> list[list[str]]:
    return [[" ".join(parts) for parts in row] for row in rows]
