"""Flags that the data keeps, as a caller reads them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import redask

POLICY = {"read": [{"roles": ["clerk"], "rows": "region = 'north'"}]}


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[redask.OpenDatabase]:
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put(
            "customers",
            [
                {"id": n, "name": f"N{n}", "paid": paid, "region": region}
                for n, (paid, region) in enumerate(
                    [("Y", "north"), ("N", "south"), ("Y", "south"), ("N", "north")], 1
                )
            ],
        )
        yield db


def test_a_flag_is_counted_and_its_opposite(shop: redask.OpenDatabase) -> None:
    assert "2 [^1]" in shop.ask("How many customers have paid?").answer
    assert "2 [^1]" in shop.ask("How many unpaid customers are there?").answer


def test_a_third_value_makes_it_no_flag_and_takes_that_back(shop: redask.OpenDatabase) -> None:
    shop.ask("How many unpaid customers are there?")
    shop.put("customers", [{"id": 9, "name": "N9", "paid": "?", "region": "south"}])
    assert shop.ask("How many unpaid customers are there?").validation.warnings[0].kind == "refused"
    shop.put("customers", [{"id": 9, "name": "N9", "paid": "N", "region": "south"}])
    assert "3 [^1]" in shop.ask("How many unpaid customers are there?").answer


def test_a_value_in_the_place_of_another_is_looked_at(shop: redask.OpenDatabase) -> None:
    shop.put("flags", [{"id": 1, "name": "a", "open": 1}, {"id": 2, "name": "b", "open": 0}])
    assert "1 [^1]" in shop.ask("How many open flags are there?").answer
    shop.put("flags", [{"id": 2, "name": "b", "open": 7}])
    assert shop.ask("How many open flags are there?").validation.warnings[0].kind == "refused"


def test_a_value_that_the_caller_does_not_read_changes_nothing(shop: redask.OpenDatabase) -> None:
    shop.add_user("kim", role="clerk")
    shop.set_policy("customers", POLICY)
    question = "How many unpaid customers are there?"
    kim = shop.signed_in(shop.make_token("kim"))
    before = kim.ask(question).to_dict()
    shop.put("customers", [{"id": 9, "name": "N9", "paid": "maybe", "region": "south"}])
    assert kim.ask(question).to_dict() == before
    assert shop.ask(question).validation.warnings[0].kind == "refused"
