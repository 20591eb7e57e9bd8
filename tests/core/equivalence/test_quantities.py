"""Numbers with units, found and compared in any spelling."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.equivalence.quantities import Quantity, find, outside, same


def only(text: str) -> Quantity:
    (quantity,) = find(text)
    return quantity


def shown(text: str) -> list[tuple[str, Fraction, str | None]]:
    return [(text[slice(*one.span)], one.value, one.unit) for one in find(text)]


@pytest.mark.parametrize(
    ("text", "written", "value", "unit"),
    [
        ("it is 5 km away", "5 km", 5000, "m"),
        ("5,000 m", "5,000 m", 5000, "m"),
        ("3.5 %", "3.5 %", "3.5", "%"),
        ("thirty-one per cent of", "thirty-one per cent", 31, "%"),
        ("5 percentage points", "5 percentage points", 5, "pp"),
        ("$ 5", "$ 5", 5, "USD"),
        ("US$5m", "US$5m", 5_000_000, "USD"),
        ("USD5", "USD5", 5, "USD"),
        ("5 USD", "5 USD", 5, "USD"),
        ("$1.2 billion", "$1.2 billion", 1_200_000_000, "USD"),
        ("-$5", "-$5", -5, "USD"),
        ("€1.234,56", "€1.234,56", "1234.56", "EUR"),
        ("1,5 Millionen Euro", "1,5 Millionen Euro", 1_500_000, "EUR"),
        ("a 1 - year study", "1 - year", 12, "month"),
        ("a 20-year-old", "20-year", 240, "month"),
        ("90 minutes", "90 minutes", 5400, "s"),
        ("-5 °C", "-5 °C", "268.15", "K"),
        ("68 °F", "68 °F", "293.15", "K"),
        ("36 km/h", "36 km/h", 10, "m/s"),
        ("36 kilometres per hour", "36 kilometres per hour", 10, "m/s"),
        ("3 × 10^8 m/s", "3 × 10^8 m/s", 300_000_000, "m/s"),
        ("2 × 10(-6)", "2 × 10(-6)", "0.000002", None),
        ("3×10⁸", "3×10⁸", 300_000_000, None),
        ("2.5e-3", "2.5e-3", "0.0025", None),
        ("16 GB", "16 GB", 16_000_000_000, "byte"),
        ("100k", "100k", 100_000, None),
        ("5M users", "5M", 5_000_000, None),
        ("300 K", "300 K", 300, "K"),
        ("half a million", "half a million", 500_000, None),
        ("two and a half million", "two and a half million", 2_500_000, None),
        ("2½ cups", "2½", "2.5", None),
        ("½", "½", "0.5", None),
        ("1 1/2 cups", "1 1/2", "1.5", None),
        ("2 and a half", "2 and a half", "2.5", None),
        ("3/4", "3/4", "0.75", None),
        ("1 in 5", "1 in 5", "0.2", None),
        ("nine out of ten", "nine out of ten", "0.9", None),
        ("10 000", "10 000", 10_000, None),
        ("n = 13 951)", "13 951", 13_951, None),
        ("1 002 003", "1 002 003", 1_002_003, None),
        ("1\u202f234 m", "1\u202f234 m", 1234, "m"),
        ("no.5", "5", 5, None),
        (".5 kg", ".5 kg", "0.5", "kg"),
        ("interleukin-2", "2", 2, None),
        ("在5年", "5", 5, None),
        ("in 2005 A Tribe", "2005", 2005, None),
        ("the 1990s", "1990", 1990, None),
        ("tengo 2 y 3", "2", 2, None),
        ("2 g of 5,50 €", "2 g", "0.002", "kg"),
        ("5 mg/x", "5 mg", "0.000005", "kg"),
        ("5 km per - hour", "5 km", 5000, "m"),
        ("İ 5 km", "5 km", 5000, "m"),
    ],
)
def test_a_quantity_is_found(text: str, written: str, value: str, unit: str | None) -> None:
    assert shown(text)[0] == (written, Fraction(value), unit)


@pytest.mark.parametrize(
    "text",
    [
        "p53",
        "T-1043",
        "miR-141",
        "X.25",
        "foo_12",
        "1.2.3",
        "1" * 50,
        "no one",
        "cats",
        "",
        "a cat",
    ],
)
def test_identifiers_and_words_are_no_quantities(text: str) -> None:
    assert find(text) == ()


def test_lists_and_pairs_are_several_quantities() -> None:
    assert [value for _, value, _ in shown("1,2,3")] == [1, 2, 3]
    assert [value for _, value, _ in shown("120/80")] == [120, 80]
    assert [value for _, value, _ in shown("120 130 140")] == [120, 130, 140]
    assert [value for _, value, _ in shown("3 in 10 games, 2 in 2005 years")][:2] == [3, 10]
    assert [value for _, value, _ in shown("5 km in 10")] == [5000, 10]
    assert [value for _, value, _ in shown("5 out of 3")] == [5, 3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5–10 km", [("5", 5000, "m"), ("10 km", 10_000, "m")]),
        ("5 to 10 million", [("5", 5_000_000, None), ("10 million", 10_000_000, None)]),
        ("$5–10", [("$5", 5, "USD"), ("10", 10, "USD")]),
        ("$5 to $10 million", [("$5", 5_000_000, "USD"), ("$10 million", 10_000_000, "USD")]),
        ("69+/-10 years", [("69", 828, "month"), ("10 years", 120, "month")]),
        ("5 km to 10 km", [("5 km", 5000, "m"), ("10 km", 10_000, "m")]),
        ("5 and 10 km", [("5", 5, None), ("10 km", 10_000, "m")]),
        ("5 to 10", [("5", 5, None), ("10", 10, None)]),
        ("3rd to 5 km", [("3rd", 3, None), ("5 km", 5000, "m")]),
    ],
)
def test_the_ends_of_a_range_share_the_unit(
    text: str, expected: list[tuple[str, int, str | None]]
) -> None:
    assert [(one, int(value), unit) for one, value, unit in shown(text)] == expected


def test_the_numbers_of_a_list_may_have_the_last_ones_unit() -> None:
    for number in find("3, 5 and 10 km")[:2]:
        assert [one.canonical for one in number.measures] == [None, "m"]
    assert len(find("0.88, 95%")[0].measures) == 1


@pytest.mark.parametrize(
    ("text", "approximate", "bound"),
    [
        ("about 5", True, 0),
        ("~5", True, 0),
        ("more than 5", True, 2),
        ("mehr als 5", True, 2),
        ("at least 5", True, 1),
        ("not less than 5", True, 1),
        ("no fewer than 5", True, 1),
        ("over 5", True, 1),
        ("fewer than 5", True, -2),
        ("no more than 5", True, -1),
        (">5", True, 1),
        ("up to 5", True, -1),
        ("< 5", True, -1),
        ("nearly a dozen", True, -1),
        ("5,000+", True, 1),
        ("5 or so", True, 0),
        ("5 km or more", True, 1),
        ("55% or fewer", True, -1),
        ("5", False, 0),
    ],
)
def test_words_of_approximation_are_seen(text: str, approximate: bool, bound: int) -> None:
    quantity = only(text)
    assert (quantity.approximate, quantity.bound) == (approximate, bound)


def test_what_is_written_is_kept() -> None:
    assert only("5 kilometers").written_unit == "kilometre"
    assert only("5").written_unit is None
    assert only("about 3,200,000").step == 100_000
    assert only("third").ordinal
    assert only("third").spelt
    assert only("21st").ordinal
    assert {one.canonical for one in only("30 pounds").measures} == {"kg", "GBP"}
    assert [one.value for one in only("5m people").measures] == [5, 5_000_000]


SAME = """
5 km | 5,000 m
1,234 | 1234
1,234 | 1.234
1 234 | 1,234
twenty-one | 21
a dozen | 12
5 million | 5,000,000
$5m | 5 million dollars
US$5 | 5 USD
5 | 5 km
5,000,000 | $5 million
8 km | 5 miles
8.05 km | 5 miles
5 miles | 8 km
20 °C | 68 °F
about 3.2 million | 3,215,004
about 3 million | 3,215,004
more than 3 million | 3,215,004
up to 10 | 9
more than 5 | at least 5
half of | 50%
50% | half of
33% | one third of
one third of | 33%
0.5 | 50 %
1 in 5 | 20%
two-thirds of | 67%
3rd | third
1 hour | 60 minutes
2 years | 24 months
10 million | 5 to 10 million
5 km | 5–10 km
3/4 | 75%
30 pounds | £30
25% | a quarter of them
minus 12.5 | -12.5
-12.5 | minus 12.5
minus twelve | −12
fewer than 122 | fewer than 122
fewer than 122 | up to 122
more than 5 | about 5
at least 5 | 5
at most 5 | 5
no more than 5 | 5
over 5 | 5
"""
DIFFERENT = """
5 km | 5 miles
5 km | 5
5% | 5
5 km | 5 kg
1,000 | 1
3.2 million | 3,215,004
3,215,004 | about 3.2 million
about 10 | 14
5 km | 5,300 m
1 hour | 45 minutes
2 km | 1 mile
over 5 | under 5
more than 5 | 4
up to 5 | 7
third | 3
5 | 6
5 percentage points | 5%
$5 | €5
0.333 | 33%
half of | 49%
10 MW | 10 mW
-5 | 5
365 days | 1 year
more than 5 | 5
fewer than 122 | 122
less than 5 km | 5,000 m
less than 5 | 5 km
weniger als 5 | 5
minus 12.5 | 12.5
12.5 | minus 12.5
"""


def test_a_minus_between_two_numbers_is_no_sign() -> None:
    assert [one.value for one in find("7 minus 3 is four")] == [7, 3, 4]
    assert [one.value for one in find("terminus 3")] == [3]


def pairs(table: str) -> list[tuple[str, str]]:
    rows = [line.split(" | ") for line in table.strip().split("\n")]
    return [(claimed, found) for claimed, found in rows]


@pytest.mark.parametrize(("claimed", "found"), pairs(SAME))
def test_these_are_the_same(claimed: str, found: str) -> None:
    assert any(same(find(claimed)[0], one) for one in find(found))


@pytest.mark.parametrize(("claimed", "found"), pairs(DIFFERENT))
def test_these_are_not_the_same(claimed: str, found: str) -> None:
    assert not same(only(claimed), only(found))


def test_a_cell_has_its_unit_in_the_columns_name() -> None:
    assert same(only("$5"), only("5"), unit_elsewhere=True)
    assert same(only("about 3.2 km"), only("3.215"), unit_elsewhere=True)
    assert not same(only("$5"), only("6"), unit_elsewhere=True)
    assert not same(only("$5"), only("€5"), unit_elsewhere=True)
    assert same(only("5%"), only("0.05"))


def test_what_overlaps_a_moment_is_left_out() -> None:
    text = "12 of 1999 and 7 in 2005"
    numbers = find(text)
    years = [one.span for one in numbers if one.value > 1000]
    assert [one.value for one in outside(numbers, years)] == [12, 7]
    assert outside(numbers, []) == numbers


@given(st.text(max_size=300))
def test_any_text_is_read_in_order_without_overlap(text: str) -> None:
    end = 0
    for one in find(text):
        assert end <= one.span[0] < one.span[1] <= len(text)
        end = one.span[1]
        assert same(one, one)


_FORMS = st.sampled_from(["{}", "{} km", "${}", "{} %", "about {} kg", "{} million"])


@given(st.integers(0, 10**9), _FORMS)
def test_separators_make_no_difference(number: int, form: str) -> None:
    plain, grouped = only(form.format(number)), only(form.format(f"{number:,}"))
    assert same(plain, grouped)
    assert same(grouped, plain)
