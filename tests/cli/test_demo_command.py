"""`redask demo` shows what redask does, in a database of its own."""

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import redask
from redask.cli import main
from redask.evaluation import sample


@pytest.fixture(autouse=True)
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, no keys of whoever runs the tests, and no vectors, which take time."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "REDASK_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "none")
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def rows(directory: str, table: str) -> list[dict[str, object]]:
    with redask.open(directory) as db:
        return db.select(f"SELECT * FROM {table}")


def test_the_demo_answers_declines_explains_and_verifies() -> None:
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert "[^1]" in result.output
    assert "certificate: fair trade, country: Ethiopia [^1]" in result.output
    assert "I found nothing in the data" in result.output
    assert '"sources_urns"' in result.output
    assert "all as written" in result.output


def test_the_demo_asks_nobody_who_costs_money_though_a_key_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-sent")
    result = run("demo")
    assert result.exit_code == 0, result.output
    asks = [
        line
        for line in result.output.splitlines()
        if line.startswith(("$ redask ask", "$ redask explain"))
    ]
    assert len(asks) == 4
    assert all(line.endswith(" --using extractive --db redask-demo") for line in asks)
    with redask.open("redask-demo") as db:
        assert {entry.row["provider"] for entry in db.audit()} == {"extractive"}


def test_the_demo_asks_the_provider_that_is_named() -> None:
    result = run("demo", "--using", "scripted")
    assert result.exit_code == 0, result.output
    assert 'FDD-12316?" --using scripted --db redask-demo' in result.output
    with redask.open("redask-demo") as db:
        assert {entry.row["provider"] for entry in db.audit()} == {"scripted"}
    assert run("demo", "--using", "nobody").exit_code == 2


def test_the_demo_makes_a_database_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDASK_DB", "mine")
    monkeypatch.setenv("REDASK_TOKEN", "red_nobody_knows-it")
    monkeypatch.setenv("REDASK_TENANT", "mine")
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert "loaded 54 entities into redask-demo" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["redask-demo"]


def test_what_the_demo_says_it_ran_can_be_run() -> None:
    shown = run("demo").output
    commands = [line.removeprefix("$ ") for line in shown.splitlines() if line.startswith("$ ")]
    assert len(commands) == 6
    for line in commands:
        words = shlex.split(line)
        assert words[0] == "redask"
        again = run(*words[1:])
        assert again.exit_code == 0, again.output
    questions = [line for line in commands if " ask " in line]
    assert len(questions) == 3
    for line in questions:
        assert run(*shlex.split(line)[1:]).output.splitlines()[0] in shown.splitlines()


def test_the_demo_may_be_run_again_also_after_it_was_interrupted() -> None:
    assert run("demo").exit_code == 0
    assert run("demo").exit_code == 0
    with redask.open("redask-demo") as db:
        db.delete("urn:reddb:row:orders/FDD-12316")  # and with it, its links
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert [row["id"] for row in rows("redask-demo", "orders")].count("FDD-12316") == 1


@pytest.mark.parametrize(
    ("collection", "row"),
    [
        ("notes", {"id": 1, "text": "my own"}),
        ("orders", {"id": "my-own"}),
        ("products", {"id": 1, "name": "my own"}),
    ],
)
@pytest.mark.parametrize("words", [["--db", "mine", "demo"], ["demo", "--db", "mine"]])
def test_the_demo_refuses_a_database_that_holds_other_data(
    words: list[str], collection: str, row: dict[str, object]
) -> None:
    with redask.open("mine") as db:
        db.put(collection, [row])
    result = run(*words)
    assert result.exit_code == 2
    assert result.stderr == (
        "redask: mine holds other data than the sample, which stays as it is: "
        "name a new directory with --db\n"
    )
    with redask.open("mine") as db:
        assert [table.name for table in db.tables() if not table.name.startswith("red_")] == [
            collection
        ]
        assert json.loads(db.get(f"urn:reddb:row:{collection}/{row['id']}") or "") == row


def test_the_demo_refuses_its_own_database_once_somebody_works_in_it() -> None:
    run("demo")
    with redask.open("redask-demo") as db:
        db.put("notes", [{"id": 1, "text": "my own"}])
    assert run("demo").exit_code == 2


def test_the_demo_takes_a_new_directory_and_an_empty_database() -> None:
    redask.open("empty").close()
    for name in ("new", "empty"):
        result = run("--db", name, "demo")
        assert f"loaded 54 entities into {name}" in result.output
        assert rows(name, "suppliers")


def test_the_sample_knows_itself(tmp_path: Path) -> None:
    with redask.open(tmp_path / "db") as db:
        assert sample.is_alone(db)
        sample.load(db)
        assert sample.is_alone(db)
        db.put("settings", [{"id": "theme", "value": "dark"}], kind="kv")
        assert not sample.is_alone(db)
