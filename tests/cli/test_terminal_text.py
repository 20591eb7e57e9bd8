"""Nothing that data holds is obeyed by a terminal, whichever command prints it."""

import ast
import io
import logging
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main, terminal_text
from redask.cli.terminal_text import OneLineFormatter, echo, terminal_console, visible

EVIL = "\x1b[31mred\x07\x9b1m\x08\u202eback\x7f\rover"
SRC = Path(redask.__file__).parent / "cli"
OBEYED = [each for each in map(chr, [*range(32), *range(0x7F, 0xA0), 0x202E]) if each not in "\t\n"]


def test_what_a_terminal_obeys_becomes_visible() -> None:
    assert visible(EVIL) == ("\\u001b[31mred\\u0007\\u009b1m\\u0008\\u202eback\\u007f\\u000dover")
    assert visible("a\tb\nc ü 漢 👩‍👩‍👧 é") == "a\tb\nc ü 漢 👩‍👩‍👧 é"
    assert all(visible(each) != each for each in OBEYED)


def test_files_get_the_data_and_people_never_an_escape(capsys: pytest.CaptureFixture[str]) -> None:
    echo(EVIL)
    echo(f"\r{EVIL}", err=True, nl=False)
    said = capsys.readouterr()
    assert said.out == EVIL + "\n"
    assert said.err == "\r" + visible(EVIL)


def test_a_console_shows_styles_and_no_escape_of_the_data() -> None:
    out = io.StringIO()
    console = terminal_console(file=out, force_terminal=True, width=200, highlight=False)
    console.print(f"[bold]x[/] {EVIL}")
    assert "\x1b[1mx" in out.getvalue()
    assert "\\u001b[31mred" in out.getvalue()
    assert "\x1b[31m" not in out.getvalue()
    assert "\x9b" not in out.getvalue()


def test_a_log_record_is_one_line() -> None:
    record = logging.LogRecord("x", logging.ERROR, "f", 1, "said %s", (f"{EVIL}\nforged",), None)
    assert OneLineFormatter().format(record) == f"said {visible(EVIL)}\\nforged"
    try:
        raise ValueError(EVIL)
    except ValueError:
        record.exc_info = sys.exc_info()
    text = OneLineFormatter().format(record)
    assert "\nTraceback" in text
    assert not any(each in text for each in OBEYED)
    terminal_text.guard_logs()
    assert isinstance(logging.lastResort, logging.Handler)
    assert isinstance(logging.lastResort.formatter, OneLineFormatter)


def test_no_command_prints_in_another_way() -> None:
    """A new command cannot forget it."""
    for file in sorted(SRC.rglob("*.py")):
        if file.name == "terminal_text.py":
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        wrong = {"click.echo", "click.secho", "Console", "print", "sys.stdout.write"}
        assert not called & wrong, file


def test_an_error_and_a_file_name_are_shown_visibly(tmp_path: Path) -> None:
    place = tmp_path / "a\x1b[2Jb"
    done = CliRunner().invoke(main, ["--db", str(place), "ask", "x"])
    assert done.exit_code == 2
    assert "\x1b" not in done.stderr
    assert "\\u001b[2J" in done.stderr


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("evil")
    files = place / "files"
    files.mkdir()
    (files / "a\x1b]0;owned\x07.md").write_text(
        f"# Ferry {EVIL}\n\nThe ferry leaves {EVIL} at nine."
    )
    with redask.open(place / "db") as db:
        db.ingest(files)
        db.put("boats", [{"id": 1, "name": f"Aurora {EVIL}", f"k{EVIL}": "x"}])
        db.ask("When does the ferry leave?")
        db.add_user("mia", role="support", attributes={"x": "a\ttab"})
    return place / "db"


COMMANDS = [
    ["ask", "When does the ferry leave?"],
    ["ask", "When does the ferry leave?", "--stream"],
    ["ask", "When does the ferry leave?", "--json"],
    ["explain", "When does the ferry leave?"],
    ["search", "ferry Aurora"],
    ["search", "ferry Aurora", "--json"],
    ["select", "SELECT * FROM boats"],
    ["select", "SELECT * FROM boats", "--format", "csv"],
    ["select", "SELECT * FROM boats", "--format", "json"],
    ["tables"],
    ["sources"],
    ["audit", "list"],
    ["audit", "show", "1"],
    ["audit", "export"],
    ["plan", "How many boats?"],
    ["user", "list"],
    ["doctor"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_lets_an_escape_of_the_data_reach_a_terminal(
    home: Path, command: list[str]
) -> None:
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "dumb", "NO_COLOR": "1", "XDG_STATE_HOME": str(home.parent)}
    code = "from redask.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "--db", str(home), *command],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=env,
    ) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            said += piece
    os.close(ours)
    text = said.decode().replace("\r\n", "\n")
    assert process.returncode == 0, text
    assert text.strip()
    assert [each for each in OBEYED if each in text] == []
