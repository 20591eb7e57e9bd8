"""A block stays with what introduces it; long tables keep their header, code its fences."""

from hypothesis import given
from hypothesis import strategies as st

from redask.core.token_count import estimate
from redask.ingest.readers import chunks, markdown
from redask.ingest.readers.block_cutting import MAX_TOKENS
from redask.ingest.readers.chunks import MAX_TOGETHER, Chunk


def cut(text: str) -> list[Chunk]:
    return list(chunks.cut(markdown.outline(text)))


def words(count: int) -> str:
    return " ".join(["tide"] * count)


def code(lines: int) -> str:
    return "```sh\n" + "\n".join(f"  ferry --stop {line}" for line in range(lines)) + "\n```"


def test_code_goes_to_the_next_chunk_with_its_lead_in() -> None:
    found = cut(f"{words(200)}\n\nRun this:\n\n{code(12)}\n\nThen wait.")
    assert [chunk.text for chunk in found] == [
        words(200),
        f"Run this:\n\n{code(12)}\n\nThen wait.",
    ]
    assert [chunk.place for chunk in found] == [{"line": 1}, {"line": 3}]


def test_a_paragraph_right_before_a_list_or_table_stays_with_it() -> None:
    items = "\n".join(f"- stop {number}" for number in range(20))
    table = "| stop | hour |\n| --- | --- |\n| Amrum | 9 |\n| Sylt | 10 |"
    for block in (items, table):
        found = cut(f"{words(230)}\n\nThese are the stops\n\n{block}")
        assert found[1].text == f"These are the stops\n\n{block}"


def test_a_line_with_a_colon_introduces_whatever_follows() -> None:
    found = cut(f"{words(200)}\n\nIt looks like this:\n\nferry.yaml\n\n{code(6)}")
    assert found[1].text == f"It looks like this:\n\nferry.yaml\n\n{code(6)}"


def test_items_of_a_list_with_their_code_stay_together_if_they_fit() -> None:
    first = "1. Install it:\n\n   ```\n   pip install ferry\n   ```"
    steps = f"{first}\n\n2. Run it:\n\n   ```\n   ferry\n   ```"
    found = cut(f"{words(220)}\n\nTwo steps.\n\n{steps}")
    assert found[1].text == f"Two steps.\n\n{steps}"


def test_of_a_long_paragraph_the_last_sentence_stays_with_the_code() -> None:
    lead = " ".join(f"Stop {number} is open in summer." for number in range(20))
    found = cut(f"{lead} Run this:\n\n{code(18)}")
    assert [chunk.text for chunk in found] == [lead, f"Run this:\n\n{code(18)}"]


def test_a_list_stays_with_its_lead_in_up_to_twice_the_length_of_a_chunk() -> None:
    items = "\n".join(f"- stop {number} is {words(20)}" for number in range(15))
    assert MAX_TOKENS < estimate(items) < MAX_TOGETHER
    text = f"There are stops. These are the stops:\n\n{items}"
    assert [chunk.text for chunk in cut(text)] == [text]
    assert [chunk.text for chunk in cut(f"{words(90)}. {text}")] == [
        f"{words(90)}. There are stops.",
        f"These are the stops:\n\n{items}",
    ]


def test_a_longer_list_repeats_its_lead_in() -> None:
    items = [f"- stop {number} is {words(20)}" for number in range(60)]
    found = cut("These are the stops:\n\n" + "\n".join(items))
    assert len(found) > 2
    assert all(chunk.text.startswith("These are the stops:\n\n- stop") for chunk in found)
    assert all(estimate(chunk.text) <= MAX_TOKENS for chunk in found)
    kept = [line for chunk in found for line in chunk.text.split("\n") if line.startswith("-")]
    assert kept == items
    lines = ["", "These are the stops:", "", *items]
    for chunk in found[1:]:
        assert lines[int(chunk.place["line"])] == chunk.text.split("\n")[2]


def test_a_long_lead_in_is_not_repeated() -> None:
    items = "\n".join(f"- stop {number} is {words(20)}" for number in range(60))
    found = cut(f"{words(80)}:\n\n{items}")
    assert not any(words(80) in chunk.text for chunk in found[1:])


def test_a_long_table_repeats_its_header() -> None:
    head = "| stop | hour |\n| --- | --- |"
    rows = [f"| stop {number} | {number % 24} |" for number in range(90)]
    found = cut("Stops:\n\n" + "\n".join([head, *rows]))
    assert len(found) > 2
    assert found[0].text.startswith(f"Stops:\n\n{head}\n{rows[0]}")
    assert all(chunk.text.startswith(head) for chunk in found[1:])
    kept = [
        line for chunk in found for line in chunk.text.split("\n") if line.startswith("| stop ")
    ]
    assert [line for line in kept if line != "| stop | hour |"] == rows
    lines = ["", "Stops:", "", *head.split("\n"), *rows]
    for chunk in found[1:]:
        assert lines[int(chunk.place["line"])] == chunk.text.split("\n")[2]


def test_code_that_is_too_long_begins_behind_its_lead_in() -> None:
    found = cut(f"Run this:\n\n{code(80)}")
    assert found[0].text.startswith("Run this:\n\n```sh\n  ferry --stop 0\n")
    assert all(chunk.text.endswith("\n```") for chunk in found)
    assert all(chunk.text.startswith("```sh\n") for chunk in found[1:])


def test_a_header_or_fence_that_fills_a_chunk_is_not_repeated() -> None:
    for text in (
        "| " + words(200) + " | b |\n| --- | --- |\n" + "| x | y |\n" * 200,
        "```" + "x" * 500 + "\n" + "call()\n" * 300 + "```",
    ):
        assert all(estimate(chunk.text) <= MAX_TOKENS for chunk in cut(text))


_LONG_TABLE = "| a | b |\n|---|---|\n" + "| c | d |\n" * 60
_LONG_CODE = "```py\n" + "  f()\n" * 90 + "```"
_BLOCKS = st.sampled_from(
    [
        "Run:",
        "word " * 50,
        "One. Two. " * 40,
        "- a\n- b",
        "1. " + "x " * 90,
        "```\n    x\n```",
        "    y",
    ]
).flatmap(lambda block: st.sampled_from([block, _LONG_TABLE, _LONG_CODE]))


@given(st.lists(_BLOCKS, max_size=12))
def test_no_chunk_is_too_long_and_lead_ins_are_not_alone(blocks: list[str]) -> None:
    found = cut("\n\n".join(blocks))
    assert all(0 < estimate(chunk.text) <= MAX_TOGETHER for chunk in found)
    assert not any(chunk.text.endswith("Run:") for chunk in found[:-1])
    gone = set("".join(blocks).split()) - set("".join(chunk.text for chunk in found).split())
    assert {word for word in gone if word.isalpha() and len(word) < 5} == set()
