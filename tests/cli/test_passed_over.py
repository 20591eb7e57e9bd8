"""A provider with a key but without its package is not passed over in silence."""

import json
import logging
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import redask
from redask.cli import main
from redask.core.settings import load
from redask.providers.pool import ProviderPool
from redask.providers.scripted import Scripted

INSTALL = "its package is missing: pip install 'redask[anthropic]'"
WARNING = f"anthropic has a key, but {INSTALL}; until then extractive answers"


@pytest.fixture(autouse=True)
def without_anthropic(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for Anthropic, and no package for it."""
    for name in ("OPENAI_API_KEY", "GROQ_API_KEY", "HF_TOKEN", "REDASK_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "none")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")
    missing = ("anthropic", "huggingface_hub")
    monkeypatch.setattr(
        "redask.providers.registry.find_spec",
        lambda name: None if name in missing else find_spec(name),
    )


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    with redask.open(tmp_path / "notes") as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
    return tmp_path / "notes"


def run(directory: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["--db", str(directory), *words])


@pytest.mark.parametrize("words", [["ask"], ["ask", "--json"], ["explain"], ["ask", "--explain"]])
def test_whoever_asks_is_told_on_standard_error(notes: Path, words: list[str]) -> None:
    result = run(notes, *words, "When does the ferry leave?")
    assert result.exit_code == 0
    assert result.stderr == f"redask: warning: {WARNING}\n"
    assert "extractive" in result.stdout
    assert "package" not in result.stdout


@pytest.mark.parametrize("words", [["search", "ferry"], ["ask", "x", "--using", "extractive"]])
def test_where_nothing_is_passed_over_nothing_is_said(notes: Path, words: list[str]) -> None:
    assert run(notes, *words).stderr == ""


@pytest.mark.parametrize("choice", ['default = "extractive"', 'fallback = ["extractive"]'])
def test_a_provider_that_the_settings_name_passes_over_nobody(notes: Path, choice: str) -> None:
    (notes / "redask.toml").write_text(f"[ask.providers]\n{choice}\n")
    assert run(notes, "ask", "When does the ferry leave?").stderr == ""


def test_the_log_says_so_when_a_database_is_opened(
    notes: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "redask"):
        redask.open(notes).close()
        assert [record.getMessage() for record in caplog.records] == [WARNING]
        caplog.clear()
        redask.open(notes, providers={"anthropic": Scripted(["x"])}).close()
        assert caplog.records == []


def test_doctor_says_so_and_all_else_is_well(notes: Path) -> None:
    result = run(notes, "doctor")
    assert (result.exit_code, f"WARNING {WARNING}\n" in result.output) == (0, True)
    assert "all is well" not in result.output
    report = json.loads(run(notes, "doctor", "--json").stdout)
    assert (report["warnings"], report["problems"]) == ([WARNING], [])


def test_providers_names_every_key_without_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_0123456789")
    shown = run(tmp_path, "providers").output
    assert f"\nanthropic has a key, but {INSTALL}\n" in shown
    assert "\nhuggingface has a key, but its package is missing: " in shown


def test_only_those_before_the_chosen_one_are_passed_over() -> None:
    keys = {"ANTHROPIC_API_KEY": "sk-ant-x"}
    first = ProviderPool(load("", {**keys, "OPENAI_API_KEY": "sk-x"}), {})
    assert first.passed_over() == (), "openai comes before it in any case"
    later = ProviderPool(load("", {**keys, "GROQ_API_KEY": "gsk-x"}), {})
    assert later.passed_over() == (WARNING.replace("extractive", "groq"),)
    never = ProviderPool(load("", {"HF_TOKEN": "hf_x"}), {})
    assert never.passed_over() == (), "it is nobody's default"
