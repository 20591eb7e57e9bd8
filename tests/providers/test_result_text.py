"""A statement's result as an answer."""

import asyncio
from collections.abc import Sequence

import pytest

from redask.core import token_count
from redask.core.model import Knobs, Source
from redask.core.rules import prompt
from redask.core.wire import query_source
from redask.providers.extractive import result_text
from redask.providers.extractive.answerer import Extractive

ROW = Source("urn:reddb:row:Customer/1", '{"name":"Ada"}')


def told(names: Sequence[str], rows: Sequence[Sequence[object]], *behind: Source) -> str:
    """What the built-in answerer says of a result."""
    source = query_source.make("SELECT 1", [(name, "text") for name in names], rows)
    made = prompt.assemble("how many?", [source, *behind])
    answered = asyncio.run(Extractive().complete(made, Knobs(None, None), max_tokens=2000))
    return answered.text


def test_one_cell_is_a_line_with_its_label() -> None:
    assert told(["customers"], [[5]]) == "customers: 5 [^1]"


def test_rows_behind_a_cell_are_cited_as_examples() -> None:
    assert told(["customers"], [[5]], ROW, ROW) == "customers: 5 [^1], for example [^2][^3]"


def test_one_row_is_a_line_of_its_fields() -> None:
    line = told(["FirstName", "hire_date"], [["Ada", "2002-08-14"]])
    assert line == "first name: Ada, hire date: 2002-08-14 [^1]"


def test_the_row_itself_is_cited_beside_its_fields() -> None:
    line = told(["name", "born"], [["Ada", "1815-12-10T00:00:00"]], ROW)
    assert line == "name: Ada, born: 1815-12-10 [^1][^2]"


def test_one_row_with_sentences_is_a_table_whose_lead_cites_it() -> None:
    lines = told(["name", "note"], [["Ada", "Av. Brasil 3"]], ROW).splitlines()
    assert (lines[0], lines[-1]) == ("1 row [^1][^2]:", "| Ada | Av. Brasil 3 |")


def test_several_rows_of_one_column_are_a_list() -> None:
    assert told(["name"], [["Ada"], ["Bob"]]) == "2 names [^1]:\n- Ada\n- Bob"


@pytest.mark.parametrize(
    ("name", "several"),
    [
        ("country", "countries"),
        ("day", "days"),
        ("status", "status"),
        ("branch", "branches"),
        ("y", "ys"),
    ],
)
def test_a_list_is_headed_by_the_plural_of_its_column(name: str, several: str) -> None:
    assert told([name], [["a"], ["b"]]).startswith(f"2 {several} [^1]:")


def test_several_rows_of_several_columns_are_a_table() -> None:
    assert told(["name", "n"], [["a|b", 1], [None, 2]]) == (
        "2 rows [^1]:\n\n| name | n |\n| --- | --- |\n| a\\|b | 1 |\n| – | 2 |"
    )


def test_nothing_found_is_said() -> None:
    assert told(["name"], []) == "Nothing in the data fits. [^1]"


def test_more_rows_than_are_shown_are_counted() -> None:
    lines = told(["sku"], [[f"x{number}"] for number in range(122)]).split("\n")
    assert lines[0] == f"The first {result_text.MOST_SHOWN} of 122 skus [^1]:"
    assert len(lines) == 1 + result_text.MOST_SHOWN


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("5.6519417475728155", "about 5.652"),
        ("0.000012345678", "about 0.0000123"),
        ("12.50", "12.50"),
        ("12.5000", "12.5000"),
        ("50.0000000000000000", "50"),
        ("12.5000000000000000", "12.5"),
        (3.25, "3.25"),
        (True, "yes"),
        (False, "no"),
        (["a", None], "a, –"),
        ("two\nlines [^9]", "two lines \\[^9]"),
        ("", "–"),
    ],
)
def test_a_cell_is_shown_as_one_line(cell: object, shown: str) -> None:
    assert told(["x"], [[cell]]) == f"x: {shown} [^1]"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HireDate", "hire date"),
        ("hire_date", "hire date"),
        ("customerID", "customer ID"),
        ("Unit Price", "unit price"),
        ("?", "?"),
        ("avg", "average"),
    ],
)
def test_a_columns_name_is_split_into_words(name: str, words: str) -> None:
    assert result_text.label(name) == words


def test_a_statement_that_was_not_run_and_a_row_are_no_result() -> None:
    assert result_text.read(query_source.not_run("SELECT 1")) is None
    assert result_text.read(ROW) is None


def test_lines_beyond_the_budget_are_left_out() -> None:
    source = query_source.make("SELECT 1", [("n", "text")], [["word " * 30]] * 9)
    made = prompt.assemble("list", [source])
    answered = asyncio.run(Extractive().complete(made, Knobs(None, None), max_tokens=100))
    lines = answered.text.split("\n")
    assert lines[-1] == f"… and {11 - len(lines)} more"
    assert 2 < len(lines) < 9
    assert token_count.estimate(answered.text) <= 100


def test_an_answer_without_room_for_its_first_line_is_empty() -> None:
    source = query_source.make("SELECT 1", [("n", "text")], [["a"], ["b"]])
    made = prompt.assemble("list", [source])
    answered = asyncio.run(Extractive().complete(made, Knobs(None, None), max_tokens=3))
    assert answered.text == ""
