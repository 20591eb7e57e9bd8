"""What `redask explain` shows people: enough to compute every score again."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main
from redask.evaluation import sample

QUESTION = "Which certificate and country has the supplier of order FDD-12316?"


@pytest.fixture
def company(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "hashed")
    with redask.open(tmp_path) as db:
        sample.load(db)
    return tmp_path


def shown(directory: Path, *words: str) -> str:
    result = CliRunner().invoke(main, ["--db", str(directory), *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_weights_that_are_not_1_are_shown_with_the_reason(company: Path) -> None:
    said = shown(company, "explain", QUESTION, "--plan", "off")
    assert (
        "retrieval   bm25 (top 20, floor 0.0, weight 0.01), "
        "vector (top 20, floor 0.0, weight 0.01), graph (top 20, floor 0.0); 2 hops\n"
        "fusion      score = Σ weight / (60 + rank in the bucket)\n"
        "            bm25, vector, graph: the question names 1 entity\n"
    ) in said
    assert shown(company, "ask", "--explain", QUESTION, "--plan", "off") == said


def test_the_weights_are_those_of_the_settings(
    company: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bucket, weight in (("BM25", "2.5"), ("VECTOR", "0"), ("GRAPH", "1")):
        monkeypatch.setenv(f"REDASK_ASK_RETRIEVAL_{bucket}_WEIGHT", weight)
    said = shown(company, "explain", QUESTION, "--plan", "off")
    assert "bm25 (top 20, floor 0.0, weight 2.5), vector (top 20, floor 0.0, weight 0)" in said
    assert "graph (top 20, floor 0.0); 2 hops" in said
    assert "bm25, vector, graph: set\n" in said


def test_every_score_of_the_plan_can_be_computed_from_what_is_shown(company: Path) -> None:
    weights = dict.fromkeys(("bm25", "vector", "graph"), Fraction(1))
    said = shown(company, "search", QUESTION, "--explain")
    for bucket, weight in re.findall(r"(\w+) weight (\d+(?:\.\d+)?)", said.splitlines()[0]):
        weights[bucket] = Fraction(weight)
    computed = {}
    for urn, places in re.findall(r"^ *\d+  [\d.]+  (\S+)\n +(.*)$", said, re.MULTILINE):
        ranks = re.findall(r"(\w+) #(\d+)", places)
        computed[urn] = float(sum(weights[bucket] / (60 + int(rank)) for bucket, rank in ranks))
    plan = json.loads(shown(company, "explain", QUESTION, "--plan", "off", "--json"))
    assert len(plan["sources"]) == 20
    assert {item["urn"]: item["rrf_score"] for item in plan["sources"]} == computed


def test_the_json_of_the_plan_keeps_its_keys(company: Path) -> None:
    plan = json.loads(shown(company, "explain", QUESTION, "--plan", "off", "--json"))
    assert [sorted(step) for step in plan["retrieval"]] == [["bucket", "min_score", "top_k"]] * 3
