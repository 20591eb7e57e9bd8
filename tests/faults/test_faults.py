"""A little of `make faults`: 100 injections, spread over all operations, calls and errors."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from faults.operations import OPERATIONS
from faults.shim import FAULTS, built

INJECT = Path(__file__).parent / "inject.py"
POINTS = 100


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the shim is for Linux's libc")
def test_every_operation_survives_system_calls_that_fail(tmp_path: Path) -> None:
    assert shutil.which("cc"), "a C compiler is needed: the shim is compiled here"
    assert built().exists()
    keep = tmp_path / "results.jsonl"
    ended = subprocess.run(
        [sys.executable, str(INJECT), "--most", str(POINTS), "--keep", str(keep)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    results = [json.loads(line) for line in keep.read_text().splitlines()]
    struck = [each["point"] for each in results if each["struck"]]
    assert len(results) == POINTS
    assert len(struck) > 0.9 * POINTS
    assert {each.partition(":")[0] for each in struck} == {each.name for each in OPERATIONS}
    # of those drawn: threads decide whether the one truncation is struck
    drawn = [each["point"] for each in results]
    calls = {each.partition(": ")[2].partition(" ")[0] for each in drawn}
    assert calls >= {each.call for each in FAULTS} - {"rename", "mmap"}, calls  # of these are few
