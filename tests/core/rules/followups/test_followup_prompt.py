"""What a model is told that makes a question whole, and which replies count."""

import hashlib

import pytest

from redask.core.model import Turn
from redask.core.rules import prompt
from redask.core.rules.followups.followup_prompt import SYSTEM, TURNS, assemble, read


def test_the_prompt_is_golden_to_the_byte() -> None:
    made = assemble("And <its> phone & fax?", [Turn("Where is A&B?", "In <Berlin>. [^1]")])
    assert (made.system, made.question, made.sources) == (SYSTEM, "And <its> phone & fax?", ())
    assert made.user == (
        "<turns>\n<turn><question>Where is A&amp;B?</question>"
        "<answer>In &lt;Berlin&gt;. [^1]</answer></turn>\n</turns>\n\n"
        "<question>And &lt;its&gt; phone &amp; fax?</question>\n"
    )
    assert hashlib.sha256(prompt.render(made).encode()).hexdigest() == (
        "94490fe8e750c118e409a6878072f1d5049386e3c72f6fff6cb55c3238935a1c"
    )


def test_the_last_turns_go_along_and_of_each_the_beginning() -> None:
    talk = [Turn(f"q{n}", "x" * 5000) for n in range(TURNS + 3)]
    user = assemble("And?", talk).user
    assert user.count("<turn>") == TURNS
    assert "q2<" not in user
    assert "q3<" in user
    assert len(user) < TURNS * 2100 + 200


@pytest.mark.parametrize(
    ("reply", "whole"),
    [
        ("Who runs Acme?", "Who runs Acme?"),
        (" Who runs Acme?\n", "Who runs Acme?"),
        ("<question>Who runs Acme?</question>", "Who runs Acme?"),
        ("", None),
        ("Sure!\nWho runs Acme?", None),
        ("x" * 1001, None),
        ("Who\x00?", None),
    ],
)
def test_a_reply_counts_if_it_is_one_question(reply: str, whole: str | None) -> None:
    assert read(reply) == whole
