"""Contract 25: a question that leans on earlier ones is made whole; any other is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Ask, Notice, Turn
from redask.core.rules.followups import leaning
from redask.core.rules.followups.whole_question import by_rule, understood
from redask.core.text import question_fault

ACME = ("What is the address of Acme?", "Acme is at 12 Main Street, Berlin. [^1]")
DUNE = ("Who wrote Dune?", "Dune is a 1965 novel by Frank Herbert. [^1]")
FRANCE = ("What is the capital of France?", "Paris is the capital of France. [^1]")
LATE = ("Which orders are late?", "Orders 12 and 14 are late. [^1]")
MAY = ("How many invoices were sent in May?", "42 [^1]")
PLACED = ("How many orders were placed in 2019?", "1,204 [^1]")
FERRY = ("When does the ferry leave on Sundays?", "At 09:10. [^1]")
BOUGHT = ("Did Acme buy Initech?", "Yes. [^1]")
SAIL = ("When is the sail to be reefed?", "Above twenty knots. [^1]")
GOLD = ("When does a gold customer get money back?", "After three days. [^1]")
GOLDS = ("How many gold customers are there?", "count: 2 [^1]")
SUPPLIER = (
    "Which supplier is certified?",
    "certificate: fair trade, country: Ethiopia, name: Yirga Union [^1]",
)
CURIE = ("Who is Marie Curie?", "Marie Curie was a physicist born in Warsaw. [^1]")

CASES = [
    # a pronoun, or what is owned, of the thing the last turn was about
    (ACME, "And its phone number?", "What is the phone number of Acme?"),
    (ACME, "What is its phone number?", "What is Acme's phone number?"),
    (ACME, "Who runs it?", "Who runs Acme?"),
    (ACME, "When was it founded?", "When was Acme founded?"),
    (ACME, "Do they ship to Brazil?", "Do Acme ship to Brazil?"),
    (ACME, "Who is the CEO of that company?", "Who is the CEO of Acme?"),
    (ACME, "And who runs it?", "Who runs Acme?"),
    (ACME, "What is the name of its owner?", "What is the name of Acme's owner?"),
    (ACME, "What is this about?", "What is Acme about?"),
    (("What is the price of Sencha?", "4.50 [^1]"), "Who supplies it?", "Who supplies Sencha?"),
    (("What is INC-12 about?", "A delay. [^1]"), "Who reported it?", "Who reported INC-12?"),
    (("Who wrote 'The Trial'?", "Kafka."), "When was it printed?", "When was 'The Trial' printed?"),
    (
        ("How do I install httpx?", "Run pip install httpx [^1]"),
        "Does it support HTTP/2?",
        "Does httpx support HTTP/2?",
    ),
    (
        ("What is the refund policy?", "Refunds are paid to Visa cards. [^1]"),
        "Does it apply to sale items?",
        "Does the refund policy apply to sale items?",
    ),
    # the answer's name, where the question asked for one
    (FRANCE, "How large is it?", "How large is Paris?"),
    (FRANCE, "And its population?", "What is the population of Paris?"),
    (FRANCE, "How many people live there?", "How many people live in Paris?"),
    (FRANCE, "Who governs that city?", "Who governs Paris?"),
    (SUPPLIER, "And its country?", "What is the country of Yirga Union?"),
    (
        ("Which country has the most customers?", "USA has the most customers: 13. [^1]"),
        "How many employees live there?",
        "How many employees live in USA?",
    ),
    (
        ("Where is Acme based?", "Acme is based in Berlin. [^1]"),
        "How many people live there?",
        "How many people live in Berlin?",
    ),
    (
        ("Which order is the largest?", "It is 1042. [^1]"),
        "Who placed it?",
        "Who placed the order that is the largest?",
    ),
    # persons
    (DUNE, "When was he born?", "When was Frank Herbert born?"),
    (DUNE, "What is his nationality?", "What is Frank Herbert's nationality?"),
    (DUNE, "When did he write it?", "When did Frank Herbert write Dune?"),
    (DUNE, "What else did he write?", "What else did Frank Herbert write?"),
    (DUNE, "And his nationality?", "What is the nationality of Frank Herbert?"),
    (DUNE, "Who published that book?", "Who published Dune?"),
    (DUNE, "Where was that man born?", "Where was Frank Herbert born?"),
    (CURIE, "When did she die?", "When did Marie Curie die?"),
    (CURIE, "Who married her?", "Who married Marie Curie?"),
    (
        ("Who did Marie Curie marry?", "Marie Curie married Pierre Curie. [^1]"),
        "Where was she born?",
        "Where was Marie Curie born?",
    ),
    (
        ("Who is the manager of Jane Peacock?", "Nancy Edwards [^1]"),
        "What is her email?",
        "What is Nancy Edwards's email?",
    ),
    (
        ("Who founded Acme?", "Acme was founded by Ann Lee and Bob Ray. [^1]"),
        "When were they born?",
        "When were Ann Lee and Bob Ray born?",
    ),
    # several: what was counted or listed
    (LATE, "How many of them are open?", "How many of the late orders are open?"),
    (LATE, "Which ones are from Brazil?", "Which of the late orders are from Brazil?"),
    (LATE, "Who placed them?", "Who placed the late orders?"),
    (LATE, "Who placed those orders?", "Who placed the late orders?"),
    (LATE, "What are their totals?", "What are the totals of the late orders?"),
    (LATE, "How many are open?", "How many orders are open?"),
    (LATE, "How many?", "How many orders are late?"),
    (LATE, "And cancelled?", "Which orders are cancelled?"),
    (LATE, "And their totals?", "What are the totals of the late orders?"),
    (
        MAY,
        "How many of them are paid?",
        "How many of the invoices that were sent in May are paid?",
    ),
    (MAY, "Which?", "Which invoices were sent in May?"),
    (
        ("List all open tickets", "12"),
        "How many of them are urgent?",
        "How many of the open tickets are urgent?",
    ),
    (
        ("Show me the customers from Brazil", "5"),
        "What are they called?",
        "What are the customers from Brazil called?",
    ),
    (
        ("How do I cancel orders?", "Press x."),
        "How long are they kept?",
        "How long are orders kept?",
    ),
    (
        ("Which albums did AC/DC release?", "Two. [^1]"),
        "How long are they?",
        "How long are the albums that AC/DC release?",
    ),
    (("Who sold tea?", "Acme did. [^1]"), "Where are they?", "Where are Acme?"),
    (LATE, "What are their totals in May?", "What are the totals of the late orders in May?"),
    (LATE, "What are their most open?", "What are the late orders most open?"),
    (
        ("Which orders came in Q1?", "4"),
        "Who placed them?",
        "Who placed the orders that came in Q1?",
    ),
    (("Who spent Q1 there?", "Ada Lovelace"), "When was she born?", "When was Ada Lovelace born?"),
    # names of several words, and places
    (
        ("Who leads the University of Oxford?", "Ada Lovelace [^1]"),
        "Where is it?",
        "Where is University of Oxford?",
    ),
    (("Acme's address?", "12 Main Street"), "And its phone?", "What is the phone of Acme?"),
    (("How many orders came in Q1?", "4"), "And in Q2?", "How many orders came in Q2?"),
    (("Tell me about Ada Lovelace", "…"), "When was she born?", "When was Ada Lovelace born?"),
    (("Does Acme ship to Brazil?", "Yes."), "Who works there?", "Who works in Brazil?"),
    (("What is nicest?", "Paris is. [^1]"), "Who works there?", "Who works in Paris?"),
    (("List everything", "Acme is all."), "Where are they?", "Where are Acme?"),
    (("Who sells tea?", "Acme, Berlin."), "And the price?", "What is the price of tea?"),
    # another value in the same question
    (FRANCE, "What about Brazil?", "What is the capital of Brazil?"),
    (FRANCE, "And of Germany?", "What is the capital of Germany?"),
    (FRANCE, "Same for Spain?", "What is the capital of Spain?"),
    (ACME, "And Initech?", "What is the address of Initech?"),
    (ACME, "What about the phone number?", "What is the phone number of Acme?"),
    (ACME, "And the email?", "What is the email of Acme?"),
    (("What is Acme's address?", "12 Main"), "And the email?", "What is Acme's email?"),
    (("Where is Acme?", "Berlin."), "And the owner?", "What is the owner of Acme?"),
    (("Where is Acme?", "Berlin."), "And opening hours?", "What are the opening hours of Acme?"),
    (SAIL, "And the jib?", "When is the jib to be reefed?"),
    (GOLD, "And a standard customer?", "When does a standard customer get money back?"),
    (GOLD, "What about the new customer?", "When does the new customer get money back?"),
    (GOLDS, "And standard customers?", "How many standard customers are there?"),
    (DUNE, "And Hyperion?", "Who wrote Hyperion?"),
    (MAY, "And in June?", "How many invoices were sent in June?"),
    (MAY, "What about June?", "How many invoices were sent in June?"),
    (PLACED, "And in 2020?", "How many orders were placed in 2020?"),
    (PLACED, "What about 2021?", "How many orders were placed in 2021?"),
    (PLACED, "And from Brazil?", "How many orders were placed in 2019 from Brazil?"),
    (
        ("How many customers are from Canada?", "8"),
        "And from Brazil?",
        "How many customers are from Brazil?",
    ),
    (("Does Acme sell tea?", "Yes."), "And in Initech?", "Does Initech sell tea?"),
    (("Which ferry costs 14 euros?", "None."), "And 15?", "Which ferry costs 15 euros?"),
    # days are no names, and "does the ferry leave" is about the ferry
    (FERRY, "How long is it?", "How long is the ferry?"),
    (FERRY, "And where to?", "When does the ferry leave on Sundays, and where to?"),
    (FERRY, "And the fare?", "What is the fare of the ferry?"),
    (FERRY, "And on Mondays?", "When does the ferry leave on Mondays?"),
    (
        ("When does the night ferry to the old port leave?", "At 9. [^1]"),
        "Who owns it?",
        "Who owns the night ferry?",
    ),
    (("Why did the ship in it sink?", "Rust. [^1]"), "Who built it?", "Who built the ship?"),
    # a question word alone, and a time
    (BOUGHT, "When?", "When did Acme buy Initech?"),
    (BOUGHT, "Why?", "Why did Acme buy Initech?"),
    (DUNE, "When exactly?", "Who wrote Dune, and when?"),
    (
        ("When was Acme founded?", "Acme was founded in 1998."),
        "Who was president that year?",
        "Who was president in 1998?",
    ),
    (PLACED, "How many were paid in that year?", "How many orders were paid in that year?"),
    (PLACED, "What was sold in that year?", "What was sold in 2019?"),
]

ALONE = [
    "What is the capital of France?",
    "How long does it take to reset a password?",
    "Is it possible to export invoices?",
    "What time is it in Tokyo?",
    "Is there a refund policy?",
    "How many orders are there?",
    "Which products exceed their reorder level?",
    "Which customers paid their invoices late?",
    "Do customers pay their bills on time?",
    "Who is the CEO of Acme and what is her salary?",
    "Does the company own its offices?",
    "When did Marie Curie win her first prize?",
    "If Acme grows, will it hire?",
    "List the orders that ship late",
    "How many invoices have been sent that are unpaid?",
    "What happened this year?",
    "Which tickets were opened this week?",
    "And who wrote Hamlet?",
    "Who runs IT?",
    "What does 'it' mean in a contract?",
    "Is it true that the office is closed on Monday?",
    "How much does it cost to ship a parcel?",
    "Who said that the moon is made of cheese?",
    "refund policy",
    "Brazil",
    "What's new in version 0.27.2?",
    "Wer hat das geschrieben?",
    "What is the difference between this and super in Java?",
    "Which employees report to Nancy Edwards?",
    "Is there a way to change the address that was given?",
    "How many tracks does each album have?",
    "When was the last time that tickets were sold?",
    "it " * 300,
    "?",
]


def turns(*given: tuple[str, str]) -> list[Turn]:
    return [Turn(question, answer) for question, answer in given]


@pytest.mark.parametrize(("before", "question", "whole"), CASES)
def test_a_question_that_leans_is_made_whole(
    before: tuple[str, str], question: str, whole: str
) -> None:
    assert understood(question, turns(before)) == whole


@pytest.mark.parametrize("question", ALONE)
def test_a_question_that_stands_alone_is_left_alone(question: str) -> None:
    assert not leaning.leans(question)
    assert understood(question, turns(ACME, FRANCE, LATE, CURIE)) is None
    ask = Ask(question, history=tuple(turns(ACME)))
    assert by_rule(ask) == (ask, ())


@pytest.mark.parametrize("question", [question for _, question, _ in CASES])
def test_without_history_nothing_is_changed(question: str) -> None:
    assert leaning.leans(question)
    assert understood(question, []) is None


@pytest.mark.parametrize(
    ("before", "question"),
    [
        (("Hello there", "Hello."), "When was he born?"),
        (("Why?", "Because."), "What about Brazil?"),
        (("Which country has the most customers?", "USA"), "And Brazil?"),
        (("Who?", "Nobody."), "How many are open?"),
        (("Who leads Acme?", "Ada."), "How many?"),
        (("Is it so?", "Yes."), "Who was president that year?"),
        (("x" * 600, "Yes."), "And Brazil?"),
        (("Why?", "."), "And its colour?"),
    ],
)
def test_what_nothing_makes_whole_is_asked_as_it_is(before: tuple[str, str], question: str) -> None:
    assert understood(question, turns(before)) is None


def test_a_topic_lives_on_through_questions_that_leaned_themselves() -> None:
    talk = turns(ACME, ("And its phone number?", "+49 30 1 [^1]"))
    assert understood("And the fax number?", talk) == "What is the fax number of Acme?"
    talk += turns(("What about Initech?", "555 [^1]"))
    assert understood("Who runs it?", talk) == "Who runs Initech?"


def test_an_earlier_turn_is_asked_when_the_last_names_nothing() -> None:
    talk = turns(DUNE, ("Thank you!", ""))
    assert understood("When was he born?", talk) == "When was Frank Herbert born?"


def test_the_warning_says_how_it_was_understood() -> None:
    ask = Ask("Who runs it?", limit=3, history=tuple(turns(ACME)))
    whole, notes = by_rule(ask)
    assert (whole.question, whole.limit) == ("Who runs Acme?", 3)
    assert notes == (Notice("understood_as", "Who runs Acme?"),)


def test_a_form_that_would_be_no_question_is_none() -> None:
    assert understood("Who runs it?", turns(("Which supplier is it?", "name: A\x1fB"))) is None
    assert understood("Who runs it?", turns(("Which supplier is it?", "name: A B"))) is not None


_WORDS = st.sampled_from(
    [
        *"And What about How many of them are it its he she there that those this one ones".split(),
        *"which Acme Brazil Dune the order orders 2019 May in of for is was did ? , :".split(),
        *("'x'", '"y"', "[^1]", "\n", "é", "漢字", "-", "'", '"', "`"),
    ]
)
_TEXT = st.lists(_WORDS, max_size=14).map(" ".join) | st.text(max_size=60)


@given(_TEXT, st.lists(st.builds(Turn, _TEXT, _TEXT), max_size=4))
def test_whatever_is_said_it_ends_with_a_question_or_none(question: str, talk: list[Turn]) -> None:
    made = understood(question, talk)
    assert made == understood(question, list(talk))
    assert made is None or (question_fault(made) is None and made != question)


def test_long_history_takes_linear_time() -> None:
    talk = [Turn("it " * 10_000, "Acme is. " * 3_000)] * 2
    assert understood("Who runs it?", talk) is not None


def test_what_leads_to_a_name_is_meant_rather_than_the_name() -> None:
    before = [Turn("When does the ferry to Amrum leave?", "At nine. [^1]")]
    assert understood("And what does it cost?", before) == "What does the ferry to Amrum cost?"
    before = [Turn("What is the phone of Amrum?", "555 [^1]")]
    assert understood("And what does it cost?", before) == "What does Amrum cost?"
