"""Questions of fixed forms: a row by its key, a person by both names, rows that hold a word."""

import pytest
from plan_worlds import SHOP, SHOP_VALUES, StoredTexts

from redask.core.planning.direct.direct_plans import plan_directly
from redask.core.planning.plan import Certain, considered
from redask.core.planning.plan_schema import ForeignKey, PlanColumn, PlanSchema, PlanTable


def table(name: str, columns: str, key: str) -> PlanTable:
    pairs = (each.partition(":") for each in columns.split())
    return PlanTable(
        name, tuple(PlanColumn(one, kind) for one, _, kind in pairs), tuple(key.split())
    )


DESK = PlanSchema(
    (
        table(
            "Agent",
            "AgentId:int4 FirstName:text LastName:text HireDate:date BossId:int4",
            "AgentId",
        ),
        table("links", "a:int4 b:int4", "a b"),
        table("logs", "line:text other:text", ""),
        table("tags", "tag_id:int4", "tag_id"),
        table(
            "tickets",
            "code:text subject:text body:text agent_id:int4 tag_id:int4 opened:timestamp "
            "hours:int4",
            "code",
        ),
    ),
    (
        ForeignKey("tickets", ("agent_id",), "Agent", ("AgentId",)),
        ForeignKey("tickets", ("tag_id",), "tags", ("tag_id",)),
        ForeignKey("Agent", ("BossId",), "Agent", ("AgentId",)),
    ),
)
VALUES = StoredTexts(
    {
        ("tickets", "code"): ("T-1043", "T-7", "t 7"),
        ("tickets", "subject"): ("Ada Stone",),
        ("Agent", "FirstName"): ("Jane", "Ada", "Bo", "bo"),
        ("Agent", "LastName"): ("Peacock", "Stone"),
    }
)
NAMED = """coalesce((SELECT referred."FirstName" || ' ' || referred."LastName" FROM "Agent" AS """
BOSS = (
    f'{NAMED}referred WHERE referred."AgentId" = "Agent"."BossId"), '
    'CAST("Agent"."BossId" AS text)) AS "Boss"'
)
AGENT = f'SELECT "FirstName", "LastName", {BOSS}, "HireDate" FROM "Agent" WHERE "AgentId" = 3'
TICKET = (
    f'SELECT {NAMED}referred WHERE referred."AgentId" = tickets.agent_id), '
    "CAST(tickets.agent_id AS text)) AS agent, tag_id, opened, hours, subject "
    "FROM tickets WHERE code = 'T-1043'"
)
_LOVE = r"'\m(love|loves|loved|loving)\M'"
_REFUND = r"'\m(refund|refunds|refundes|refunded|refunding)\M'"
COUNT = "SELECT count(*) FROM tickets WHERE "
LOVE = f"subject ~* {_LOVE} OR body ~* {_LOVE}"
REFUND = f"subject ~* {_REFUND} OR body ~* {_REFUND}"
OFF = r"subject ILIKE '%50\% off\_%' OR body ILIKE '%50\% off\_%'"
AGENTS = """SELECT "FirstName", "LastName" FROM "Agent" WHERE "FirstName" ILIKE '%love%' """
OF_TICKET = "FROM tickets WHERE code = 'T-1043'"
HIRED = """SELECT "HireDate" FROM "Agent" WHERE "FirstName" = 'Jane' AND "LastName" = """


@pytest.mark.parametrize(
    ("question", "intent", "sql"),
    [
        ("agent 3", "row", AGENT),
        ("Show me agent number 3?", "row", AGENT),
        ("ticket T-1043", "row", TICKET),
        ("ticket t-1043", "row", TICKET),
        ("tag 5", "row", "SELECT tag_id FROM tags WHERE tag_id = 5"),
        ("What are the hours of ticket T-1043?", "row", f"SELECT hours {OF_TICKET}"),
        ("What is the subject of the ticket T-1043?", "row", f"SELECT subject {OF_TICKET}"),
        ("hours for ticket T-1043", "row", f"SELECT hours {OF_TICKET}"),
        ("tell me the hours of ticket number T-1043", "row", f"SELECT hours {OF_TICKET}"),
        ("ticket T-7", None, ""),  # two spellings
        ("ticket T-9999", None, ""),
        ("ticket 5", None, ""),
        ("agent x", None, ""),
        ("agent 3.5", None, ""),
        ("link 3", None, ""),
        ("the colour of agent 3", None, ""),
        ("cheap agent 3", None, ""),
        ("3", None, ""),
        ("harbour 3", None, ""),
        (
            "What is the hire date of Jane Peacock?",
            "row",
            HIRED + "'Peacock'",
        ),
        (
            "When was Jane Peacock hired?",
            "row",
            HIRED + "'Peacock'",
        ),
        ("When was Jane Peacock fired?", None, ""),
        ("When was Jane Peacock hired there?", None, ""),
        ("When was Ada Stone hired?", None, ""),  # the subject of a ticket as well
        ("When was Bo Peacock hired?", None, ""),  # in two spellings
        ("When was Jane Miller hired?", None, ""),
        ("What is the salary of Jane Peacock?", None, ""),
        ("How many tickets mention refunds?", "mixed", COUNT + REFUND),
        ("how many tickets talk about love", "mixed", COUNT + LOVE),
        ("Number of tickets that contain the word love", "mixed", COUNT + LOVE),
        ('How many tickets contain "50% off_"?', "mixed", COUNT + OFF),
        ('How many tickets have "love" in the subject?', "mixed", COUNT + "subject ILIKE '%love%'"),
        ('How many tickets have "love" in the hours?', None, ""),
        ('How many tickets have "love" in the colour?', None, ""),
        ('How many tickets have "love" twice?', None, ""),
        ('Which agents mention "love"?', "mixed", AGENTS + """OR "LastName" ILIKE '%love%'"""),
        ("List links about love", None, ""),
        ("List logs about love", None, ""),  # nothing to show them by
        ("Count of tickets", "count", "SELECT count(*) FROM tickets"),
        ("Which", None, ""),
        ("email of the agent 3", None, ""),
        ("How many tickets that are", None, ""),
        ("Which tickets mention love?", "mixed", "SELECT code FROM tickets WHERE " + LOVE),
        ("How many tickets mention love and war?", None, ""),
        ("How many tickets mention a lot of other nice things?", None, ""),
        ("How many tickets mention?", None, ""),
        ("How many tickets are about", None, ""),
        ("How many tickets shine?", None, ""),
        ("How many harbours mention love?", None, ""),
        ("Tickets mention love", None, ""),
    ],
)  # fmt: skip
def test_forms(question: str, intent: str | None, sql: str) -> None:
    planned = plan_directly(question, DESK, VALUES)
    if intent is None:
        assert not isinstance(planned, Certain), planned
    else:
        assert isinstance(planned, Certain)
        assert (planned.intent, planned.sql) == (intent, sql)


def test_the_rows_behind_are_given_by_their_urns() -> None:
    row = plan_directly("agent 3", DESK, VALUES)
    assert isinstance(row, Certain)
    assert row.examples == 'SELECT urn FROM "Agent" WHERE "AgentId" = 3'
    column = plan_directly("the hire date of agent 3", DESK, VALUES)
    assert isinstance(column, Certain)
    assert column.examples is None
    count = plan_directly('How many tickets mention "x"?', DESK, VALUES)
    assert isinstance(count, Certain)
    assert str(count.examples).endswith("ORDER BY urn FETCH FIRST 2 ROWS WITH TIES")


def test_what_the_planner_is_certain_of_comes_next() -> None:
    planned = plan_directly("How many customers are there?", SHOP, SHOP_VALUES)
    assert isinstance(planned, Certain)
    assert planned.intent == "count"
    assert not isinstance(plan_directly("customer " * 30 + "3", SHOP, SHOP_VALUES), Certain)


def test_the_statements_that_lost_are_named_with_their_distance() -> None:
    assert considered("What is the max speed of products?", SHOP, SHOP_VALUES) == (
        (0, "SELECT max_speed FROM products"),
        (5, "SELECT max(max_speed) FROM products"),
    )
    assert considered("", SHOP, SHOP_VALUES) == ()


@pytest.mark.parametrize(
    ("question", "sql", "told"),
    [
        ("the boss of agent 3", '"BossId"', BOSS),
        ("the boss id of agent 3", '"BossId"', None),
        ("the first name of agent 3", '"FirstName"', None),
    ],
)
def test_a_row_that_is_referred_to_is_told_by_its_name(
    question: str, sql: str, told: str | None
) -> None:
    found = plan_directly(question, DESK, VALUES)
    assert isinstance(found, Certain), found
    source = 'FROM "Agent" WHERE "AgentId" = 3'
    assert found.sql == f"SELECT {sql} {source}"
    assert found.told == (f"SELECT {told} {source}" if told else None)


def test_a_reference_to_rows_without_names_is_told_as_it_is() -> None:
    found = plan_directly("the tag of ticket T-1043", DESK, VALUES)
    assert isinstance(found, Certain), found
    assert (found.sql, found.told) == (f"SELECT tag_id {OF_TICKET}", None)


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many hours are in T-1043?", f"SELECT hours {OF_TICKET}"),
        ("How many hours does ticket T-1043 have?", f"SELECT hours {OF_TICKET}"),
        ("How many hours are in T-9999?", ""),
        ("How many hours are in the cheap ticket T-1043?", ""),
        ("How many subjects are in T-1043?", ""),
        ("How many tag ids are in T-1043?", ""),
        ("How many agents are in T-1043?", ""),
        ("How many hours?", "SELECT sum(hours) FROM tickets"),
    ],
)
def test_a_number_of_a_row_is_asked_like_a_count(question: str, sql: str) -> None:
    found = plan_directly(question, DESK, VALUES)
    assert (found.sql if isinstance(found, Certain) else "") == sql


def room(name: str, seats: str, *, rows: int = 2) -> PlanTable:
    """A table of rooms and ships; `name` has two values that differ."""
    columns = (
        PlanColumn(name, "text", 2),
        PlanColumn("floor", "int4", 2),
        PlanColumn(seats, "int4", 2, words=("berths",)),
    )
    return PlanTable("rooms", columns, (), rows)


ROOMS: dict[tuple[str, str], tuple[str, ...]] = {
    ("rooms", "name"): ("Elbe", "Villa Nova"),
    ("rooms", "town"): ("Elbe", "Villa Nova"),
}
ELBE = StoredTexts(ROOMS)
ELBES = StoredTexts({**ROOMS, ("ships", "name"): ("Elbe", "Weser")})


@pytest.mark.parametrize(
    ("question", "column"),
    [
        ("How many seats does Elbe have?", "seats"),
        ("How many seats does the room Elbe have?", "seats"),
        ("How many seats are there in Villa Nova?", "seats"),
        ("How many berths does Elbe have?", "seats"),
        ("How many floors does Elbe have?", None),  # on which floor it is says nothing of how many
        ("How much floor does Elbe have?", "floor"),
        ("How many seats does the ship Elbe have?", None),
        ("How many seats does Weser have?", None),
    ],
)
def test_a_number_of_a_row_is_asked_by_the_name_of_the_row(
    question: str, column: str | None
) -> None:
    schema = PlanSchema((room("name", "seats"),))  # of ships only the values are known
    planned = plan_directly(question, schema, ELBES)
    sql = planned.sql if isinstance(planned, Certain) else None
    name = "Villa Nova" if "Villa" in question else "Elbe"
    assert sql == (f"SELECT {column} FROM rooms WHERE \"name\" = '{name}'" if column else None)


def test_a_name_is_the_only_text_of_a_table_and_no_two_rows_have_it() -> None:
    asked = "How many seats does Elbe have?"
    town = room("town", "seats")
    found = plan_directly(asked, PlanSchema((town,)), ELBE)
    assert isinstance(found, Certain)
    assert found.sql == "SELECT seats FROM rooms WHERE town = 'Elbe'"
    shared = room("name", "seats", rows=3)
    assert not isinstance(plan_directly(asked, PlanSchema((shared,)), ELBE), Certain)
    both = PlanTable("rooms", (*town.columns, PlanColumn("host", "text", 2)), (), 2)
    assert not isinstance(plan_directly(asked, PlanSchema((both,)), ELBE), Certain)


def test_a_name_that_two_tables_have_is_told_by_its_table() -> None:
    ships = PlanTable("ships", room("name", "seats").columns, (), 2)
    schema = PlanSchema((room("name", "seats"), ships))
    assert not isinstance(plan_directly("How many seats does Elbe have?", schema, ELBES), Certain)
    found = plan_directly("How many seats does the ship Elbe have?", schema, ELBES)
    assert isinstance(found, Certain)
    assert found.sql == "SELECT seats FROM ships WHERE \"name\" = 'Elbe'"
