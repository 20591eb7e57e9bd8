"""A database plans with the user's words, and tells the owner of words for nothing."""

from pathlib import Path

import pytest

import redask
from redask.core.errors import Misconfigured
from redask.core.planning.plan_schema import StoredValue

WORDS = """
[tables]
pets = ["animal"]
nosuch = ["x"]
[columns.pets]
kind = ["species"]
[values.pets.kind]
dog = ["hound"]
cat = ["tiger"]
"""


def test_words_of_the_user_come_with_schema_and_values(tmp_path: Path) -> None:
    (tmp_path / "synonyms.toml").write_text(WORDS)
    with redask.open(tmp_path) as db:
        db.put("pets", [{"id": 1, "kind": "Dog"}], wait=False)
        (pets,) = db.plan_schema().tables
        assert pets.words == ("animal",)
        assert [each.words for each in pets.columns] == [(), ("species",)]
        stored = (StoredValue("pets", "kind", "Dog"),)
        assert db.find_values(["hound", "dog", "tiger"]) == {"hound": stored, "dog": stored}
        assert db.doctor()["warnings"][-1:] == [
            "synonyms.toml has words for the table 'nosuch', which is not there"
        ]


def test_words_for_what_is_hidden_are_shown_to_nobody(tmp_path: Path) -> None:
    (tmp_path / "synonyms.toml").write_text(WORDS)
    with redask.open(tmp_path) as db:
        db.put("pets", [{"id": 1, "kind": "dog"}, {"id": 2, "kind": "cat"}], wait=False)
        db.set_policy("pets", {"read": [{"roles": ["reader"], "rows": "id = 1", "hide": ["kind"]}]})
        db.add_user("ada", role="reader")
        reader = db.signed_in(db.make_token("ada"))
        (pets,) = reader.plan_schema().tables
        assert [each.name for each in pets.columns] == ["id"]
        assert "species" not in repr(pets)
        assert reader.find_values(["hound", "tiger", "dog"]) == {}
        assert len(db.find_values(["hound", "tiger"])) == 2


def test_without_words_nothing_is_warned_of(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("pets", [{"id": 1, "kind": "Dog"}], wait=False)
        assert db.plan_schema() is db.plan_schema()
        assert db.find_values(["dog"]) == {"dog": (StoredValue("pets", "kind", "Dog"),)}
        assert not [each for each in db.doctor()["warnings"] if "synonyms" in each]


def test_a_file_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "synonyms.toml").write_text("[tables")
    with pytest.raises(Misconfigured, match=r"synonyms\.toml"):
        redask.open(tmp_path)
