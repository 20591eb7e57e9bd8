"""Time zones, offsets and styles of intervals that a session may set, by their rules alone."""

from datetime import datetime, timedelta

import pytest

from redask.core.errors import SqlError
from redask.core.sql.runtime.dates import time_zones, zoned_moments
from redask.core.sql.runtime.dates.interval_styles import styled_interval
from redask.core.sql.runtime.dates.intervals import HOUR, SECOND, Interval
from redask.core.sql.runtime.spelling import timestamptz_text

BERLIN = "Europe/Berlin"


@pytest.mark.parametrize(
    ("given", "zone"),
    [
        *(("utc", "UTC"), ("0", "UTC"), ("europe/berlin", BERLIN), ("5", "<+05>-05")),
        *(("-3.5", "<-03:30>+03:30"), ("+02:00", "+02:00"), ("nosuch3", "NOSUCH3")),
        *(("Nowhere/Else", None), ("EST5EDT,M3", None), ("99", None), ("", None)),
    ],
)
def test_a_zone_is_named_offset_or_hours_to_the_east(given: str, zone: str | None) -> None:
    assert time_zones.session_zone(given) == zone


def test_posix_offsets_count_to_the_west() -> None:
    noon = datetime(2024, 7, 1, 12)
    assert time_zones.to_local(noon, "+02:00") == datetime(2024, 7, 1, 10)
    assert time_zones.to_local(noon, "<+02>-02") == datetime(2024, 7, 1, 14)
    assert time_zones.to_utc(noon, "-07:08") == datetime(2024, 7, 1, 4, 52)
    with pytest.raises(SqlError):
        time_zones.to_local(noon, "+25:00")


def test_an_offset_is_as_short_as_it_can_be() -> None:
    spans = [timedelta(hours=2), timedelta(hours=-3, minutes=-30), timedelta(seconds=3723)]
    assert [time_zones.offset_text(each) for each in spans] == ["+02", "-03:30", "+01:02:03"]


def test_days_and_months_go_by_the_clock_and_hours_do_not() -> None:
    before = datetime(2024, 3, 30, 11)  # noon in Berlin, a day before the clock goes ahead
    day, hours = Interval(0, 1, 0), Interval(0, 0, 24 * HOUR)
    assert zoned_moments.add_in_zone(before, day, BERLIN) == datetime(2024, 3, 31, 10)
    assert zoned_moments.add_in_zone(before, hours, BERLIN) == datetime(2024, 3, 31, 11)


def test_an_hour_that_comes_twice_is_cut_in_its_own_offset() -> None:
    first, second = datetime(2024, 10, 27, 0, 30), datetime(2024, 10, 27, 1, 30)
    assert zoned_moments.trunc_to("hour", first, BERLIN) == datetime(2024, 10, 27, 0)
    assert zoned_moments.trunc_to("hour", second, BERLIN) == datetime(2024, 10, 27, 1)
    assert zoned_moments.trunc_to("day", second, BERLIN) == datetime(2024, 10, 26, 22)


def test_a_moment_is_told_with_its_offset() -> None:
    moment = datetime(2024, 7, 1, 8)
    assert timestamptz_text(moment, BERLIN) == "2024-07-01 10:00:00+02"
    assert zoned_moments.json_moment(moment, BERLIN) == "2024-07-01T10:00:00+02:00"
    assert zoned_moments.in_zone("2024-07-01 10:00", BERLIN) == moment
    assert zoned_moments.in_zone("2024-07-01 10:00+00", BERLIN) == datetime(2024, 7, 1, 10)


@pytest.mark.parametrize(
    ("value", "iso", "verbose"),
    [
        (Interval(0, 0, 0), "PT0S", "@ 0"),
        (
            Interval(14, -3, 4 * HOUR + SECOND),
            "P1Y2M-3DT4H1S",
            "@ 1 year 2 mons -3 days 4 hours 1 sec",
        ),
        (Interval(0, -1, HOUR), "P-1DT1H", "@ 1 day -1 hours ago"),
        (Interval(0, 0, -SECOND // 2), "PT-0.5S", "@ 0.5 secs ago"),
    ],
)
def test_an_interval_has_a_text_in_each_style(value: Interval, iso: str, verbose: str) -> None:
    assert styled_interval(value, "iso_8601") == iso
    assert styled_interval(value, "postgres_verbose") == verbose
