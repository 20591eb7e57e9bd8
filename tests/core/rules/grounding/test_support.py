"""Contract 24: what the cited sources say to a claim."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Source
from redask.core.rules.grounding import check, claims, source_text, support
from redask.core.rules.grounding.support import Judgement, SupportVerdict

SUPPORTED, UNSUPPORTED, CONTRADICTED, UNCITED, NOTHING = (
    SupportVerdict.SUPPORTED,
    SupportVerdict.UNSUPPORTED,
    SupportVerdict.CONTRADICTED,
    SupportVerdict.UNCITED,
    SupportVerdict.NOTHING_TO_CHECK,
)
TEXT = (
    "The old ferry Nordstern leaves the port of Kiel at nine. It was built by Anna Berg in 1987 "
    "for 3.5 million euros. The crossing is 12 km long. Captain Ole Lund said that nobody had "
    "ever been late. The ferry did not stop at Laboe in winter. Prices rose more than wages in "
    "the summer of 1990, because the World Health Organization opened an office here."
)


def judge(claim: str, *payloads: object) -> Judgement:
    sources = [
        source_text.read(Source("urn:reddb:document:d/1#a", json.dumps(payload)))
        for payload in payloads or ({"title": "Ferries", "text": TEXT},)
    ]
    *_, found = claims.split(f"{claim} [^1]")
    return support.judge(found, sources)


def verdict(claim: str, *payloads: object) -> SupportVerdict:
    return judge(claim, *payloads).verdict


# --- what is supported ------------------------------------------------------------------


@pytest.mark.parametrize(
    "claim",
    [
        "The old ferry Nordstern leaves the port of Kiel at nine.",
        "The ferry leaves Kiel at 9.",
        "The ferry Nordstern leaves the port of Kiel at 9:00.",
        "The ferry was built by Berg in 1987 for €3,500,000.",
        "The crossing is 12,000 m long.",
        'Captain Lund said that "nobody had ever been late".',
        'Captain Ole Lund said that "nobody … been LATE".',
        "The ferry didn't stop at Laboe in winter.",
        "Prices rose more than wages in summer 1990.",
        "The WHO opened an office here.",
        "One ferry leaves the port of Kiel.",
        "Kiel's port has the ferry Nordstern.",
    ],
)
def test_a_claim_in_other_words_is_supported(claim: str) -> None:
    found = judge(claim)
    assert (found.verdict, found.tokens) == (SUPPORTED, ())
    assert found.quotes


# --- values -----------------------------------------------------------------------------


def test_another_value_in_the_same_place_contradicts() -> None:
    found = judge("The old ferry Nordstern leaves the port of Kiel at midnight.")
    assert found.verdict is CONTRADICTED
    assert (found.tokens, found.instead) == (("midnight",), ("nine",))


def test_a_value_of_another_sentence_contradicts_too() -> None:
    found = judge("It was built by Anna Berg in 1990 for 3.5 million euros.")
    assert (found.verdict, found.instead) == (CONTRADICTED, ("1987",))


def test_a_value_that_stands_nowhere_is_unsupported() -> None:
    found = judge("The ferry of Kiel has 77 cabins.")
    assert (found.verdict, found.tokens, found.instead) == (UNSUPPORTED, ("77",), ())


def test_a_value_in_another_passage_is_found() -> None:
    assert verdict("In 1987 the ferry did not stop at Laboe in winter.") is SUPPORTED


def test_another_unit_is_another_value() -> None:
    assert verdict("The crossing is 12 m long.") is CONTRADICTED


# --- cells and what follows from them ----------------------------------------------------

ROWS = (
    {"name": "Kiel", "berths": 12, "depth": "9 m"},
    {"name": "Rostock", "berths": 30, "depth": "13 m"},
)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Kiel has 12 berths.", SUPPORTED),
        ("Kiel and Rostock have 42 berths.", SUPPORTED),
        ("Rostock has 18 berths more than Kiel.", SUPPORTED),
        ("The depth of Rostock and Kiel differs by 4 m.", SUPPORTED),
        ("Kiel and Rostock are 2 ports by name with berths.", SUPPORTED),
        ("Kiel and Rostock have 41 berths.", CONTRADICTED),
        ("Rostock has 12th rank of berths.", UNSUPPORTED),
        ("Kiel and Rostock have berths since May 2019.", UNSUPPORTED),
    ],
)
def test_values_follow_from_cited_rows(claim: str, expected: SupportVerdict) -> None:
    found = judge(claim, *ROWS)
    assert (found.verdict is SUPPORTED) is (expected is SUPPORTED), found


def test_a_result_has_as_many_rows_as_it_has() -> None:
    result = {"rows": [["Kiel", 12], ["Rostock", 30], ["Laboe", 3]]}
    assert verdict("There are 3 rows.", {"rows": [["Kiel"], ["Rostock"], ["Laboe"]]}) is SUPPORTED
    assert verdict("The rows of Kiel, Rostock and Laboe have 45 in all.", result) is SUPPORTED
    assert verdict("The rows of Kiel, Rostock and Laboe have 99 in all.", result) is not SUPPORTED


# --- names ------------------------------------------------------------------------------


def test_a_name_that_stands_nowhere_is_unsupported() -> None:
    found = judge("The ferry leaves the port of Kiel at nine with Peter Holm.")
    assert (found.verdict, found.tokens) == (UNSUPPORTED, ("Peter Holm",))


def test_a_first_name_that_the_source_does_not_have_is_unsupported() -> None:
    assert judge("Otto Berg built the ferry in 1987.").tokens == ("Otto",)


def test_another_name_in_the_same_place_contradicts() -> None:
    found = judge("The old ferry Nordstern leaves the port of Lund at nine.")
    assert (found.verdict, found.tokens, found.instead) == (CONTRADICTED, ("Lund",), ("Kiel",))
    found = judge("It was built by Ole Berg in 1987 for 3.5 million euros.")
    assert (found.verdict, found.tokens, found.instead) == (CONTRADICTED, ("Ole",), ("Anna",))
    found = judge("It was built by Ole Lund in 1987 for 3.5 million euros.")
    assert (found.verdict, found.instead) == (CONTRADICTED, ("Anna Berg",))


def test_the_first_word_of_a_claim_is_contradicted_or_left_alone() -> None:
    source = {
        "title": "Cities",
        "text": "We know that Paris is the capital of France. Paris is the largest city.",
    }
    assert judge("Berlin is the largest city.", source).instead == ("Paris",)
    assert verdict("Today the capital of France is its largest city.", source) is SUPPORTED


def test_inflected_names_and_acronyms_are_names() -> None:
    source = {"title": "x", "text": "The NATO summit of Germany was held in 1999 in the old town."}
    assert verdict("The German summit was held in 1999.", source) is SUPPORTED
    assert (
        judge("The North Atlantic Treaty Organization held its summit in 1999.", source).tokens
        == ()
    )
    assert judge("The summit of the French was held in 1999.", source).instead == ("Germany",)
    assert verdict("The summit of the UNO was held in 1999.", source) is not SUPPORTED
    claim = "The summit in the old town (SITOT) was held in 1999."
    assert verdict(claim, source) is SUPPORTED


def test_a_text_that_begins_with_a_pronoun_does_not_say_whom_it_is_about() -> None:
    assert (
        verdict("Anna Holm built ferries in Kiel.", {"text": "She built ferries in Kiel."})
        is SUPPORTED
    )
    titled = {"title": "Ole Lund", "text": "She built ferries in Kiel."}
    assert verdict("Anna Holm built ferries in Kiel.", titled) is not SUPPORTED
    assert (
        verdict("Ferries in Kiel were built by Anna Holm.", {"text": "She built ferries in Kiel."})
        is not SUPPORTED
    )


# --- identifiers and quoted text ------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Ticket T-1043 is open.", SUPPORTED),
        ("Ticket t-1043 is open.", SUPPORTED),
        ("Ticket T1043 is open.", SUPPORTED),
        ("Ticket T-1044 is open.", UNSUPPORTED),
        ("The gene FOXO3 is regulated.", SUPPORTED),
        ("The 95-fold gene is regulated.", UNSUPPORTED),
        ('The ticket says "please reopen it".', SUPPORTED),
        ('The ticket says "please close it".', UNSUPPORTED),
        ('The ticket says "…".', SUPPORTED),
        ("The ticket says „please re-open or please reopen it“.", SUPPORTED),
    ],
)
def test_literals(claim: str, expected: SupportVerdict) -> None:
    text = (
        "Ticket T-1043 of the FOXO3-regulated gene says: it is open. Please re-open or please "
        "reopen it. The ticket is open."
    )
    assert verdict(claim, {"title": "x", "text": text}) is expected


# --- negation and direction -----------------------------------------------------------------


def test_a_negation_that_the_source_does_not_have() -> None:
    found = judge("The old ferry Nordstern does not leave the port of Kiel at nine.")
    assert (found.verdict, found.tokens) == (CONTRADICTED, ("not",))
    found = judge("The wages in Kiel were not 12 km.")
    assert "not" in found.tokens


def test_a_negation_more_than_the_source_has() -> None:
    found = judge("The ferry did not stop at Laboe in no winter, never.")
    assert found.verdict is CONTRADICTED


def test_a_negation_that_the_claim_leaves_out() -> None:
    found = judge("The ferry did stop at Laboe in winter.")
    assert (found.verdict, found.tokens) == (CONTRADICTED, ("stop",))
    assert found.instead == ("not stop",)


def test_what_is_negated_elsewhere_in_a_passage_is_no_contradiction() -> None:
    text = "The ferry is not new, and it leaves the port of Kiel every day at nine in the morning."
    assert (
        verdict("The ferry leaves the port of Kiel every day at nine.", {"text": text}) is SUPPORTED
    )
    text = "No ferry was late, and the new ferry leaves the port of Kiel every single morning."
    assert (
        verdict("The new ferry leaves the port of Kiel every morning.", {"text": text}) is SUPPORTED
    )


def test_the_opposite_in_the_same_place_contradicts() -> None:
    found = judge("Prices rose less than wages in the summer of 1990.")
    assert (found.verdict, found.instead) == (CONTRADICTED, ("more",))


def test_the_opposite_in_a_passage_about_the_same_contradicts() -> None:
    source = {"title": "x", "text": "In the experiment the number of errors was reduced by heat."}
    found = judge("Heat doubled the number of errors in the experiment.", source)
    assert (found.verdict, found.instead) == (CONTRADICTED, ("reduced",))


def test_both_directions_in_a_passage_contradict_nothing() -> None:
    text = "Heat increased the growth rate in the experiment, and cold decreased it."
    assert (
        verdict("In the experiment, growth rates are increased by heat.", {"text": text})
        is SUPPORTED
    )


# --- the other verdicts ------------------------------------------------------------------------


def test_without_a_source_a_claim_is_uncited() -> None:
    (claim,) = claims.split("It is so.")
    assert support.judge(claim, []).verdict is UNCITED


def test_a_claim_of_stop_words_has_nothing_to_check() -> None:
    assert verdict("It was here, and so were they.") is NOTHING


def test_a_claim_about_something_else_is_unsupported() -> None:
    found = judge("Bakers sell fresh bread.")
    assert (found.verdict, found.tokens, found.quotes) == (UNSUPPORTED, (), ())
    assert found.overlap == 0.0


def test_a_source_without_text_supports_nothing() -> None:
    assert verdict("The ferry leaves at nine.", {}) is UNSUPPORTED
    assert verdict("It was at 7 or 8.", {"text": "7 or 8"}) is SUPPORTED


def test_quotes_are_the_best_passage_of_each_source() -> None:
    found = judge("The ferry leaves at nine.", {"text": TEXT}, {"text": "A ferry leaves, too."})
    assert [(quote.source, quote.field) for quote in found.quotes] == [(0, "text"), (1, "text")]
    for quote in found.quotes:
        text = (TEXT, "A ferry leaves, too.")[quote.source]
        assert text[quote.start : quote.end] == quote.text


def test_a_long_source_is_searched_by_its_index() -> None:
    text = "\n\n".join(f"The ship number {n} of the fleet is called Vessel{n}." for n in range(200))
    source = {"title": "x", "text": text}
    assert verdict("The ship number 150 of the fleet is called Vessel150.", source) is SUPPORTED
    assert verdict("The huge ship 150 of the fleet is called Vessel150.", source) is SUPPORTED
    assert verdict("The ship number 999 of the fleet is called Vessel150.", source) is not SUPPORTED


def test_of_many_tokens_only_the_words_are_looked_for() -> None:
    numbers = [str(n) for n in range(100, 180)]
    words = [f"X{chr(97 + n // 9)}{chr(97 + n % 9)}q" for n in range(80)]
    text = "The list: " + " or ".join(numbers) + "; " + " and ".join(words) + "."
    source = {"title": "x", "text": text}
    claim = "A list: " + " and ".join([*numbers, *words])
    assert judge(claim, source).tokens == ()
    found = judge(f"A list: {' and '.join([*numbers, '999', *words, 'Kiel'])}", source)
    assert {"999", "Kiel"} <= set(found.tokens)


def test_a_name_is_looked_for_beyond_the_best_passages() -> None:
    text = " ".join(
        f"The {word} ferry leaves the port." for word in "red blue green old new".split()
    )
    source = {"title": "x", "text": f"{text} We met Anna Berg."}
    assert verdict("The red ferry leaves the port with Anna Berg.", source) is SUPPORTED


def test_a_row_with_a_date_and_numbers_has_columns_of_numbers_alone() -> None:
    rows = [{"day": "2 May 2019", "count": 3}, {"day": "4 May 2019", "count": 4}]
    assert verdict("The count of both days is 7.", *rows) is SUPPORTED


# --- laws --------------------------------------------------------------------------

WORDS = st.lists(
    st.sampled_from("The ferry Nordstern not leaves port of Kiel at nine 1987 12 km".split()),
    min_size=3,
    max_size=12,
).map(" ".join)


@given(WORDS)
def test_a_sentence_of_the_source_is_supported_by_it(sentence: str) -> None:
    source = Source("u", json.dumps({"text": f"{TEXT} Yes: {sentence}. {TEXT}"}))
    found = check.examine(f"Yes: {sentence}. [^1]", [source])
    assert {each.judgement.verdict for each in found} <= {SUPPORTED, NOTHING}


@given(WORDS | st.text(max_size=60), st.text(max_size=60))
def test_judging_is_deterministic_and_never_raises(claim: str, text: str) -> None:
    sources = [Source("u", text), Source("u", json.dumps({"a": text, "b": [1, {"c": claim}]}))]
    answer = f"{claim} [^1][^2]"
    assert check.examine(answer, sources) == check.examine(answer, sources)


@pytest.mark.parametrize(
    "piece", ["7", '"', "[^1]", "Kiel ", "not ", "a. ", "9, ", "T-1 ", "more "]
)
def test_hostile_texts_take_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        began = time.process_time()
        check.examine(f"{text} [^1]", [Source("u", json.dumps({"text": text}))])
        return time.process_time() - began

    assert seconds(20_000) < 40 * max(seconds(2_000), 0.01)


# --- passages on another subject ---------------------------------------------------------

LINE = "The Amrum line carried 700 passengers to the islands."


def test_a_value_that_only_another_subject_has_is_found_there() -> None:
    found = judge(LINE, {"text": "The Amrum line went to the islands. Passengers numbered 700."})
    assert found.verdict is SUPPORTED


def test_a_value_that_another_subject_has_does_not_stand_against_the_one_in_its_place() -> None:
    text = "The Amrum line carried 500 passengers to the islands. Passengers numbered 700."
    found = judge(LINE, {"text": text})
    assert (found.verdict, found.tokens, found.instead) == (CONTRADICTED, ("700",), ("500",))


@pytest.mark.parametrize(
    ("claim", "token"),
    [
        ("The club has fewer than 122 members.", "fewer than 122"),
        ("The club has more than 122 members.", "more than 122"),
    ],
)
def test_a_bound_that_the_source_reaches_is_contradicted_and_named(claim: str, token: str) -> None:
    found = judge(claim, {"text": "The club has 122 members in Oslo."})
    assert (found.verdict, found.tokens, found.instead) == (CONTRADICTED, (token,), ("122",))


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The club has at most 122 members.", "The club has 122 members in Oslo."),
        ("The club has less than 122 members.", "The club has fewer than 122 members in Oslo."),
        ("The club has more than 122 members.", "The club has 122 or more members in Oslo."),
        ("It was minus 12.5 degrees in Oslo.", "In Oslo it was -12.5 degrees."),
        ("It was -12.5 degrees in Oslo.", "In Oslo it was minus 12.5 degrees."),
    ],
)
def test_a_bound_or_a_sign_in_another_spelling_is_supported(claim: str, text: str) -> None:
    assert verdict(claim, {"text": text}) is SUPPORTED
