"""The user's own words for tables, columns and values."""

from collections.abc import Mapping, Sequence

import pytest

from redask.core.errors import Misconfigured
from redask.core.planning.plan_schema import PlanColumn, PlanSchema, PlanTable, StoredValue
from redask.core.synonyms import Synonyms, SynonymValues, applied, read, unknown

WRITTEN = """
[tables]
customer = ["client", "buyer", " "]
[columns.customer]
country = "nation"
[values.customer.country]
Brazil = ["BR", "Bra-sil"]
[values.gone.x]
y = "z"
"""
SCHEMA = PlanSchema(
    (
        PlanTable("customer", (PlanColumn("country", "text"), PlanColumn("id", "int4"))),
        PlanTable("order", (PlanColumn("country", "text"),)),
    )
)


class Values:
    def __init__(self, *values: StoredValue) -> None:
        self._values = values

    def find(self, texts: Sequence[str]) -> Mapping[str, tuple[StoredValue, ...]]:
        found = {text: tuple(each for each in self._values if each.value == text) for text in texts}
        return {text: values for text, values in found.items() if values}


def test_words_stand_at_tables_and_columns() -> None:
    customer, order = applied(read(WRITTEN), SCHEMA).tables
    assert customer.words == ("client", "buyer")
    assert [each.words for each in customer.columns] == [("nation",), ()]
    assert order == SCHEMA.tables[1]


def test_no_words_change_nothing() -> None:
    assert read("") == Synonyms()
    assert applied(read(""), SCHEMA) is SCHEMA


def test_a_word_for_a_value_finds_the_value_where_it_is_stored() -> None:
    stored = StoredValue("customer", "country", "Brazil")
    other = StoredValue("order", "country", "Brazil")
    index = SynonymValues(Values(stored, other), read(WRITTEN))
    assert index.find(["br", "BRA SIL", "Brazil", "z", "no"]) == {
        "br": (stored,),
        "BRA SIL": (stored,),
        "Brazil": (stored, other),
    }


def test_a_word_for_a_value_that_is_not_readable_finds_nothing() -> None:
    assert SynonymValues(Values(), read(WRITTEN)).find(["br", "brasil"]) == {}


def test_a_word_that_is_also_a_value_finds_both() -> None:
    stored = StoredValue("customer", "country", "Brazil")
    own = StoredValue("customer", "code", "BR")
    index = SynonymValues(Values(stored, own), read(WRITTEN))
    assert index.find(["BR"]) == {"BR": (own, stored)}


def test_names_that_are_not_there_are_told() -> None:
    words = read(WRITTEN + "[columns.order]\nid = 'number'\n[values.order.id]\na = 'b'")
    tables = {each.name: [column.name for column in each.columns] for each in SCHEMA.tables}
    assert list(unknown(words, tables)) == [
        "synonyms.toml has words for order.id, which is not there",
        "synonyms.toml has words for the table 'gone', which is not there",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[tables", "synonyms.toml: "),
        ("[table]\na = 'b'", "'table' is none of tables, columns, values"),
        ("tables = 'x'", "tables is a table of words, not 'x'"),
        ("[tables]\na = 1", "tables.a is a list of words"),
        ("[tables]\na = ['x', 1]", "tables.a is a list of words"),
        ("[columns]\na = ['x']", "columns.a is a table of words"),
        ("[values.a]\nb = 'x'", "values.a.b is a table of words"),
        ("[values]\na = 'x'", "values.a is a table of words"),
    ],
)
def test_other_shapes_are_refused(text: str, problem: str) -> None:
    with pytest.raises(Misconfigured, match=problem):
        read(text)
