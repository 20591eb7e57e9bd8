"""What of a payload is a place, and what is words of it: `core.places`."""

from redask.core import places

PLACE = {"cells": "A2:C2", "path": "stock.xlsx", "sheet": "Sheet1"}


def test_a_chunk_is_worded_without_its_place() -> None:
    chunk = {"path": "a.md", "text": "Open daily.", "title": "Hours", "line": 3, "page": 1}
    assert places.worded(chunk) == {"path": "a.md", "text": "Open daily.", "title": "Hours"}


def test_a_column_of_the_users_that_is_named_like_a_place_stays() -> None:
    row = {"line": "U8", "stop": "Dammtor"}
    assert places.worded(row) == row
    assert places.columns({**row, "_place": "here"}) == {**row, "_place": "here"}


def test_the_place_of_a_row_is_no_column() -> None:
    row = {"_place": PLACE, "name": "Rope"}
    assert places.worded(row) == places.columns(row) == {"name": "Rope"}
    assert places.of_row(row) == PLACE
    assert places.of_row({"name": "Rope"}) == {}


def test_what_is_not_quite_a_place_is_a_value() -> None:
    assert places.is_place("_place", PLACE)
    for name, value in (
        ("place", PLACE),
        ("_place", {**PLACE, "more": "x"}),
        ("_place", {**PLACE, "sheet": ""}),
        ("_place", {**PLACE, "cells": 7}),
        ("_place", "A2"),
    ):
        assert not places.is_place(name, value)
        assert places.of_row({name: value}) == {}
