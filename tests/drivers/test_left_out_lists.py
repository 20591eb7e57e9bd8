"""The lists of tests left out of the drivers' suites are whole, and read as they are written."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from left_out_lists import BY_REASON, LeftOut, LeftOutList, collapsed, read_list, write_list  # noqa: E402
from refusal_reasons import reason_of  # noqa: E402


@pytest.mark.parametrize("driver", ["asyncpg", "pg8000", "psycopg"])
def test_every_line_has_a_kind_a_name_and_a_reason(driver: str) -> None:
    found = read_list(HERE / "left_out" / f"{driver}.txt")
    assert found.reads > 100
    assert all(line.kind and line.name and line.reason for line in found.lines)


def test_a_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    lines = (LeftOut("refused", "a::b", "why"), LeftOut("postgres", "a::c[*", "said"))
    write_list(tmp_path / "x.txt", LeftOutList(7, lines))
    found = read_list(tmp_path / "x.txt")
    assert found == LeftOutList(7, lines)
    assert found.line("a::c[1]", ("postgres",)) == lines[1]
    assert found.line("a::c[1]", BY_REASON) is None
    assert found.line("a::cd", ("postgres",)) is None


def test_all_values_of_a_test_are_one_line_only_where_each_is_left_out() -> None:
    every = ["t::a[1]", "t::a[2]", "t::b[1]", "t::b[2]", "t::c"]
    found = collapsed("postgres", {"t::a[1]": "x", "t::a[2]": "y", "t::b[1]": "z"}, every)
    assert [(line.name, line.reason) for line in found] == [("t::a[*", "x"), ("t::b[1]", "z")]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ('psycopg.errors.InvalidParameterValue: "off" is no supported IntervalStyle', "refused"),
        ('psycopg.errors.InvalidParameterValue: "Europe/Rome" is no supported TimeZone', None),
        ("0A000 'the type bytea is not supported'", "refused"),
        ("0A000 NOTIFY TEST is not supported: ASK, …", "no-read"),
        ("function pg_sleep(integer) does not exist", None),
        ("AssertionError: assert 1 == 2", None),
    ],
)
def test_only_what_is_refused_by_name_has_a_reason(said: str, kind: str | None) -> None:
    found = reason_of("t::a", said)
    assert (found.kind if found else None) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("tests.test_connection::test_set_transaction_param_reset[read_only]", "no-read"),
        ("tests.test_connection::test_set_transaction_param_reset[isolation_level]", None),
        ("tests.pq.test_async::test_send_query", "refused"),
        ("tests.pq.test_async::test_send_query_params", None),
    ],
)
def test_what_a_test_keeps_to_itself_is_told_by_its_name(name: str, kind: str | None) -> None:
    found = reason_of(name, "assert 7 == 2")
    assert (found.kind if found else None) == kind
