"""The pages that are made from the code say what the code says."""

import re
import subprocess
import sys
from pathlib import Path
from runpy import run_path

ROOT = Path(__file__).parent.parent


def test_the_reference_page_is_what_make_docs_writes() -> None:
    made = run_path(str(ROOT / "tools" / "reference.py"))["page"]()
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == made, "run `make docs`"


def test_the_example_in_the_readme_runs_and_prints_what_it_says(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    code = readme.split("```python\n")[1].split("```")[0]
    said = re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines() == said
    assert len(said) == 2
