"""A provider is one row: an OpenAI-compatible host that is added by a row alone is everywhere."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path

import pytest
from added_provider import NAME, ROW
from click.testing import CliRunner
from loopback import Loopback
from stage import ROWS
from wires import polite_model

import redask
from redask.cli import main
from redask.core.endpoints import key_variables
from redask.core.errors import Misconfigured
from redask.core.provider_table import PROVIDERS, ProviderRow
from redask.core.rules import capabilities, determinism, failover
from redask.core.rules.price_list import TokenPrice, read_overrides
from redask.core.settings import load

ROOT = Path(__file__).parent.parent.parent
SEED = 2**64 - 1


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> ProviderRow:
    monkeypatch.setitem(PROVIDERS, NAME, ROW)  # nobody but a test may
    return ROW


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        running.play(polite_model)
        yield running


def test_without_its_row_nobody_knows_it() -> None:
    assert NAME not in PROVIDERS
    assert capabilities.of(NAME) != ROW.capabilities
    assert failover.choose_default([NAME]) == "extractive"
    assert load("", {"ACME_API_KEY": "k"}).endpoints == {}
    with pytest.raises(Misconfigured):
        read_overrides({NAME: {}})


@pytest.mark.usefixtures("added")
def test_its_row_gives_it_capabilities_a_preference_a_key_and_prices() -> None:
    assert capabilities.of("Acme") == ROW.capabilities
    assert failover.choose_default([NAME]) == NAME
    assert failover.choose_default(["deepseek", NAME]) == "deepseek"
    assert key_variables(NAME) == ("REDASK_ACME_API_KEY", "ACME_API_KEY")
    assert load("", {"ACME_API_KEY": "k"}).endpoints[NAME].api_key == "k"
    prices = read_overrides({"ACME": {"m": {"input": 1, "output": 2}}})
    assert prices == {NAME: {"m": TokenPrice(1.0, 2.0)}}


@pytest.mark.usefixtures("added")
def test_its_key_alone_makes_it_answer_with_its_own_quirks(
    tmp_path: Path, server: Loopback
) -> None:
    env = {"ACME_API_KEY": "sk-test", "REDASK_ACME_BASE_URL": server.url}
    with redask.open(tmp_path, settings=load("", env)) as db:
        db.put("notes", ROWS[:1])
        plan = db.explain("When does the ferry leave?", seed=SEED)
        answer = db.ask("When does the ferry leave?", seed=SEED, temperature=1)
    assert (answer.provider, answer.mode) == (NAME, redask.Mode.STRICT)
    assert plan["provider"] == {
        "model": "acme-1",
        "name": NAME,
        "supports_citations": True,
        "supports_seed": True,
    }
    sent = server.requests[-1]
    assert sent.headers["authorization"] == "Bearer sk-test"
    assert sent.body.keys() == {"max_completion_tokens", "messages", "model", "seed"}
    assert sent.body["seed"] == determinism.narrow_to_signed(SEED)


@pytest.mark.usefixtures("added")
def test_it_is_listed_by_the_command_and_on_the_reference_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ACME_API_KEY", raising=False)
    listed = CliRunner().invoke(main, ["--db", str(tmp_path), "providers", "--json"])
    row = next(row for row in json.loads(listed.output) if row["name"] == NAME)
    assert (row["key"], row["key_variable"]) == ("missing", "ACME_API_KEY")
    assert (row["model"], row["installed"]) == ("acme-1", True)
    page = run_path(str(ROOT / "tools" / "reference.py"))["page"]()
    assert "| acme | ✓ | ✓ | – | ✓ |" in page
    assert "| acme | `ACME_API_KEY` | `acme-1` | https://api.acme.example/v1 | – |" in page


def test_the_contract_suite_holds_it_to_what_every_provider_promises() -> None:
    words = ["-p", "added_provider", "-p", "no:cacheprovider", "-k", NAME]
    suite = str(ROOT / "tests" / "contract" / "test_providers.py")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words, suite],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
    passed = re.search(r"(\d+) passed, \d+ deselected in", run.stdout)
    assert passed, run.stdout[-3000:]
    assert int(passed[1]) >= 20
