"""`redask replay` and `redask audit stale`, as a person and as a program use them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from stage import ROWS

import redask
from redask.cli import main
from redask.cli.replay_commands.replay_command import EXITS
from redask.core.rules.auditing.replay_verdict import ReplayVerdict

FERRY = "When does the ferry to Amrum leave?"
CHANGED = {**ROWS[0], "text": "The ferry to Amrum leaves at ten."}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "none")
    with redask.open(tmp_path / "db") as db:
        db.put("notes", ROWS)
        db.ask(FERRY, plan="off", cache={"ttl": "1d"})
    return tmp_path / "db"


def run(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["--db", str(home), *words])


def put(home: Path, *rows: dict[str, object]) -> None:
    with redask.open(home) as db:
        db.put("notes", list(rows))


def test_an_equal_replay_ends_with_0(home: Path) -> None:
    result = run(home, "replay", "1")
    assert (result.exit_code, result.output) == (
        0,
        "row 1: equal: the same sources, the same prompt\n",
    )
    live = run(home, "replay", "1", "--live")
    assert (live.exit_code, live.output.splitlines()[1]) == (0, "the answer is the same")


def test_changed_sources_are_listed_with_what_differs_and_end_with_10(home: Path) -> None:
    put(home, CHANGED)
    result = run(home, "replay", "1", "--live")
    assert result.exit_code == 10
    assert result.output.startswith(
        "row 1: sources changed\n"
        "  the sources are not what they were\n"
        "      changed  urn:reddb:row:notes/1\n"
    )
    assert '- "text": "The ferry to Amrum leaves at nine."' in result.output
    assert "the answer is another:" in result.output
    assert "leaves at ten. [^1]" in result.output


def test_as_json_it_is_the_report(home: Path) -> None:
    put(home, CHANGED)
    result = run(home, "replay", "1", "--json")
    report = json.loads(result.output)
    assert (result.exit_code, report["verdict"]) == (10, "sources_changed")
    assert report["sources"][0]["change"] == "changed"
    assert set(report) == {
        *("answer", "changes", "hidden", "reasons", "same_prompt", "seq", "sources", "verdict")
    }


def test_all_that_differs_is_told_and_whether_the_prompt_is_the_same(home: Path) -> None:
    (home / "redask.toml").write_text("[ask]\nmax_sources_bytes = 99999\n", encoding="utf-8")
    result = run(home, "replay", "1")
    assert result.exit_code == 14
    assert result.output == (
        "row 1: settings changed\n"
        "  not as they were: ask.max_sources_bytes\n"
        "  the prompt is the same\n"
    )
    put(home, CHANGED)
    assert "settings changed (also: sources changed)" in run(home, "replay", "1").output


def test_a_row_that_is_not_there_is_an_error_and_no_verdict(home: Path) -> None:
    result = run(home, "replay", "99", "--json")
    assert (result.exit_code, json.loads(result.output)["error"]["kind"]) == (2, "bad_ask")
    assert run(home, "replay", "x").exit_code == 2


def test_each_verdict_has_an_exit_code_that_no_error_has() -> None:
    assert set(EXITS) == set(ReplayVerdict)
    assert len(set(EXITS.values())) == len(EXITS)
    assert all(code == 0 or 10 <= code < 100 for code in EXITS.values())
    help_text = CliRunner().invoke(main, ["replay", "--help"]).output
    assert all(str(code) in help_text for code in EXITS.values())


def test_an_auditor_hears_of_new_sources_only_how_many(home: Path) -> None:
    with redask.open(home) as db:
        db.put("bonuses", [{"id": 1, "text": "The ferry to Amrum: the ferry to Amrum."}])
        db.set_policy("bonuses", {"read": [{"roles": ["board"]}]})
        db.add_user("ada", role="auditor")
        token = db.make_token("ada")
    result = run(home, "replay", "1", "--token", token)
    assert "1 new sources that you may not read" in result.output
    assert "bonuses" not in result.output


def test_stale_answers_are_listed_with_what_became_of_their_sources(home: Path) -> None:
    assert run(home, "audit", "stale").output == "0 of 1 rows are stale\n"
    put(home, CHANGED)
    lines = run(home, "audit", "stale").output.splitlines()
    assert lines[0].startswith("     1  ")
    assert lines[0].endswith(f"local  {FERRY}")
    assert lines[1:] == ["       changed  urn:reddb:row:notes/1", "1 of 1 rows are stale"]
    [line] = run(home, "audit", "stale", "--json").output.splitlines()
    told = json.loads(line)
    assert (told["seq"], told["sources"]) == (
        1,
        [{"change": "changed", "urn": "urn:reddb:row:notes/1"}],
    )
