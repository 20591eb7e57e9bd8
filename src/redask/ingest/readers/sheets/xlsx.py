"""Excel workbooks (.xlsx): `sheets` gives their cells, with the types that the cells are shown as.

    number      as a number of 15 digits; formatted as a date, time or both: ISO 8601
    text        shared and inline strings, without phonetic guides
    boolean     true, false
    formula     its last result
    hidden sheets are read as others; charts are not

The parts of the file are found by its relations, as Excel does it. Both date systems are known.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta

from redask.core.errors import BadAsk
from redask.ingest.readers import safe_xml
from redask.ingest.readers.sheets.sheet_cells import (
    MAX_CELLS,
    CellCount,
    CellValue,
    Sheet,
    column_of,
    number,
)

MAX_PART = 256 * 1024 * 1024
MAX_SHEETS = 10_000
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
_QUOTED = re.compile(r'"[^"]{0,255}"|\[[^\]]{0,255}\]|\\.')
_DATE_LETTER = re.compile(r"[ymdhs]", re.IGNORECASE)
_MAX_DAYS = 2_958_466  # the year 9999


def sheets(data: bytes) -> Iterator[Sheet]:
    """The worksheets of a workbook, in their order."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = {name.lower(): name for name in archive.namelist()}

        def part(path: str) -> bytes:
            found = names.get(path.lower())
            if found is None:
                return b""
            if archive.getinfo(found).file_size > MAX_PART:
                raise BadAsk(f"has a part of more than {MAX_PART:,} bytes: {path}")
            return archive.read(found)

        book = _Book()
        _walk(part("xl/workbook.xml"), book)
        relations = _SheetRelations()
        _walk(part("xl/_rels/workbook.xml.rels"), relations)
        strings = _Strings()
        _walk(part("xl/sharedStrings.xml"), strings)
        styles = _Styles()
        _walk(part("xl/styles.xml"), styles)
        count = CellCount()
        done = set[str]()
        for name, relation in book.sheets:
            target = relations.targets.get(relation, "")
            path = posixpath.normpath(posixpath.join("xl", target)).lstrip("/")
            if path.lower() in done and path.lower() in names:
                raise BadAsk(f"is damaged: two sheets are one part: {path[:200]}")
            done.add(path.lower())
            cells = _Cells(Sheet(name), strings.texts, styles.is_date, book.epoch, count)
            _walk(part(path), cells)
            yield cells.sheet


def _walk(data: bytes, handler: safe_xml.XmlHandler) -> None:
    if data:
        safe_xml.walk(data, handler)


class _Book(safe_xml.XmlHandler):
    def __init__(self) -> None:
        self.sheets: list[tuple[str, str]] = []
        self.epoch = datetime(1899, 12, 30)

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        if name == "sheet":
            self.sheets.append((attributes.get("name", ""), attributes.get("id", "")))
            if len(self.sheets) > MAX_SHEETS:
                raise BadAsk(f"has more than {MAX_SHEETS:,} sheets")
        elif name == "workbookPr" and attributes.get("date1904") in ("1", "true"):
            self.epoch = datetime(1904, 1, 1)


class _SheetRelations(safe_xml.XmlHandler):
    def __init__(self) -> None:
        self.targets: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        if name == "Relationship":
            self.targets[attributes.get("Id", "")] = attributes.get("Target", "")


class _Strings(safe_xml.XmlHandler):
    def __init__(self) -> None:
        self.texts: list[str] = []
        self._parts: list[str] = []
        self._is_text = False
        self._phonetic = 0

    def start(self, name: str, _: dict[str, str], /) -> None:
        self._is_text = name == "t"
        self._phonetic += name == "rPh"

    def end(self, name: str, /) -> None:
        self._is_text = False
        self._phonetic -= name == "rPh"
        if name == "si":
            self.texts.append("".join(self._parts))
            self._parts = []
            if len(self.texts) > MAX_CELLS:
                raise BadAsk(f"has more than {MAX_CELLS:,} texts: split it")

    def text(self, text: str, /) -> None:
        if self._is_text and not self._phonetic:
            self._parts.append(text)


class _Styles(safe_xml.XmlHandler):
    """Which of the cell styles are formats of a date or time."""

    def __init__(self) -> None:
        self.is_date: list[bool] = []
        self._own: dict[str, bool] = {}
        self._is_inside = False

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        if name == "numFmt":
            shown = _QUOTED.sub("", attributes.get("formatCode", "")[:500])
            self._own[attributes.get("numFmtId", "")] = bool(_DATE_LETTER.search(shown))
        elif name == "cellXfs":
            self._is_inside = True
        elif name == "xf" and self._is_inside:
            own = attributes.get("numFmtId", "0")
            known = own.isdigit() and len(own) < 9 and int(own) in _DATE_FORMATS
            self.is_date.append(self._own.get(own, known))

    def end(self, name: str, /) -> None:
        if name == "cellXfs":
            self._is_inside = False


class _Cells(safe_xml.XmlHandler):
    def __init__(
        self,
        sheet: Sheet,
        strings: list[str],
        is_date: list[bool],
        epoch: datetime,
        count: CellCount,
    ) -> None:
        self.sheet = sheet
        self._strings, self._is_date, self._epoch, self._count = strings, is_date, epoch, count
        self._row = self._column = 0
        self._cell: dict[str, str] = {}
        self._parts: list[str] = []
        self._is_text = False

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        if name == "row":
            given = attributes.get("r", "")
            is_number = given.isdigit() and len(given) < 9
            self._row = int(given) if is_number else self._row + 1
            self._column = 0
        elif name == "c":
            self._column = column_of(attributes.get("r", "")) or self._column + 1
            self._cell, self._parts = attributes, []
        self._is_text = name in ("v", "t")

    def end(self, name: str, /) -> None:
        self._is_text = False
        if name == "c":
            self._count.see()
            self._count.add(self.sheet, self._row, self._column, self._value("".join(self._parts)))

    def text(self, text: str, /) -> None:
        if self._is_text:
            self._parts.append(text)

    def _value(self, text: str) -> CellValue:
        match self._cell.get("t", "n"):
            case "s":
                known = text.isdigit() and len(text) < 9 and int(text) < len(self._strings)
                return self._strings[int(text)] if known else ""
            case "b":
                return text.strip() == "1"
            case "n":
                style = self._cell.get("s", "")
                known = style.isdigit() and len(style) < 9 and int(style) < len(self._is_date)
                found = number(text)
                if known and self._is_date[int(style)] and not isinstance(found, str):
                    return _moment(found, self._epoch)
                return found
        return text


def _moment(days: float, epoch: datetime) -> CellValue:
    """A number of days as a date, a time, or both."""
    if not 0 <= days < _MAX_DAYS:
        return days
    if days < 61 and epoch.year == 1899 and days >= 1:
        days += 1  # Excel's calendar has a 29th of February 1900
    moment = epoch + timedelta(seconds=round(days * 86_400))
    if days < 1:
        return moment.time().isoformat()
    return moment.date().isoformat() if moment.time() == datetime.min.time() else moment.isoformat()
