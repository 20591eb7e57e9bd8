"""Types that an owner fixes, and the values that fit them."""

import pytest

from redask.core.errors import BadAsk
from redask.core.sql.fixed_types import read_type, value_fits

FITTING: list[tuple[str, object]] = [
    ("text", 1),
    ("text", {"a": 1}),
    ("jsonb", "a"),
    ("bool", True),
    ("int4", 1),
    ("int4", "-7"),
    ("int8", 2**40),
    ("numeric(18,2)", 5),
    ("numeric(18,2)", 0.5),
    ("numeric(18,2)", "0.50"),
    ("numeric(38,0)", 2**64),
    ("float8", 1e300),
    ("float8", 5),
    ("date", "2021-01-01"),
    ("timestamp", "2021-01-01"),
    ("timestamp", "2021-01-01 00:00:00"),
    ("timestamptz", "2021-01-01 00:00:00Z"),
    ("time", "00:00:00"),
    ("uuid", "550e8400-e29b-41d4-a716-446655440000"),
    ("int4[]", [1, None]),
    ("int4[]", []),
    ("text[]", ["a", "1"]),
    ("uuid", None),
]
UNFIT: list[tuple[str, object]] = [
    ("bool", "true"),
    ("int4", 2**31),
    ("int4", "007"),
    ("int4", 1.0),
    ("int8", 2**63),
    ("numeric(18,2)", 0.125),
    ("numeric(4,2)", 100),
    ("numeric(18,2)", 1e300),
    ("float8", "1.5"),
    ("float8", 2**53 + 1),
    ("date", "2021-01-01 00:00:00"),
    ("date", "soon"),
    ("timestamp", "2021-01-01 00:00:00Z"),
    ("timestamptz", "2021-01-01 00:00:00"),
    ("int4[]", [1, "a"]),
    ("int4[]", 1),
    ("text[]", [1]),
    ("text[]", [["a"]]),
]


@pytest.mark.parametrize(("kind", "value"), FITTING)
def test_these_values_fit(kind: str, value: object) -> None:
    assert value_fits(read_type(kind), value)


@pytest.mark.parametrize(("kind", "value"), UNFIT)
def test_these_values_do_not_fit(kind: str, value: object) -> None:
    assert not value_fits(read_type(kind), value)


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("Integer", "int4"),
        ("bigint", "int8"),
        ("double precision", "float8"),
        ("boolean[]", "bool[]"),
    ],
)
def test_long_names_are_read(written: str, kind: str) -> None:
    assert str(read_type(written)) == kind


@pytest.mark.parametrize(
    "written",
    [
        "",
        "nosuch",
        "numeric",
        "numeric(39,2)",
        "numeric(2,2)",
        "int4(3)",
        "jsonb[]",
        "name",
        "record",
    ],
)
def test_other_types_are_refused_by_name(written: str) -> None:
    with pytest.raises(BadAsk, match="is no type for a column"):
        read_type(written)


def test_a_numeric_without_a_size_is_told_what_it_lacks() -> None:
    with pytest.raises(BadAsk, match=r"numeric\(p,s\).*a precision and a smaller scale are needed"):
        read_type("numeric")
