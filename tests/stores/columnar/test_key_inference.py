"""Keys that nobody declared, by names, types and counts."""

import pytest

from redask.core.planning.plan_schema import PlanColumn, PlanTable
from redask.stores.columnar.plan_facts.key_inference import primary_key, references, words_of


def table(name: str, *columns: str, rows: int = 4, key: str = "", **distinct: int) -> PlanTable:
    """Columns are unique unless `distinct` says otherwise; `name:type` where it is no int4."""
    made = []
    for each in columns:
        own, _, kind = each.partition(":")
        made.append(PlanColumn(own, kind or "int4", distinct.get(own, rows)))
    return PlanTable(name, tuple(made), (key,) if key else (), rows)


def found(*tables: PlanTable, **declared: str) -> list[str]:
    named = {name: frozenset([column]) for name, column in declared.items()}
    return [
        f"{each.table}.{each.column} {each.to_table}.{each.to_column}"
        for each in references(tables, named)
    ]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("SupportRepId", ("support", "rep", "id")),
        ("home_team_id", ("home", "team", "id")),
        ("StuID", ("stu", "id")),
        ("stuid", ("stuid",)),
        ("Straße2", ("straße", "2")),
        ("%", ()),
    ],
)
def test_names_are_words(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("made", "key"),
    [
        (table("pet", "id", "pet_id"), "id"),
        (table("pets", "owner_id", "pet_id"), "pet_id"),
        (table("cities", "city_id", "mayor_id"), "city_id"),
        (table("boxes", "box_id", "lid_id"), "box_id"),
        (table("student", "StuID", "age"), "StuID"),
        (table("student", "stuid", "age"), "stuid"),
        (table("country", "country_code", "flag_code"), "country_code"),
        (table("flight", "flno_number", "age"), "flno_number"),
        (table("pet", "a_id", "b_id"), ""),
        (table("pet", "id", id=3), ""),
        (table("pet", "name", "%"), ""),
        (table("pet", "id", rows=0), ""),
    ],
)
def test_a_primary_key_is_unique_and_named_as_one(made: PlanTable, key: str) -> None:
    assert primary_key(made) == ((key,) if key else ())


def test_a_column_with_a_null_is_no_primary_key() -> None:
    assert primary_key(PlanTable("pet", (PlanColumn("id", "int4", 3, 1),), (), 4)) == ()


def test_a_reference_ends_with_the_names_of_table_and_key() -> None:
    teams = table("teams", "id", key="id")
    game = table("game", "home_team_id", "team_id", "id", "name_id", rows=9, key="id")
    assert found(teams, game) == []  # nine values are not among four
    few = table(
        "game", "home_team_id", "team_id", "id", "x_id", key="id", home_team_id=2, team_id=3
    )
    assert found(teams, few) == ["game.home_team_id teams.id", "game.team_id teams.id"]


def test_a_reference_has_the_name_of_a_key_that_says_more_than_id() -> None:
    student = table("student", "StuID", rows=9, key="StuID")
    plays = table("plays", "StuID", "bestStuID", "id")
    assert found(student, plays) == ["plays.StuID student.StuID", "plays.bestStuID student.StuID"]
    lower = table("student", "stuid", rows=9, key="stuid")
    assert found(lower, plays) == ["plays.StuID student.stuid"]  # one word is not the end of others


def test_types_must_be_equal_but_for_the_size_of_integers() -> None:
    owner = table("owner", "id:int8", key="id")
    assert found(owner, table("pet", "owner_id:int4")) == ["pet.owner_id owner.id"]
    assert found(owner, table("pet", "owner_id:text")) == []


def test_a_key_of_its_own_references_only_a_larger_table() -> None:
    person = table("person", "person_id", rows=9, key="person_id")
    pilot = table("pilot", "person_id", key="person_id")
    assert found(person, pilot) == ["pilot.person_id person.person_id"]
    assert found(table("person", "person_id", key="person_id"), pilot) == []


def test_a_table_may_reference_itself_but_no_column_does() -> None:
    unit = table("unit", "id", "parent_unit_id", key="id", parent_unit_id=2)
    assert found(unit) == ["unit.parent_unit_id unit.id"]


def test_of_several_the_one_that_is_named_comes_first_then_the_largest() -> None:
    small = table("depot", "store_code", rows=5, key="store_code")
    large = table("branch", "store_code", rows=9, key="store_code")
    named = table("store", "store_code", rows=4, key="store_code")
    sale = table("sale", "store_code", "n", rows=3)
    assert found(small, large, named, sale)[-3:] == [
        "sale.store_code store.store_code",
        "sale.store_code branch.store_code",
        "sale.store_code depot.store_code",
    ]


def test_two_that_are_alike_are_both_left_out() -> None:
    one = table("depot", "store_code", key="store_code")
    two = table("branch", "store_code", key="store_code")
    assert found(one, two, table("sale", "store_code", rows=3)) == []


def test_what_is_declared_empty_or_nameless_references_nothing() -> None:
    owner = table("owner", "id", key="id")
    assert found(owner, table("pet", "owner_id"), pet="owner_id") == []
    assert found(owner, table("pet", "owner_id", owner_id=0)) == []
    assert found(table("%", "%", key="%"), table("pet", "§", "s_id")) == []
    assert found(table("s", "id", key="id"), table("pet", "x_id")) == []


def test_a_key_of_two_columns_is_no_target() -> None:
    pair = PlanTable(
        "owner", (PlanColumn("id", "int4", 4), PlanColumn("n", "int4", 2)), ("id", "n"), 4
    )
    assert found(pair, table("pet", "owner_id")) == []
