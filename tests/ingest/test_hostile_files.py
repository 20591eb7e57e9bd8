"""Small files that were made to take long, or much memory: what they become is small too."""

from pathlib import Path

import pytest
from filing import contents, ods, text_cell, xlsx, zipped

import redask
from redask.core.errors import BadAsk
from redask.ingest.readers import chunks, safe_xml
from redask.ingest.readers.coded import source_code
from redask.ingest.readers.markup import asciidoc, restructured, restructured_tables
from redask.ingest.readers.outlines import is_dense, table
from redask.ingest.readers.sheets import sheet_cells
from redask.ingest.readers.sheets import xlsx as excel


def reason(db: redask.OpenDatabase, path: Path, data: bytes) -> str:
    path.write_bytes(data)
    (problem,) = db.ingest(path).problems
    return problem.reason


def test_blank_lines_above_code_are_passed_over_and_counted() -> None:
    (chunk,) = chunks.cut(source_code.outline("\n" * 300_000 + "x = 1\n", "python"))
    assert chunk.text == "```python\nx = 1\n```"
    assert chunk.place["line"] == 300_001


def test_declared_attributes_are_refused() -> None:
    data = b'<!DOCTYPE a [<!ATTLIST b x CDATA "%s">]><a>%s</a>' % (b"y" * 1000, b"<b/>" * 1000)
    with pytest.raises(BadAsk, match="declares entities or attributes"):
        safe_xml.walk(data, safe_xml.XmlHandler())


def test_a_table_with_one_wide_row_is_not_filled_up() -> None:
    assert table([["a", "b"], ["c"]]) == "| a | b |\n| --- | --- |\n| c |  |"
    made = table([["a"] * 5000, *[["b"]] * 5000])
    assert len(made) < 100_000
    assert made.endswith("\n| b |")
    assert is_dense(100, 100, 100)
    assert not is_dense(5000, 5000, 10_000)


def test_a_nearly_empty_sheet_is_small_as_text_and_refused_as_a_table(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    diagonal = [[f'<c r="{sheet_cells.letters(n)}{n}" t="b"><v>1</v></c>'] for n in range(1, 1000)]
    (tmp_path / "text.xlsx").write_bytes(xlsx({"x": diagonal}))
    assert db.ingest(tmp_path / "text.xlsx").ok
    assert sum(len(each["text"]) for each in contents(db, "document:").values()) < 100_000
    monkeypatch.setattr("redask.ingest.readers.sheets.workbooks.MAX_CELLS", 100_000)
    header = [text_cell("a"), text_cell("b")]
    rows = [header, [text_cell("1"), text_cell("2")], *diagonal]
    said = reason(db, tmp_path / "rows.xlsx", xlsx({"y": rows}))
    assert said.startswith("has a sheet that is nearly empty")


def test_blank_cells_are_not_repeated_but_counted(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repeated = 'table:number-{}-repeated="99999999"'
    blank = (
        f'<table:table table:name="s"><table:table-row {repeated.format("rows")}><table:table-cell '
        f"{repeated.format('columns')}><text:p> </text:p></table:table-cell></table:table-row>"
        "</table:table>"
    )
    (tmp_path / "a.ods").write_bytes(ods(blank))
    assert db.ingest(tmp_path / "a.ods").ok
    assert contents(db, "") == {}
    monkeypatch.setattr(sheet_cells, "MAX_SEEN", 10)
    cells = reason(db, tmp_path / "a.xlsx", xlsx({"x": [["<c/>"]] * 11}))
    assert cells.startswith("has more than 10 cells")


def test_sheets_and_shared_texts_are_bounded(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    relation = '<Relationships><Relationship Id="r" Target="worksheets/s.xml"/></Relationships>'
    two = {
        "xl/workbook.xml": "<workbook>" + '<sheet name="a" id="r"/>' * 2 + "</workbook>",
        "xl/_rels/workbook.xml.rels": relation,
        "xl/worksheets/s.xml": "<worksheet/>",
    }
    assert "two sheets are one part" in reason(db, tmp_path / "a.xlsx", zipped({**two}))
    monkeypatch.setattr(excel, "MAX_SHEETS", 1)
    assert reason(db, tmp_path / "a.xlsx", zipped({**two})) == "has more than 1 sheets"
    monkeypatch.setattr(excel, "MAX_CELLS", 1)
    texts = xlsx({"x": [[]]}, strings=["a", "b"])
    assert reason(db, tmp_path / "b.xlsx", texts) == "has more than 1 texts: split it"


def test_cells_of_very_many_lines_are_read_whole() -> None:
    lines = 200_000
    grid = restructured_tables.of_lines(["+--+", "| a |", "+--+", *["| b |"] * lines])
    simple = restructured_tables.of_lines(["== ==", "a  b", *["   c"] * lines, "== =="])
    of_list = restructured_tables.of_list(["* - a", "* - b", *["    b"] * lines], [])
    (chunk,) = asciidoc.outline("|===\n|a\n|b\n" + "b\n" * lines + "|===\n").sections[0].blocks
    counts = [grid.count("b"), simple.count("c"), of_list.count("b"), chunk.text.count("b")]
    assert counts == [lines, lines, lines + 1, lines + 1]


def test_very_many_options_and_blank_lines_are_passed_over() -> None:
    text = ".. code-block:: python\n" + "   :a: b\n" * 100_000 + "\n" * 100_000 + "   x = 1\n"
    (block,) = restructured.outline(text).sections[0].blocks
    assert (block.text, block.line) == ("```python\nx = 1\n```", 200_002)
