"""`--supported` and `--evidence` at the command line, and what `redask explain` says."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main

FERRY = "When does the ferry leave?"


@pytest.fixture
def ferry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "none")
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "The ferry to Amrum leaves at nine."}])
    return tmp_path


def run(directory: Path, *words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["--db", str(directory), *words])
    return result.exit_code, result.output


def test_supported_is_asked_for_by_a_flag_of_its_own(ferry: Path) -> None:
    said = ("ask", FERRY, "--using", "scripted", "--model", "uncited", "--json")
    code, output = run(ferry, *said)
    assert code == 0
    assert json.loads(output)["validation"]["warnings"][0]["kind"] == "uncited_claim"
    code, output = run(ferry, *said, "--supported")
    assert code == 5
    assert json.loads(output)["validation"]["errors"][0]["kind"] == "uncited_claim"


@pytest.mark.parametrize("flag", ["--strict", "--no-strict"])
def test_it_goes_with_no_other_strictness(ferry: Path, flag: str) -> None:
    code, output = run(ferry, "ask", FERRY, "--supported", flag)
    assert code == 2
    assert "--supported" in output


@pytest.mark.parametrize("stream", ["--stream", "--no-stream"])
def test_evidence_is_listed_under_the_answer(ferry: Path, stream: str) -> None:
    code, output = run(ferry, "ask", FERRY, "--evidence", stream)
    assert code == 0
    assert "said by its source: The ferry to Amrum leaves at nine. [^1]\n" in output
    quoted = "     urn:reddb:row:notes/1, columns text: The ferry to Amrum leaves at nine.\n"
    assert quoted in output
    assert "columns text" not in run(ferry, "ask", FERRY, stream)[1]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "mode        strict (on: citations must be right)\n"),
        (
            ("--no-strict",),
            "mode        lenient (off: what is wrong with an answer is a ",
        ),
        (("--supported",), "mode        strict (supported: citations must be right, and every"),
        (("--supported", "--using", "ollama"), "mode        lenient (off: "),
    ],
)
def test_explain_says_what_an_answer_is_held_to(
    ferry: Path, flags: tuple[str, ...], said: str
) -> None:
    assert said in run(ferry, "explain", FERRY, *flags)[1]
    plan = json.loads(run(ferry, "explain", FERRY, "--json", *flags)[1])
    assert "strictness" not in plan


def test_explain_says_who_would_judge(ferry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "judge" not in run(ferry, "explain", FERRY)[1]
    monkeypatch.setenv("REDASK_ASK_JUDGE_PROVIDER", "scripted")
    monkeypatch.setenv("REDASK_ASK_JUDGE_MODEL", "refused")
    said = "judge       scripted refused, of claims in which the checks find nothing wrong\n"
    assert said in run(ferry, "explain", FERRY)[1]
    assert "judge" not in json.loads(run(ferry, "explain", FERRY, "--json")[1])


def test_an_answer_at_the_command_line_is_judged(
    ferry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDASK_ASK_JUDGE_PROVIDER", "scripted")
    monkeypatch.setenv("REDASK_ASK_JUDGE_MODEL", "refused")
    code, output = run(ferry, "ask", FERRY, "--supported", "--json")
    assert code == 0
    assert "not_judged" in output
