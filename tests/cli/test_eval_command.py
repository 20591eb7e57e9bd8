"""`redask eval`: packs of answers, files of claims, and gates with their exit codes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from redask.cli import main

FERRY = "The ferry leaves at 9:15 from pier 4."


def evaluate(*words: str) -> Result:
    return CliRunner().invoke(main, ["eval", *words])


@pytest.fixture
def pack(tmp_path: Path) -> str:
    folder = tmp_path / "tiny"
    folder.mkdir()
    passage = {"_id": "p1", "title": "Ferry", "text": FERRY}
    asked = {"_id": "q", "question": "When does the ferry leave?", "answers": ["9:15"]}
    (folder / "passages.jsonl").write_text(json.dumps(passage))
    (folder / "questions.jsonl").write_text(json.dumps(asked))
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp1\t1\n")
    return str(folder)


@pytest.fixture
def claims(tmp_path: Path) -> str:
    file = tmp_path / "claims.jsonl"
    said = (("9:15", True), ("9:15", True), ("10:45", False), ("10:45", False))
    rows = (
        {"claim": f"The ferry leaves at {time}.", "source": FERRY, "supported": supported}
        for time, supported in said
    )
    file.write_text("\n".join(map(json.dumps, rows)))
    return str(file)


def test_a_pack_of_answers_has_citation_precision_and_recall(pack: str) -> None:
    report = json.loads(evaluate(pack, "--embedder", "none", "--json").output)
    answerable = report["answers"]["answerable"]
    for name in ("contains_gold", "gold_words", "cites_gold", "cites_all_gold", "gold_precision"):
        assert answerable[name] == 1.0, name
    assert answerable["characters"] > len(FERRY)
    assert report["citations"] == {"citation_precision": 1.0, "citation_recall": 1.0}
    shown = evaluate(pack, "--embedder", "none").output
    assert "citation precision: 1.000\ncitation recall: 1.000\n" in shown


def test_a_file_of_claims_is_measured_beside_the_baseline(claims: str) -> None:
    report = json.loads(evaluate(claims, "--json").output)
    assert (report["pack"], report["claims"]) == ("claims", 4)
    assert report["support"]["check"]["balanced_accuracy"] == 1.0
    assert "balanced_accuracy" in report["support"]["word_overlap"]
    assert "word_overlap" in evaluate(claims).output


def test_gates_that_are_kept_end_with_0_and_the_same_output(claims: str) -> None:
    kept = evaluate(claims, "--gate", "check.balanced_accuracy>=1", "--gate", "claims>3")
    assert (kept.exit_code, kept.output) == (0, evaluate(claims).output)


def test_each_gate_that_is_not_kept_is_told_and_ends_with_1(claims: str) -> None:
    broken = ("--gate", "claims>4", "--gate", "claims>3", "--gate", "check.supported_found<1")
    result = evaluate(claims, *broken, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["claims"] == 4
    assert result.stderr == (
        "redask: gate not kept: claims > 4, but it is 4\n"
        "redask: gate not kept: support.check.supported_found < 1, but it is 1\n"
    )


def test_a_metric_that_is_not_there_is_a_usage_error_and_the_report_is_not_lost(
    claims: str,
) -> None:
    result = evaluate(claims, "--gate", "citation_precision>=0.9", "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["claims"] == 4
    assert "no metric 'citation_precision'" in result.stderr


def test_a_gate_that_is_none_is_refused_before_anything_is_measured(claims: str) -> None:
    result = evaluate(claims, "--gate", "precision")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "a gate is a metric" in result.stderr


def test_a_broken_file_of_claims_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "claims.jsonl"
    file.write_text('{"claim": "x"}')
    result = evaluate(str(file))
    assert (result.exit_code, "line 1: expected 'source'" in result.stderr) == (2, True)
