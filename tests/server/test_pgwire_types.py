"""Values on the Postgres wire: psycopg's own loaders and dumpers are the judge."""

import json
import math
import struct
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import psycopg.pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.adapt import PyFormat, Transformer
from psycopg.types.json import Json, Jsonb

from redask.core.errors import BadAsk
from redask.core.sql.runtime.numbers.numerics import as_float4
from redask.server.pgwire.types import decoding, encoding, oids

_words = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=20)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=5,
)
_decimals = st.decimals(allow_nan=False, allow_infinity=False, places=None).filter(
    lambda number: abs(number.adjusted()) < 200 and len(number.as_tuple().digits) < 25
)
_ints = {
    oids.INT2: st.integers(-(1 << 15), (1 << 15) - 1),
    oids.INT4: st.integers(-(1 << 31), (1 << 31) - 1),
    oids.INT8: st.integers(-(1 << 63), (1 << 63) - 1),
    oids.OID: st.integers(0, (1 << 32) - 1),
}
_VALUES: dict[int, st.SearchStrategy[Any]] = {
    **_ints,
    oids.BOOL: st.booleans(),
    oids.TEXT: _words,
    oids.VARCHAR: _words,
    oids.NAME: _words,
    oids.FLOAT8: st.floats(allow_nan=False),
    oids.NUMERIC: _decimals,
    oids.TEXT_ARRAY: st.lists(_words | st.none(), max_size=5),
    oids.INT4_ARRAY: st.lists(_ints[oids.INT4] | st.none(), max_size=5),
    oids.INT8_ARRAY: st.lists(_ints[oids.INT8], max_size=5),
    oids.BOOL_ARRAY: st.lists(st.booleans(), max_size=5),
}


def loaded(oid: int, data: bytes, binary: bool) -> Any:
    """What psycopg makes of bytes that a server sent."""
    return Transformer().get_loader(oid, psycopg.pq.Format(binary)).load(data)


def dumped(value: object, binary: bool) -> tuple[int, bytes]:
    """What psycopg sends for a value, and under which type."""
    dumper = Transformer().get_dumper(value, PyFormat.BINARY if binary else PyFormat.TEXT)
    data = dumper.dump(value)
    assert data is not None
    return dumper.oid, bytes(data)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("oid", sorted(_VALUES))
@given(data=st.data())
def test_psycopg_reads_what_we_write(oid: int, binary: bool, data: st.DataObject) -> None:
    value = data.draw(_VALUES[oid])
    sent = encoding.encode(oid, value, binary)
    assert sent is not None
    assert loaded(oid, sent, binary) == value
    assert decoding.decode(oid, sent, binary) == value


@pytest.mark.parametrize("binary", [False, True])
@given(value=st.booleans() | _ints[oids.INT8] | st.floats(allow_nan=False) | _words | _decimals)
def test_we_read_what_psycopg_writes(binary: bool, value: object) -> None:
    oid, data = dumped(value, binary)
    assert decoding.decode(oid, data, binary) == value


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("value", "read"),
    [
        (date(2024, 2, 29), "2024-02-29"),
        (time(13, 5, 6, 7), "13:05:06.000007"),
        (datetime(1999, 12, 31, 23, 59, 59, 5), "1999-12-31 23:59:59.000005"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02 00:00:00+00:00"),
        (UUID(int=77), "00000000-0000-0000-0000-00000000004d"),
    ],
)
def test_other_parameters_arrive_as_what_a_statement_can_use(
    binary: bool, value: object, read: object
) -> None:
    oid, data = dumped(value, binary)
    found = decoding.decode(oid, data, binary)
    if isinstance(value, UUID) and not binary:
        found = str(UUID(str(found)))  # psycopg leaves the dashes out
    assert found == read


@pytest.mark.parametrize("binary", [False, True])
@given(value=_json)
def test_json_keeps_its_bytes(binary: bool, value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    for oid, wrapped in ((oids.JSON, Json(value)), (oids.JSONB, Jsonb(value))):
        sent = encoding.encode(oid, text, binary)
        assert sent is not None
        assert sent.removeprefix(b"\1" if oid == oids.JSONB and binary else b"") == text.encode()
        assert loaded(oid, sent, binary) == value
        came, data = dumped(wrapped, binary)
        assert came == oid
        read = decoding.decode(oid, data, binary)
        assert isinstance(read, str)
        assert json.loads(read) == value


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("oid", [oids.DATE, oids.TIME, oids.TIMESTAMP, oids.TIMESTAMPTZ])
def test_moments_go_out_as_they_came_in(oid: int, binary: bool) -> None:
    texts = {
        oids.DATE: "2026-11-16",
        oids.TIME: "01:02:03.000004",
        oids.TIMESTAMP: "2026-11-16 01:02:03.000004",
        oids.TIMESTAMPTZ: "2026-11-16 01:02:03.000004+00:00",
    }
    sent = encoding.encode(oid, texts[oid], binary)
    assert sent is not None
    assert decoding.decode(oid, sent, binary) == texts[oid]
    if binary:
        assert str(loaded(oid, sent, True)) == texts[oid]


def test_a_cost_is_written_without_an_exponent() -> None:
    for value, text in ((Decimal("3.21E-7"), b"0.000000321"), (Decimal(0), b"0")):
        assert encoding.encode(oids.NUMERIC, value, False) == text
        sent = encoding.encode(oids.NUMERIC, value, True)
        assert sent is not None
        assert loaded(oids.NUMERIC, sent, True) == value
    assert encoding.encode(oids.NUMERIC, Decimal("1E+4"), False) == b"10000"


@pytest.mark.parametrize(
    "text", ["1" * 60, "-" + "9" * 45 + "." + "1" * 20, "0." + "123456789" * 6, f"0.{'0' * 50}1"]
)
def test_a_numeric_keeps_all_its_digits(text: str) -> None:
    """Python's own arithmetic would round to 28."""
    for binary in (False, True):
        sent = encoding.encode(oids.NUMERIC, Decimal(text), binary)
        assert sent is not None
        assert f"{decoding.decode(oids.NUMERIC, sent, binary):f}" == text
        assert f"{loaded(oids.NUMERIC, sent, binary):f}" == text


def test_what_is_not_a_number_has_a_numeric_too() -> None:
    for text in ("NaN", "Infinity", "-Infinity"):
        sent = encoding.encode(oids.NUMERIC, Decimal(text), True)
        assert sent is not None
        assert str(loaded(oids.NUMERIC, sent, True)) == text
        assert str(decoding.decode(oids.NUMERIC, sent, True)) == text


def test_vectors_count_from_zero_and_have_blanks_between() -> None:
    assert encoding.encode(oids.INT2VECTOR, [1, 2], False) == b"1 2"
    assert decoding.decode(oids.INT2VECTOR, b"1 2", False) == [1, 2]
    sent = encoding.encode(oids.INT2VECTOR, [1, 2], True)
    assert sent is not None
    assert struct.unpack("!5i", sent[:20]) == (1, 0, oids.INT2, 2, 0)
    assert decoding.decode(oids.INT2VECTOR, sent, True) == [1, 2]


@pytest.mark.parametrize("oid", [0, oids.UNKNOWN, oids.TEXT, 99_999])
def test_a_parameter_without_a_type_is_the_text_that_came(oid: int) -> None:
    for text in ("2024-01-01", "5", "null", "t", "", "Zürich 'x'"):
        assert decoding.decode(oid, text.encode(), False) == text
    assert decoding.decode(oid, None, False) is None
    assert encoding.encode(oid, None, True) is None


def test_a_number_in_a_text_column_is_written_out() -> None:
    for value, text in ((5, b"5"), (0.5, b"0.5"), (True, b"true"), (Decimal("1.50"), b"1.50")):
        assert encoding.encode(oids.TEXT, value, False) == text
    assert encoding.encode(oids.FLOAT8, 2.0, False) == b"2"
    assert encoding.encode(oids.FLOAT8, -math.inf, False) == b"-Infinity"
    assert encoding.encode(oids.BOOL, 1, False) == b"t"


@pytest.mark.parametrize(
    ("oid", "value"),
    [
        (oids.INT8, 1 << 63),
        (oids.INT4, -(1 << 31) - 1),
        (oids.OID, -1),
        (oids.INT8, "abc"),
        (oids.INT8, 0.5),
        (oids.BOOL, 2),
        (oids.FLOAT8, "x"),
        (oids.NUMERIC, "x"),
        (oids.TEXT, {}),
        (oids.TEXT_ARRAY, "x"),
        (oids.TEXT, "\ud800"),
    ],
)
@pytest.mark.parametrize("binary", [False, True])
def test_a_value_that_does_not_fit_is_refused_by_name(
    oid: int, value: object, binary: bool
) -> None:
    with pytest.raises(BadAsk, match="a value of the result is no"):
        encoding.encode(oid, value, binary)


@given(data=st.binary(max_size=40), binary=st.booleans(), oid=st.sampled_from(sorted(oids.TYPES)))
def test_bytes_of_any_kind_are_read_or_refused(data: bytes, binary: bool, oid: int) -> None:
    try:
        decoding.decode(oid, data, binary)
    except BadAsk:
        return


def test_a_type_that_nobody_knows_is_refused_in_binary() -> None:
    with pytest.raises(BadAsk, match="the type 99999, which is not known"):
        decoding.decode(99_999, b"abcd", True)


def test_a_text_with_nul_is_no_text() -> None:
    with pytest.raises(BadAsk):
        decoding.decode(oids.TEXT, b"a\0b", False)


def test_sizes_are_those_of_postgres() -> None:
    assert {name: oids.size(oid) for name, oid in _SIZED.items()} == {
        "bool": 1, "int8": 8, "int4": 4, "int2": 2, "text": -1, "oid": 4, "float4": 4,
        "float8": 8, "name": 64, "jsonb": -1, "numeric": -1, "unknown": -2, "timestamptz": 8,
    }  # fmt: skip
    assert oids.size(99_999) == -1


_SIZED = {
    "bool": oids.BOOL, "int8": oids.INT8, "int4": oids.INT4, "int2": oids.INT2,
    "text": oids.TEXT, "oid": oids.OID, "float4": oids.FLOAT4, "float8": oids.FLOAT8,
    "name": oids.NAME, "jsonb": oids.JSONB, "numeric": oids.NUMERIC,
    "unknown": oids.UNKNOWN, "timestamptz": oids.TIMESTAMPTZ,
}  # fmt: skip


_AWARE = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))
_PYTHONS: dict[str, st.SearchStrategy[Any]] = {
    "date": st.dates(),
    "time": st.times(),
    "timestamp": st.datetimes(),
    "timestamptz": _AWARE,
    "uuid": st.uuids(),
    "date[]": st.lists(st.dates() | st.none(), max_size=3),
    "timestamp[]": st.lists(st.datetimes() | st.none(), max_size=3),
    "timestamptz[]": st.lists(_AWARE, max_size=3),
    "numeric[]": st.lists(_decimals | st.none(), max_size=3),
    "uuid[]": st.lists(st.uuids(), max_size=3),
    "float4": st.floats(width=32, allow_nan=False),
}


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("kind", sorted(_PYTHONS))
@given(data=st.data())
def test_psycopg_reads_the_values_of_a_selector(
    kind: str, binary: bool, data: st.DataObject
) -> None:
    value, oid = data.draw(_PYTHONS[kind]), oids.type_oid(kind)
    sent = encoding.encode(oid, value, binary)
    assert sent is not None
    read = loaded(oid, sent, binary)
    assert (as_float4(read) if kind == "float4" else read) == value


@pytest.mark.parametrize(
    ("value", "oid", "text"),
    [
        (datetime(2026, 5, 4, 9, 30, 0, 500_000), oids.TIMESTAMP, b"2026-05-04 09:30:00.5"),
        (datetime(2026, 5, 4, tzinfo=UTC), oids.TIMESTAMPTZ, b"2026-05-04 00:00:00+00"),
        (1e15, oids.FLOAT8, b"1e+15"),
        (100000000000000.0, oids.FLOAT8, b"100000000000000"),
        (1e-05, oids.FLOAT8, b"1e-05"),
        (0.1, oids.FLOAT4, b"0.1"),
        ("1 mon 2 days", oids.INTERVAL, b"1 mon 2 days"),
        (["1 mon"], 1187, b'{"1 mon"}'),
    ],
)
def test_text_is_postgresqls(value: object, oid: int, text: bytes) -> None:
    assert encoding.encode(oid, value, False) == text


@pytest.mark.parametrize("text", ["1 year 2 mons", "-3 days +04:05:06.007", "00:00:00"])
def test_an_interval_in_binary_is_microseconds_days_and_months(text: str) -> None:
    sent = encoding.encode(oids.INTERVAL, text, True)
    assert sent is not None
    assert decoding.decode(oids.INTERVAL, sent, True) == text
    months, days = struct.unpack("!qii", sent)[2], struct.unpack("!qii", sent)[1]
    assert (months, days) == ({"1": 14}.get(text[0], 0), -3 if text[0] == "-" else 0)
    with pytest.raises(BadAsk):
        encoding.encode(oids.INTERVAL, "nonsense", True)
