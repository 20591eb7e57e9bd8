"""What `put` takes: the values people hold in Python, and rows as pandas has them."""

import json
import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import redask
from redask.api.row_values import plain_rows
from redask.core.errors import BadAsk, BadRows

HERE = timezone(timedelta(hours=2))
IDENT = UUID("123e4567-e89b-12d3-a456-426614174000")


def plain(value: object) -> object:
    """One value, as it stands in a row that was made plain; also deep inside it."""
    (row,) = plain_rows([{"x": value, "deep": [{"y": (value,)}]}])
    deep: Any = row["deep"]
    assert deep[0]["y"][0] == row["x"] or row["x"] is not row["x"]
    return row["x"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (date(2026, 5, 4), "2026-05-04"),
        (datetime(2026, 5, 4, 9, 0, 1), "2026-05-04T09:00:01"),
        (datetime(2026, 5, 4, 9, 0, tzinfo=HERE), "2026-05-04T09:00:00+02:00"),
        (datetime(2026, 5, 4, 9, 0, 0, 5, tzinfo=UTC), "2026-05-04T09:00:00.000005+00:00"),
        (time(9, 30), "09:30:00"),
        (IDENT, "123e4567-e89b-12d3-a456-426614174000"),
        (Decimal("12.50"), 12.5),
        (Decimal("0.1"), 0.1),
        (Decimal("3"), 3),
        (Decimal("3.00"), 3.0),
        (Decimal("-0.0"), 0.0),
        (Decimal("1E+3"), 1000),
        (Decimal(2**70), 2**70),
        (Decimal("0.1234567890123456789"), "0.1234567890123456789"),
        (Decimal("12345678901234567890.50"), "12345678901234567890.50"),
        (Decimal("1E-400"), "1E-400"),
        (Decimal("1E+999999"), "1E+999999"),
        (np.int64(7), 7),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.float64(0.1), 0.1),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array(5), 5),
        (np.array([IDENT, None]), [str(IDENT), None]),
        (np.datetime64("2026-05-04"), "2026-05-04"),
        (np.datetime64("2026-05-04T09:00:00.123456789"), "2026-05-04T09:00:00.123456789"),
        (np.array(["2026-05-04"], dtype="M8[D]"), ["2026-05-04"]),
        (pd.Timestamp("2026-05-04T09:00:00.123456789"), "2026-05-04T09:00:00.123456789"),
        ("NaT", "NaT"),
        (2**80, 2**80),
        (None, None),
    ],
    ids=repr,
)
def test_a_value_becomes_what_json_can_say(value: object, said: object) -> None:
    found = plain(value)
    assert (found, type(found)) == (said, type(said)) or isinstance(value, np.str_)


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_no_digit_of_a_decimal_is_lost(value: Decimal) -> None:
    found = plain(value)
    assert isinstance(found, int | float | str)
    assert Decimal(repr(found) if isinstance(found, float) else found) == value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "nan is not a JSON number"),
        (np.float64("nan"), "nan is not a JSON number"),
        (np.array([1.0, math.nan]), "nan is not a JSON number"),
        (Decimal("NaN"), "nan is not a JSON number"),
        (Decimal("sNaN"), "nan is not a JSON number"),
        (Decimal("-Infinity"), "-inf is not a JSON number"),
        (pd.NaT, "NaTType is not a JSON type"),
        (pd.NA, "NAType is not a JSON type"),
        (np.datetime64("NaT"), "datetime64 is not a JSON type"),
        (timedelta(days=1), "timedelta is not a JSON type"),
        (np.timedelta64(1, "D"), "timedelta64 is not a JSON type"),
        (np.complex128(1), "complex128 is not a JSON type"),
        (np.longdouble("1.5"), "longdouble is not a JSON type"),
        (b"bytes", "bytes is not a JSON type"),
        ({1, 2}, "set is not a JSON type"),
    ],
    ids=repr,
)
def test_what_has_no_place_in_json_is_refused_by_row_and_column(
    tmp_path: Path, value: object, reason: str
) -> None:
    with redask.open(tmp_path, embedder="none") as db, pytest.raises(BadRows) as caught:
        db.put("t", [{"id": 1}, {"id": 2, "x": value}, {"id": 3, "y": [value]}])
    assert [each.position for each in caught.value.problems] == [1, 2]
    assert caught.value.problems[0].reason.startswith(f"{reason} at $.x")


def test_a_list_in_itself_is_refused(tmp_path: Path) -> None:
    endless: list[object] = [date(2026, 5, 4)]
    endless.append(endless)
    with redask.open(tmp_path, embedder="none") as db, pytest.raises(BadRows, match="nested"):
        db.put("t", [{"id": 1, "x": endless}])


# --- rows ----------------------------------------------------------------------------------


def stored(directory: Path, rows: Any) -> list[object]:
    """What the database holds after a put, row by row."""
    with redask.open(directory, embedder="none") as db:
        return [json.loads(db.get(urn) or "") for urn in db.put("t", rows)]


def test_a_data_frame_is_its_rows_and_what_is_missing_is_null(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "id": [1, 2],
            "price": [1.5, math.nan],
            "count": pd.array([3, None], dtype="Int64"),
            "day": pd.to_datetime(["2026-05-04", None]),
            "name": ["Ferry", None],
            "exact": [Decimal("0.10"), Decimal("NaN")],
            "any": [pd.NA, np.datetime64("NaT")],
            "flag": [True, False],
            "kind": pd.Categorical(["a", "b"]),
            "tags": [["x", math.nan], {"y": pd.NaT}],
        }
    )
    nothing = dict.fromkeys(("price", "count", "day", "name", "exact", "any"))
    assert stored(tmp_path, frame) == [
        {
            "id": 1,
            "price": 1.5,
            "count": 3,
            "day": "2026-05-04T00:00:00",
            "name": "Ferry",
            "exact": 0.1,
            "any": None,
            "flag": True,
            "kind": "a",
            "tags": ["x", None],
        },
        {"id": 2, **nothing, "flag": False, "kind": "b", "tags": {"y": None}},
    ]


def test_the_named_index_of_a_data_frame_is_a_column(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "year": [2025, 2026], "x": [1, 2]})
    whole = [{"id": "a", "year": 2025, "x": 1}, {"id": "b", "year": 2026, "x": 2}]
    assert stored(tmp_path / "1", frame.set_index("id")) == whole
    assert stored(tmp_path / "2", frame.set_index(["id", "year"])) == whole
    assert stored(tmp_path / "3", frame[frame.x == 2]) == whole[1:]


def test_a_data_frame_without_ids_may_be_put_twice(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["The ferry leaves at nine.", "The pier is long."]})
    with redask.open(tmp_path, embedder="none") as db:
        first = db.put("t", frame)
        assert db.put("t", frame.iloc[::-1]) == first[::-1]
        assert db.select("SELECT count(*) AS rows FROM t") == [{"rows": 2}]


def test_a_data_frame_that_a_row_cannot_hold_is_refused() -> None:
    twice = pd.DataFrame([[1, 2]], columns=["x", "x"])
    with pytest.raises(BadAsk, match="two columns named 'x'"):  # pandas only warns, and drops one
        plain_rows(twice)
    clash = pd.DataFrame({"id": [1]}, index=pd.Index([5], name="id"))
    with pytest.raises(BadAsk, match="index of the DataFrame: cannot insert id"):
        plain_rows(clash)


def test_bad_rows_of_a_data_frame_are_named_all_at_once(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1, 2, 2], "x": [b"a", "b", "c"]})
    with redask.open(tmp_path, embedder="none") as db, pytest.raises(BadRows) as caught:
        db.put("t", frame)
    assert [each.position for each in caught.value.problems] == [0, 2]
    numbered = pd.DataFrame([[1, 2]])
    with redask.open(tmp_path, embedder="none") as db, pytest.raises(BadRows, match="a string"):
        db.put("t", numbered)


def test_ids_may_be_what_other_columns_may_be(tmp_path: Path) -> None:
    rows: list[dict[str, object]]
    rows = [{"id": IDENT}, {"id": np.int64(7)}, {"id": date(2026, 5, 4)}, {"id": Decimal(8)}]
    with redask.open(tmp_path, embedder="none") as db:
        urns = db.put("t", rows)
    assert [urn.rpartition("/")[2] for urn in urns] == [str(IDENT), "7", "2026-05-04", "8"]


def test_rows_may_come_from_anything_that_gives_mappings(tmp_path: Path) -> None:
    assert len(stored(tmp_path, ({"id": number} for number in range(3)))) == 3
    with pytest.raises(BadAsk, match="rows are a list of mappings, not int"):
        plain_rows(5)


def test_neither_numpy_nor_pandas_is_imported_for_it() -> None:
    source = (Path(redask.__file__).parent / "api" / "row_values.py").read_text(encoding="utf-8")
    assert "import numpy" not in source
    assert "import pandas" not in source
