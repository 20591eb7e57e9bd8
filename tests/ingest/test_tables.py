"""CSV and TSV as rows."""

from pathlib import Path

import pytest
from filing import contents, write

import redask
from redask.ingest.readers.delimited import value


def reason(db: redask.OpenDatabase, path: Path) -> str:
    (problem,) = db.ingest(path).problems
    assert problem.path == str(path)
    return problem.reason


def test_rows_have_the_names_of_the_header_and_the_ids_of_the_file(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    file = write(tmp_path / "tickets.csv", 'id,title,hours\n7,"late, again",1.5\n8,,2\n')
    assert db.ingest(file).ok
    assert contents(db, "row:tickets/") == {
        "7": {"id": 7, "title": "late, again", "hours": 1.5},
        "8": {"id": 8, "title": None, "hours": 2},
    }


def test_without_an_id_rows_are_numbered(db: redask.OpenDatabase, tmp_path: Path) -> None:
    db.ingest(write(tmp_path / "a.csv", "x,y\n1,2\n\n3,4\n"))
    assert contents(db, "row:a/") == {"1": {"x": 1, "y": 2}, "2": {"x": 3, "y": 4}}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", "id\tb, c\td\n1\tx;y\t2\n"),
        ("a.csv", 'id;b, c;d\n1;"x;y";2\n'),
        ("a.csv", 'id|b, c|d\n1|"x;y"|2\n'),
        ("a.csv", '\ufeffid,"b, c",d\r\n1,x;y,2\r\n'),
    ],
)
def test_the_separator_is_found(
    db: redask.OpenDatabase, tmp_path: Path, name: str, text: str
) -> None:
    db.ingest(write(tmp_path / name, text))
    assert contents(db, "row:a/") == {"1": {"id": 1, "b, c": "x;y", "d": 2}}


def test_a_table_in_utf_16_with_its_mark_is_read(db: redask.OpenDatabase, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes("Id\tname\nä\tÖl\n".encode("utf-16"))
    assert db.ingest(tmp_path / "a.tsv").ok
    assert contents(db, "row:a/") == {"%C3%A4": {"Id": "ä", "name": "Öl"}}


def test_folders_down_to_a_table_are_part_of_its_name(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    for year in ("2023", "2024"):
        write(tmp_path / "data" / year / "sales.csv", f"x\n{year}\n")
    assert db.ingest(tmp_path / "data").ok
    assert contents(db, "row:") == {"2023.sales/1": {"x": 2023}, "2024.sales/1": {"x": 2024}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2\n3\n", "is ragged: line 3 has 1 fields, not 2 as the header"),
        ("a,b\n1,2,3\n", "is ragged: line 2 has 3 fields, not 2 as the header"),
        ("a,a\n1,2\n", "has two columns that are called 'a'"),
        ("a,b,c,b,a\n", "has two columns that are called 'a'"),
        (",".join(map(str, range(16_384))) + ",7\n", "has 16,385 columns, more than 16,384"),
        (300_000 * "a," + "\n", "has 300,001 columns, more than 16,384"),
        ('a,b\n1,"2\n', "is not valid CSV: line 2: unexpected end of data"),
        ('a,b\n1,"2"x\n', "is not valid CSV: line 2: ',' expected after '\"'"),
        ("id,b\n,2\n", "has a row without an id: line 2"),
        ("id,b\n1,2\n1,3\n", "has a duplicate URN: urn:reddb:row:t/1"),
        ("a\n\0\n", "is not text: line 2 holds a NUL character"),
    ],
)
def test_a_bad_table_is_left_out_with_its_reason(
    db: redask.OpenDatabase, tmp_path: Path, text: str, expected: str
) -> None:
    assert reason(db, write(tmp_path / "t.csv", text)) == expected
    assert contents(db, "") == {}


def test_a_line_without_end_is_refused(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redask.ingest.readers.content.MAX_LINE", 1000)
    assert "more than 1,000 characters: line 2" in reason(
        db, write(tmp_path / "t.csv", "a\n" + "x" * 5000)
    )


@pytest.mark.parametrize("text", ["7", "-12", "0", "1.5", "-0.25", "100.0"])
def test_a_number_is_one_if_it_would_be_written_so(text: str) -> None:
    assert not isinstance(value(text), str)
    assert str(value(text)) == text


@pytest.mark.parametrize(
    "text", ["007", "1.50", "1e5", "+1", "-0", "-0.0", "1_000", "٣", "NaN", "1.", "9" * 30, " 1"]
)
def test_other_digits_stay_text(text: str) -> None:
    assert value(text) == text
