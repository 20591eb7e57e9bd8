"""Codes, addresses and names in code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.equivalence.identifiers import find_identifiers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T-1043 and ABC_12, then v2.3.1.", ["T-1043", "ABC_12", "v2.3.1"]),
        ("call foo.bar() or a::b, see x/y_z.py", ["foo.bar()", "a::b", "x/y_z.py"]),
        ("mail a.b@c.org.", ["a.b@c.org"]),
        ("(https://x.y/z?a=1).", ["https://x.y/z?a=1"]),
        ("550e8400-e29b-41d4-a716-446655440000", ["550e8400-e29b-41d4-a716-446655440000"]),
        ("p53 H2O COVID-19 SARS-CoV-2 anti-PD-1", "p53 H2O COVID-19 SARS-CoV-2 anti-PD-1".split()),
        ("p53-dependent AKT/PI-3-kinase", ["p53", "AKT/PI-3"]),
        ("X.25 and let-7a-5p and Δ9", ["X.25", "let-7a-5p", "Δ9"]),
        ("3D 2D2", ["3D", "2D2"]),
        ("config.toml 10.0.0.1 v2", ["config.toml", "10.0.0.1", "v2"]),
        ("5km 20th 1990s 10-year mid-1990s top-10 caspase-3 9am 5GB 100k 20-year-old", []),
        ("and/or e.g. U.S. well-known 3.5 12-14 12-Mar-2019 2019-03-12T09:00", []),
        ("在1999年", []),
        ("ISBN 12345678901", []),
        ("x" * 600 + "1", []),
    ],
)
def test_identifiers_are_found(text: str, expected: list[str]) -> None:
    assert [one.text for one in find_identifiers(text)] == expected
    assert [text[slice(*one.span)] for one in find_identifiers(text)] == expected


def test_case_makes_no_difference_to_the_key() -> None:
    assert find_identifiers("t-1043")[0].key == find_identifiers("T-1043")[0].key


def test_an_isbn_is_its_digits() -> None:
    assert [one.key for one in find_identifiers("ISBN 978-3-16-148410-0")] == ["9783161484100"]
    assert [one.key for one in find_identifiers("isbn-10: 0 306 40615 X")] == ["030640615x"]


@given(st.text(max_size=300))
def test_any_text_is_read_in_order_without_overlap(text: str) -> None:
    end = 0
    for one in find_identifiers(text):
        assert end <= one.span[0] < one.span[1] <= len(text)
        end = one.span[1]
