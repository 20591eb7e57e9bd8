"""STRICT is a word on every surface, booleans are its first two, and the mode comes of it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from stage import Player, Stage

import redask
from redask.cli import main
from redask.core.errors import BadAsk, Ungrounded
from redask.core.model import Mode, Strictness
from redask.core.rules import capabilities
from redask.core.settings import load

FERRY = "When does the ferry leave?"
OFF: list[object] = [False, "off", Strictness.OFF]
ON: list[object] = [True, "on", Strictness.ON]


@pytest.mark.parametrize(
    ("asked", "default", "mode"),
    [
        (None, Strictness.ON, Mode.STRICT),
        (None, Strictness.OFF, Mode.LENIENT),
        (Strictness.OFF, Strictness.ON, Mode.LENIENT),
        (Strictness.ON, Strictness.OFF, Mode.STRICT),
        (Strictness.SUPPORTED, Strictness.OFF, Mode.STRICT),
        (None, Strictness.SUPPORTED, Mode.STRICT),
    ],
)
def test_what_the_ask_says_wins_over_the_settings(
    asked: Strictness | None, default: Strictness, mode: Mode
) -> None:
    requested = capabilities.requested(asked, default)
    assert requested is (asked or default)
    assert capabilities.mode_for("openai", requested).effective is mode


@pytest.mark.parametrize("strict", [*OFF, *ON])
def test_an_answer_is_judged_as_its_ask_says(harbour: Stage, strict: object) -> None:
    db = harbour.open(Player("scripted", ["At nine [^9]."]))
    assert db.explain(FERRY, strict=strict)["mode"] == ("lenient" if strict in OFF else "strict")
    if strict in ON:
        with pytest.raises(Ungrounded):
            db.ask(FERRY, strict=strict)
    else:
        assert db.ask(FERRY, strict=strict).mode is Mode.LENIENT
    assert db.audit(1)[0].row["mode"] == ("lenient" if strict in OFF else "strict")


@pytest.mark.parametrize("word", ["false", '"off"'])
def test_the_settings_take_a_word_or_a_boolean_and_the_ask_wins(harbour: Stage, word: str) -> None:
    db = harbour.open(Player("scripted", ["At nine [^9]."]), toml=f"[ask]\nstrict = {word}")
    assert db.ask(FERRY).mode is Mode.LENIENT
    with pytest.raises(Ungrounded):
        db.ask(FERRY, strict="on")
    with pytest.raises(Ungrounded):
        db.execute(f"ASK '{FERRY}' STRICT ON")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("off", Strictness.OFF),
        ("false", Strictness.OFF),
        ("on", Strictness.ON),
        ("supported", Strictness.SUPPORTED),
    ],
)
def test_the_environment_takes_them_too(said: str, expected: Strictness) -> None:
    assert load("", {"REDASK_ASK_STRICT": said}).strict is expected


def test_a_word_that_is_none_is_refused_by_name(harbour: Stage) -> None:
    with pytest.raises(BadAsk) as caught:
        harbour.open(Player("scripted", ["x"])).ask(FERRY, strict="very")
    expected = 'strict: expected true, false, "on", "off" or "supported", found \'very\''
    assert (caught.value.message, caught.value.detail) == (expected, "strict")


@pytest.mark.parametrize(("flag", "mode"), [("--strict", "strict"), ("--no-strict", "lenient")])
def test_the_flags_are_as_before(tmp_path: Path, flag: str, mode: str) -> None:
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
    words = ["--db", str(tmp_path), "explain", FERRY, "--using", "scripted", "--json", flag]
    assert json.loads(CliRunner().invoke(main, words).output)["mode"] == mode
