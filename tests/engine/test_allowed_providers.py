"""`[[allow]]` holds for every ask, before a key is looked up; test providers are in no server."""

from pathlib import Path
from typing import Any

import pytest
from stage import Player

import redask
from redask.app import build
from redask.core.errors import AskError, BadAsk, Denied, Misconfigured
from redask.core.settings import load
from redask.providers import pool

ROWS = [{"id": 1, "text": "The ferry to Amrum leaves at nine."}]
NONE = '[embedder]\nname = "none"\n'
RULES = """
[[allow]]
roles = ["analyst"]
providers = ["openai"]
models = ["gpt-4o-mini"]
[[allow]]
roles = ["owner"]
providers = ["*"]
"""
KEYS = {"REDASK_OPENAI_API_KEY": "sk-1", "REDASK_GROQ_API_KEY": "gsk-1"}
FERRY = "When does the ferry leave?"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str | None]]:
    """The providers that were opened, in place of vendors."""
    found: list[tuple[str, str | None]] = []

    def play(_: object, name: str, model: str | None) -> Any:
        found.append((name, model))
        return Player(name, ["The ferry leaves at nine. [^1]"], model or "default")

    monkeypatch.setattr(pool, "_open", play)
    return found


def asked(db: redask.OpenDatabase, role: str, **options: object) -> redask.CitedAnswer:
    db.add_user(role, role=role)
    return db.signed_in(db.make_token(role)).ask(FERRY, **options)


def fill(db: redask.OpenDatabase) -> redask.OpenDatabase:
    db.put("notes", ROWS)
    return db


@pytest.mark.parametrize(
    ("role", "options"),
    [
        ("reader", {"using": "openai"}),
        ("reader", {"using": "extractive,openai"}),
        ("analyst", {"using": "openai"}),
        ("analyst", {"using": "openai", "model": "gpt-4o"}),
        ("analyst", {"using": "groq"}),
    ],
)
def test_what_a_role_may_not_use_is_denied_audited_and_never_opened(
    tmp_path: Path,
    role: str,
    options: dict[str, str],
    opened: list[tuple[str, str | None]],
) -> None:
    settings = load(RULES + NONE, {**KEYS, "REDASK_OPENAI_MODEL": "gpt-4o"})
    with redask.open(tmp_path, settings=settings) as db, pytest.raises(Denied, match="may not use"):
        asked(fill(db), role, **options)
    assert opened == []
    with redask.open(tmp_path) as db:
        [row] = [each.row for each in db.audit()]
    assert "'denied'" in str(row["errors"])


def test_explain_denies_alike(tmp_path: Path, opened: list[tuple[str, str | None]]) -> None:
    with redask.open(tmp_path, settings=load(RULES + NONE, KEYS)) as db:
        fill(db).add_user("mia", role="reader")
        mia = db.signed_in(db.make_token("mia"))
        with pytest.raises(Denied):
            mia.explain(FERRY, using="groq")
        assert mia.explain(FERRY)["provider"]["name"] == "extractive"
    assert {name for name, _ in opened} <= {"extractive"}


def test_a_role_without_a_rule_is_answered_by_quoting(tmp_path: Path) -> None:
    with redask.open(tmp_path, settings=load(RULES + NONE, KEYS)) as db:
        assert asked(fill(db), "reader").provider == "extractive"


def test_what_the_settings_name_is_passed_over(
    tmp_path: Path, opened: list[tuple[str, str | None]]
) -> None:
    text = '[ask.providers]\nfallback = ["groq", "openai"]\n' + RULES + NONE
    settings = load(text, {**KEYS, "REDASK_OPENAI_MODEL": "gpt-4o-mini"})
    with redask.open(tmp_path, settings=settings) as db:
        assert asked(fill(db), "analyst").provider == "openai"
        assert opened == [("openai", None)]
        with pytest.raises(Denied, match="may not use groq"):
            asked(db, "reader")


def test_a_model_that_would_write_statements_is_passed_over_too(tmp_path: Path) -> None:
    text = '[ask.plan]\nprovider = "groq"\n' + RULES + NONE
    with redask.open(tmp_path, settings=load(text, KEYS)) as db:
        answer = fill(db)
        db.add_user("mia", role="reader")
        said = db.signed_in(db.make_token("mia")).ask("How many notes are left-handed?")
        assert said.provider == "extractive"
        assert answer is db


@pytest.mark.parametrize("testing", [False, True])
def test_a_provider_for_tests_is_in_no_server(tmp_path: Path, testing: bool) -> None:
    text = f"[ask.providers]\ntesting = {str(testing).lower()}\n" + NONE
    with redask.open(tmp_path, settings=load(text, {})) as db:
        fill(db)
        assert db.ask(FERRY, using="scripted").provider == "scripted"
    app = build(tmp_path, settings=load(text + "[select]\nworkers = 0\n", {}), serving=True)
    assert ("scripted" in app.engine.providers) is testing
    app.close()


def test_naming_it_there_is_an_unknown_provider(tmp_path: Path) -> None:
    import asyncio

    from redask.api.sync import open_async

    async def main(settings: str, **options: str) -> AskError:
        chosen = load(settings + NONE + "[select]\nworkers = 0\n", {})
        async with await open_async(tmp_path, settings=chosen, serving=True) as db:
            with pytest.raises(AskError) as caught:
                await db.ask(FERRY, **options)
        return caught.value

    with redask.open(tmp_path, settings=load(NONE, {})) as db:
        fill(db)
    assert isinstance(asyncio.run(main("", using="scripted")), BadAsk)
    chosen = '[ask.providers]\ndefault = "scripted"\n'
    assert isinstance(asyncio.run(main(chosen)), Misconfigured)
