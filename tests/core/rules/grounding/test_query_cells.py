"""Numbers must be cells: contract 23."""

import json

import pytest

from redask.core.model import Source
from redask.core.rules.grounding import query_cells

ROW = Source("urn:reddb:row:orders/7", '{"id":7,"total":"12.50"}')


def result(*rows: list[object], count: int | None = None) -> Source:
    payload = {
        "columns": [{"name": "n", "type": "int8"}],
        "row_count": len(rows) if count is None else count,
        "rows": list(rows),
        "sql": "SELECT count(*) FROM orders WHERE total > 40 AND day >= '2021-02-01'",
    }
    return Source("urn:reddb:query:postgresql/SELECT%201", json.dumps(payload))


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("There are 122 orders", ()),
        ("There are 121 orders", ("121",)),
        ("There are one hundred and twenty-two orders", ()),
        ("There are about 120 orders", ()),
        ("Exactly 120 orders", ("120",)),
        ("122 orders above 40 since 1 February 2021", ()),
        ("122 orders since 1 March 2021", ("1 March 2021",)),
        ("122 orders, 5 of them open", ("5",)),
        ("122 orders in 1997", ()),
        ("The first of 122 orders", ()),
        ("The average is 5.652", ("5.652",)),
        ("The average is about 5.652", ()),
        ("No number here", ()),
        ("The first 2 of 3 rows", ()),
        ("The first 4 of 3 rows", ("4",)),
        ("The average is 5.65, rounded", ()),
        ("The average is 5.75, rounded", ("5.75",)),
        ("Rounded to whole numbers, 6", ()),
        ("122 orders and a code of the kind T-9", ()),
        ("122,000 orders", ("122,000",)),
        ("122.0 orders", ()),
    ],
)
def test_a_number_is_a_cell_a_count_or_a_literal(claim: str, wrong: tuple[str, ...]) -> None:
    source = result([122], ["5.6519417475728155"], [["a", None]], count=3)
    allowed = query_cells.known([source], "how many in 1997?")
    assert query_cells.wrong(claim, allowed) == wrong


def test_a_row_beside_the_result_may_be_told_as_well() -> None:
    allowed = query_cells.known([result([3]), ROW], "")
    assert query_cells.wrong("3 orders, one of 12.50", allowed) == ()


def test_rows_of_another_shape_are_read_as_they_are() -> None:
    odd = Source("urn:reddb:query:postgresql/x", '{"rows":[5],"row_count":1}')
    assert query_cells.wrong("5", query_cells.known([odd], "")) == ()
    assert query_cells.wrong("6", query_cells.known([Source(odd.urn, "{}")], "")) == ("6",)


def test_only_a_query_is_a_result() -> None:
    assert query_cells.is_query(result())
    assert not query_cells.is_query(ROW)


@pytest.mark.parametrize(
    ("claim", "cell", "wrong"),
    [
        ("No customers live there", 5, ("No",)),
        ("There are no customers", 5, ("no",)),
        ("Nobody lives there", 5, ("Nobody",)),
        ("No, there are 5", 5, ()),
        ("No customers live there", 0, ()),
    ],
)
def test_nothing_is_said_of_a_count_only_where_it_is_0(
    claim: str, cell: int, wrong: tuple[str, ...]
) -> None:
    assert query_cells.wrong(claim, query_cells.known([result([cell])], "")) == wrong


def test_words_of_the_question_and_of_columns_need_no_cell() -> None:
    allowed = query_cells.known([result([5])], "Who is the youngest?")
    assert query_cells.is_told("Youngest", "", allowed)
    assert not query_cells.is_told("oldest", "", allowed)
    assert query_cells.is_told("first", "The first 1 of 5 rows", allowed)
    assert not query_cells.is_told("first", "The first is Ada", allowed)
