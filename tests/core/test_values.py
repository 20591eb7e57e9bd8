"""Section 18 of the contract: what a clause or a setting may be, on every surface."""

import contextlib
import math
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core import values
from redask.core.model import PlanChoice, Strictness, Turn
from redask.core.values import Unfit

SEED = values.whole(0, 2**64 - 1)
LIMIT = values.whole(1, 200)
TEMPERATURE = values.real(0, 2)
NOT_NUMBERS = [True, False, None, "5", "", b"5", [5], {}, object(), 1j]
NAME = "a name of 1 to 256 printable characters"
LEAF = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
KEY = st.text() | st.integers() | st.just("ttl")
ANYTHING = LEAF | st.lists(LEAF, max_size=3) | st.dictionaries(KEY, LEAF, max_size=3)
READERS: tuple[values.Reader, ...] = (
    *(LIMIT, SEED, TEMPERATURE, values.boolean, values.strictness),
    *(values.name, values.names, values.providers, values.ttl, values.cache),
)


def refused(read: values.Reader, value: object) -> Unfit:
    with pytest.raises(Unfit) as caught:
        read(value)
    unfit = caught.value
    assert str(unfit) == f"expected {unfit.expected}, found {unfit.found}"
    return unfit


@pytest.mark.parametrize(
    ("value", "read"),
    [(1, 1), (200, 200), (20, 20), (20.0, 20), (1.0, 1), (200.0, 200)],
)
def test_a_whole_number_counts_also_as_a_double(value: object, read: int) -> None:
    got = LIMIT(value)
    assert got == read
    assert type(got) is int


@pytest.mark.parametrize(
    "value", [0, 201, -1, 1.5, 0.0, 201.0, 1e300, math.nan, math.inf, -math.inf, 10**500]
)
def test_a_whole_number_out_of_range_or_with_a_fraction_is_refused(value: object) -> None:
    assert refused(LIMIT, value).expected == "a whole number from 1 to 200"


@pytest.mark.parametrize("value", [0, 2**53 + 1, 2**63, 2**64 - 1])
def test_a_seed_is_exact_over_all_of_u64(value: int) -> None:
    assert SEED(value) == value


@pytest.mark.parametrize(
    ("value", "seed", "temperature"),
    [("2.0", 2, 2.0), ("1e0", 1, 1.0), ("-0", 0, 0.0), ("1.50", None, 1.5), ("1e-400", None, 0.0)],
)
def test_a_decimal_is_a_number_too(value: str, seed: int | None, temperature: float) -> None:
    got = TEMPERATURE(Decimal(value))
    assert (type(got), str(got)) == (float, str(temperature))
    if seed is None:
        refused(SEED, Decimal(value))
    else:
        assert (type(SEED(Decimal(value))), SEED(Decimal(value))) == (int, seed)


@pytest.mark.parametrize("value", ["-1", "2.00000000000000000001", "1e999999", "Infinity", "NaN"])
def test_a_decimal_is_compared_exactly_and_no_number_is_in_no_range(value: str) -> None:
    refused(TEMPERATURE, Decimal(value))
    refused(LIMIT, Decimal(value))


def test_a_decimal_seed_is_exact() -> None:
    assert SEED(Decimal("18446744073709551615.0")) == 2**64 - 1
    refused(SEED, Decimal("18446744073709551615.5"))
    refused(SEED, Decimal("18446744073709551616"))


@pytest.mark.parametrize("value", [-1, 2**64, 2.0**64])
def test_a_seed_beyond_u64_is_refused(value: object) -> None:
    assert refused(SEED, value).expected == "a whole number from 0 to 18446744073709551615"


def test_minus_zero_is_zero() -> None:
    assert str(TEMPERATURE(-0.0)) == "0.0"
    assert str(SEED(-0.0)) == "0"


@pytest.mark.parametrize(
    ("value", "read"), [(0, 0.0), (2, 2.0), (0.5, 0.5), (2.0, 2.0), (5e-324, 5e-324)]
)
def test_a_real_number_is_always_a_double(value: object, read: float) -> None:
    got = TEMPERATURE(value)
    assert got == read
    assert type(got) is float


@pytest.mark.parametrize(
    "value", [-5e-324, math.nextafter(2, 3), 3, -1, math.nan, math.inf, -math.inf, 10**500]
)
def test_a_real_number_out_of_range_is_refused(value: object) -> None:
    assert refused(TEMPERATURE, value).expected == "a number from 0 to 2"


@pytest.mark.parametrize("read", [LIMIT, TEMPERATURE])
@pytest.mark.parametrize("value", NOT_NUMBERS)
def test_a_boolean_and_anything_else_is_never_a_number(read: values.Reader, value: object) -> None:
    refused(read, value)


@given(st.integers() | st.floats(), st.integers(-9, 9), st.integers(0, 20))
def test_ranges_hold_at_both_ends(value: float, low: int, width: int) -> None:
    high = low + width
    inside = low <= value <= high
    for read, fits in (
        (values.real(low, high), inside),
        (values.whole(low, high), inside and value == int(value)),
    ):
        if fits:
            assert read(value) == value
        else:
            refused(read, value)


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_a_boolean(value: bool) -> None:
    assert values.boolean(value) is value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, Strictness.ON),
        (False, Strictness.OFF),
        ("on", Strictness.ON),
        ("off", Strictness.OFF),
        (Strictness.ON, Strictness.ON),
    ],
)
def test_strictness_is_a_word_or_a_boolean(value: object, expected: Strictness) -> None:
    assert values.strictness(value) is expected


@pytest.mark.parametrize("value", [0, 1, 1.0, "true", "", None, [], {}])
def test_nothing_but_a_boolean_is_one(value: object) -> None:
    assert refused(values.boolean, value).expected == "true or false"
    assert refused(values.strictness, value).expected == 'true, false, "on", "off" or "supported"'


@pytest.mark.parametrize("value", ["a", " ", "two words", "ä", "\U0001f600", "\x80", "n" * 256])
def test_a_name_is_kept_as_it_is(value: str) -> None:
    assert values.name(value) == value
    assert values.names(value) == (value,)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("", "one that is empty"),
        ("n" * 257, "one that is longer than 256 characters"),
        ("a\tb", "one that holds the character U+0009"),
        ("a\n", "one that holds the character U+000A"),
        ("\x00", "one that holds the character U+0000"),
        ("a\x1fb", "one that holds the character U+001F"),
        ("\x7f", "one that holds the character U+007F"),
        ("a\ud800", "one that holds the character U+D800"),
    ],
)
def test_a_name_with_a_fault_is_refused_with_its_fault(value: str, found: str) -> None:
    for read in (values.name, values.names):
        unfit = refused(read, value)
        assert (unfit.expected, unfit.found, unfit.path, unfit.item) == (NAME, found, "", 0)


@pytest.mark.parametrize("value", [None, 5, True, b"a", ["a"], {}])
def test_a_name_is_text(value: object) -> None:
    assert refused(values.name, value).expected == "a name"


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (["a"], ("a",)),
        (("b", "a"), ("b", "a")),
        (["b", "a", "b"], ("b", "a")),
        (["a", "A"], ("a", "A")),
        ("a,b", ("a,b",)),
    ],
)
def test_names_are_one_or_several_each_once_in_order(value: object, read: tuple[str, ...]) -> None:
    assert values.names(value) == read


@pytest.mark.parametrize(
    ("value", "expected", "found", "path", "item"),
    [
        (["a", ""], NAME, "one that is empty", "[1]", 1),
        (["a", "b", 3], "a name", "3", "[2]", 2),
        ([None], "a name", "null", "[0]", 0),
        (["a", ["b"]], "a name", "a list", "[1]", 1),
        ([], "a name or a list of names", "an empty list", "", 0),
        ((), "a name or a list of names", "an empty list", "", 0),
        (None, "a name or a list of names", "null", "", 0),
        (7, "a name or a list of names", "7", "", 0),
        ({"a": 1}, "a name or a list of names", "an object", "", 0),
    ],
)
def test_a_wrong_name_in_a_list_is_pointed_at(
    value: object, expected: str, found: str, path: str, item: int
) -> None:
    unfit = refused(values.names, value)
    assert (unfit.expected, unfit.found, unfit.path, unfit.item) == (expected, found, path, item)


@pytest.mark.parametrize(
    ("value", "read"),
    [("openai", ("openai",)), (" GROQ , openai,groq", ("groq", "openai")), (",", ()), (" ", ())],
)
def test_providers_are_a_list_in_a_text_and_none_means_the_settings(
    value: str, read: tuple[str, ...]
) -> None:
    assert values.providers(value) == read


@pytest.mark.parametrize("value", [None, 1, True, ["openai"], {}])
def test_providers_are_text(value: object) -> None:
    assert refused(values.providers, value).expected.startswith("a provider or several")


@pytest.mark.parametrize(
    "value",
    [
        *("open\x00ai", "a,b\x7f", "a,\ud800", "a\x01", "\x08,a"),
        *("openai\x1f", "\x1copenai", "openai,\x1d", "a,\x0bb", "a\x0c"),  # not trimmed away
    ],
)
def test_a_control_character_among_providers_is_refused(value: str) -> None:
    character = next(each for each in value if not each.isprintable())
    assert f"U+{ord(character):04X}" in refused(values.providers, value).found


@pytest.mark.parametrize("value", ["n" * 257, "a, " + "n" * 257])
def test_a_provider_is_no_longer_than_a_name(value: str) -> None:
    assert refused(values.providers, value).expected == NAME
    assert values.providers(value[:-1])[-1] == "n" * 256


@pytest.mark.parametrize(("value", "seconds"), [("5m", 300), ("1s", 1), ("2d", 172_800)])
def test_a_ttl_is_seconds(value: str, seconds: int) -> None:
    assert values.ttl(value) == seconds
    assert values.cache({"ttl": value}) == seconds


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("", "empty: "),
        ("m", "missing number: "),
        ("30", "missing unit: "),
        ("0s", "zero: "),
        ("5M", "unknown unit: "),
        ("99999999999999999999d", "overflow: "),
        (300, "300"),
        (None, "null"),
        (True, "true"),
    ],
)
def test_a_wrong_ttl_is_refused_with_its_fault_and_its_path(value: object, found: str) -> None:
    for unfit, path in (
        (refused(values.ttl, value), ""),
        (refused(values.cache, {"ttl": value}), ".ttl"),
    ):
        assert unfit.expected == "a time to live such as 5m"
        assert unfit.found.startswith(found)
        assert unfit.path == path


def test_a_cache_without_its_ttl_points_to_the_ttl() -> None:
    assert refused(values.cache, {}).path == ".ttl"


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"TTL": "5m"}, ".TTL", "'TTL'"),
        ({"ttl": "5m", "x": 1}, ".x", "'x'"),
        ({"x": 1, "ttl": "bad"}, ".x", "'x'"),
        ({1: "5m"}, ".1", "1"),
        ({"\u2028": 1}, ".\\u2028", "'\\u2028'"),
    ],
)
def test_an_unknown_key_of_cache_is_named(value: object, path: str, found: str) -> None:
    unfit = refused(values.cache, value)
    assert (unfit.expected, unfit.path, unfit.found) == ("no other key than ttl", path, found)


@pytest.mark.parametrize("value", [None, "5m", 300, True, [], ["5m"]])
def test_cache_is_an_object(value: object) -> None:
    assert refused(values.cache, value).expected == 'an object such as {"ttl": "5m"}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "'x'"),
        ("", "''"),
        ("é\n\x00\ud800", "'\\xe9\\n\\x00\\ud800'"),
        ("x" * 32, "'" + "x" * 32 + "'"),
        ("x" * 33, "'" + "x" * 31 + "'…"),
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (1, "1"),
        (1.0, "1.0"),
        (-7, "-7"),
        (2**128 - 1, "340282366920938463463374607431768211455"),
        (2**128, "a number of more than 38 digits"),
        (-(10**999), "a number of more than 38 digits"),
        (0.5, "0.5"),
        (math.nan, "nan"),
        ([], "an empty list"),
        ((), "an empty list"),
        ([1], "a list"),
        ((1,), "a list"),
        ({}, "an object"),
        ({"a": 1}, "an object"),
        (b"x", "bytes"),
        (object(), "object"),
    ],
)
def test_a_value_is_shown_short_printable_and_on_one_line(value: object, text: str) -> None:
    assert values.shown(value) == text


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("limit", "limit"),
        ("a b", "a b"),
        ("é", "\\xe9"),
        ("x" * 32, "x" * 32),
        (7, "7"),
        (None, "null"),
    ],
)
def test_a_key_is_named_in_a_path_as_it_is_in_ascii(key: object, text: str) -> None:
    assert values.printable(key) == text


@pytest.mark.parametrize("key", ["limit'", '"limit"', "'", "it's"])
def test_a_key_with_quotes_of_its_own_is_not_named_as_another(key: str) -> None:
    assert values.printable(key) == key


@pytest.mark.parametrize("key", ["a\n", "\x00", "x" * 33])
def test_a_key_that_is_long_or_not_printable_is_named_as_a_value_is_shown(key: str) -> None:
    assert values.printable(key) == values.shown(key)


@given(ANYTHING)
def test_whatever_is_shown_is_short_printable_and_on_one_line(value: object) -> None:
    show: Callable[[object], str]
    for show in (values.shown, values.printable):
        text = show(value)
        assert len(text) <= 400
        assert text.replace("…", "").isascii()
        assert text.isprintable()


@given(ANYTHING)
def test_a_reader_reads_anything_or_raises_unfit(value: object) -> None:
    for read in READERS:
        with contextlib.suppress(Unfit):
            assert read(value) is not None


def test_a_thousand_names_are_allowed_and_one_more_is_not() -> None:
    names = [f"n{number}" for number in range(1001)]
    assert values.names(names[:1000]) == tuple(names[:1000])
    assert refused(values.names, names).expected == "at most 1000 names"


TURN = {"question": "Who?", "answer": "Ada. [^1]"}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, ""),
        ("text", ""),
        ({}, ""),
        ([TURN] * 21, ""),
        ([{"question": "q", "answer": "x" * 65_536}], ""),
        (["text"], "[0]"),
        ([TURN, None], "[1]"),
        ([{**TURN, "more": 1}], "[0].more"),
        ([{"answer": "a"}], "[0].question"),
        ([{"question": 1, "answer": "a"}], "[0].question"),
        ([TURN, {"question": " ", "answer": "a"}], "[1].question"),
        ([{"question": "a\x00", "answer": "a"}], "[0].question"),
        ([{"question": "q"}], "[0].answer"),
        ([{"question": "q", "answer": None}], "[0].answer"),
        ([{"question": "q", "answer": "\ud800"}], "[0].answer"),
    ],
)
def test_a_history_that_is_none_is_refused_by_its_path(value: object, path: str) -> None:
    with pytest.raises(values.Unfit) as caught:
        values.turns(value)
    assert caught.value.path == path


def test_a_history_at_its_bounds_is_read() -> None:
    assert values.turns([]) == ()
    assert values.turns([TURN] * 20) == (Turn("Who?", "Ada. [^1]"),) * 20
    (turn,) = values.turns([{"question": "q", "answer": "x" * 65_535}])
    assert len(turn.answer) == 65_535
    assert values.turns(({"question": "é", "answer": "\x1b[0m"},)) == (Turn("é", "\x1b[0m"),)


def test_a_plan_is_chosen_by_a_word() -> None:
    assert values.plan_choice("off") is PlanChoice.OFF
    for value in ("maybe", True, None):
        assert refused(values.plan_choice, value).expected == "auto, off or only"
