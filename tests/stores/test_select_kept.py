"""A SELECT that is kept ready for the next run never answers for another state of affairs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import redask
from redask.api import OpenDatabase

ROWS = [{"id": number, "region": region} for number, region in enumerate(("north", "south") * 3)]
POLICY = {"read": [{"roles": ["clerk"], "rows": "region = :user.region"}]}
SQL = "SELECT id FROM notes ORDER BY id"
Ids = Callable[[], list[object]]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[OpenDatabase, Ids]]:
    """A database, and what mia reads by the same statement over and over."""
    with redask.open(tmp_path / "db") as db:
        db.put("notes", ROWS)
        db.add_user("mia", role="clerk", attributes={"region": "north"})
        db.set_policy("notes", POLICY)
        mia = db.signed_in(db.make_token("mia"))
        yield db, lambda: [row["id"] for row in mia.select(SQL)]


def test_other_attributes_hold_for_the_next_run(opened: tuple[OpenDatabase, Ids]) -> None:
    db, ids = opened
    assert ids() == ids() == [0, 2, 4]
    db.set_user("mia", attributes={"region": "south"})
    assert ids() == ids() == [1, 3, 5]


def test_another_policy_holds_for_the_next_run(opened: tuple[OpenDatabase, Ids]) -> None:
    db, ids = opened
    assert ids() == ids() == [0, 2, 4]
    db.set_policy("notes", {"read": [{"roles": ["clerk"], "rows": "region <> :user.region"}]})
    assert ids() == ids() == [1, 3, 5]
    db.set_policy("notes", {"read": []})
    with pytest.raises(redask.AskError, match="notes"):
        ids()


def test_a_new_row_is_in_the_next_run(opened: tuple[OpenDatabase, Ids]) -> None:
    db, ids = opened
    assert ids() == [0, 2, 4]
    db.put("notes", [{"id": 6, "region": "north"}])
    assert ids() == [0, 2, 4, 6]
