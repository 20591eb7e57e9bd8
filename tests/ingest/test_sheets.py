"""Spreadsheets as tables: headers, types, sheets as collections, and what is no table."""

import tracemalloc
from collections.abc import Mapping
from pathlib import Path

import pytest
from filing import contents, ods, text_cell, xlsx, zipped

import redask
from redask.core import places
from redask.ingest.readers.sheets import sheet_cells


def cells(*values: str) -> list[str]:
    return [value if value.startswith("<") else text_cell(value) for value in values]


def number(value: str, style: int = 0) -> str:
    return f'<c s="{style}"><v>{value}</v></c>'


def table_rows(db: redask.OpenDatabase, start: str) -> dict[str, Mapping[str, object]]:
    return {name: places.columns(row) for name, row in contents(db, start).items()}


def ingest(db: redask.OpenDatabase, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    assert db.ingest(path).problems == ()


def test_a_sheet_with_a_header_is_a_table_with_types(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    header = cells("Port", "Sold on", "Left at", "Price", "Open", "Shared", "Rate")
    first = cells("Amrum", number("45719", 1), number("45719.5", 3), number("9.5"))
    first += ['<c t="b"><v>1</v></c>', '<c t="s"><v>0</v></c>', number("0.30000000000000004", 4)]
    second = cells("Sylt", number("45720", 2), "", number("10"), '<c t="b"><v>0</v></c>')
    data = xlsx({"Sales": [header, first, [], second]}, strings=["yes"])
    ingest(db, tmp_path / "book.xlsx", data)
    assert table_rows(db, "row:Sales/") == {
        "2": {
            "Port": "Amrum",
            "Sold on": "2025-03-03",
            "Left at": "2025-03-03T12:00:00",
            "Price": 9.5,
            "Open": True,
            "Shared": "yes",
            "Rate": 0.3,
        },
        "4": {
            "Port": "Sylt",
            "Sold on": "2025-03-04",
            "Left at": None,
            "Price": 10,
            "Open": False,
            "Shared": None,
            "Rate": None,
        },
    }
    rows = db.select('SELECT sum("Price") AS total FROM "Sales" WHERE "Sold on" > \'2025-01-01\'')
    assert [float(row["total"]) for row in rows] == [19.5]


def test_ids_and_names_of_collections(db: redask.OpenDatabase, tmp_path: Path) -> None:
    table = [cells("ID", "name"), cells(number("7"), "a"), cells(number("8"), "b")]
    twice = [cells("ID", "name"), cells(number("7"), "a"), cells(number("7"), "b")]
    ingest(db, tmp_path / "one.xlsx", xlsx({"Sheet1": table}))
    ingest(db, tmp_path / "two.xlsx", xlsx({"Sheet1": table, "Ports": twice}))
    assert {name.rpartition("/")[0] for name in contents(db, "row:")} == {
        "one",
        "two.Sheet1",
        "Ports",
    }
    assert set(contents(db, "row:one/")) == {"7", "8"}
    assert set(contents(db, "row:Ports/")) == {"2", "3"}


def test_what_is_no_table_is_text_with_its_cells(db: redask.OpenDatabase, tmp_path: Path) -> None:
    rows = [cells("Prices of 2025"), [], cells("Port", "Price"), cells("Amrum", number("9"))]
    rows += [cells("Total", number("9"))]
    notes = [cells("Call before you come."), cells(number("1"), number("2"))]
    ingest(db, tmp_path / "book.xlsx", xlsx({"Prices": rows, "Notes": notes}))
    assert table_rows(db, "row:") == {"Prices/4": {"Port": "Amrum", "Price": 9}}
    found = contents(db, "document:documents/book.xlsx#").values()
    assert [(chunk["sheet"], chunk["cells"], chunk["text"]) for chunk in found] == [
        ("Prices", "A1", "Prices of 2025"),
        ("Prices", "A5:B5", "Total 9"),
        ("Notes", "A1:B2", "| Call before you come. |  |\n| --- | --- |\n| 1 | 2 |"),
    ]


def test_open_document_sheets_are_read_alike(db: redask.OpenDatabase, tmp_path: Path) -> None:
    def cell(kind: str, attributes: str = "", text: str = "") -> str:
        return (
            f'<table:table-cell office:value-type="{kind}" {attributes}>'
            f"<text:p>{text}</text:p></table:table-cell>"
        )

    header = "".join(cell("string", "", name) for name in ("Port", "Day", "Price", "Open"))
    row = cell("string", "", "Amrum") + cell("date", 'office:date-value="2025-03-03"', "3 Mar")
    row += cell("currency", 'office:value="9.5"', "9,50") + cell(
        "boolean", 'office:boolean-value="true"'
    )
    table = f"<table:table-row>{header}</table:table-row><table:table-row>{row}</table:table-row>"
    empty = '<table:table-row table:number-rows-repeated="1048000">'
    empty += "<table:table-cell/></table:table-row>"
    ingest(
        db, tmp_path / "a.ods", ods(f'<table:table table:name="Sales">{table}{empty}</table:table>')
    )
    assert table_rows(db, "row:Sales/") == {
        "2": {"Port": "Amrum", "Day": "2025-03-03", "Price": 9.5, "Open": True}
    }


@pytest.fixture
def few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_cells, "MAX_CELLS", 100_000)


_BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'
_REPEATED = (
    '<table:table table:name="x"><table:table-row table:number-rows-repeated="9999999">'
    '<table:table-cell table:number-columns-repeated="9999" office:value-type="string">'
    "<text:p>x</text:p></table:table-cell></table:table-row></table:table>"
)


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.xlsx", b"no zip", "is damaged, or no .xlsx file"),
        ("a.xlsx", zipped({"xl/workbook.xml": "<broken"}), "is not valid XML: line 1"),
        ("a.xlsx", zipped({"xl/workbook.xml": _BOMB}), "declares entities"),
        ("a.ods", zipped({"content.xml": _BOMB}), "declares entities"),
        ("a.ods", zipped({"other.xml": "<x/>"}), "is damaged"),
        ("a.ods", ods(_REPEATED), "has more than 100,000 cells"),
        ("a.xlsx", xlsx({"x": [["<x>" * 300 + "</x>" * 300]]}), "is nested too deep"),
        ("a.xlsx", xlsx({"x": [['<c r="ZZZZZ1"><v>1</v></c>']]}), "has a cell behind column"),
        ("a.xlsx", xlsx({"x": [cells("a", "b")]})[:-50], "is damaged"),
    ],
)
@pytest.mark.usefixtures("few_cells")
def test_a_bad_workbook_is_left_out_with_its_reason(
    db: redask.OpenDatabase, tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    (tmp_path / name).write_bytes(data)
    (problem,) = db.ingest(tmp_path / name).problems
    assert problem.reason.startswith(reason)
    assert contents(db, "") == {}


def test_a_huge_cell_is_cut_or_refused_within_bounds(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    data = xlsx({"Notes": [cells("word " * 400_000)]})
    tracemalloc.start()
    ingest(db, tmp_path / "a.xlsx", data)
    assert tracemalloc.get_traced_memory()[1] < 200_000_000
    tracemalloc.stop()
    assert all(len(chunk["text"]) < 3000 for chunk in contents(db, "document:").values())


def test_columns_have_letters() -> None:
    assert [sheet_cells.letters(n) for n in (1, 26, 27, 702, 703)] == ["A", "Z", "AA", "ZZ", "AAA"]
    assert [sheet_cells.column_of(name) for name in ("A1", "ZZ9", "9", "")] == [1, 702, 0, 0]
