"""Words, names, values and polarity, as claims and sources are compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules.grounding import names, polarity, stems, value_tokens


@pytest.mark.parametrize(
    "same",
    [
        ["studies", "studied", "study"],
        ["plans", "planned", "planning", "plan"],
        ["houses", "house"],
        ["Müller’s", "Müller", "mu\u0308ller"],
        ["glasses", "glass"],
        ["happily", "happy", "happiness"],
        ["markedly", "marked", "marks"],
        ["the", "The"],
    ],
)
def test_inflections_have_one_form(same: list[str]) -> None:
    assert len({stems.form(word) for word in same}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("virus", "viru"), ("basis", "basi"), ("king", "k"), ("t1043", "t104")]
)
def test_other_words_have_other_forms(one: str, other: str) -> None:
    assert stems.form(one) != stems.form(other)


def test_content_leaves_out_stop_words_digits_and_letters() -> None:
    assert stems.content(stems.forms("The 3 inhibitors of a inhibition in 東京")) == [
        "inhibi",
        "東",
        "京",
    ]


@given(st.text(max_size=60))
def test_every_word_has_a_form(text: str) -> None:
    assert len(stems.forms(text)) == len(stems.spans(text))


def found_names(text: str) -> list[tuple[str, bool]]:
    spans, forms = stems.spans(text), stems.forms(text)
    found = names.find(text, spans, forms)
    return [(text[spans[each.first][0] : spans[each.end - 1][1]], each.sure) for each in found]


def test_names_are_runs_of_capitalised_words() -> None:
    assert found_names("In Kiel, J. R. R. Tolkien met Anna-Lena Berg, Paris") == [
        ("Kiel", True),
        ("J. R. R. Tolkien", True),
        ("Anna-Lena Berg", True),
        ("Paris", True),
    ]


def test_the_first_word_of_a_sentence_alone_is_not_sure() -> None:
    assert found_names("Ships leave. Boats stay: Some NATO ships, too") == [
        ("Ships", False),
        ("Boats", False),
        ("NATO", True),
    ]
    assert found_names("NATO met. New York") == [("NATO", True), ("New York", True)]


def test_names_with_a_short_ending_are_the_same() -> None:
    assert names.inflected("german", "germany")
    assert names.inflected("americans", "america")
    assert not names.inflected("norm", "normandie")
    assert not names.inflected("rom", "roma")
    assert not names.inflected("austria", "australia")


def values(text: str) -> list[tuple[str, bool, bool]]:
    found = value_tokens.find(text, stems.spans(text), stems.forms(text))
    return [(each.text, each.moment is not None, each.quantity is not None) for each in found]


def test_values_are_moments_and_quantities() -> None:
    assert values("On 5 May 1990 it cost 3 euros in 2019, at noon") == [
        ("5 May 1990", True, False),
        ("3 euros", False, True),
        ("2019", True, True),
        ("noon", True, False),
    ]
    assert values("nothing to count") == []


def same(claimed: str, found: str) -> bool:
    one, other = (
        value_tokens.find(text, stems.spans(text), stems.forms(text))[0]
        for text in (claimed, found)
    )
    return value_tokens.same(one, other)


def test_a_bare_year_is_the_same_as_a_date_and_as_a_count() -> None:
    assert same("2019", "12 March 2019")
    assert same("2019", "2,019 people")
    assert not same("2018", "12 March 2019")
    assert not same("12 March 2019", "3 people")
    assert same("nine", "9")


@given(
    st.lists(st.sampled_from(["nine ", "2019 ", "5 km ", "12 March ", "a ", ", ", "§"])).map(
        "".join
    )
)
def test_values_stand_at_words_in_order(text: str) -> None:
    spans = stems.spans(text)
    end = 0
    for value in value_tokens.find(text, spans, stems.forms(text)):
        assert end <= value.first < value.end <= len(spans)
        end = value.end


def test_negations_and_directions_have_places() -> None:
    forms = stems.forms("It did not rise, nor fail to, and doesn't fall")
    assert polarity.negations(forms) == [2, 4, 5, 8]
    assert [forms[at] for at in polarity.directed(forms)] == ["rise", "fail", "fall"]
    assert polarity.negations(stems.forms("It is so")) == polarity.directed(["it"]) == []
    assert polarity.is_plain("not")
    assert polarity.is_negation("fail")
    assert not polarity.is_plain("fail")


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("more", "less", True),
        ("increased", "reduces", True),
        ("best", "worst", True),
        ("more", "higher", False),
        ("more", "before", False),
        ("more", "table", False),
    ],
)
def test_opposites(one: str, other: str, expected: bool) -> None:
    ours, theirs = (polarity.directions(stems.form(word)) for word in (one, other))
    assert polarity.opposite(ours, theirs) is polarity.opposite(theirs, ours) is expected


def test_a_word_is_alike_itself_and_never_its_own_opposite() -> None:
    for word in ("more", "maximum", "refuse", "lower"):
        found = polarity.directions(stems.form(word))
        assert polarity.alike(found, found)
        assert not polarity.opposite(found, found)
