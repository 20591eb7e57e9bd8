"""Types that are kept as PostgreSQL writes them: one spelling for each value, and no other.

What PostgreSQL itself makes of these texts is compared in tests/sql/corpus/written_types.sql.
"""

import pytest

from redask.core.errors import SqlError
from redask.core.sql import literals
from redask.core.sql.types import SqlType
from redask.core.sql.written.ranges import split_multirange
from redask.core.sql.written.written_types import WRITTEN, bounds_of, in_zone, value_key

SPELLINGS = [
    ("bytea", "a\\\\b\\101", "\\x615c6241"),
    ("timetz", "10:00 PM -0330", "22:00:00-03:30"),
    ("inet", "::FFFF:1.2.3.4", "::ffff:1.2.3.4"),
    ("cidr", "10.0.0.0", "10.0.0.0/32"),
    ("macaddr", "08002b-010203", "08:00:2b:01:02:03"),
    ("point", " 1.50 , 2 ", "(1.5,2)"),
    ("int4range", "(1,5]", "[2,6)"),
    ("numrange", '["1.5",)', "[1.5,)"),
    ("tsrange", "[2020-01-01,)", '["2020-01-01 00:00:00",)'),
    ("int4multirange", "{[3,4),[1,2),[2,3]}", "{[1,4)}"),
]


@pytest.mark.parametrize(("name", "text", "spelling"), SPELLINGS)
def test_a_text_has_one_spelling_which_reads_as_itself(name: str, text: str, spelling: str) -> None:
    kind = SqlType(name)
    assert literals.read(text, kind) == spelling
    assert literals.read(spelling, kind) == spelling


def test_every_type_reads_something_and_refuses_something() -> None:
    told = {name for name, _, _ in SPELLINGS}
    others = {name for name in WRITTEN if name.endswith("range")} - told
    for name in others:
        literals.read("{}" if "multi" in name else "empty", SqlType(name))
        bounds_of(name)
    assert told | others == WRITTEN
    for name in WRITTEN - {"bytea"}:
        with pytest.raises(SqlError):
            literals.read("no such value", SqlType(name))
    with pytest.raises(SqlError, match="bytea"):
        literals.read("a\\9", SqlType("bytea"))


def test_a_time_without_an_offset_is_in_the_sessions_zone_if_that_has_one_offset() -> None:
    kind = SqlType("timetz")
    assert literals.read("10:00", kind, "<+02>-02") == "10:00:00+02"
    with pytest.raises(SqlError) as refused:
        literals.read("10:00", kind, "Europe/Berlin")
    assert refused.value.sqlstate == "0A000"
    assert literals.read("10:00+01", kind, "Europe/Berlin") == "10:00:00+01"


def test_equal_ranges_of_numerics_have_one_key() -> None:
    keys = {value_key(text, "numrange", literals.read) for text in ("[1.0,2)", "[1,2.00)")}
    assert keys == {"[1,2)"}
    assert value_key("{[100,200.0]}", "nummultirange", literals.read) == "{[100,200]}"


def test_the_bounds_of_a_range_can_be_written_otherwise() -> None:
    found = in_zone('["2020-01-01 00:00:00+00",)', "tstzrange", literals.read, lambda _: "then")
    assert found == "[then,)"


def test_ranges_of_a_multirange_are_found_whatever_is_quoted_in_them() -> None:
    text = ' { ["a)","b\\""] ,empty} '
    assert split_multirange(text) == ['["a)","b\\""]', "empty"]
