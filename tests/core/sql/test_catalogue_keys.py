"""Keys in the catalogue: their names, numbers and texts, and how a vector counts."""

import pytest

from redask.core.sql.catalogue.catalogue_rows import CatalogueFacts, rows_of
from redask.core.sql.catalogue.catalogue_runtime import FUNCTIONS
from redask.core.sql.catalogue.key_rows import CatalogueKeys, TableKey
from redask.core.sql.catalogue.keywords import keyword_rows
from redask.core.sql.catalogue.object_ids import FIRST_INDEX, numbered
from redask.core.sql.types import SqlType

INT, TEXT = SqlType("int4"), SqlType("text")
TABLES = [
    ("Odd one", [("a", INT), ("b c", TEXT)]),
    ("orders", [("id", INT), ("urn", TEXT), ("a", INT), ("b", TEXT), ("parent", INT)]),
]
KEYS = [
    TableKey("orders", ("a", "b"), "Odd one", ("a", "b c")),
    TableKey("orders", ("id",)),
    TableKey("orders", ("parent",), "orders", ("id",)),
    TableKey("Odd one", ("a", "b c")),
    TableKey("orders", ("id",)),
    TableKey("orders", ("b",), "Odd one", ("b c",)),
]
FACTS = CatalogueFacts("mia", "local", {}, TABLES, KEYS)


def test_keys_have_the_names_that_postgresql_gives() -> None:
    named = CatalogueKeys(TABLES, KEYS).named
    assert [(one.name, one.target) for one in named] == [
        ("Odd one_pkey", None),
        ("orders_pkey", None),
        ("orders_a_b_fkey", "Odd one_pkey"),
        ("orders_b_fkey", None),  # it references what is no primary key
        ("orders_parent_fkey", "orders_pkey"),
    ]


def test_a_name_that_a_table_has_is_numbered() -> None:
    tables = [("t", [("id", INT)]), ("t_pkey", [("id", INT)])]
    keys = CatalogueKeys(tables, [TableKey("t", ("id",))])
    assert [one.name for one in keys.named] == ["t_pkey1"]
    assert keys.indexes["t_pkey1"] >= FIRST_INDEX


def test_a_table_with_two_primary_keys_has_the_first() -> None:
    keys = CatalogueKeys(TABLES, [TableKey("orders", ("id",)), TableKey("orders", ("a",))])
    assert [one.key.columns for one in keys.named] == [("a",)]


def test_rows_of_constraints_name_places_and_numbers() -> None:
    numbers = numbered([name for name, _ in TABLES])
    rows = {row["conname"]: row for row in rows_of("pg_catalog", "pg_constraint", FACTS)}
    assert rows["orders_pkey"]["conkey"] == [1]
    assert rows["orders_pkey"]["confkey"] is None
    foreign = rows["orders_a_b_fkey"]
    assert (foreign["conkey"], foreign["confkey"]) == ([3, 4], [1, 2])
    assert (foreign["conrelid"], foreign["confrelid"]) == (numbers["orders"], numbers["Odd one"])
    assert foreign["conindid"] == rows["Odd one_pkey"]["conindid"] != 0
    assert rows["orders_b_fkey"]["conindid"] == 0


def test_texts_are_those_of_postgresql() -> None:
    texts = {
        (row["part"], row["definition"])
        for row in rows_of("pg_catalog", "redask_definitions", FACTS)
    }
    assert texts == {
        (-1, 'PRIMARY KEY (a, "b c")'),
        (-1, "PRIMARY KEY (id)"),
        (-1, 'FOREIGN KEY (a, b) REFERENCES "Odd one"(a, "b c")'),
        (-1, 'FOREIGN KEY (b) REFERENCES "Odd one"("b c")'),
        (-1, "FOREIGN KEY (parent) REFERENCES orders(id)"),
        (0, 'CREATE UNIQUE INDEX "Odd one_pkey" ON public."Odd one" USING btree (a, "b c")'),
        (0, "CREATE UNIQUE INDEX orders_pkey ON public.orders USING btree (id)"),
        (1, "a"),
        (2, '"b c"'),
        (1, "id"),
    }


def test_a_primary_key_is_never_null_and_has_an_index() -> None:
    classes = {row["relname"]: row for row in rows_of("pg_catalog", "pg_class", FACTS)}
    assert classes["orders"]["relhasindex"]
    assert classes["orders"]["relhastriggers"]
    assert classes["orders_pkey"]["relkind"] == "i"
    columns = rows_of("information_schema", "columns", FACTS)
    never = {
        (row["table_name"], row["column_name"]) for row in columns if row["is_nullable"] == "NO"
    }
    assert never == {("orders", "id"), ("orders", "urn"), ("Odd one", "a"), ("Odd one", "b c")}
    indexes = rows_of("pg_catalog", "pg_index", FACTS)
    assert [row["indkey"] for row in indexes] == [[1, 2], [1]]


def test_without_keys_nothing_is_told() -> None:
    none = CatalogueFacts("mia", "local", {}, TABLES)
    for name in ("pg_constraint", "pg_index", "pg_indexes", "pg_depend", "redask_definitions"):
        assert rows_of("pg_catalog", name, none) == []
    for name in ("table_constraints", "key_column_usage", "referential_constraints"):
        assert rows_of("information_schema", name, none) == []


def test_dependencies_lead_from_a_foreign_key_to_the_key_it_references() -> None:
    rows = rows_of("pg_catalog", "pg_depend", FACTS)
    keys = FACTS.catalogue_keys
    on_index = [
        row
        for row in rows
        if (row["refclassid"], row["refobjid"]) == (1259, keys.indexes["Odd one_pkey"])
    ]
    assert [row["objid"] for row in on_index] == [keys.constraints["orders_a_b_fkey"]]
    assert {row["deptype"] for row in rows} == {"a", "n", "i"}


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("pg_parse_ident", ['public."Odd one"'], ["public", "Odd one"]),
        ("pg_system_number", ["pg_catalog.pg_class"], 1259),
        ("pg_system_number", ["orders"], None),
        ("pg_regprocedure_in", ["array_in(cstring,oid,integer)"], 750),
        ("pg_regdictionary_out", [0], "-"),
        ("pg_regdictionary_in", ["12"], 12),
        ("pg_oidvectortypes", [[23, 25]], "integer, text"),
    ],
)
def test_functions_over_names_and_numbers(name: str, given: list[object], found: object) -> None:
    assert FUNCTIONS[name].call(*given) == found


def test_keywords_are_listed_once_with_their_kind() -> None:
    rows = {row["word"]: row for row in keyword_rows()}
    assert len(rows) == len(keyword_rows()) > 450
    assert (rows["select"]["catcode"], rows["select"]["barelabel"]) == ("R", True)
    assert (rows["as"]["catcode"], rows["as"]["baredesc"]) == ("R", "requires AS")
