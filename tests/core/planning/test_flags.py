"""Columns that say yes or no: which they are, and questions that name them as adjectives."""

import pytest
from plan_worlds import StoredTexts

from redask.core.planning.flag_values import BOOLEAN, ColumnFlag, flag_of, is_adjective
from redask.core.planning.plan import Certain, Unclear, plan
from redask.core.planning.plan_schema import PlanColumn, PlanSchema, PlanTable

NUMBER = ColumnFlag("1", "0")


@pytest.mark.parametrize(
    ("kind", "values", "flag"),
    [
        ("bool", (), BOOLEAN),
        ("boolean", (True,), BOOLEAN),
        ("int4", (0, 1), NUMBER),
        ("int8", (0,), NUMBER),
        ("int4", (), None),
        ("int4", (1, 2), None),
        ("int4", (0, 1, 2), None),
        ("numeric(9,2)", (0, 1), None),
        ("text", ("No", "Yes"), ColumnFlag("Yes", "No", True)),
        ("varchar", ("n ", "y"), ColumnFlag("y", "n ", True)),
        ("text", ("FALSE",), ColumnFlag("TRUE", "FALSE", True)),
        ("text", ("Yes",), ColumnFlag("Yes", "No", True)),
        ("text", ("no",), ColumnFlag("yes", "no", True)),
        ("text", ("0", "1"), ColumnFlag("1", "0", True)),
        ("text", ("F", "T"), ColumnFlag("T", "F", True)),
        ("text", ("F",), None),
        ("text", ("Y", "y"), None),
        ("text", ("N", "yes"), None),
        ("text", ("N", "Y", "?"), None),
    ],
)
def test_a_flag_holds_yes_and_no_and_nothing_else(
    kind: str, values: tuple[object, ...], flag: ColumnFlag | None
) -> None:
    assert flag_of(kind, values) == flag


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("is_active", True),
        ("hasLicense", True),
        ("Paid", True),
        ("discontinued", True),
        ("billable", True),
        ("red", False),
        ("total", False),
        ("children", False),
        ("goals", False),
        ("_", False),
    ],
)
def test_an_adjective_is_told_by_its_form(name: str, says: bool) -> None:
    assert is_adjective(name) is says


def _column(name: str, kind: str = "text", nulls: int = 0, flag: object = None) -> PlanColumn:
    return PlanColumn(name, kind, 2, nulls, (), flag if isinstance(flag, ColumnFlag) else None)


SHOP = PlanSchema(
    (
        PlanTable(
            "invoices",
            (
                _column("invoice_id", "int4"),
                _column("name"),
                _column("is_active", "int4", flag=NUMBER),
                _column("paid", flag=ColumnFlag("Y", "N", True)),
                _column("shipped", "int4", 3, NUMBER),
                _column("goals", "int4", flag=NUMBER),
                _column("state"),
            ),
            ("invoice_id",),
            10,
        ),
    )
)
VALUES = StoredTexts({("invoices", "state"): ("Kent", "closed")})
SOURCE = "FROM invoices WHERE"


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many invoices are active?", f"SELECT count(*) {SOURCE} is_active = 1"),
        ("How many active invoices are there?", f"SELECT count(*) {SOURCE} is_active = 1"),
        ("How many inactive invoices are there?", f"SELECT count(*) {SOURCE} is_active = 0"),
        ("How many invoices are not active?", f"SELECT count(*) {SOURCE} is_active = 0"),
        ("How many not active invoices are there?", f"SELECT count(*) {SOURCE} is_active = 0"),
        ("How many non-active invoices are there?", f"SELECT count(*) {SOURCE} is_active = 0"),
        ("How many invoices are not inactive?", f"SELECT count(*) {SOURCE} is_active = 1"),
        ("How many invoices are unpaid?", f"SELECT count(*) {SOURCE} paid = 'N'"),
        ("List paid invoices", f"SELECT \"name\" {SOURCE} paid = 'Y'"),
        ("Show the names of invoices not paid", f"SELECT \"name\" {SOURCE} paid = 'N'"),
        ("How many shipped invoices are there?", f"SELECT count(*) {SOURCE} shipped = 1"),
        (
            "How many active and unpaid invoices are there?",
            f"SELECT count(*) {SOURCE} is_active = 1 AND paid = 'N'",
        ),
        (
            "How many active closed invoices are there?",
            f"SELECT count(*) {SOURCE} is_active = 1 AND state = 'closed'",
        ),
        ("What is the state of the invoices?", "SELECT state FROM invoices"),
    ],
)
def test_a_flag_is_an_adjective(question: str, sql: str) -> None:
    found = plan(question, SHOP, VALUES)
    assert isinstance(found, Certain), found
    assert found.sql == sql


@pytest.mark.parametrize(
    ("question", "kind", "about"),
    [
        ("How many invoices are not shipped?", "ambiguous", "whether those count"),
        ("How many unshipped invoices are there?", "ambiguous", "whether those count"),
        ("How many goals invoices are there?", "not_computable", "goals"),
        ("How many ungoals invoices are there?", "not_computable", "ungoals"),
        ("How many unstate invoices are there?", "not_computable", "unstate"),
    ],
)
def test_what_is_no_flag_or_not_known_is_refused(question: str, kind: str, about: str) -> None:
    found = plan(question, SHOP, VALUES)
    assert isinstance(found, Unclear), found
    assert found.kind == kind
    assert about in found.missing[0]
