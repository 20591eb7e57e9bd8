"""`--db`, `--token` and `--tenant` are taken before and after the command alike."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

import redask
from redask.cli import COMMANDS, main


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("REDASK_DB", "REDASK_TOKEN", "REDASK_TENANT", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "none")
    monkeypatch.chdir(tmp_path)
    with redask.open(tmp_path / "notes") as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
    return tmp_path / "notes"


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def leaves(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for below, each in command.commands.items():
            yield from leaves(f"{name} {below}", each)


def test_the_database_may_be_named_after_the_command(notes: Path) -> None:
    before = run("--db", str(notes), "search", "ferry")
    assert before.exit_code == 0, before.output
    for words in (["search", "ferry", "--db", str(notes)], ["search", "--db", str(notes), "ferry"]):
        assert run(*words).output == before.output


def test_the_last_database_named_wins_over_one_before_and_the_environment(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDASK_DB", "elsewhere")
    result = run("--db", "nowhere", "search", "ferry", "--db", str(notes))
    assert result.exit_code == 0, result.output
    assert "there is no database in elsewhere" in run("search", "ferry").stderr


def test_a_group_and_its_commands_take_the_database_too(notes: Path) -> None:
    assert run("user", "add", "mia", "--role", "sales", "--db", str(notes)).exit_code == 0
    assert run("user", "--db", str(notes), "list").output == "mia  sales\n"
    assert run("audit", "--db", str(notes)).exit_code == 0


def test_token_and_tenant_may_follow_the_command(notes: Path) -> None:
    run("--db", str(notes), "user", "add", "mia", "--role", "sales")
    token = run("--db", str(notes), "token", "make", "mia").stdout.strip()
    denied = run("user", "list", "--db", str(notes), "--token", token)
    assert (denied.exit_code, "the role 'sales' may only read" in denied.stderr) == (3, True)
    assert run("search", "ferry", "--db", str(notes), "--tenant", "other").output == (
        "nothing found\n"
    )


def test_every_command_that_opens_a_database_takes_all_three_but_that_two_have_no_token() -> None:
    assert isinstance(main, click.Group)
    for name in COMMANDS:
        loaded = main.get_command(click.Context(main), name)
        assert loaded is not None
        for path, command in leaves(name, loaded):
            taken = [option for each in command.params for option in each.opts]
            for option in ("--db", "--token", "--tenant"):
                for_all = name in ("serve", "restore")  # tenants, whoever has the directory
                opens = name not in ("check", "copy", "eval")  # copy is told both databases
                expected = opens and not (for_all and option == "--token")
                assert taken.count(option) == expected, f"{path} {option}"
