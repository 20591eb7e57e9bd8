"""`make eval` of questions that need computing: the table, and its place in the page."""

import sys
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from redask.evaluation.compute_running import ComputeReport, ComputeTally

TOOLS = Path(__file__).parent.parent / "tools"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(sys, "path", [str(TOOLS), *sys.path])
    return run_path(str(TOOLS / "evaluate_compute.py"))


def test_the_table_has_both_halves(tool: dict[str, Any]) -> None:
    tuned = ComputeReport({"count": ComputeTally(4, 2, 1)}, {"0 joins": ComputeTally(4, 2, 1)})
    read = ComputeReport(
        {"count": ComputeTally(10, 5, 4), "top": ComputeTally(2)},
        {"0 joins": ComputeTally(12, 5, 4)},
        {"near": ComputeTally(7, 1)},
    )
    lines = tool["table"](tuned, read).splitlines()
    assert "| count | 10 | 50.0% | 80.0% | 1 | 4 | 50.0% | 50.0% |" in lines
    assert "| top | 2 | 0.0% |  | 0 | 0 | 0.0% |  |" in lines
    assert "| **all** | 12 | 41.7% | 80.0% | 1 | 4 | 50.0% | 50.0% |" in lines
    assert "| near | 7 | 1 | 0 | 0 |" in lines


def test_the_page_has_its_markers(tool: dict[str, Any]) -> None:
    page = tool["PAGE"].read_text(encoding="utf-8")
    assert tool["MARKERS"][0] in page
    assert "\n\nnew\n\n" in tool["written"](page, "new", tool["MARKERS"])
