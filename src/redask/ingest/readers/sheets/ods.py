"""OpenDocument spreadsheets (.ods): `sheets` gives their cells, with the types that they have.

    float, currency, percentage   a number of 15 digits
    date                          ISO 8601, as it is stored
    boolean                       true, false
    any other                     its paragraphs as text

Repeated cells and rows are written out where they hold something, up to the limits of a sheet.
"""

import io
import zipfile
from collections.abc import Iterator

from redask.ingest.readers import safe_xml
from redask.ingest.readers.sheets.sheet_cells import CellCount, CellValue, Sheet, is_blank, number


def sheets(data: bytes) -> Iterator[Sheet]:
    """The sheets of a file, in their order."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        tables = _Tables()
        safe_xml.walk(archive.read("content.xml"), tables)
        yield from tables.sheets


class _Tables(safe_xml.XmlHandler):
    def __init__(self) -> None:
        self.sheets: list[Sheet] = []
        self._count = CellCount()
        self._row = self._column = 0
        self._rows = 1
        self._cells: list[tuple[int, int, CellValue]] = []
        self._cell: dict[str, str] = {}
        self._parts: list[str] = []
        self._is_text = 0
        self._is_note = 0

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        if name == "table":
            self.sheets.append(Sheet(attributes.get("name", "")))
            self._row = 0
        elif name == "table-row":
            self._rows = _repeated(attributes, "number-rows-repeated")
            self._column, self._cells = 0, []
        elif name in ("table-cell", "covered-table-cell"):
            self._cell, self._parts = attributes, []
        elif name == "annotation":
            self._is_note += 1
        elif name == "p":
            self._is_text += 1
            if self._parts:
                self._parts.append("\n")
        elif name == "s":
            self._parts.append(" ")

    def end(self, name: str, /) -> None:
        if name == "p":
            self._is_text -= 1
        elif name == "annotation":
            self._is_note -= 1
        elif name in ("table-cell", "covered-table-cell"):
            times = _repeated(self._cell, "number-columns-repeated")
            value = self._value("".join(self._parts))
            self._count.see()
            if not is_blank(value):
                self._cells.append((self._column + 1, times, value))
            self._column += times
        elif name == "table-row" and self.sheets:
            for row in range(self._rows if self._cells else 0):
                for column, times, value in self._cells:
                    for more in range(times):
                        own = self._row + 1 + row, column + more
                        self._count.add(self.sheets[-1], *own, value)
            self._row += self._rows

    def text(self, text: str, /) -> None:
        if self._is_text and not self._is_note:
            self._parts.append(text)

    def _value(self, text: str) -> CellValue:
        match self._cell.get("value-type"):
            case "float" | "currency" | "percentage":
                return number(self._cell.get("value", text))
            case "date":
                return self._cell.get("date-value", text).removesuffix("T00:00:00")
            case "boolean":
                return self._cell.get("boolean-value", text).strip().lower() == "true"
        return text


def _repeated(attributes: dict[str, str], name: str) -> int:
    given = attributes.get(name, "1")
    return max(1, int(given)) if given.isdigit() and len(given) < 9 else 1
