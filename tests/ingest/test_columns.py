"""Parquet files: rows with the names of the columns, and reasons for what cannot be read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import arro3.core
import arro3.io
import pytest
from filing import contents

import redask
from redask.ingest.readers import parquet as columns

TYPE = arro3.core.DataType
TIMES = {"day": TYPE.date32(), "moment": TYPE.timestamp("us")}  # made from numbers


def parquet(path: Path, **named: tuple[Sequence[object], TYPE]) -> Path:
    """A Parquet file of columns, each with its values and its type."""
    made: dict[str, Any] = {
        name: arro3.core.Array(values, kind) for name, (values, kind) in named.items()
    }
    for name in made.keys() & TIMES:
        made[name] = made[name].cast(TIMES[name])
    arro3.io.write_parquet(arro3.core.Table.from_pydict(made), path, compression="snappy")
    return path


def ports(path: Path) -> Path:
    return parquet(path, Id=([7, 8], TYPE.int64()), name=(["Amrum", None], TYPE.utf8()))


def only_reason(db: redask.OpenDatabase, file: Path) -> str:
    (problem,) = db.ingest(file).problems
    assert contents(db, "") == {}
    return problem.reason


def test_rows_have_the_names_of_the_columns_and_the_ids_of_the_file(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    assert db.ingest(ports(tmp_path / "port.parquet")).written == 2
    assert contents(db, "row:port/") == {
        "7": {"Id": 7, "name": "Amrum"},
        "8": {"Id": 8, "name": None},
    }


def test_without_an_id_rows_are_numbered_from_batch_to_batch(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "_BATCH_ROWS", 2)
    parquet(tmp_path / "t.pq", x=(list("abcde"), TYPE.utf8()))
    assert db.ingest(tmp_path / "t.pq").ok
    rows = contents(db, "row:t/")
    assert "".join(rows[name]["x"] for name in "12345") == "abcde"


def test_values_that_json_does_not_have_are_described(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    parquet(
        tmp_path / "t.parquet",
        number=([float("nan")], TYPE.float64()),
        raw=([b"\xff\0"], TYPE.binary()),
        day=([19_724], TYPE.int32()),
        moment=([1_704_164_645_000_678], TYPE.int64()),
        flag=([True], TYPE.bool()),
    )
    assert db.ingest(tmp_path / "t.parquet").ok
    assert contents(db, "row:t/")["1"] == {
        "number": "nan",
        "raw": "<2 bytes, sha256 ea5dbf9596d187e9>",
        "day": "2024-01-02",
        "moment": "2024-01-02T03:04:05.000678",
        "flag": True,
    }


def test_nested_values_stay_nested() -> None:
    assert columns._value({"a": [(1, b"")], "b": {"c": None}}) == {
        "a": [[1, "<0 bytes, sha256 e3b0c44298fc1c14>"]],
        "b": {"c": None},
    }


@pytest.mark.parametrize(
    ("head", "tail"), [(b"PAR1", b""), (b"", b""), (b"PAR1", b"\xff\xff\xff\x7fPAR1")]
)
def test_what_is_no_parquet_file_is_left_out(
    db: redask.OpenDatabase, tmp_path: Path, head: bytes, tail: bytes
) -> None:
    (tmp_path / "a.parquet").write_bytes(head + bytes(range(200)) + tail)
    assert only_reason(db, tmp_path / "a.parquet") == "is damaged, or no Parquet file"


def test_a_damaged_footer_and_a_damaged_page_are_reported_and_nothing_is_printed(
    db: redask.OpenDatabase, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = ports(tmp_path / "port.parquet")
    whole = file.read_bytes()
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    file.write_bytes(whole[:footer] + b"\xa5" * (len(whole) - 8 - footer) + whole[-8:])
    assert only_reason(db, file) == "is damaged: its footer is invalid"
    file.write_bytes(whole[:4] + b"\xa5" * (footer - 4) + whole[footer:])
    assert only_reason(db, file).startswith("is damaged: ")
    assert capfd.readouterr().err == ""


def test_a_row_without_an_id_is_reported(db: redask.OpenDatabase, tmp_path: Path) -> None:
    parquet(tmp_path / "t.parquet", id=([1, None], TYPE.int64()))
    assert only_reason(db, tmp_path / "t.parquet") == "has a row without an id: row 2"


def test_without_the_extra_the_reason_says_what_to_install(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "io", None)
    assert "pip install 'redask[parquet]'" in only_reason(db, ports(tmp_path / "t.parquet"))
