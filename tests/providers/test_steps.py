"""Steps of a how-to: whole, in their order, with the code that only a heading introduces."""

import json
from pathlib import Path

import pytest
from quotable import ask, document, row

import redask
from redask.core.model import Source
from redask.core.settings import Settings
from redask.providers.extractive import sentences

RESET = "How do I reset my password?"
ITEMS = [
    'Open the portal and choose "Forgot password".',
    "Enter the code that was sent to your phone.",
    "Choose a new password of at least 14 characters.",
    "Sign out on all other devices.",
]
NUMBERED = "\n".join(f"{number}. {item}" for number, item in enumerate(ITEMS, start=1))


def chunk(heading: str, text: str) -> Source:
    payload = {"heading": heading, "path": "a.md", "text": text, "title": "Handbook"}
    return Source(f"urn:reddb:document:docs/{heading.replace(' ', '-')}", json.dumps(payload))


@pytest.mark.parametrize(
    ("source", "lead"),
    [
        (chunk("Reset a password", NUMBERED), "Reset a password"),
        (chunk("Reset a password", f"To do so:\n\n{NUMBERED}"), "[Reset a password] To do so"),
        (document(1, f"# Reset a password\n\n{NUMBERED}"), "Reset a password"),
    ],
)
def test_numbered_steps_are_quoted_whole_and_in_their_order(source: Source, lead: str) -> None:
    assert ask(RESET, source) == f"{lead} [^1]:\n{NUMBERED}"


def test_one_item_of_a_list_answers_what_asks_for_no_steps() -> None:
    answer = ask("What must a new password be?", chunk("Reset a password", NUMBERED))
    assert answer.split("\n")[0].endswith("Choose a new password of at least 14 characters. [^1]")


def test_a_list_of_one_item_and_one_without_numbers_are_no_steps() -> None:
    for text in ("# A\n\n1. Only one.", "# A\n\n- One.\n- Two.", "# A\n\nText."):
        assert all(each.text for each in sentences.split(text))
    lone = sentences.split("# A\n\n1. One.\n2. Two.")
    assert [each.below for each in lone if not each.text] == ["1. One.\n2. Two."]


def test_code_that_only_a_heading_introduces_is_quoted() -> None:
    code = "```\npip install foo\n```"
    about = chunk("About", "Foo is a tool. It is nice.")
    answer = ask("How do I install foo?", chunk("Install foo", code), about)
    assert answer.startswith(f"Install foo [^1]\n{code}")


def part(lead: str, code: str) -> str:
    return f"{lead}\n\n```\n{code}\n```"


def test_the_steps_before_the_best_are_quoted_with_it() -> None:
    steps = [
        part("Install the client:", "install client"),
        part("Copy the profile:", "copy profile"),
        part("Start the VPN, which is the last step:", "start vpn"),
    ]
    answer = ask("How do I set up the VPN?", chunk("Set up the VPN", "\n\n".join(steps)))
    places = [answer.find(code) for code in ("install client", "copy profile", "start vpn")]
    assert places == sorted(places)
    assert places[0] >= 0


def test_of_many_steps_the_first_and_the_best_are_quoted() -> None:
    steps = [part(f"Do part {name}:", f"do {name}") for name in "abcdef"]
    steps.append(part("Now start the VPN at last:", "start vpn"))
    answer = ask("How do I set up the VPN?", chunk("Set up the VPN", "\n\n".join(steps)))
    assert "do a\n" in answer
    assert "start vpn" in answer
    assert "do d\n" not in answer


def test_a_short_question_is_quoted_with_what_follows_it() -> None:
    found = [each.text for each in sentences.split("Who cleans it? We do. And then?")]
    assert found == ["Who cleans it? We do.", "And then?"]
    long = f"Who {'really ' * 20}cleans it?"
    assert [each.text for each in sentences.split(f"{long} We do.")] == [long, "We do."]


def test_a_name_in_capitals_that_is_a_stop_word_names_its_record() -> None:
    rows = [row("budget", id=n, department=name, actual=n) for n, name in enumerate(("HR", "IT"))]
    assert ask("What is the actual of IT?", *rows) == "actual: 1, department: IT [^2]"
    assert "HR" in ask("WHAT IS THE ACTUAL OF HR?", *rows)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (RESET, f"Reset a password [^1]:\n{NUMBERED}"),
        ("What is the actual of Sales in Q2?", "Nothing here says “actual” of Sales Q2; nearest:"),
        (
            "How much sick leave do employees get?",
            "Nothing here says “sick leave” of what is asked",
        ),
        (
            "How long do orders inside the Union take?",
            "Nothing here says “inside” of Union; nearest",
        ),
    ],
)
def test_a_database_of_files_answers_so(tmp_path: Path, question: str, said: str) -> None:
    files = tmp_path / "files"
    files.mkdir()
    leave = "# Leave\n\nEmployees get 25 days of annual leave a year.\n"
    orders = "# Shipping\n\nOrders outside the Union take 10 working days.\n"
    (files / "handbook.md").write_text(f"# Reset a password\n\n{NUMBERED}\n\n{leave}\n{orders}")
    budget = "department,quarter,planned,actual\nSales,Q1,100,98\nSales,Q2,110,\nIT,Q2,82,90\n"
    (files / "budget.csv").write_text(budget)
    with redask.open(tmp_path / "db", settings=Settings(), embedder=None) as db:
        db.ingest(files)
        assert db.ask(question).answer.startswith(said)
