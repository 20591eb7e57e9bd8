"""`make eval` puts its table into the page, and nothing else."""

from argparse import Namespace
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

TOOL: dict[str, Any] = run_path(str(Path(__file__).parent.parent / "tools" / "evaluate.py"))


def test_only_what_stands_between_the_markers_is_replaced() -> None:
    begin, end = TOOL["BEGIN"], TOOL["END"]
    page = f"before {begin}\n\nold\n\n{end} after"
    made = TOOL["written"](page, "new")
    assert made == f"before {begin}\n\nnew\n\n{end} after"
    assert TOOL["written"](made, "new") == made
    with pytest.raises(SystemExit, match="lacks the markers"):
        TOOL["written"]("no markers", "new")


def test_the_page_has_the_markers() -> None:
    assert TOOL["BEGIN"] in TOOL["PAGE"].read_text(encoding="utf-8")
    assert TOOL["END"] in TOOL["PAGE"].read_text(encoding="utf-8")


def test_the_table_says_where_fusing_lost_and_what_was_left_out() -> None:
    def figures(value: float) -> dict[str, float]:
        return {"ndcg@10": value, "all_evidence@8": value, "recall@20": value}

    found = {
        "bm25": figures(0.9),
        "vector": figures(0.0),
        "graph": figures(0.5),
        "fused": figures(0.85),
    }
    known = {name: 0.7 for name in TOOL["ANSWER_COLUMNS"].values()}
    known |= {"cites_gold": 0.8, "characters": 351.6, "refused": 0.1}
    told = {"answerable": known, "unanswerable": known}
    baseline = TOOL["Baseline"]("qa/some", "0.891")
    table = TOOL["table"]([TOOL["Measured"](baseline, 4, found, told)], "none")
    row = "| some (one question in 4) | 0.900 | left out | 0.500 | 0.850 | -0.050 | 0.891 |"
    assert row in table
    assert (
        "| some (one question in 4) | 0.700 | 0.700 | 0.800 | 0.700 | 0.700 | 352 | 0.100 | 0.100 |"
        in table
    )


def test_a_pack_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = tmp_path / "data" / "retrieval" / "tiny"
    pack.mkdir(parents=True)
    (pack / "corpus.jsonl").write_text('{"_id": "p", "title": "Ferry", "text": "It leaves."}')
    (pack / "queries.jsonl").write_text('{"_id": "q", "text": "When does the ferry leave?"}')
    (pack / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp\t1\n")
    monkeypatch.setenv("REDASK_DATA", str(tmp_path / "data"))
    home = tmp_path / "home"
    options = Namespace(embedder="hashed", most=None)
    baseline = TOOL["Baseline"]("retrieval/tiny", "–")
    first = TOOL["measure"](baseline, home, options)
    assert first.retrieval["fused"]["ndcg@10"] == 1.0
    (pack / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq\tother\t1\n")
    assert TOOL["measure"](baseline, home, options) == first
    assert TOOL["measure"](baseline, home, Namespace(embedder="none", most=None)) != first


def test_progress_tells_the_time_left_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    show = TOOL["progress"]("tiny")
    for done in range(1, 5):
        now[0] += 20.0
        show("asking", done, 4)
    assert capsys.readouterr().err.split("\n") == [
        "tiny: asking 2/4, 40 s left   ",
        "tiny: asking 4/4, took 80 s   ",
        "",
    ]
