"""The cells of one sheet, whatever file it is in: `Sheet`, and how a cell is addressed."""

import math
from dataclasses import dataclass, field

from redask.core.errors import BadAsk

MAX_CELLS = 3_000_000
MAX_SEEN = 10_000_000
MAX_COLUMNS = 16_384

CellValue = str | int | float | bool


@dataclass(slots=True)
class Sheet:
    """The filled cells of a sheet: row → column → value, both from 1."""

    name: str
    rows: dict[int, dict[int, CellValue]] = field(default_factory=dict)


class CellCount:
    """How many cells a workbook has so far: at most MAX_CELLS, with blank ones MAX_SEEN."""

    def __init__(self) -> None:
        self._count = self._seen = 0

    def see(self) -> None:
        """A cell is in the file, whether blank or not."""
        self._seen += 1
        if self._seen > MAX_SEEN:
            raise BadAsk(f"has more than {MAX_SEEN:,} cells, with those that are empty: split it")

    def add(self, sheet: Sheet, row: int, column: int, value: CellValue) -> None:
        """Put a value into a cell, unless it is blank."""
        if is_blank(value):
            return
        self._count += 1
        if self._count > MAX_CELLS:
            raise BadAsk(f"has more than {MAX_CELLS:,} cells: split it")
        if column > MAX_COLUMNS:
            raise BadAsk(f"has a cell behind column {MAX_COLUMNS:,}")
        sheet.rows.setdefault(row, {})[column] = value


def is_blank(value: CellValue) -> bool:
    """Whether nothing is to be seen in a cell."""
    return isinstance(value, str) and not value.strip()


def number(text: str) -> CellValue:
    """A number as a spreadsheet shows it: 15 digits."""
    try:
        found = float(text)
    except ValueError:
        return text
    if not math.isfinite(found):
        return text
    rounded = float(f"{found:.15g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def letters(column: int) -> str:
    """A column's name: A, Z, AA."""
    made = ""
    while column:
        column, rest = divmod(column - 1, 26)
        made = chr(65 + rest) + made
    return made


def column_of(reference: str) -> int:
    """The number of the column in a reference such as `AB12`; 0 for none."""
    found = 0
    for sign in reference[:8].upper():
        if not "A" <= sign <= "Z":
            break
        found = 26 * found + ord(sign) - 64
    return found


def cell_range(rows: list[int], columns: list[int]) -> str:
    """The smallest range around some cells: `A1:C9`."""
    first, last = f"{letters(min(columns))}{min(rows)}", f"{letters(max(columns))}{max(rows)}"
    return first if first == last else f"{first}:{last}"
