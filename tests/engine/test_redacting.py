"""What is redacted is redacted everywhere an ASK shows it, and a hashed question is gone."""

import json
import logging
from contextlib import suppress
from pathlib import Path

import pytest
from stage import Player, Stage

import redask
from redask.core.model import Answered, SourcesFound
from redask.core.rules import fingerprint

SECRET = "hunter2hunter2"
ADDRESS = "jo@harbour.example"
ROWS = [
    {"id": 1, "title": "Ferry login", "text": f"The ferry office: password={SECRET}, {ADDRESS}."},
    {"id": 2, "title": "Ferry prices", "text": "A ticket for the ferry costs 14 euros."},
]
ON = '[ask.redact]\nsecrets = true\npersonal = ["email"]\n'
QUESTION = "Who runs the ferry office?"


@pytest.fixture
def office(stage: Stage) -> Stage:
    with redask.open(stage.directory) as db:
        db.put("notes", ROWS)
    return stage


def test_nothing_that_is_redacted_leaves_or_comes_back(office: Stage) -> None:
    player = Player("openai", ["The office. [^1]"])
    db = office.open(player, toml=ON)
    answer = db.ask(QUESTION)
    [(prompt, _)] = player.calls
    everywhere = f"{prompt}{answer}{json.dumps(answer.to_dict())}"
    assert SECRET not in everywhere
    assert ADDRESS not in everywhere
    payloads = {source.urn: source.payload for source in answer.sources_flat}
    assert "password=[redacted:password], [redacted:email]." in payloads["urn:reddb:row:notes/1"]
    assert payloads["urn:reddb:row:notes/1"] in prompt.user.replace("&amp;", "&")
    [warning] = answer.validation.warnings
    assert (warning.kind, warning.detail) == (
        "redacted",
        "taken out of the sources: 1 email, 1 password",
    )


def test_the_seed_comes_from_the_redacted_payloads(office: Stage) -> None:
    player = Player("openai", ["The office. [^1]"])
    db = office.open(player, toml=ON)
    answer = db.ask(QUESTION)
    pairs = [(s.urn, fingerprint.content_version(s.payload)) for s in answer.sources_flat]
    redacted = fingerprint.of(pairs)
    plan = db.explain(QUESTION)
    seed = plan["determinism"]["seed"]
    db.put("notes", [{**ROWS[0], "text": str(ROWS[0]["text"]).replace(SECRET, "another-one-9")}])
    assert db.explain(QUESTION)["determinism"]["seed"] == seed
    again = db.ask(QUESTION)
    assert again.sources_flat == answer.sources_flat
    assert redacted == fingerprint.of(
        [(s.urn, fingerprint.content_version(s.payload)) for s in again.sources_flat]
    )


def test_switching_redaction_on_misses_the_cache_of_before(office: Stage) -> None:
    player = Player("openai", ["The office. [^1]"])
    cached = '[ask.cache]\nenabled = true\ndefault_ttl = "1h"\n'
    open_answer = office.open(player, toml=cached).ask(QUESTION)
    assert SECRET in str(open_answer.sources_flat)
    db = office.open(player, toml=cached + ON)
    answer = db.ask(QUESTION)
    assert not answer.cache_hit
    hit = db.ask(QUESTION)
    assert hit.cache_hit
    assert hit.validation == answer.validation
    assert SECRET not in str(hit)


def test_a_stream_shows_the_redacted_sources(office: Stage) -> None:
    events = list(office.open(Player("openai", ["The office. [^1]"]), toml=ON).stream(QUESTION))
    assert SECRET not in str(events)
    assert isinstance(events[0], SourcesFound)
    assert "[redacted:password]" in str(events[0])
    assert isinstance(events[-1], Answered)
    assert [each.kind for each in events[-1].answer.validation.warnings] == ["redacted"]


def test_only_what_entered_the_prompt_is_counted(office: Stage) -> None:
    player = Player("openai", ["14 euros. [^1]"])
    asked = "How much does a ticket cost in euros?"
    answer = office.open(player, toml=f"[ask]\nmax_sources_bytes = 100\n{ON}").ask(asked)
    assert [source.urn for source in answer.sources_flat] == ["urn:reddb:row:notes/2"]
    assert [each.kind for each in answer.validation.warnings] == []
    office.open().put(
        "notes", [{"id": 3, "title": "Mail", "text": f"our ticket office: {ADDRESS}"}]
    )
    answer = office.open(player, toml=f"[ask]\nmax_sources_bytes = 100\n{ON}").ask(asked)
    assert [source.urn for source in answer.sources_flat] == ["urn:reddb:row:notes/2"]
    assert [each.kind for each in answer.validation.warnings] == ["sources_trimmed"]
    answer = office.open(player, toml=ON).ask(asked)
    assert [each.kind for each in answer.validation.warnings] == ["redacted"]


def test_without_the_setting_nothing_is_redacted_and_nobody_warned(office: Stage) -> None:
    answer = office.open(Player("openai", ["The office. [^1]"])).ask(QUESTION)
    assert SECRET in str(answer.sources_flat)
    assert answer.validation.warnings == ()


def test_reading_and_searching_are_not_redacted(office: Stage) -> None:
    db = office.open(toml=ON)
    assert SECRET in str(db.get("urn:reddb:row:notes/1"))
    assert SECRET in str(db.search("ferry office").to_dict())


def test_a_policy_comes_before_redaction(office: Stage) -> None:
    db = office.open(Player("openai", ["Ferry login. [^1]"]), toml=ON)
    db.set_policy("notes", {"read": [{"roles": ["client"], "hide": ["text"]}]})
    db.add_user("gus", role="client")
    answer = db.signed_in(db.make_token("gus")).ask(QUESTION)
    assert answer.validation.warnings == ()
    assert "redacted" not in str(answer.sources_flat)


@pytest.mark.parametrize("reply", ["The office. [^1]", "No marker 99 [^99]."])
def test_a_hashed_question_is_nowhere_in_the_files_and_logs(
    office: Stage, caplog: pytest.LogCaptureFixture, reply: str
) -> None:
    toml = (
        '[ask.audit]\nquestion = "hash"\ninclude_answer = true\n'
        '[ask.cache]\nenabled = true\ndefault_ttl = "1h"\n'
    )
    asked = "Which zyxomma serves the ferry office?"
    caplog.set_level(logging.DEBUG)
    db = office.open(Player("openai", [reply]), toml=toml)
    for _ in range(2):
        with suppress(redask.AskError):
            db.ask(asked)
    with pytest.raises(redask.AskError):
        db.ask(asked, using="scripted,unknown")
    list(db.search(asked))
    db.explain(asked)
    assert str(db.audit(1)[0].row["question"]).startswith("sha256:")
    db.close()
    assert "zyxomma" not in caplog.text
    for file in files(office.directory):
        assert b"zyxomma" not in file.read_bytes(), file


def test_the_same_look_finds_a_question_that_is_not_hashed(office: Stage) -> None:
    db = office.open(Player("openai", ["The office. [^1]"]))
    db.ask("Which zyxomma serves the ferry office?")
    db.close()
    found = {file.name for file in files(office.directory) if b"zyxomma" in file.read_bytes()}
    assert found == {"calls.sqlite"}


def files(directory: Path) -> list[Path]:
    return [file for file in directory.rglob("*") if file.is_file()]
