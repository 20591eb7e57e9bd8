"""`redask show`, `sources`, `remove` and `ask --follow`: checking takes one step."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import redask
from redask.cli import last_answer, main
from redask.core.model import Caller, Turn

QUESTION = "When is the sail to be reefed?"
SAID = "Reef the sail when the wind is above twenty knots."


def run(directory: Path, *words: str, **more: str) -> Result:
    return CliRunner().invoke(main, ["--db", str(directory), *words], **more)  # type: ignore[arg-type]


@pytest.fixture
def ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of two files and a collection put by hand; nobody's state directory but ours."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "none")
    monkeypatch.chdir(tmp_path)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "sails.md").write_text(
        f"# Manual\n\n## Reefing\n\nPaint is stored in the yellow locker.\n\n{SAID}\n"
    )
    (docs / "crew.csv").write_text("id,name\n1,Ada\n2,Bob\n")
    with redask.open(tmp_path / "db") as db:
        db.ingest(docs)
        db.put("notes", [{"id": 1, "text": "The jib is small."}])
    return tmp_path / "db"


def test_show_prints_the_source_of_a_footnote_with_its_quotation(ship: Path) -> None:
    printed = run(ship, "ask", QUESTION).output
    assert "sails.md, line 7, heading Reefing: " in printed
    with redask.open(ship) as db:
        answer = replace(db.ask(QUESTION), answer=f"{SAID} [^1]")
    last_answer.keep(str(ship), Caller(), (Turn(QUESTION, answer.answer),), answer)
    shown = run(ship, "show", "1").output
    assert shown.splitlines()[0].startswith("urn:reddb:document:")
    assert "sails.md, line 7, heading Reefing" in shown
    assert f"> {SAID}" in shown
    assert "  Paint is stored in the yellow locker." in shown
    told = json.loads(run(ship, "show", "[^1]", "--json").output)
    assert told["quotes"] == [SAID]
    assert run(ship, "show", told["urn"]).output == shown


def test_show_says_that_the_last_answer_has_no_sources(ship: Path) -> None:
    with redask.open(ship) as db:
        answer = replace(db.ask(QUESTION), sources_flat=())
    last_answer.keep(str(ship), Caller(), (Turn(QUESTION, answer.answer),), answer)
    shown = run(ship, "show", "1")
    assert shown.exit_code != 0
    assert "the last answer has no sources" in shown.output


def test_show_takes_any_urn_and_a_row_is_shown_by_its_columns(ship: Path) -> None:
    shown = run(ship, "show", "urn:reddb:row:notes/1").output
    assert shown == "urn:reddb:row:notes/1\n\n  id: 1\n  text: The jib is small.\n"
    place = {"cells": "A2:B2", "path": "sails.xlsx", "sheet": "Jibs"}
    with redask.open(ship) as db:
        db.put("jibs", [{"id": 1, "size": 9, "_place": place}])
    shown = run(ship, "show", "urn:reddb:row:jibs/1").output
    assert shown.splitlines()[1:] == [
        "sails.xlsx, sheet Jibs, cells A2:B2",
        "",
        "  id: 1",
        "  size: 9",
    ]


@pytest.mark.parametrize("source", ["0", "99", "x", "urn:reddb:row:notes/9"])
def test_show_says_what_is_not_there(ship: Path, source: str) -> None:
    assert run(ship, "show", "1").exit_code == 2  # nothing was printed yet
    run(ship, "ask", QUESTION)
    assert run(ship, "show", source).exit_code == 2


def test_show_reads_again_as_the_caller_may_and_never_another_users_answer(ship: Path) -> None:
    with redask.open(ship) as db:
        db.add_user("mia", role="sales")
        token = db.make_token("mia")
        db.set_policy("notes", {"read": [{"roles": ["board"]}]})
    run(ship, "ask", "What is small?")
    assert run(ship, "show", "1").exit_code == 0
    hers = run(ship, "show", "1", "--token", token)
    assert (hers.exit_code, "no answer was printed yet" in hers.output) == (2, True)
    assert run(ship, "show", "urn:reddb:row:notes/1", "--token", token).exit_code == 2


def test_what_is_kept_is_for_its_user_alone_and_holds_no_source(ship: Path) -> None:
    run(ship, "ask", QUESTION)
    [file] = (ship.parent / "state").rglob("*.json")
    assert file.stat().st_mode & 0o777 == 0o600
    kept = json.loads(file.read_text())
    assert sorted(kept) == ["sources", "turns"]
    assert {key for each in kept["sources"] for key in each} == {"quotes", "urn"}
    file.write_text("{damaged")
    assert last_answer.read(str(ship), Caller()) == last_answer.LastAnswer()


def test_a_question_may_follow_the_last_one(ship: Path) -> None:
    run(ship, "ask", "Who is Ada Lovelace?")
    followed = run(ship, "ask", "--follow", "When did she sail?").output
    assert "understood_as: When did Ada Lovelace sail?" in followed
    plan = run(ship, "ask", "--follow", "--explain", "And Bob?").output
    assert "understood_as: When did Bob sail?" in plan
    assert "understood_as" not in run(ship, "ask", "When did she sail?").output


def test_json_is_not_what_was_printed_for_people(ship: Path) -> None:
    run(ship, "ask", QUESTION, "--json")
    assert run(ship, "show", "1").exit_code == 2


def test_sources_lists_files_and_collections(ship: Path) -> None:
    printed = run(ship, "sources").output
    assert str(ship.parent / "docs" / "sails.md") in printed
    assert "crew 2" in printed
    assert "notes  1 row" in printed
    told = json.loads(run(ship, "sources", "--json").output)
    assert [Path(each["path"]).name for each in told["files"]] == ["crew.csv", "sails.md"]
    assert all(each["read_at"] > 10**18 for each in told["files"])


def test_sources_shows_a_user_only_what_the_user_reads(ship: Path) -> None:
    with redask.open(ship) as db:
        db.add_user("mia", role="sales")
        token = db.make_token("mia")
        db.set_policy("notes", {"read": [{"roles": ["board"]}]})
    told = json.loads(run(ship, "sources", "--json", "--token", token).output)
    assert told["files"] == []
    assert "notes" not in [each["name"] for each in told["collections"]]
    assert run(ship, "remove", "notes", "--yes", "--token", token).exit_code == 3


def test_remove_takes_what_a_path_brought(ship: Path) -> None:
    assert run(ship, "remove", "docs/sails.md", input="n\n").exit_code == 1
    gone = run(ship, "remove", "docs/sails.md", input="y\n").output
    assert "removed 1 entity" in gone or "removed 2 entities" in gone
    assert "sails.md" not in run(ship, "sources").output
    told = json.loads(run(ship, "remove", "docs", "--yes", "--json").output)
    assert (told["what"], told["entities"]) == ("path", 2)


def test_remove_takes_a_urn_and_a_collection(ship: Path) -> None:
    assert "removed 1 entity" in run(ship, "remove", "urn:reddb:row:crew/2").output
    assert run(ship, "remove", "urn:reddb:row:crew/2").exit_code == 2
    assert run(ship, "remove", "crew", "--json").exit_code == 2  # needs --yes
    gone = run(ship, "remove", "crew", "--yes").output
    assert "removed 1 entity of the collection crew" in gone
    assert "crew.csv" in gone
    assert "crew" not in run(ship, "sources").output
    assert (
        "removed 1 entity of the collection notes" in run(ship, "remove", "notes", "--yes").output
    )


def test_a_name_that_is_a_path_and_a_collection_must_be_told_apart(ship: Path) -> None:
    with redask.open(ship) as db:
        db.put("docs", [{"id": 1, "text": "x"}])
    assert "./docs" in run(ship, "remove", "docs", "--yes").output
    assert "collection docs" in run(ship, "remove", "docs", "--collection", "--yes").output
    assert "path" in json.loads(run(ship, "remove", "./docs", "--yes", "--json").output)["what"]
    assert run(ship, "remove", "nothing", "--yes").exit_code == 2
    assert run(ship, "sources").output == "\nnotes  1 row\n".lstrip()
