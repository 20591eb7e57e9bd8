"""The pages that are made from the code say what the code says."""

from pathlib import Path
from runpy import run_path

ROOT = Path(__file__).parent.parent


def test_the_reference_page_is_what_make_docs_writes() -> None:
    made = run_path(str(ROOT / "tools" / "reference.py"))["page"]()
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == made, "run `make docs`"
