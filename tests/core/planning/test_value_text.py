"""When two texts are the same value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.planning.value_text import LONGEST_VALUE, normalised


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Brazil", "brazil"),
        ("  New\t York ", "new york"),
        ("post-graduate_work", "post graduate work"),
        ("2007–2008", "2007 2008"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("ﬁne Ｂ", "fine b"),
        ("-", ""),
        ("“Brazil”?", "brazil"),
        ("(U.S.A.)", "u.s.a"),
        ("C++", "c++"),
        ("", ""),
    ],
)
def test_case_spaces_and_dashes_do_not_count(text: str, expected: str) -> None:
    assert normalised(text) == expected


def test_a_long_text_is_not_looked_up() -> None:
    assert normalised("a" * LONGEST_VALUE) == "a" * LONGEST_VALUE
    assert normalised("a" * (LONGEST_VALUE + 1)) == ""


@given(st.text(max_size=LONGEST_VALUE))
def test_a_normalised_text_is_normalised(text: str) -> None:
    once = normalised(text)
    assert len(once) > LONGEST_VALUE or normalised(once) == once
