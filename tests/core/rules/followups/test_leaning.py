"""What leans: which words, of which kind, and where."""

import pytest

from redask.core.rules.followups.leaning import AnaphorKind, FragmentKind, anaphors, fragment


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Who wrote it?", [("it", AnaphorKind.THING)]),
        ("When did he write it?", [("he", AnaphorKind.PERSON), ("it", AnaphorKind.THING)]),
        ("Who married her?", [("her", AnaphorKind.PERSON)]),
        ("Did Acme buy it?", [("it", AnaphorKind.THING)]),
        ("Why is that?", [("that", AnaphorKind.THING)]),
        ("How does this work?", [("this", AnaphorKind.THING)]),
        ("What does that mean?", [("that", AnaphorKind.THING)]),
        ("Who leads that company?", [("that company", AnaphorKind.THING)]),
        ("Who lives in that town?", [("that town", AnaphorKind.PLACE)]),
        ("What happened that day?", [("that day", AnaphorKind.TIME)]),
        ("Which one is open?", [("one", AnaphorKind.PLURAL)]),
        ("Who lives there now?", [("there", AnaphorKind.PLACE)]),
        ("That was late?", []),
        ("The orders that ship late?", []),
        ("There it is", [("it", AnaphorKind.THING)]),
        ("one", []),
        ("Who said that was late?", []),
        ("Which tool is that in use?", [("that", AnaphorKind.THING)]),
        ("When was the last time that he came?", []),
        (
            "What is the name of its shop and of it?",
            [
                ("its", AnaphorKind.THING),
            ],
        ),
        ("It is cold, who knows its name?", [("its", AnaphorKind.THING)]),
        ("of its", [("its", AnaphorKind.THING)]),
    ],
)
def test_pronouns_are_found(question: str, found: list[tuple[str, AnaphorKind]]) -> None:
    assert [(question[each.start : each.end], each.kind) for each in anaphors(question)] == found


@pytest.mark.parametrize(
    ("question", "kind", "text"),
    [
        ("What about Brazil?", FragmentKind.INSTEAD, "Brazil"),
        ("and, what about Brazil", FragmentKind.INSTEAD, "Brazil"),
        ("And its phone number?", FragmentKind.INSTEAD, "its phone number"),
        ("And why?", FragmentKind.WORD, "why"),
        ("Which ones?", FragmentKind.WORD, "which ones"),
        ("How many are open?", FragmentKind.COUNT, "are open"),
    ],
)
def test_fragments_are_found(question: str, kind: FragmentKind, text: str) -> None:
    found = fragment(question)
    assert found is not None
    assert (found.kind, found.text) == (kind, text)


@pytest.mark.parametrize(
    "question",
    [
        "And who wrote Hamlet?",
        "And a b c d e f g h i?",
        "What is it?",
        "And " + "x" * 600,
        "And - ?",
        "",
    ],
)
def test_a_sentence_is_no_fragment(question: str) -> None:
    found = fragment(question)
    assert found is None or found.text == "-"
