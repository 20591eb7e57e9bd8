"""Dates and times, found and compared in any spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.equivalence import calendar_words
from redask.core.equivalence.moments import Moment, find, same


def only(text: str) -> Moment:
    (moment,) = find(text)
    return moment


def written(text: str) -> list[str]:
    return [text[slice(*one.span)] for one in find(text)]


SAME = """
12 March 2019 | March 12th, 2019
12 March 2019 | 2019-03-12
12-Mar-2019 | March 12 , 2019
Mar-12-2019 | 12 March 2019
12th of March 2019 | 12.03.2019
12 March 2019 | 12/03/2019
3 December 2019 | 12/03/2019
12 March 2019 | 12/03/19
12 March 1995 | 12.03.95
12. März 2019 | 12 de marzo de 2019
2019 | 12 March 2019
March 2019 | 12 March 2019
the 1990s | 1995
the 90s | 1995
the 1800s | 1850
the 1800s | 1805
19th century | 1850
nineteenth century | the 19th century
Q3 2019 | 12 August 2019
third quarter of 2019 | Q3 2019
3rd quarter of 2019 | 2019 Q3
44 BC | 44 B.C.
first century BC | 44 BC
AD 70 | 70 CE
9 am | 09:00
9:00 p.m. | 21:00
nine o'clock | 9 am
nine o'clock | 21:00
half past nine | 9:30
quarter to ten | 9:45 pm
quarter past 9 | 9:15
noon | 12:00
12 am | midnight
9 p . m . | 21:00
9:00 | 2019-03-12T09:00:00Z
12 March 2019 | 2019-03-12 09:00
2019-03-12T09:00:00+01:00 | 2019-03-12T08:00Z
2019-03-12T09:00:00-0100 | 2019-03-12T10:00 UTC
Tuesday | 12 March 2019
Tuesday | on Tuesday
in March | 12 March
2005-06 | June 2005
09:00 | 09:00:30
09:00:30 | 09:00:30
"""
DIFFERENT = """
12 March 2019 | March 2019
12 March 2019 | 13 March 2019
12 March 2019 | 12 April 2019
12 March 2019 | 12 March
12 March | March 2019
2019 | 2018
1995 | the 1990s
20th century | 1850
9 am | 21:00
9 am | 9:15 am
midnight | nine o'clock
09:00:30 | 09:00
Monday | 12 March 2019
Monday | March 2019
Monday | 12 March
44 BC | AD 44
9 am | 12 March 2019
2019-03-12T09:00:00+01:00 | 2019-03-12T09:00Z
"""


def pairs(table: str) -> list[tuple[str, str]]:
    rows = [line.split(" | ") for line in table.strip().split("\n")]
    return [(claimed, found) for claimed, found in rows]


@pytest.mark.parametrize(("claimed", "found"), pairs(SAME))
def test_these_are_the_same(claimed: str, found: str) -> None:
    assert same(only(claimed), only(found))


@pytest.mark.parametrize(("claimed", "found"), pairs(DIFFERENT))
def test_these_are_not_the_same(claimed: str, found: str) -> None:
    assert not same(only(claimed), only(found))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12–14 March 2019", ["12", "14 March 2019"]),
        ("July 7 - 10 , 2012", ["July 7", "10 , 2012"]),
        ("28 August – 2 September 2019", ["28 August", "2 September 2019"]),
        ("1939–45", ["1939", "45"]),
        ("1987 – 95", ["1987", "95"]),
        ("1995–90", ["1995"]),
        ("18th and 19th centuries", ["18th", "19th centuries"]),
        ("2012 12 May", ["2012", "12 May"]),
        ("in May and June", ["May", "June"]),
        ("31 February", []),
        ("12–40 March", []),
        ("28-31 February", []),
        ("February 31", []),
        ("2019-13-45", ["2019"]),
        ("99/99/2019", ["2019"]),
        ("1.2.03", []),
        ("12-03-19", []),
        ("1,999 people", []),
        ("2 may differ", []),
        ("you may go in march", []),
        ("May I", []),
        ("Oct-4 and Oct4", []),
        ("9 cats", []),
        ("nine cats", []),
        ("at nine cats", []),
        ("3 : 16", []),
        ("25:00", []),
        ("13 o'clock", []),
        ("5.30", []),
        ("third place", []),
        ("2500", []),
        ("2019-03-12T25:00", ["2019-03-12T25:00"]),
        ("second", []),
    ],
)
def test_spans_are_what_was_written(text: str, expected: list[str]) -> None:
    assert written(text) == expected


def test_the_ends_of_a_range_share_the_year() -> None:
    first, last = find("28 August – 2 September 2019")
    assert same(first, only("28 August 2019"))
    assert same(only("28 August 2019"), first)
    assert same(last, only("2 September 2019"))
    assert len(find("2018 to 2019")[0].points) == 1


def test_what_could_be_a_count_is_marked_bare() -> None:
    assert only("1999").bare
    assert only("The ferry leaves at nine.").bare
    assert not only("nine o'clock").bare
    assert not only("12 March 1999").bare
    assert not any(one.bare for one in find("1939–45"))


def test_the_ferry_at_midnight_is_not_the_ferry_at_nine() -> None:
    assert not same(only("It leaves at midnight."), only("It leaves at nine."))
    assert same(only("It leaves at 9 pm."), only("It leaves at nine."))


@pytest.mark.parametrize(
    ("year", "month", "days"), [(2019, 2, 28), (2020, 2, 29), (1900, 2, 28), (2000, 2, 29)]
)
def test_leap_years_are_gregorian(year: int, month: int, days: int) -> None:
    assert calendar_words.days_in(year, month) == days
    assert calendar_words.days_in(None, month) == 29


def test_days_follow_each_other() -> None:
    numbers = [
        calendar_words.day_number(year, month, day)
        for year in range(1999, 2005)
        for month in range(1, 13)
        for day in range(1, calendar_words.days_in(year, month) + 1)
    ]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert calendar_words.weekday(calendar_words.day_number(2026, 11, 16)) == 0


@given(st.text(max_size=300))
def test_any_text_is_read_in_order_without_overlap(text: str) -> None:
    end = 0
    for one in find(text):
        assert end <= one.span[0] < one.span[1] <= len(text)
        end = one.span[1]
        assert same(one, one)


_MONTHS = "January February March April May June July August September October November December"


@given(st.integers(1000, 2100), st.integers(1, 12), st.integers(1, 28))
def test_every_spelling_of_a_day_is_the_same_day(year: int, month: int, day: int) -> None:
    name = _MONTHS.split()[month - 1]
    spellings = [
        f"{day} {name} {year}",
        f"{name} {day}, {year}",
        f"{day} {name[:3]}. {year}" if name != "May" else f"{day} May {year}",
        f"{year}-{month:02}-{day:02}",
        f"{day:02}/{month:02}/{year}",
        f"{month:02}/{day:02}/{year}",
    ]
    for claimed in spellings:
        for found in spellings:
            assert same(only(claimed), only(found))
        assert same(only(f"{name} {year}"), only(claimed))
        assert not same(only(claimed), only(f"{name} {year}"))
