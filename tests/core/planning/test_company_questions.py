"""Questions as people ask them of a company's tables: where someone works, who leads, what adds up.

What a table refers to is named without its table ("in Finance"), numbers are added up for "how
many hours", verbs name columns ("who earns the most").
"""

from dataclasses import replace

import pytest
from plan_worlds import StoredTexts

from redask.core.planning.direct.direct_plans import plan_directly
from redask.core.planning.plan import Certain, NotComputed, Unclear
from redask.core.planning.plan_schema import ForeignKey, PlanColumn, PlanSchema, PlanTable


def table(name: str, columns: str, rows: int = 10) -> PlanTable:
    """`name:type` pairs; the first is the key, `!` behind a type: no two rows share a value."""
    found = []
    for pair in columns.split():
        column, _, kind = pair.partition(":")
        found.append(PlanColumn(column, kind.rstrip("!"), rows if kind.endswith("!") else 3))
    return PlanTable(name, tuple(found), (found[0].name,), rows)


FIRM = PlanSchema(
    (
        table("departments", "id:int4! name:text! budget:numeric city:text"),
        table(
            "employees",
            "id:int4! name:text! department_id:int4 salary:int4 hire_date:date manager_id:int4 "
            "badge_id:int4",
        ),
        table("badges", "id:int4! colour:text"),
        table("sales", "id:int4! region:text date:date revenue:numeric unit_price:numeric"),
        table("notes", "id:int4! code:text posted:date word:text"),
        table("projects", "id:int4! title:text! start_date:date points:int4 lead_id:int4"),
        table("timesheets", "id:int4! employee_id:int4 project_id:int4 day:date hours:numeric"),
    ),
    (
        ForeignKey("employees", ("department_id",), "departments", ("id",)),
        ForeignKey("employees", ("manager_id",), "employees", ("id",)),
        ForeignKey("employees", ("badge_id",), "badges", ("id",)),
        ForeignKey("projects", ("lead_id",), "employees", ("id",)),
        ForeignKey("timesheets", ("employee_id",), "employees", ("id",)),
        ForeignKey("timesheets", ("project_id",), "projects", ("id",)),
    ),
)
VALUES = StoredTexts(
    {
        ("departments", "name"): ("Engineering", "Finance", "Sales"),
        ("departments", "city"): ("Berlin",),
        ("employees", "name"): ("Ana Silva", "Kim Park"),
        ("projects", "title"): ("Apollo",),
        ("badges", "colour"): ("red",),
        ("sales", "region"): ("North",),
    }
)
_WORK = "SELECT 1 FROM departments WHERE employees.department_id = departments.id AND departments."
_OF_PROJECT = "SELECT 1 FROM projects WHERE timesheets.project_id = projects.id AND projects.title"
_OF_ANA = "SELECT 1 FROM employees WHERE timesheets.employee_id = employees.id AND employees."
_BY_DEPARTMENT = (
    'SELECT departments."name", avg(employees.salary) FROM employees JOIN departments ON '
    'employees.department_id = departments.id GROUP BY departments.id, departments."name"'
)
_BY_PROJECT = "FROM timesheets JOIN projects ON timesheets.project_id = projects.id GROUP BY "
_KIM = """FROM employees WHERE "name" = 'Kim Park'"""
_FIRST = "FETCH FIRST 1 ROWS WITH TIES"

PLANNED = [
    # the name of what a table refers to
    (
        "List the employees in Finance",
        f"""SELECT employees."name" FROM employees WHERE EXISTS ({_WORK}"name" = 'Finance')""",
    ),
    (
        "How many employees work in Engineering?",
        f"""SELECT count(*) FROM employees WHERE EXISTS ({_WORK}"name" = 'Engineering')""",
    ),
    (
        "What is the average salary in Sales?",
        f"""SELECT avg(employees.salary) FROM employees WHERE EXISTS ({_WORK}"name" = 'Sales')""",
    ),
    # sums and averages for each row of another table
    ("What is the average salary by department?", _BY_DEPARTMENT),
    ("average salary for each department", _BY_DEPARTMENT),
    (
        "Total hours per project",
        f"SELECT projects.title, sum(timesheets.hours) {_BY_PROJECT}projects.id, projects.title",
    ),
    (
        "Which project has the most hours?",
        f"SELECT projects.title {_BY_PROJECT}projects.id, projects.title "
        f"ORDER BY sum(timesheets.hours) DESC NULLS LAST {_FIRST}",
    ),
    # numbers that are counted are added up
    (
        "How many hours were logged on Apollo?",
        f"SELECT sum(timesheets.hours) FROM timesheets WHERE EXISTS ({_OF_PROJECT} = 'Apollo')",
    ),
    (
        "How many hours did Ana Silva work?",
        "SELECT sum(timesheets.hours) FROM timesheets WHERE "
        f"""EXISTS ({_OF_ANA}"name" = 'Ana Silva')""",
    ),
    (
        "How many hours has Ana Silva logged?",
        "SELECT sum(timesheets.hours) FROM timesheets WHERE "
        f"""EXISTS ({_OF_ANA}"name" = 'Ana Silva')""",
    ),
    (
        "How many hours does each employee have?",
        'SELECT employees."name", sum(timesheets.hours) FROM timesheets JOIN employees ON '
        'timesheets.employee_id = employees.id GROUP BY employees.id, employees."name"',
    ),
    (
        "How many hours were logged in 2026?",
        "SELECT sum(hours) FROM timesheets WHERE (day >= '2026-01-01' AND day < '2027-01-01')",
    ),
    (
        "How much revenue did the North make?",
        "SELECT sum(revenue) FROM sales WHERE region = 'North'",
    ),
    (
        "What was the revenue in May 2026?",
        "SELECT sum(revenue) FROM sales "
        """WHERE ("date" >= '2026-05-01' AND "date" < '2026-06-01')""",
    ),
    ("What is revenue in the North?", "SELECT sum(revenue) FROM sales WHERE region = 'North'"),
    (
        "Which region has the highest revenue?",
        f"SELECT region FROM sales GROUP BY region ORDER BY sum(revenue) DESC NULLS LAST {_FIRST}",
    ),
    (
        "Which region has the highest unit price?",  # prices are not added up
        f"SELECT region FROM sales ORDER BY unit_price DESC NULLS LAST {_FIRST}",
    ),
    # an order in words
    (
        "Top 3 employees by salary",
        'SELECT "name" FROM employees ORDER BY salary DESC NULLS LAST '
        "FETCH FIRST 3 ROWS WITH TIES",
    ),
    (
        "What are the names of the bottom 2 employees by salary?",
        'SELECT "name" FROM employees ORDER BY salary ASC FETCH FIRST 2 ROWS WITH TIES',
    ),
    (
        "Who earns the most?",
        f'SELECT "name" FROM employees ORDER BY salary DESC NULLS LAST {_FIRST}',
    ),
    (
        "Which employee earns the least?",
        f'SELECT "name" FROM employees ORDER BY salary ASC {_FIRST}',
    ),
    ("Who was hired first?", f'SELECT "name" FROM employees ORDER BY hire_date ASC {_FIRST}'),
    (
        "Which employee was hired last?",
        f'SELECT "name" FROM employees ORDER BY hire_date DESC NULLS LAST {_FIRST}',
    ),
    # a number, or what is referred to, of a row by its name
    ("How much does Kim Park earn?", f"SELECT salary {_KIM}"),
    ("Who manages Kim Park?", f"SELECT manager_id {_KIM}"),
    ("Who is the manager of Kim Park?", f"SELECT manager_id {_KIM}"),
    ("Who is Kim Park's manager?", f"SELECT manager_id {_KIM}"),
    ("What is the department of Kim Park?", f"SELECT department_id {_KIM}"),
    ("Who leads Apollo?", "SELECT lead_id FROM projects WHERE title = 'Apollo'"),
    (
        "Which projects does Ana Silva lead?",
        "SELECT projects.title FROM projects WHERE EXISTS (SELECT 1 FROM employees WHERE "
        """projects.lead_id = employees.id AND employees."name" = 'Ana Silva')""",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("question", "sql"), PLANNED)
def test_a_question_is_planned(question: str, sql: str) -> None:
    planned = plan_directly(question, FIRM, VALUES)
    assert isinstance(planned, Certain), planned
    assert planned.sql == sql


@pytest.mark.parametrize(
    "question",
    [
        "List the employees in Berlin",  # the city of the department: no name of it
        "How many employees are red?",  # badges have no name
        "How many employees are logged in?",  # a state that no column has
        "How many badges work?",
        "How many points projects are there?",
        "How many salary are there in Sales?",  # a salary is no count
        "What is the median salary?",
        "Which department has the most salary?",
        "Which department has the highest hours?",
        "What is the revenue of Atlantis?",
        "What revenue is it in the North?",
        "What is",
        "Which regions did the North paint?",  # all of them would be meant, and it is not known how
        "Who was fired first?",
        "Which badge was hired first?",
        "Which was hired first?",
        "Who employee was hired first?",
        "Who was posted first?",  # a note has no name
        "Who weighs the most?",
        "Who runs Apollo?",
        "Who is the colour of Kim Park?",
        "What is the badge of Kim Park?",  # badges have no name to tell it by
        "Who is Kim Park?",
        "Who is the manager of nobody?",
        "What manages Kim Park?",
        "Which projects does Ana Silva paint?",
        "Which employees does Ana Silva manage?",  # of the same table
        "Which does Ana Silva lead?",
        "How much does Kim Park weigh?",
        "What is the average salary in 2020?",  # hired, or paid then
    ],
)
def test_a_question_that_is_not_certain_is_not_planned(question: str) -> None:
    assert not isinstance(plan_directly(question, FIRM, VALUES), Certain)


def test_a_measure_that_is_not_computed_is_refused_and_not_looked_up() -> None:
    planned = plan_directly("What is the median salary?", FIRM, VALUES)
    assert isinstance(planned, Unclear)
    assert (planned.missing, planned.intent) == (("median",), "average")


def test_how_much_may_be_answered_by_a_text() -> None:
    assert plan_directly("How much does Apollo cost?", FIRM, VALUES) == NotComputed()
    assert plan_directly("How much is a ticket?", FIRM, VALUES) == NotComputed()


def test_a_list_of_what_is_stored_is_refused_where_it_is_not_certain() -> None:
    planned = plan_directly("Which regions did the North paint?", FIRM, VALUES)
    assert isinstance(planned, Unclear)
    assert (planned.missing, planned.intent) == (("paint",), "list")


def test_rows_that_refer_to_a_row_need_a_name_to_be_told_by() -> None:
    tickets = replace(table("tickets", "id:int4! body:text owner_id:int4"), primary_key=())
    key = ForeignKey("tickets", ("owner_id",), "employees", ("id",))
    bare = PlanSchema((FIRM.tables[1], tickets), (key,))
    planned = plan_directly("Which tickets does Ana Silva own?", bare, VALUES)
    assert not isinstance(planned, Certain)


def test_what_a_row_refers_to_is_told_by_its_name() -> None:
    planned = plan_directly("Who manages Kim Park?", FIRM, VALUES)
    assert isinstance(planned, Certain)
    assert planned.told is not None
    assert planned.told.startswith('SELECT coalesce((SELECT referred."name" FROM employees AS ')


def firm_and(*tables: PlanTable, keys: tuple[ForeignKey, ...] = ()) -> PlanSchema:
    return PlanSchema((*FIRM.tables, *tables), (*FIRM.keys, *keys))


CONTRACTORS = firm_and(
    table("contractors", "id:int4! name:text! hire_date:date manager_id:int4"),
    keys=(ForeignKey("contractors", ("manager_id",), "employees", ("id",)),),
)
OVERTIMES = firm_and(
    table("overtimes", "id:int4! employee_id:int4 hours:numeric"),
    keys=(ForeignKey("overtimes", ("employee_id",), "employees", ("id",)),),
)
PAYMENTS = PlanSchema(
    (FIRM.tables[1], table("payments", "id:int4! payer_id:int4 payee_id:int4 points:int4")),
    (
        ForeignKey("payments", ("payer_id",), "employees", ("id",)),
        ForeignKey("payments", ("payee_id",), "employees", ("id",)),
    ),
)
PARENTS = PlanSchema(
    (table("departments", "id:int4! name:text! points:int4"), FIRM.tables[1]), FIRM.keys[:1]
)
GAMES = PlanSchema(
    (table("teams", "id:int4! name:text!"), table("games", "id:int4! home_id:int4 away_id:int4")),
    (
        ForeignKey("games", ("home_id",), "teams", ("id",)),
        ForeignKey("games", ("away_id",), "teams", ("id",)),
    ),
)
TWICE = StoredTexts(
    {
        ("employees", "name"): ("Kim Park",),
        ("contractors", "name"): ("Kim Park",),
        ("teams", "name"): ("Hamburg",),
        ("sales", "region"): ("North",),
    }
)


@pytest.mark.parametrize(
    ("question", "schema"),
    [
        ("Who is the manager of Kim Park?", CONTRACTORS),  # an employee and a contractor
        ("Who manages Kim Park?", CONTRACTORS),
        ("Who is the assistant manager of Kim Park?", FIRM),  # no column for such a one
        ("Who was hired first?", CONTRACTORS),
        ("What is the unit price in the North?", FIRM),  # prices are not added up
        ("Total hours per employee", OVERTIMES),  # two tables have hours
        ("Which employee has the most hours?", OVERTIMES),
        ("Which employee has the most points?", PAYMENTS),  # paid, or received
        ("Which employee has the most points?", PARENTS),  # those of the department are no one's
        (
            "How many departments are in Kim Park?",
            FIRM,
        ),  # who refers to them, and not the other way
        ("How many games were in Hamburg?", GAMES),  # at home, or away
    ],
)
def test_of_two_meanings_none_is_planned(question: str, schema: PlanSchema) -> None:
    assert not isinstance(plan_directly(question, schema, TWICE), Certain)


def test_the_highest_of_a_value_that_each_row_has_of_its_own_is_no_sum() -> None:
    stores = firm_and(table("stores", "id:int4! name:text! revenue:numeric"))
    planned = plan_directly("Which store name has the highest revenue?", stores, VALUES)
    assert isinstance(planned, Certain)
    assert "sum(" not in planned.sql
