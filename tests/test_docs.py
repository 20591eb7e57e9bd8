"""The pages that are made from the code say what the code says."""

import json
import re
import subprocess
import sys
from pathlib import Path
from runpy import run_path

import pages

from redask.core.access import predicate, redaction
from redask.core.access.policy import read_policy

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


def test_the_readme_serves_what_it_says(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = readme.split("\n## Serve it\n")[1].split("\n## ")[0]
    before = "```bash\nredask --db redask-demo demo > /dev/null\n```\n"  # which is `make demo`
    assert len(pages.read(section)) == 5
    assert [str(wrong) for wrong in pages.perform(before + section, tmp_path)] == []


def test_the_policy_in_the_page_about_access_is_one() -> None:
    page = (ROOT / "docs" / "access.md").read_text(encoding="utf-8")
    written = page.split("```json\n")[1].split("```")[0]
    assert len(read_policy("tickets", json.loads(written)).rules) == 2


def test_the_page_about_access_has_the_grammar_of_the_code() -> None:
    page = (ROOT / "docs" / "access.md").read_text(encoding="utf-8")
    grammar = page.split("### Conditions\n\n```\n")[1].split("```")[0]
    contract = " ".join((predicate.__doc__ or "").split())
    assert " ".join(grammar.split()) in contract


def test_the_page_about_access_names_every_kind_that_is_redacted() -> None:
    page = (ROOT / "docs" / "access.md").read_text(encoding="utf-8")
    for kind in (*redaction.SECRET, *redaction.PERSONAL):
        assert f"`{kind}`" in page
