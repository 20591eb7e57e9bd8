"""`redask chat` as a person at a terminal and as a pipe use it."""

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from loopback import Loopback
from rich.console import Console
from typed_terminal import TypedTerminal
from wires import CHAT

import redask
from redask.cli import last_answer, main
from redask.cli.chat_commands import chat_lines, live_markdown
from redask.cli.chat_commands.chat_lines import ChatLine, Wish
from redask.core.model import AnswerToken, Caller, Event

EVIL = "\x1b[31mred\x07\x9b1m\u202eback"
AT_NINE = "The ferry to Amrum leaves at nine."
WHEN = "When does the ferry to Amrum leave?"
NOTES = [
    {"id": 1, "text": AT_NINE},
    {"id": 2, "text": f"The price of a ferry ticket is 14 euros. {EVIL}"},
]


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("harbour")
    (place / "db").mkdir()
    (place / "db" / "redask.toml").write_text('[embedder]\nname = "none"\n')
    with redask.open(place / "db") as db:
        db.put("notes", NOTES)
    return place / "db"


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "REDASK_DB", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return {"XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def model(env: dict[str, str]) -> Iterator[Loopback]:
    with Loopback() as server:
        env |= {"OPENAI_API_KEY": "sk-test-0123456789", "REDASK_OPENAI_BASE_URL": server.url}
        yield server


def piped(home: Path, lines: str | bytes, *words: str) -> Result:
    return CliRunner().invoke(main, ["--db", str(home), "chat", *words], input=lines)


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("  \n", ChatLine(Wish.NOTHING)),
        ("When?\n", ChatLine(Wish.QUESTION, "When?")),
        (" 12 ", ChatLine(Wish.SOURCE, "12")),
        ("[^3]", ChatLine(Wish.SOURCE, "[^3]")),
        ("/source 2", ChatLine(Wish.SOURCE, "2")),
        ("/source urn:reddb:row:a/1", ChatLine(Wish.SOURCE, "urn:reddb:row:a/1")),
        ("/NEW", ChatLine(Wish.NEW)),
        ("/help", ChatLine(Wish.HELP)),
        ("/quit", ChatLine(Wish.QUIT)),
        ("/exit", ChatLine(Wish.QUIT)),
        ("/quit now", ChatLine(Wish.UNKNOWN, "/quit now")),
        ("/nothing", ChatLine(Wish.UNKNOWN, "/nothing")),
        ("/etc/hosts is what?", ChatLine(Wish.QUESTION, "/etc/hosts is what?")),
        ("2 boats?", ChatLine(Wish.QUESTION, "2 boats?")),
        ("٣", ChatLine(Wish.QUESTION, "٣")),
    ],
)
def test_what_a_line_means(line: str, read: ChatLine) -> None:
    assert chat_lines.read(line) == read


@pytest.mark.usefixtures("env")
def test_a_pipe_is_one_question_a_line_and_its_code_that_of_the_first_failure(
    harbour: Path,
) -> None:
    done = piped(harbour, f"{WHEN}\n\n1\nAnd its price?\n/quit\nNever asked?\n")
    assert done.exit_code == 0
    assert done.output.count("extractive") == 2 * 2
    assert f"{AT_NINE} [^1]" in done.output
    assert f"> text: {AT_NINE}" in done.output  # the source, with its quotation
    assert "understood_as: What is the price of" in done.output
    assert "Never asked" not in done.output
    assert not done.output.startswith(">")
    wrong = piped(harbour, f"/source 1\n{'x' * 40_000}\n{WHEN}\n")
    assert (wrong.exit_code, AT_NINE in wrong.stdout) == (2, True)
    assert wrong.stderr.count("redask: ") == 2
    failed = piped(harbour, f"{WHEN}\n/nope\n", "--using", "scripted", "--model", "5xx")
    assert (failed.exit_code, failed.stderr.count("redask: ")) == (8, 2)
    rubbish = piped(harbour, b"\xff\xfe?\n")
    assert (rubbish.exit_code, "Traceback" in rubbish.output) == (2, False)


@pytest.mark.usefixtures("env")
def test_a_conversation_goes_on_with_follow_and_is_forgotten_with_new(harbour: Path) -> None:
    assert piped(harbour, WHEN).exit_code == 0
    kept = last_answer.read(str(harbour), Caller())
    assert [each.question for each in kept.turns] == [WHEN]
    assert "understood_as" in piped(harbour, "And its price?", "--follow").output
    asked = CliRunner().invoke(main, ["--db", str(harbour), "ask", "And its price?", "--follow"])
    assert "understood_as" in asked.output
    anew = piped(harbour, f"{WHEN}\n/new\n1\nAnd its price?\n")
    assert "understood_as" not in anew.output
    assert "no answer was printed yet" in anew.stderr


def test_at_a_terminal_answers_are_drawn_and_nothing_ends_the_conversation_but_its_user(
    harbour: Path, env: dict[str, str], model: Loopback
) -> None:
    first = f"# Times\n\n**{AT_NINE}** [^1]\n\n- by {EVIL} `List<Boat>`\n"
    words = ["--db", str(harbour), "chat", "--no-strict", "--plan", "off"]
    with TypedTerminal(words, env) as terminal:
        terminal.wait_for("> ")
        model.play(CHAT.stream([first[at : at + 5] for at in range(0, len(first), 5)]))
        terminal.type(f"{WHEN}\r")
        said = terminal.wait_for("tokens ·")
        assert " • by \\u001b[31mred" in said
        assert "List<Boat>" in said
        assert "**" not in said.rpartition("Times")[2]  # once it is whole
        assert f"\x1b[1m{AT_NINE}\x1b[0m" in terminal.raw
        terminal.type("1\r")
        assert f"> text: {AT_NINE}" in terminal.wait_for("\n> text")
        model.play(CHAT.error(500, f"out of {EVIL} order"))
        terminal.type("And its price?\r")
        terminal.wait_for("redask: ")
        hanging = CHAT.stream(["14 euros, or ", "15"])
        model.play(replace(hanging, chunks=hanging.chunks[:2], hang=True))
        terminal.type("And its price?\r")
        terminal.wait_for("14 euros, or")
        terminal.interrupt()
        assert "14 euros, or" in terminal.wait_for("redask: cancelled")
        assert model.left.wait(60)
        model.play(CHAT.stream(["14 euros. [^1]"]))
        terminal.type("And its price?\r")
        assert "understood_as: What is the price of" in terminal.wait_for("tokens ·")
        terminal.type("/help\r")
        terminal.wait_for("/quit           end")
        terminal.type("half a line")
        terminal.interrupt()
        terminal.wait_for("\n> ")
        assert terminal.end() == 0
        assert not any(each in terminal.raw for each in (EVIL[:5], *EVIL[8:10], "\u202e", "\x1b]8"))
    with redask.open(harbour) as db:
        rows: list[Any] = [each.row for each in db.audit(4)]
    failures = [[error["kind"] for error in row["errors"]] for row in rows]
    assert failures == [[], ["cancelled"], ["provider_failed"], []]


# --- Markdown ---------------------------------------------------------------------------


def shown(text: str) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, color_system=None)
    console.print(live_markdown.drawn(text))
    return out.getvalue()


def test_nothing_of_an_answer_is_lost_and_no_link_is_made() -> None:
    text = (
        "A `Vec<T>` or Vec<T> <script>x</script> [a](http://b) ![c](d) <http://e> &lt; [^1]\n"
        "next line\n\n<div>block</div>\n\n[^1]: http://f\n"
    )
    said = shown(text)
    assert "\x1b]8" not in said
    for part in ("Vec<T> or Vec<T>", "<script>x</script>", "[a](http://b)", "![c](d)"):
        assert part in said
    for part in ("<http://e>", "&lt;", "[^1]", "<div>block</div>", "[^1]: http://f"):
        assert part in said
    assert any(line.startswith("next line") for line in said.splitlines())


def test_a_long_answer_shows_its_end_while_it_grows_and_all_of_it_afterwards(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    growing = live_markdown._GrowingText()
    growing.add("\n\n".join(f"line {number}" for number in range(100)))
    console = Console(file=io.StringIO(), force_terminal=True, width=80, height=10)
    lines = console.render_lines(growing, pad=False)
    assert len(lines) <= 10
    assert any("line 99" in segment.text for line in lines for segment in line)

    def broken() -> Iterator[Event]:
        yield AnswerToken("line 1\n\nline 2")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        live_markdown.streamed(broken())
    assert "line 1\n\nline 2" in capsys.readouterr().out.replace(" " * 74, "")
