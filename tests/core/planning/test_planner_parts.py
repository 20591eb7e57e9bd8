"""The parts of the planner, each rule on its own: words, links, paths, columns, periods, text."""

from datetime import date

import pytest
from plan_worlds import SCHOOL, SHOP, SHOP_VALUES, StoredTexts

from redask.core.planning.plan import plan
from redask.core.planning.plan_schema import PlanColumn, PlanSchema, PlanTable, StoredValue
from redask.core.planning.question.dates import relative_period
from redask.core.planning.question.linking import ColumnLink, Linker
from redask.core.planning.question.name_phrases import ColumnPhrase
from redask.core.planning.question.phrases import ValuePhrase
from redask.core.planning.question.readings import AskedCondition
from redask.core.planning.question.words import identifier_words, stem, tokens
from redask.core.planning.statement.column_choice import ColumnScope, choose
from redask.core.planning.statement.condition_tests import test_of as condition_test
from redask.core.planning.statement.key_paths import Doubt, joined, steps_between
from redask.core.planning.statement.periods import period
from redask.core.planning.statement.sql_text import identifier, literal
from redask.core.planning.statement.trees import ColumnOf, Comparison, Literal


@pytest.mark.parametrize(
    ("word", "same"),
    [
        ("students", "student"),
        ("cities", "city"),
        ("watches", "watch"),
        ("opened", "opening"),
        ("planned", "plan"),
        ("people", "person"),
        ("childrens", "child"),
        ("student's", "students'"),
        ("buses", "buse"),
        ("Fees", "fee"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(word: str, same: str) -> None:
    assert stem(word) == stem(same)


@pytest.mark.parametrize("word", ["news", "gas", "status", "analysis", "feed", "bus", "class"])
def test_a_word_that_only_looks_like_a_form_keeps_its_stem(word: str) -> None:
    assert stem(word) in (word, word.removesuffix("s"))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CustomerID", ("customer", "id")),
        ("LName", ("last", "nam")),
        ("Fname", ("first", "nam")),
        ("max_wind_Speed", ("maximum", "wind", "speed")),
        ("meter_100", ("meter", "100")),
        ("Straße", ("stra", "ß", "e")),
        ("__", ()),
    ],
)
def test_an_identifier_is_split_into_words(name: str, words: tuple[str, ...]) -> None:
    assert identifier_words(name) == words


def test_a_question_is_split_into_words_numbers_dates_quotations_and_marks() -> None:
    found = tokens("""What's "Red Chair" 1,200.5 of 'x y' on 2019-03-12, 3rd students' >= 5%?""")
    assert [(each.kind, each.text) for each in found] == [
        ("word", "What's"),
        ("quoted", "Red Chair"),
        ("number", "1,200.5"),
        ("word", "of"),
        ("quoted", "x y"),
        ("word", "on"),
        ("date", "2019-03-12"),
        ("mark", ","),
        ("word", "3rd"),
        ("word", "students"),
        ("mark", ">="),
        ("number", "5%"),
        ("mark", "?"),
    ]


# --- names -----------------------------------------------------------------------------------


def _linker(*columns: str, table: str = "loans") -> Linker:
    found = tuple(PlanColumn(column, "text", words=("nick",)) for column in columns)
    return Linker(PlanSchema((PlanTable(table, found, ()),)))


@pytest.mark.parametrize(
    ("words", "cost"),
    [
        (("loan", "amount"), 0),
        (("amount",), 1),
        (("nick",), 0),
        (("birth", "date"), None),
    ],
)
def test_a_column_is_named_by_its_words_at_a_cost(words: tuple[str, ...], cost: int | None) -> None:
    links = _linker("loan_amount").columns_named(words)
    assert [link.cost for link in links] == ([] if cost is None else [cost])


def test_a_key_of_another_thing_is_not_named_by_a_part_of_that_things_name() -> None:
    names = _linker("book_club_id")
    assert names.columns_named(("book",)) == ()
    assert [link.cost for link in names.columns_named(("book", "club"))] == [5]


def test_a_name_of_signs_alone_or_of_prepositions_is_named_by_nothing() -> None:
    names = _linker("__", "of", "by_loan", table="__")
    assert names.tables_named(("loan",)) == ()
    assert {link.column for link in names.columns_named(("loan",))} == {"by_loan"}


def test_a_column_may_have_the_name_of_its_table() -> None:
    assert [link.cost for link in _linker("loan").columns_named(("loan",))] == [0]


def test_more_words_than_a_name_can_have_name_nothing() -> None:
    names = _linker("a_b_c_d_e_f_g_h")
    assert names.columns_named(tuple("abcdefgh")) == ()
    assert names.tables_named(()) == ()


def test_an_article_in_capitals_may_be_a_stored_value() -> None:
    values = StoredTexts({("customers", "city"): ("ALL",)})
    planned = plan("Show the names of customers in ALL.", SHOP, values)
    assert getattr(planned, "sql", None) == (
        "SELECT customer_name FROM customers WHERE city = 'ALL'"
    )


# --- columns, paths --------------------------------------------------------------------------

_SCOPE = ColumnScope(Linker(SHOP), "orders", ("orders", "customers"), ("orders", "customers"))


def _phrase(*links: tuple[str, str, int]) -> ColumnPhrase:
    return ColumnPhrase(0, 1, tuple(ColumnLink(*link) for link in links))


def test_of_equally_good_columns_none_is_chosen() -> None:
    with pytest.raises(Doubt) as caught:
        choose(_phrase(("orders", "order_date", 1), ("orders", "shipped_date", 1)), _SCOPE)
    assert caught.value.kind == "ambiguous"


def test_columns_that_refer_to_each_other_are_one_choice() -> None:
    shop = Linker(SHOP)
    scope = ColumnScope(shop, "products", ("orders", "customers"), ())
    phrase = _phrase(("customers", "customer_id", 0), ("orders", "customer_id", 0))
    assert choose(phrase, scope) == (ColumnOf("customers", "customer_id"), 2)


def test_a_column_of_a_table_that_is_not_named_is_missing() -> None:
    with pytest.raises(Doubt) as caught:
        choose(_phrase(("products", "price", 0)), _SCOPE)
    assert caught.value.kind == "attribute_missing"


def test_the_way_from_a_table_to_itself_has_no_steps() -> None:
    assert steps_between(Linker(SHOP), "orders", "orders") == ()


def test_a_way_through_a_link_table_is_found_if_it_is_the_only_one() -> None:
    steps = steps_between(Linker(SHOP), "orders", "products")
    assert [step.table for step in steps] == ["order_items", "products"]
    with pytest.raises(Doubt) as caught:
        steps_between(Linker(SCHOOL), "Student", "course")
    assert caught.value.kind == "ambiguous"


def test_tables_are_joined_by_the_ways_that_lead_to_them() -> None:
    steps = joined(Linker(SHOP), "orders", ["customers", "products"])
    assert [step.table for step in steps] == ["customers", "order_items", "products"]


def test_a_value_of_two_columns_that_refer_to_each_other_is_one_of_the_first() -> None:
    stored = (
        StoredValue("Student", "dept_name", "Physics"),
        StoredValue("department", "dept_name", "Physics"),
    )
    scope = ColumnScope(Linker(SCHOOL), "takes", ("Student", "department"), ())
    condition = AskedCondition("=", (ValuePhrase(0, 1, "Physics", stored),))
    column, test, cost = condition_test(condition, scope)
    assert (column, cost) == (ColumnOf("Student", "dept_name"), 2)
    assert test == Comparison(column, "=", Literal("Physics"))


# --- periods, text ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2019", ("2019-01-01", "2020-01-01")),
        ("2020", ("2020-01-01", "2021-01-01")),
        ("2019-12", ("2019-12-01", "2020-01-01")),
        ("2020-2", ("2020-02-01", "2020-03-01")),
        ("2020-02-29", ("2020-02-29", "2020-03-01")),
    ],
)
def test_a_period_is_a_range_of_days(text: str, expected: tuple[str, str]) -> None:
    assert period(text) == expected


@pytest.mark.parametrize("text", ["12/03/2019", "2019-13", "2019-02-30", "12", "May"])
def test_what_is_no_single_period_is_refused(text: str) -> None:
    with pytest.raises(Doubt):
        period(text)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("today", "2024-03-01"),
        ("yesterday", "2024-02-29"),
        ("this month", "2024-03"),
        ("last month", "2024-02"),
        ("this year", "2024"),
        ("last year", "2023"),
    ],
)
def test_a_period_is_counted_from_today(phrase: str, expected: str) -> None:
    assert relative_period(phrase, date(2024, 3, 1)) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [("orders", "orders"), ("order", '"order"'), ("Order", '"Order"'), ('a"b', '"a""b"')],
)
def test_an_identifier_is_quoted_where_it_must_be(name: str, text: str) -> None:
    assert identifier(name) == text


def test_a_text_is_quoted_and_a_number_is_not() -> None:
    assert literal(Literal("O'Neil")) == "'O''Neil'"
    assert literal(Literal("5.5", number=True)) == "5.5"


def test_a_stored_spelling_goes_into_the_statement() -> None:
    planned = plan('How many customers are from "belgium"?', SHOP, SHOP_VALUES)
    assert getattr(planned, "sql", None) == (
        "SELECT count(*) FROM customers WHERE country = 'Belgium '"
    )


def test_a_stored_value_of_articles_alone_is_not_found_in_them() -> None:
    values = StoredTexts({("customers", "city"): ("all the",)})
    planned = plan("Show the names of all the customers.", SHOP, values)
    assert getattr(planned, "sql", None) == "SELECT customer_name FROM customers"
