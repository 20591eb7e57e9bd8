"""`make eval-claims`: one thing is changed at a time, and made untrue; the halves are apart."""

from random import Random

import pytest
from claims import changes, half_a, half_b, material, respelling, spans
from claims.changes import KINDS, LEFT_OUT, OF_PASSAGE, Styles
from claims.material import Passage, Sentence

DATA = pytest.mark.skipif(
    not material.data().exists(),
    reason=f"no evaluation data at {material.data()} (REDASK_DATA says where it is)",
)
PLAIN = (
    "In 1954 the ferry to Amrum carried 12,345 people in three months for $45 each, which was not "
    "higher than 17% of all traffic on 12 March 1954."
)


def sentence(text: str, more: str = "") -> Sentence:
    return Sentence("p/1", text, Passage("p", "Ferries", f"{text} {more}"), True)


def made(styles: Styles, kind: str, text: str, more: str = "") -> dict[str, str]:
    """What each style of a kind makes of a sentence."""
    found = changes.make({kind: styles[kind]}, [sentence(text, more)], 100)
    return {change.style: change.text for change in found}


def test_both_halves_have_every_kind_and_no_style_or_template_in_common() -> None:
    assert tuple(half_a.MUTATORS) == tuple(half_b.MUTATORS) == (*KINDS, *LEFT_OUT, *OF_PASSAGE)
    for kind in ("number", "date", "name", "unit", "negation"):
        assert not set(half_a.MUTATORS[kind]) & set(half_b.MUTATORS[kind])
    assert not set(half_a.PARAPHRASES) & set(half_b.PARAPHRASES)


@pytest.mark.parametrize(
    ("styles", "kind", "style", "text", "became"),
    [
        (half_a.MUTATORS, "number", "tenfold", "It has 45 cars on it.", "It has 450 cars on it."),
        (half_a.MUTATORS, "negation", "not added", "It is a ship.", "It is not a ship."),
        (half_a.MUTATORS, "negation", "not removed", "It is not blue.", "It is blue."),
        (half_a.MUTATORS, "unit", "unit word", "It took 5 days.", "It took 5 weeks."),
        (half_a.MUTATORS, "unit", "unit symbol", "It is 5 km long.", "It is 5 m long."),
        (half_a.MUTATORS, "comparison", "opposite", "It is higher.", "It is lower."),
        (half_b.MUTATORS, "number", "doubled", "It has 45 cars.", "It has 90 cars."),
        (half_b.MUTATORS, "number", "digits exchanged", "It has 45 cars.", "It has 54 cars."),
        (half_b.MUTATORS, "number", "magnitude", "It has 4 million.", "It has 4 billion."),
        (half_b.MUTATORS, "date", "year exchanged", "Built in 1954.", "Built in 1945."),
        (half_b.MUTATORS, "unit", "other system", "It is 5 miles off.", "It is 5 kilometres off."),
        (half_b.MUTATORS, "unit left out", "per cent", "It is 17% of it.", "It is 17 of it."),
        (half_a.MUTATORS, "unit left out", "currency", "It is $45 now.", "It is 45 now."),
        (half_a.MUTATORS, "unit left out", "symbol", "It is 5 km long.", "It is 5 long."),
        (half_b.MUTATORS, "negation", "contracted", "It is a ship.", "It isn't a ship."),
        (half_b.MUTATORS, "comparison", "order in time", "It came before.", "It came after."),
    ],
)
def test_a_style_changes_one_thing(
    styles: Styles, kind: str, style: str, text: str, became: str
) -> None:
    assert made(styles, kind, text)[style] == became


@pytest.mark.parametrize(
    ("styles", "kind", "style", "text", "more"),
    [
        (half_a.MUTATORS, "number", "tenfold", "It has 45 cars.", "Another has 450."),
        (half_b.MUTATORS, "number", "doubled", "It has 5 cars.", "Another has ten."),
        (half_b.MUTATORS, "number", "doubled", "It has 1500 cars on it.", "Another has 3,000."),
        (half_b.MUTATORS, "date", "year exchanged", "Built in 1954.", "Rebuilt in 1945."),
        (half_a.MUTATORS, "unit", "unit word", "It took 5 days.", "Then 5 weeks."),
        (half_b.MUTATORS, "unit left out", "per cent", "It is 17% of it.", "It has 17 cars."),
        (half_a.MUTATORS, "comparison", "opposite", "It is higher now.", "It is lower now."),
        (half_a.MUTATORS, "negation", "not added", "It is known whether it floats.", ""),
    ],
)
def test_a_change_that_could_be_true_is_not_made(
    styles: Styles, kind: str, style: str, text: str, more: str
) -> None:
    assert style not in made(styles, kind, text, more)


@pytest.mark.parametrize("styles", [half_a.MUTATORS, half_b.MUTATORS])
def test_the_same_sentence_is_changed_in_the_same_way_each_time(styles: Styles) -> None:
    for mutators in styles.values():
        for mutator in mutators.values():
            edits = {mutator(sentence(PLAIN), Random("seed")) for _ in range(5)}
            assert len(edits) == 1


def test_a_number_in_a_date_or_a_name_is_no_number() -> None:
    found = [span.text for span in spans.numbers(f"{PLAIN} In 2001, H1N1 and CD4 (n = 7) at 9:15.")]
    assert found == ["12,345", "three", "45", "17"]
    assert [span.text for span in spans.years(PLAIN)] == ["1954"]


@pytest.mark.parametrize(
    ("template", "text", "became"),
    [
        ("separators left out", "It has 12,345 cars.", "It has 12345 cars."),
        ("words in digits", "It has three cars.", "It has 3 cars."),
        ("% as percent", "It is 17% of it.", "It is 17 percent of it."),
        ("day before month", "On March 12, 1954 it sank.", "On 12 March 1954 it sank."),
        ("without parenthesis", "It has cars (or vans).", "It has cars."),
        (
            "opening last",
            "In 1954, the ferry to Amrum sank there.",
            "The ferry to Amrum sank there in 1954.",
        ),
        ("respaced", "It 's ( not ) blue , but red .", "It's (not) blue, but red."),
    ],
)
def test_a_template_of_half_a_says_the_same(template: str, text: str, became: str) -> None:
    assert half_a.PARAPHRASES[template](sentence(text)) == became


@pytest.mark.parametrize(
    ("template", "text", "became"),
    [
        (
            "rounded, said so",
            "It has 3,215,004 cars there.",
            "It has about 3.2 million cars there.",
        ),
        ("million in digits", "It has 3.2 million cars.", "It has 3,200,000 cars."),
        ("digits in millions", "It has 27,000 cars.", "It has 27 thousand cars."),
        ("ISO date", "Built on March 12, 1954 here.", "Built on 1954-03-12 here."),
        ("date with ordinal", "Built on 2 May 1954.", "Built on the 2nd of May 1954."),
        ("unit converted", "It is 5 km long.", "It is 5,000 m long."),
        ("dollars", "It costs $45.50 each.", "It costs 45.50 dollars each."),
        ("contracted", "It is not blue.", "It isn't blue."),
        (
            "without relative clause",
            "The ferry, which is blue, has been lying in the port of Husum.",
            "The ferry has been lying in the port of Husum.",
        ),
        ("first half", "The ferry sank; it was lost there.", "The ferry sank."),
    ],
)
def test_a_template_of_half_b_says_the_same(template: str, text: str, became: str) -> None:
    assert half_b.PARAPHRASES[template](sentence(text)) == became


def test_two_sentences_of_a_passage_are_joined() -> None:
    given = sentence("The ferry sank off Amrum.", "It was found by divers in 1954.")
    joined = "The ferry sank off Amrum, and it was found by divers in 1954."
    assert half_b.PARAPHRASES["two joined"](given) == joined


def test_a_style_with_few_changes_leaves_its_share_to_the_others() -> None:
    assert changes.share(10, {"a": 2, "b": 100, "c": 3}) == {"a": 2, "b": 5, "c": 3}
    assert changes.share(10, {"a": 1, "b": 2}) == {"a": 1, "b": 2}
    assert sum(changes.share(11, {"a": 9, "b": 9}).values()) == 11


@DATA
def test_no_passage_is_in_both_halves_and_paraphrases_are_many() -> None:
    ids = [{passage.id for passage in material.passages(half)} for half in material.HALVES]
    assert not ids[0] & ids[1]
    few = [each for each in material.read("b") if not each.passage.id.isdigit()][:1500]
    assert len(list(respelling.make(half_b.PARAPHRASES, few, 300))) == 300
