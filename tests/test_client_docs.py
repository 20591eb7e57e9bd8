"""Every page of docs/clients does what it says, run from its first block to its last."""

import json
import re
import shutil
from pathlib import Path

import pages
import pyodbc
import pytest

CLIENTS = sorted((pages.ROOT / "docs" / "clients").glob("*.md"))
NEEDS = {
    "javascript": "node",
    "curl ": "curl",
    "psql ": "psql",
    "java ": "java",
}  # what is in a page, and a program
PACKAGES = json.loads((pages.ROOT / "tests" / "node" / "package.json").read_text())["dependencies"]


def missing(page: str) -> list[str]:
    """The programs a page needs that are not on this machine; tools/clients.sh installs them."""
    wanted = [program for word, program in NEEDS.items() if word in page]
    absent = [program for program in wanted if shutil.which(program) is None]
    for package in PACKAGES:
        if package in page and not (pages.NODE_MODULES / package).is_dir():
            absent.append(package)
    if "java " in page and not Path("/usr/share/java/postgresql.jar").exists():
        absent.append("the JDBC driver")
    if "pyodbc" in page and "PostgreSQL Unicode" not in pyodbc.drivers():
        absent.append("psqlODBC")
    return absent


@pytest.mark.parametrize("path", CLIENTS, ids=lambda path: str(path.stem))
def test_a_page_prints_what_it_says(path: Path, tmp_path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    if absent := missing(page):
        pytest.fail(f"{', '.join(absent)} is not installed: run tools/clients.sh")
    assert [str(wrong) for wrong in pages.perform(page, tmp_path)] == []


def test_the_packages_of_node_are_those_the_pages_name() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in CLIENTS)
    named = dict(re.findall(r"([@a-z/-]+)@([0-9.]+[0-9])", text))
    assert {"eventsource", "@modelcontextprotocol/sdk", "openapi-fetch"} <= set(named)
    assert named.items() <= PACKAGES.items()


def test_there_is_a_page_for_every_transport() -> None:
    there = {path.stem for path in CLIENTS}
    assert {"http", "chat", "rpc", "mcp", "grpc", "postgres", "assistants"} <= there
    assert {"bi", "dataframes", "notebooks"} <= there
    for path in CLIENTS:
        assert len(pages.read(path.read_text(encoding="utf-8"))) >= 3


PAGE = """
```bash
export WORD=nine
echo "at $WORD" && echo late >&2
```
```text
at …
late
```
```json note.json
{"port": 1}
```
```python
import json, os
print(os.environ["WORD"], json.load(open("note.json")))
```
```text
nine {'port': 1}
```
```
$ echo one \\
    two
one two
$ true
```
"""


def test_a_page_that_is_right_passes(tmp_path: Path) -> None:
    assert pages.perform(PAGE, tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("at …\n", "at ten\n", "printed something else"),
        ("nine {'port': 1}", "nine", "printed something else"),
        ("one two\n$", "one\n$", "printed something else"),
        ("$ true\n", "$ echo three\n", "printed something else"),
        ("$ true\n", "$ false\n", "ended with 1"),
        ("$ true\n", "$ sleep 60 &\nready\n", "did not print that"),
        ("$ true\n", "$ true &\n$ sleep 0.5\n", "ended with 0"),
    ],
)
def test_a_page_that_is_wrong_fails(
    tmp_path: Path, old: str, new: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "SECONDS", 2)
    page = PAGE.replace(old, new)
    assert page != PAGE
    assert reason in [wrong.reason for wrong in pages.perform(page, tmp_path)]


def test_an_ellipsis_alone_stands_for_lines_and_nothing_else_is_lenient() -> None:
    assert pages.agrees("a\n…\nz\n", "a\nb\nc\nz\n")
    assert pages.agrees("a\n…\nz\n", "a\nz\n")
    assert not pages.agrees("a\n…\nz\n", "a\nb\n")
    assert not pages.agrees("a…z\n", "a\nz\n")
    assert not pages.agrees("a.c\n", "abc\n")
    assert not pages.agrees("", "something\n")
