"""Refusals and conflicts of the built-in answerer: what is named as missing, and why."""

import asyncio
from collections.abc import Sequence

import pytest
from quotable import FERRY, HARBOUR, SHOP, complete, document, row

from redask.core.model import Knobs, Source
from redask.core.rules.grounding import refused_answers, stems
from redask.core.rules.prompt import assemble
from redask.providers.extractive import excerpts
from redask.providers.extractive.answerer import Extractive
from redask.providers.extractive.refusals import (
    answerability,
    counted_things,
    empty_fields,
    missing_values,
    opposites,
    typed_words,
)
from redask.providers.extractive.relevance import ExcerptRanker
from redask.providers.extractive.word_forms import Tokenizer


def refused(question: str, *sources: Source) -> list[str]:
    return [each.detail for each in complete(question, list(sources)).warnings]


@pytest.mark.parametrize(
    ("question", "detail"),
    [
        ("Why did Zoltan take the ferry to Amrum?", "entity_missing: Zoltan"),
        ("Who paid for ticket 9999 of the ferry?", "entity_missing: 9999"),
        ("Does the ferry have HTTP/3?", "entity_missing: HTTP/3"),
        ("What is the default of max_ferries?", "entity_missing: max_ferries"),
        (
            "How tall is the lighthouse on Sundays?",
            "no_evidence: How tall is the lighthouse on Sundays?",
        ),
        (
            "Who has the phone number of the ferry to Amrum?",
            "attribute_missing: phone number of Amrum",
        ),
        ("volcano eruption temperature", "no_evidence: volcano eruption temperature"),
        ("What does the ferry to Amrum not carry?", "attribute_missing: carry of Amrum"),
    ],
)
def test_the_warning_says_what_is_missing(question: str, detail: str) -> None:
    assert refused(question, *HARBOUR) == [detail]


def test_numbers_are_the_same_with_separators() -> None:
    assert refused("Who built the 10000 engines?", document(1, "Otto built 10,000 engines.")) == []


@pytest.mark.parametrize(
    ("question", "details"),
    [
        ("Who is the manager of Nordfracht?", []),
        ("What is the city of Nordfracht?", []),
        ("What is Nordfracht's shoe size?", ["attribute_missing: shoe size of Nordfracht"]),
        ("What salary does Nordfracht have?", ["attribute_missing: salary of Nordfracht"]),
    ],
)
def test_a_record_is_asked_for_its_fields(question: str, details: list[str]) -> None:
    assert refused(question, *SHOP[:4]) == details


def test_a_row_is_not_the_manager_of_itself() -> None:
    nancy = row("staff", id=2, name="Nancy Edwards", title="Sales Manager", city="Calgary")
    question = "Who is the manager of Nancy Edwards?"
    assert refused(question, nancy) == ["attribute_missing: manager of Nancy Edwards"]
    adams = row("staff", id=3, name="Nancy Edwards", manager="Andrew Adams")
    assert refused(question, adams) == []


def test_how_many_needs_a_number() -> None:
    question = "How many ferries does Amrum have?"
    assert refused(question, document(1, "Amrum does have ferries that sail often.")) == [
        f"no_evidence: {question}"
    ]
    assert refused(question, document(1, "Amrum does have three ferries that sail often.")) == []


def test_a_port_or_an_exit_code_is_a_number() -> None:
    question = "Which ports does the ferry service use?"
    assert refused(question, document(1, "The ferry service uses ports of its own.")) == [
        f"no_evidence: {question}"
    ]
    assert refused(question, document(1, "The ferry service uses the ports 80 and 443.")) == []


def test_a_yes_or_no_about_a_name_that_nothing_mentions_is_refused() -> None:
    assert refused("Is the ferry to Amrum late in Kafka mode?", *HARBOUR) == [
        "entity_missing: Kafka"
    ]


def test_how_to_is_not_answered_by_a_line_on_something_else() -> None:
    question = "How do I mend the sails of ferries?"

    def told(line: str, other: str = "Rows, in short:\n\n```\nrow\n```") -> list[str]:
        near = Extractive(lambda _, lines: [0.7] * len(lines), "near")  # all lines are near
        prompt = assemble(question, [document(1, line), document(2, other)])
        done = asyncio.run(near.complete(prompt, Knobs(None, None), max_tokens=1024))
        return [each.detail for each in done.warnings]

    assert told("Painted ferries are seen in the harbour often.") == [f"no_evidence: {question}"]
    assert told("Painted ferries are seen in the harbour often.", "Rows are short.") == []
    assert told("You can see painted ferries in the harbour.") == []
    assert told("Painted ferries are seen like this:\n\n```\nlook\n```") == []


def test_a_refusal_is_not_handed_over_in_pieces_and_keeps_the_budget() -> None:
    emitted: list[str] = []
    question = "What is Nordfracht's shoe size?"
    whole = complete(question, SHOP, emitted=emitted).text
    assert emitted == []
    assert whole.split("\n")[0] == "Nothing here says “shoe size” of Nordfracht; nearest:"
    short = complete(question, SHOP, max_tokens=20).text
    assert short == "Nothing here says “shoe size” of Nordfracht."
    assert complete(question, SHOP, max_tokens=1).text == ""


@pytest.mark.parametrize(
    ("one", "other", "detail"),
    [
        ("The ferry leaves at nine.", "The ferry leaves at ten.", "nine in [^1], ten in [^2]"),
        ("The ferry leaves at nine.", "The ferry leaves at 9:00.", None),
        ("The ferry leaves at nine.", "The old ferry of Sylt leaves at ten.", None),
        ("The ferry leaves at nine.", "The ferry leaves at nine or ten.", None),
        ("The ferry leaves at nine.", "The ferry leaves soon.", None),
    ],
)
def test_sources_disagree_only_on_one_value(one: str, other: str, detail: str | None) -> None:
    sources = [document(1, one), document(2, other)]
    warnings = complete("When does the ferry leave?", sources).warnings
    assert [(each.kind, each.detail) for each in warnings] == (
        [("conflicting_sources", detail)] if detail else []
    )


def test_rows_are_two_things_and_no_conflict() -> None:
    sources = [row("trips", id=n, ferry="Amrum", leaves=f"{n}:00") for n in (9, 10)]
    assert complete("When does the ferry to Amrum leave?", sources).warnings == ()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which mayors sailed to Amrum in the 1700s?", "Mayors Jens and Ole sailed to Amrum then."),
        ("Which ports have 4-5 ferries?", "The ports Husum and Kiel have ferries."),
    ],
)
def test_periods_and_small_counts_may_be_said_otherwise(question: str, text: str) -> None:
    assert refused(question, document(1, text)) == []


@pytest.mark.parametrize(
    ("question", "missing"),
    [("What are two ports of Amrum?", ()), ("What are the 12 ports of Amrum?", ("12",))],
)
def test_a_spelt_count_is_no_value_to_look_for(question: str, missing: tuple[str, ...]) -> None:
    passage = excerpts.read(document(1, "The ports of Amrum are Wittdün and Steenodde."))
    ranker = ExcerptRanker(question, {})
    ranker.add(1, passage)
    assert answerability.measure(question, {1: passage}, ranker.rank()[:1], None).values == missing


# --- with an embedder ----------------------------------------------------------------------


def compared(question: str, cosines: dict[str, float], *sources: Source) -> list[str]:
    """The refusals, where these lines have these cosines and every other has 0.1."""

    def of(_: str, lines: Sequence[str]) -> list[float]:
        return [cosines.get(line, 0.1) for line in lines]

    answerer = Extractive(of, "planted")
    prompt = assemble(question, sources)
    done = asyncio.run(answerer.complete(prompt, Knobs(None, None), max_tokens=1024))
    return [each.detail for each in done.warnings if each.kind == "refused"]


LEAVES, TAKES = "The ferry to Amrum leaves at nine.", "It takes two hours."


@pytest.mark.parametrize(
    ("in_context", "bare", "refused"),
    [(0.1, 0.1, True), (0.5, 0.1, True), (0.1, 0.5, True), (0.5, 0.5, False), (0.8, 0.1, False)],
)
def test_words_alone_do_not_answer_what_no_line_is_near(
    in_context: float, bare: float, refused: bool
) -> None:
    found = compared(FERRY, {f"Ferry: {LEAVES}": in_context, LEAVES: bare}, *HARBOUR)
    assert found == ([f"no_evidence: {FERRY}"] if refused else [])


def test_the_highest_cosine_counts_whichever_line_has_it() -> None:
    low = {f"Ferry: {LEAVES}": 0.5, f"Ferry: {TAKES}": 0.5, LEAVES: 0.2}
    assert compared(FERRY, low, *HARBOUR) == [f"no_evidence: {FERRY}"]
    assert compared(FERRY, {**low, TAKES: 0.5}, *HARBOUR) == []  # quoted beside the first
    other = "Prices: A ticket for the ferry costs 14 euros."
    assert compared(FERRY, {**low, other: 0.95}, *HARBOUR) == []


def test_a_line_with_few_of_the_words_is_judged_by_its_meaning() -> None:
    text = "Iron shoes were nailed to hooves in the ninth century."
    question = "When did people first begin putting shoes on working farm horses?"
    assert compared(question, {text: 0.7}, document(1, text)) == []
    [told] = compared(question, {text: 0.46}, document(1, text))
    assert told.startswith("attribute_missing: ")
    [told] = compared(question, {text: 0.4}, document(1, text))
    assert told.startswith("no_evidence: ")


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        (
            "What is the phone number of the harbour?",
            "The harbour 127.0.0.1:5000 is old.",
            "phone number",
        ),
        ("What is the phone number of the harbour?", "Call the harbour: 04682 961 0.", ""),
        ("What is the phone number of the harbour?", "The harbour: +49 4682 9610.", ""),
        ("What is the phone number of the harbour?", "The harbour: 555-123-4567.", ""),
        ("What is the e-mail address of the harbour?", "Harbour: post(at)example.org", ""),
        ("How much does a ticket cost?", "A ticket is valid for 3 days.", "cost"),
        ("How much does a ticket cost?", "A ticket is free on Sundays.", ""),
        ("How much does a ticket cost?", "A ticket is 4 euros.", ""),
        ("How much does a ticket cost?", "The price of a ticket is 4.", ""),
        ("How much is a yearly subscription?", "A subscription lasts 12 months.", "subscription"),
        ("What is the price of a ticket?", "A ticket has 2 halves.", "price"),
        ("What does a ticket cost?", "A ticket has 2 halves.", "cost"),
        ("Who sells a ticket?", "A ticket has 2 halves.", ""),
    ],
)
def test_a_value_of_its_kind_is_there_or_missed(question: str, text: str, missing: str) -> None:
    assert missing_values.missing(question, [text], [text], is_record=False) == missing


def test_a_price_is_asked_of_what_is_quoted_and_not_of_records() -> None:
    assert refused("How much does the ferry to Amrum cost?", *HARBOUR) != []
    told = missing_values.missing("How much does it cost?", [], ["price: 4"], is_record=True)
    assert told == ""


def test_an_identifier_in_capitals_is_missed_unless_it_is_misspelt() -> None:
    source = document(1, "SESSION_COOKIE_SECURE says that the cookie is sent over HTTPS only.")
    assert refused("What is the default of MAX_THREADS?", source) == ["entity_missing: MAX_THREADS"]
    assert refused("What is SESION_COOKIE_SECURE?", source) == []
    assert refused("Which GPU does the cookie need?", source) == ["entity_missing: GPU"]


BUDGET = [
    row("budget", id=1, department="Sales", quarter="Q1", planned=100, actual=98),
    row("budget", id=2, department="Sales", quarter="Q2", planned=110, actual=None),
    row("budget", id=3, department="IT", quarter="Q2", planned=82, actual=90),
]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the actual of Sales in Q2?", "Nothing here says “actual” of Sales Q2; nearest:"),
        ("What is the actual of Sales in Q1?", "actual: 98, department: Sales, quarter: Q1 [^1]"),
        ("What is the actual of IT in Q2?", "actual: 90, department: IT, quarter: Q2 [^3]"),
        (
            "What is the planned of Sales in Q2?",
            "planned: 110, department: Sales, quarter: Q2 [^2]",
        ),
    ],
)
def test_an_empty_field_is_not_answered_with_that_of_another_record(
    question: str, said: str
) -> None:
    answer = complete(question, BUDGET).text
    assert answer.split("\n")[0] == said
    assert "actual: 90" not in answer or "IT" in question


def empty(question: str, quoted: Sequence[int], *sources: Source) -> str:
    passages = {number: excerpts.read(each) for number, each in enumerate(sources, start=1)}
    found = empty_fields.find(question, passages, quoted, Tokenizer().tokens)
    return f"{found.name} of {', '.join(found.subject)}" if found else ""


def test_a_field_is_empty_only_of_the_record_that_is_meant() -> None:
    assert empty("actual of Sales in Q2", [2], *BUDGET) == "actual of Sales, Q2"
    assert empty("actual in Q2", [3], *BUDGET) == ""  # a record that is as good has it
    assert empty("actual", [1], *BUDGET) == ""  # of no record
    assert empty("colour of Sales in Q2", [2], *BUDGET) == ""  # no record has such a field
    assert empty("actual of Sales", [1], document(1, "Sales had an actual of 98.")) == ""


def test_a_field_of_a_joined_record_is_not_missed() -> None:
    orders = row("orders", id=1, number="A7", phone=None), row("orders", id=2, phone="110")
    people = row("customers", id=7, name="Ines", phone="555")
    assert empty("phone of A7", [1], *orders, people) == "phone of A7"
    assert empty("phone of A7", [1, 3], *orders, people) == ""


@pytest.mark.parametrize(
    ("question", "text", "word"),
    [
        (
            "How is it inside the European Union?",
            "Orders outside the European Union wait.",
            "inside",
        ),
        ("Who was the last emperor?", "The first emperor was Qin.", "last"),
        ("Who was the last emperor?", "The first and the last emperor were tall.", ""),
        ("Who was the last emperor?", "The first train was late.", ""),
        ("Who was first?", "He was last.", ""),
        ("Who was emperor?", "The first emperor was Qin.", ""),
        ("Are rides paid outside the city?", "Rides are paid inside the city only.", ""),
    ],
)
def test_the_opposite_in_the_place_of_a_word(question: str, text: str, word: str) -> None:
    assert opposites.find(question, text) == word


def test_a_word_that_is_said_beside_its_opposite_is_not_missed() -> None:
    question, text = "Who was the last emperor?", "The first emperor was Qin."
    assert opposites.find(question, text, "The last emperor was Puyi.") == ""
    assert opposites.find(question, text, "He was tall.") == "last"


def test_the_opposite_of_what_is_asked_is_no_answer() -> None:
    source = document(1, "Orders outside the European Union take 10 working days.", "Shipping")
    asked = "How long do orders {} the European Union take?"
    inside = complete(asked.format("inside"), [source])
    assert [each.detail for each in inside.warnings] == [
        "attribute_missing: inside of European Union"
    ]
    assert complete(asked.format("outside"), [source]).warnings == ()


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many days of parental leave do I get?", "parental leave"),
        ("How much sick leave is there?", "sick leave"),
        ("How long is the parental leave?", "parental leave"),
        ("How many days of annual leave do I get?", ""),
        ("How many hours of overtime do I get?", ""),  # overtime may be called otherwise
        ("How many do not leave?", ""),
        ("Who gets parental leave?", ""),
        ("How many people took Annual Leave?", ""),
    ],
)
def test_another_kind_of_what_is_counted(question: str, kind: str) -> None:
    held = frozenset(stems.forms("Employees get 25 days of annual leave."))
    assert counted_things.unheld(question, held) == kind


def test_another_kind_of_what_is_counted_is_refused() -> None:
    source = document(1, "Full-time employees get 25 days of annual leave a year.", "Leave")
    assert refused("How many days of parental leave do I get?", source) == [
        "attribute_missing: parental leave"
    ]
    assert refused("How many days of annual leave do I get?", source) == []


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How tall is the lighthouse on Sundays?", "Nothing here gives a number for “tall”, "),
        ("volcano eruption", "Nothing here mentions “volcano”, “eruption”."),
        ("Wie hoch ist der Vulkan?", "Nothing here mentions “hoch”, “Vulkan”."),
        ("What does the ferry to Amrum not carry?", "Nothing here says “carry” of Amrum"),
    ],
)
def test_a_refusal_names_the_words_that_it_is_about(question: str, said: str) -> None:
    assert complete(question, HARBOUR).text.startswith(said)


def test_words_that_questions_are_made_of_are_not_named_as_missing() -> None:
    assert answerability.telling(["many", "parental", "get"]) == ["parental"]


def test_a_refusal_names_words_as_they_were_typed() -> None:
    made = refused_answers.attribute_missing(["sick", "lease"], ["release"])
    said = typed_words.as_typed(made, "How much sick leave is it?", "How much sick lease is it?")
    assert said.text == "Nothing here says “sick”, “leave” of release."
    assert said.warning.detail == "attribute_missing: sick, leave of release"
    assert typed_words.as_typed(made, "sick lease", "sick lease") == made


def test_words_that_were_read_as_two_or_as_one_are_named_as_typed() -> None:
    made = refused_answers.attribute_missing(["log in"], ["release"])
    said = typed_words.as_typed(made, "Who may login there?", "Who may log in there?")
    assert said.text == "Nothing here says “login” of release."


def test_long_questions_are_aligned_word_by_word() -> None:
    made = refused_answers.attribute_missing(["lease"], ["release"])
    typed, read = "sick leave " * 3000, "sick lease " * 3000
    assert typed_words.as_typed(made, typed, read).text == "Nothing here says “leave” of release."
    joined = typed_words.as_typed(made, typed, read + "more")  # only its beginning
    assert joined.text == "Nothing here says “leave” of release."


def test_a_question_that_was_read_otherwise_is_refused_in_its_own_words() -> None:
    source = document(1, "The lease of the boat ends in May. Employees get 28 vacation days.")
    prompt = assemble(
        "How much sick leave is there?", [source], read_as="How much sick lease is there?"
    )
    call = Extractive().complete(prompt, Knobs(None, None), max_tokens=1024)
    answer = asyncio.run(call)
    assert "“sick leave”" in answer.text
    assert "“sick lease”" not in answer.text


HARBOR = row(
    "accounts", id=7, account_name="Harbor Analytics", plan="Pro", renewal_date="2027-01-03"
)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("csat of Harbor Analytics", "csat"),
        ("Did Harbor Analytics pay?", "pay"),
        ("Has Harbor Analytics any open tickets?", "tickets"),
        ("Which account of Harbor Analytics renews next?", "next"),  # others are not compared
        ("Who owns Harbor Analytics?", "owns"),  # "own" in another word is none
    ],
)
def test_a_record_of_which_no_field_is_asked_for_must_have_every_word(
    question: str, words: str
) -> None:
    answer = complete(question, [HARBOR])
    assert answer.text.startswith("Nothing here says")
    assert f"“{words}”" in answer.text.split("\n")[0]
    assert "Harbor Analytics" in answer.text.split("\n")[2]  # the nearest, and said to be that


def test_a_price_is_what_something_costs() -> None:
    espresso = row("products", id=1, name="Polarnacht Espresso", price_eur=24.9)
    answer = complete("What does Polarnacht Espresso cost?", [espresso]).text
    assert answer.startswith("name: Polarnacht Espresso, id: 1, price_eur: 24.9")
    free = row("products", id=2, name="Polarnacht Espresso", colour="brown")
    assert complete("What does Polarnacht Espresso cost?", [free]).text.startswith("Nothing here")


@pytest.mark.parametrize(
    "question",
    [
        "Harbor Analytics",
        "What do you know about Harbor Analytics?",
        "accounts Harbor Analytics",  # the name of its collection
        "When does Harbor Analytics renew?",  # a field is asked for
        "When does the contract of Harbor Analytics renew?",
        "Which plan has Harbor Analytics?",
    ],
)
def test_a_record_with_the_field_or_every_word_is_quoted(question: str) -> None:
    assert "Nothing here" not in complete(question, [HARBOR]).text
