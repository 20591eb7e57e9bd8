"""Laws of planning: no text raises, equal input gives an equal plan, only known names are used."""

import re
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_worlds import SCHOOL, SCHOOL_VALUES, SHOP, SHOP_VALUES, StoredTexts

from redask.core.planning.plan import Certain, NotComputed, Unclear, plan
from redask.core.planning.plan_schema import ForeignKey, PlanColumn, PlanSchema, PlanTable
from redask.core.planning.question import cues
from redask.core.planning.question.linking import linker
from redask.core.planning.question.words import identifier_words

WORLDS = [(SHOP, SHOP_VALUES), (SCHOOL, SCHOOL_VALUES)]
_STORED = {
    "Ann Lee", "Paris", "Ghent", "Brazil", "paid", "Toys", "Physics", "HKG", '"Acme"', '"none"',
}  # fmt: skip
_NAMES = {
    word
    for schema, _ in WORLDS
    for table in schema.tables
    for name in (table.name, *(column.name for column in table.columns))
    for word in name.replace("_", " ").lower().split()
}
_CUES = {" ".join(row) for rows in cues.phrases().values() for row, _, _ in rows}
_SAID = sorted(
    _STORED | _NAMES | _CUES | cues.PREPOSITIONS | cues.RELATIVES | cues.AUXILIARIES | cues.NEGATIVE
    | cues.JOINING | cues.DIMENSIONS.keys()
    | {"than", "years old", "2019", "3", "5.5", "March 2019", "2019-02-30", ".", "?", "90%"}
)  # fmt: skip
_NAME = re.compile(r'"((?:[^"]|"")+)"|\b([a-z_][a-z0-9_]*)\b')
_WORDS_OF_SQL = frozenset(
    """select distinct from where and or not in exists count avg sum min max group by having order
    asc desc nulls last fetch first rows with ties join on ilike true false""".split()
)
questions = st.lists(st.sampled_from(_SAID), max_size=14).map(" ".join)


@given(st.text(max_size=300) | questions, st.sampled_from(WORLDS))
@settings(max_examples=150, deadline=None)
def test_no_text_raises_and_equal_questions_have_equal_plans(
    question: str, world: tuple[PlanSchema, StoredTexts]
) -> None:
    today = date(2024, 2, 29)
    planned = plan(question, *world, today)
    linker.cache_clear()
    assert plan(question, *world, today) == planned
    assert isinstance(planned, Certain | Unclear | NotComputed)


@given(questions, st.sampled_from(WORLDS))
@settings(max_examples=200, deadline=None)
def test_a_statement_names_only_tables_and_columns_of_the_schema(
    question: str, world: tuple[PlanSchema, StoredTexts]
) -> None:
    schema, values = world
    planned = plan(question, schema, values)
    if isinstance(planned, Certain):
        known = {name for table in schema.tables for name in _names_of(table)}
        text = re.sub(r"'(?:[^']|'')*'", "", planned.sql)
        found = {quoted or plain for quoted, plain in _NAME.findall(text)}
        assert found - _WORDS_OF_SQL <= known, planned.sql


def _names_of(table: PlanTable) -> set[str]:
    return {table.name, *(column.name for column in table.columns)}


@given(st.lists(st.text(max_size=12), max_size=6), st.text(max_size=60))
@settings(max_examples=40, deadline=None)
def test_names_of_any_characters_can_be_planned_over(names: list[str], question: str) -> None:
    columns = tuple(PlanColumn(name, "text") for name in names)
    schema = PlanSchema((PlanTable("".join(names), columns, ()),))
    plan(f"{question} {' '.join(names)}", schema, SHOP_VALUES)
    assert all(identifier_words(name) == identifier_words(name) for name in names)


def test_a_question_of_a_hundred_words_is_not_computed() -> None:
    assert plan("How many customers " * 40, SHOP, SHOP_VALUES) == NotComputed()


@pytest.mark.parametrize("question", ["", "   ", "the a an", "?!"])
def test_a_question_without_words_is_not_computed(question: str) -> None:
    assert plan(question, SHOP, SHOP_VALUES) == NotComputed()


def test_fifty_tables_with_the_same_columns_are_a_doubt_and_no_long_search() -> None:
    columns = tuple(PlanColumn(name, "int4") for name in ("id", "name", "age", "size", "parent_id"))
    tables = tuple(PlanTable(f"thing{n}", columns, ("id",)) for n in range(50))
    keys = tuple(
        ForeignKey(f"thing{n}", ("parent_id",), f"thing{m}", ("id",))
        for n in range(50)
        for m in range(0, 50, 7)
    )
    planned = plan(
        "How many things have a name, age and size?", PlanSchema(tables, keys), SHOP_VALUES
    )
    assert not isinstance(planned, Certain)


def test_the_reading_says_what_phrases_were_taken_for() -> None:
    planned = plan("How many customers live in Brazil?", SHOP, SHOP_VALUES)
    assert isinstance(planned, Certain)
    assert planned.reading == ("customers: customers",)


def test_a_count_of_rows_has_examples_and_other_results_have_none() -> None:
    counted = plan("How many customers live in Brazil?", SHOP, SHOP_VALUES)
    assert isinstance(counted, Certain)
    assert counted.examples == (
        "SELECT urn FROM customers WHERE country = 'Brazil' "
        "ORDER BY urn ASC FETCH FIRST 2 ROWS WITH TIES"
    )
    listed = plan("List the names of customers.", SHOP, SHOP_VALUES)
    assert isinstance(listed, Certain)
    assert listed.examples is None


def test_months_and_years_without_a_date_are_counted_from_the_newest_of_the_column() -> None:
    last = plan("How many customers joined last year?", SHOP, SHOP_VALUES)
    assert isinstance(last, Certain)
    assert last.sql == (
        "SELECT count(*) FROM customers WHERE (joined_date >= date_trunc('year', (SELECT "
        "max(joined_date) FROM customers)) - interval '1 year' AND joined_date < "
        "date_trunc('year', (SELECT max(joined_date) FROM customers)))"
    )
    this = plan("How many customers joined this month?", SHOP, SHOP_VALUES)
    assert isinstance(this, Certain)
    assert this.sql == (
        "SELECT count(*) FROM customers WHERE joined_date >= date_trunc('month', (SELECT "
        "max(joined_date) FROM customers))"
    )


@pytest.mark.parametrize(
    "question",
    [
        "How many customers joined today?",
        "How many customers joined before last year?",
        "How many customers joined last year or this year?",
        "How many suppliers opened last year?",
    ],
)
def test_other_periods_from_today_are_not_understood_without_a_date(question: str) -> None:
    planned = plan(question, SHOP, SHOP_VALUES)
    assert isinstance(planned, Unclear), planned
    assert planned.nearest is None
