"""Questions over a clinic: people, rows without names, absence, units, keys, verbs of dates."""

from datetime import date

import pytest
from plan_worlds import SCHOOL, SCHOOL_VALUES, SHOP, SHOP_VALUES, StoredTexts

from redask.core.planning.plan import Certain, NotComputed, Unclear, plan
from redask.core.planning.plan_schema import ForeignKey, PlanColumn, PlanSchema, PlanTable

TODAY = date(2026, 3, 15)


def _table(name: str, columns: str, key: str) -> PlanTable:
    """A table from `name:type` pairs; `?` behind a type: the column has NULLs."""
    pairs = (each.split(":") for each in columns.split())
    found = tuple(
        PlanColumn(column, kind.rstrip("?"), 5, int(kind.endswith("?"))) for column, kind in pairs
    )
    return PlanTable(name, found, tuple(key.split()), 10)


CLINIC = PlanSchema(
    (
        _table(
            "Doctor",
            "DoctorId:int4 FirstName:text LastName:text Title:text BirthDate:timestamp "
            "HireDate:timestamp ReportsTo:int4? City:text",
            "DoctorId",
        ),
        _table(
            "Patient",
            "PatientId:int4 FirstName:text LastName:text Insurer:text? City:text Email:text",
            "PatientId",
        ),
        _table(
            "Visit",
            "VisitId:int4 PatientId:int4 VisitDate:timestamp Total:numeric(18,2) "
            "VisitMinutes:int4 BillingCity:text",
            "VisitId",
        ),
        _table("Ward", "WardId:int4 Name:text", "WardId"),
        _table("Bed", "BedId:int4 WardId:int4 Title:text Price:numeric(18,2)", "BedId"),
        _table("Shift", "DoctorId:int4 WardId:int4", ""),
        _table("Allergy", "Substance:text Kind:text", "Substance"),
        _table("Film", "FilmId:int4 ShortName:text Minutes:int4 Length:int4", "FilmId"),
        _table("Guest", "GuestId:int4 FirstName:text Title:text", "GuestId"),
    ),
    (
        ForeignKey("Visit", ("PatientId",), "Patient", ("PatientId",)),
        ForeignKey("Bed", ("WardId",), "Ward", ("WardId",)),
        ForeignKey("Shift", ("DoctorId",), "Doctor", ("DoctorId",)),
        ForeignKey("Shift", ("WardId",), "Ward", ("WardId",)),
    ),
)
VALUES = StoredTexts(
    {
        ("Doctor", "FirstName"): ("Mia", "Otto"),
        ("Doctor", "LastName"): ("Kern", "Wolf"),
        ("Doctor", "Title"): ("Head Nurse", "Surgeon"),
        ("Doctor", "City"): ("Graz",),
        ("Patient", "FirstName"): ("Ida",),
        ("Patient", "LastName"): ("Holm",),
        ("Patient", "City"): ("Graz", "Linz"),
        ("Visit", "BillingCity"): ("Graz", "Linz"),
        ("Ward", "Name"): ("North", "Garden View", "Quiet"),
        ("Bed", "Title"): ("Garden View", "Window"),
    }
)
TOP = "NULLS LAST FETCH FIRST 1 ROWS WITH TIES"
CERTAIN = [
    # people are shown by first and last name, never by their title
    (
        "Who is the youngest doctor?",
        f'SELECT "FirstName", "LastName" FROM "Doctor" ORDER BY "BirthDate" DESC {TOP}',
    ),
    (
        "Which patients live in Linz?",
        'SELECT "FirstName", "LastName" FROM "Patient" WHERE "City" = \'Linz\'',
    ),
    (
        "Which patient has the most visits?",
        'SELECT "Patient"."FirstName", "Patient"."LastName" FROM "Visit" JOIN "Patient" ON '
        '"Visit"."PatientId" = "Patient"."PatientId" GROUP BY "Patient"."PatientId", '
        f'"Patient"."FirstName", "Patient"."LastName" ORDER BY count(*) DESC {TOP}',
    ),
    ("List all beds", 'SELECT "Title" FROM "Bed"'),
    # rows without a name are shown by their key
    ("Which visits have a total above 20?", 'SELECT "VisitId" FROM "Visit" WHERE "Total" > 20'),
    ("Which visits have an id other than 5?", 'SELECT "VisitId" FROM "Visit" WHERE "VisitId" <> 5'),
    # each row of another table is shown by its name
    (
        "How many beds does each ward have?",
        'SELECT "Ward"."Name", count(*) FROM "Bed" JOIN "Ward" ON "Bed"."WardId" = '
        '"Ward"."WardId" GROUP BY "Ward"."WardId", "Ward"."Name"',
    ),
    # a value that is missing, or not
    (
        "How many patients have an insurer?",
        'SELECT count(*) FROM "Patient" WHERE "Insurer" IS NOT NULL',
    ),
    (
        "How many patients have no insurer?",
        'SELECT count(*) FROM "Patient" WHERE "Insurer" IS NULL',
    ),
    (
        "Which patients are without an insurer?",
        'SELECT "FirstName", "LastName" FROM "Patient" WHERE "Insurer" IS NULL',
    ),
    (
        "How many doctors do not report to anyone?",
        'SELECT count(*) FROM "Doctor" WHERE "ReportsTo" IS NULL',
    ),
    (
        "How many doctors report to someone?",
        'SELECT count(*) FROM "Doctor" WHERE "ReportsTo" IS NOT NULL',
    ),
    # units and currencies behind numbers; what adjectives measure
    ("How many beds cost more than 5 euros?", 'SELECT count(*) FROM "Bed" WHERE "Price" > 5'),
    (
        "How many visits have a total above 20 dollars?",
        'SELECT count(*) FROM "Visit" WHERE "Total" > 20',
    ),
    (
        "Which visit is the longest?",
        (
            'SELECT "VisitId" FROM "Visit" ORDER BY "VisitMinutes" DESC NULLS LAST FETCH FIRST 1 '
            "ROWS WITH TIES"
        ),
    ),
    (
        "How many visits are longer than 20 minutes?",
        'SELECT count(*) FROM "Visit" WHERE "VisitMinutes" > 20',
    ),
    (
        "How many visits are shorter than 20 minutes?",
        'SELECT count(*) FROM "Visit" WHERE "VisitMinutes" < 20',
    ),
    (
        "What is the average duration in minutes of visits?",
        'SELECT avg("VisitMinutes") FROM "Visit"',
    ),
    ("How many films are longer than 20?", 'SELECT count(*) FROM "Film" WHERE "Length" > 20'),
]
UNCLEAR = [
    ("How many patients have no email?", "not_computable", ("Email",)),
    ("How many visits have a city above 20 dollars?", "ambiguous", ("BillingCity",)),
    ("How many visits are longer than 20 visit minutes?", "not_computable", ("visit",)),
    ("What is the average length in minutes of films?", "not_computable", ("minutes",)),
    ("How many films are longer than 20 hours?", "not_computable", ("hours",)),
    ("List all shifts", "ambiguous", ("what to show of Shift",)),
    ("List all allergies", "ambiguous", ("what to show of Allergy",)),
    ("List all films", "ambiguous", ("what to show of Film",)),
    ("List all guests", "ambiguous", ("what to show of Guest",)),
    ("What is the average price for each bed?", "ambiguous", ("what to show of Bed",)),
]
NOT_COMPUTED = [
    "What is the city?",
    # a key that is asked for by itself says nothing
    "Which visits have id 5?",
    "Which visits have id 5 or 6?",
]
OTHER_CERTAIN = [
    (
        SCHOOL,
        SCHOOL_VALUES,
        "Which students are in the Physics department?",
        (
            'SELECT "Student"."Fname", "Student"."LName" FROM "Student" WHERE EXISTS (SELECT 1 '
            'FROM department WHERE "Student".dept_name = department.dept_name AND '
            "department.dept_name = 'Physics')"
        ),
    ),
    (
        SCHOOL,
        SCHOOL_VALUES,
        "How many courses in each department?",
        (
            "SELECT department.dept_name, count(*) FROM course JOIN department ON "
            "course.dept_name = department.dept_name GROUP BY department.dept_name"
        ),
    ),
    (
        SCHOOL,
        SCHOOL_VALUES,
        "Who are the students whose first name is not Linda?",
        'SELECT "Fname", "LName" FROM "Student" WHERE "Fname" <> \'Linda\'',
    ),
    (SCHOOL, SCHOOL_VALUES, "List students.", 'SELECT "Fname", "LName" FROM "Student"'),
    (
        SCHOOL,
        SCHOOL_VALUES,
        "How many students does each department have?",
        'SELECT dept_name, count(*) FROM "Student" GROUP BY dept_name',
    ),
    (
        SCHOOL,
        SCHOOL_VALUES,
        "Which student is not from HKG?",
        'SELECT "Fname", "LName" FROM "Student" WHERE city_code <> \'HKG\'',
    ),
    (
        SHOP,
        SHOP_VALUES,
        "What is the total quantity of order items for each product?",
        (
            "SELECT products.product_name, sum(order_items.quantity) FROM order_items JOIN "
            "products ON order_items.product_id = products.product_id GROUP BY "
            "products.product_id, products.product_name"
        ),
    ),
]
OTHER_UNCLEAR = [
    (SHOP, SHOP_VALUES, "What is the most recent order?", "ambiguous", ("recent",)),
]


@pytest.mark.parametrize(("question", "sql"), CERTAIN)
def test_a_question_that_is_certain_has_one_statement(question: str, sql: str) -> None:
    planned = plan(question, CLINIC, VALUES)
    assert isinstance(planned, Certain), planned
    assert planned.sql == sql


@pytest.mark.parametrize(("question", "kind", "missing"), UNCLEAR)
def test_a_question_with_a_doubt_says_what_is_open(
    question: str, kind: str, missing: tuple[str, ...]
) -> None:
    planned = plan(question, CLINIC, VALUES)
    assert isinstance(planned, Unclear), planned
    assert (planned.kind, planned.missing) == (kind, missing)


@pytest.mark.parametrize("question", NOT_COMPUTED)
def test_a_question_to_look_up_is_not_computed(question: str) -> None:
    assert plan(question, CLINIC, VALUES) == NotComputed()


@pytest.mark.parametrize(("schema", "values", "question", "sql"), OTHER_CERTAIN)
def test_a_question_over_another_world_has_one_statement(
    schema: PlanSchema, values: StoredTexts, question: str, sql: str
) -> None:
    planned = plan(question, schema, values, TODAY)
    assert isinstance(planned, Certain), planned
    assert planned.sql == sql


@pytest.mark.parametrize(("schema", "values", "question", "kind", "missing"), OTHER_UNCLEAR)
def test_a_question_over_another_world_says_what_is_open(
    schema: PlanSchema, values: StoredTexts, question: str, kind: str, missing: tuple[str, ...]
) -> None:
    planned = plan(question, schema, values, TODAY)
    assert isinstance(planned, Unclear), planned
    assert (planned.kind, planned.missing) == (kind, missing)
