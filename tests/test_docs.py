"""The pages that are made from the code say what the code says."""

import json
import subprocess
from pathlib import Path
from runpy import run_path

import pages
import pytest
from real_postgres import private_postgres

from redask.core.access import predicate, redaction
from redask.core.access.policy import read_policy

ROOT = Path(__file__).parent.parent


def test_the_reference_page_is_what_make_docs_writes() -> None:
    made = run_path(str(ROOT / "tools" / "reference.py"))["page"]()
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == made, "run `make docs`"


# what needs a network, a key or many minutes, with what stands in for it
INSTEAD = {
    "make demo     # installs, makes the database redask-demo of a sample company, asks three "
    "questions\nmake test     # lints, type-checks and runs the tests\n": "true\n",
    "$ make demo\n": "$ redask demo\n",  # but for the installation
    "$ . .venv/bin/activate\n": "",
    '$ redask ask "When does the ferry leave on Sundays?" --db mydata '
    "--using openai,anthropic\n": "",
}


def test_the_readme_can_be_followed_from_top_to_bottom(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    for written, stand_in in INSTEAD.items():
        assert page.count(written) == 1, written
        page = page.replace(written, stand_in)
    steps = pages.read(page)
    assert {step.language for step in steps} == {"bash", "python"}
    assert len(steps) > 20
    assert [str(wrong) for wrong in pages.perform(page, tmp_path)] == []


def test_the_page_about_replays_can_be_followed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "replay.md").read_text(encoding="utf-8")
    assert [str(wrong) for wrong in pages.perform(page, tmp_path)] == []


INSTALL = "```bash\npip install 'redask[postgres]'\n```\n"


@pytest.mark.parametrize("name", ["postgresql", "attach"])
def test_the_pages_about_postgresql_can_be_followed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert page.count(INSTALL) == 1
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "page"
    folder.mkdir()
    with private_postgres(tcp=True) as where:
        place = f"{where['host']}:{where['port']}"
        page = page.replace(INSTALL, "").replace("db.example.org", place)
        assert len(pages.read(page)) > 5
        assert [str(wrong) for wrong in pages.perform(page, folder)] == []


def test_make_demo_is_redask_demo_and_can_be_run_again() -> None:
    """The README's first command, which the test above replaces by the command that it runs."""
    make = ["make", "--no-print-directory", "--dry-run", "--old-file=.venv/.installed", "demo"]
    shown = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[:2] == ["rm -rf redask-demo", ".venv/bin/redask demo"]


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
