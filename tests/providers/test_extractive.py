"""The answerer without a model quotes what answers, cites it, and knows when nothing does."""

import json
import math
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from quotable import FERRY, HARBOUR, MARKERS, SHOP, ask, check_markers, complete, document, row

from redask.core import token_count
from redask.core.model import Source
from redask.core.rules import citations
from redask.core.rules.grounding.refused_answers import NO_ANSWER
from redask.providers.extractive.answerer import MODEL, Extractive

# --- what is quoted ---------------------------------------------------------------------------


def test_the_sentence_that_answers_comes_first_and_cites_its_source() -> None:
    answer = ask(FERRY, *HARBOUR)
    assert answer.split("\n")[0] == "The ferry to Amrum leaves at nine. [^2]"


def test_there_are_three_quotations_at_most_each_on_a_line_of_its_own() -> None:
    sources = [document(n, f"The ferry to Amrum leaves at {n}. It really does.") for n in range(9)]
    lines = ask(FERRY, *sources).split("\n")
    assert len(lines) == 3
    assert all(MARKERS.search(line) for line in lines)


def test_three_long_ones_or_one_that_is_much_worse_are_two() -> None:
    long = "The ferry to Amrum leaves at {}, " + "if the tide lets it and nobody is late, " * 4
    sources = [document(n, long.format(n) + "as ever.") for n in range(3)]
    assert len(ask(FERRY, *sources).split("\n")) == 2
    sources = [document(n, f"The ferry to Amrum leaves at {n}.") for n in range(2)]
    worse = document(9, "Amrum is an island in the sea that people like to visit.")
    assert len(ask(FERRY, *sources, worse).split("\n")) == 2


def test_a_sentence_that_refers_back_is_found_through_the_one_before() -> None:
    source = document(1, "Iqbal studied in Munich for years. He came home in 1908. Bread is cheap.")
    assert ask("When did Iqbal return from Munich?", source) == (
        "Iqbal studied in Munich for years. [^1]\nHe came home in 1908. [^1]"
    )


def test_a_title_counts_for_every_sentence_of_its_source() -> None:
    text = "The office opens at eight."
    answer = ask(
        "When does the Husum office open?",
        document(1, text.replace("eight", "nine"), "Kiel"),
        document(2, text, "Husum"),
    )
    assert answer.startswith("[Husum] The office opens at eight. [^2]")


def test_a_heading_counts_for_the_sentences_under_it() -> None:
    source = document(1, "# Kiel\nIt opens at nine o'clock.\n# Husum\nIt opens at eight o'clock.")
    answer = ask("When does Husum open?", source)
    assert answer.startswith("[Husum] It opens at eight o'clock. [^1]")


def test_the_kind_of_thing_asked_for_decides_between_equals() -> None:
    sources = [
        document(1, "The bridge opened with some delay."),
        document(2, "The bridge opened in 1901."),
    ]
    assert ask("When did the bridge open?", *sources).startswith("The bridge opened in 1901. [^2]")


def test_an_identifier_counts_as_written() -> None:
    answer = ask(
        "What fixes CVE-2023-22809?",
        document(1, "An update fixes CVE-2023-22810 and 22809 others since 2023."),
        document(2, "An update fixes CVE-2023-22809 and other things."),
    )
    assert answer.startswith("An update fixes CVE-2023-22809 and other things. [^2]")


def test_related_words_accents_and_other_scripts_are_compared() -> None:
    fiancee = document(1, "The king went ahead. His fiancée Berengaria waited.")
    assert "Berengaria" in ask("Who was the fiancee of the king?", fiancee)
    religion = document(1, "Some music was played. The religious wars ended in 1598.")
    assert ask("When did the wars of religion end?", religion).startswith("The religious wars")
    chinese = document(1, "票价十四欧元。去阿姆鲁姆的渡轮九点开。")
    assert ask("渡轮几点开？", chinese).startswith("去阿姆鲁姆的渡轮九点开。 [^1]")


def test_given_weights_decide_which_word_counts_more() -> None:
    sources = [
        document(1, "The red transport stays open all the day."),
        document(2, "The blue admission stays open all the day."),
    ]
    question = "Is the red admission open?"
    assert ask(question, *sources, weights={"red": 9.0, "admission": 1.0, "open": 1.0})[-2] == "1"
    first = ask(question, *sources, weights={"red": 1.0, "admission": 9.0, "open": 1.0}).split(
        "\n"
    )[0]
    assert first.endswith("[^2]")


@pytest.mark.parametrize("weight", [0.0, -1.0, math.inf, math.nan])
def test_a_weight_that_is_no_weight_counts_nothing(weight: float) -> None:
    assert ask("ferry", *HARBOUR, weights={"ferry": weight}) == NO_ANSWER
    answer = ask("ferry tickets", *HARBOUR, weights={"ferry": weight, "tickets": 1.0})
    assert answer.startswith("A ticket for the ferry costs 14 euros. [^3]")


def test_weights_for_other_words_are_as_good_as_none() -> None:
    assert ask(FERRY, *HARBOUR, weights={"other": 3.0}) == ask(FERRY, *HARBOUR)


def test_a_line_that_several_sources_hold_cites_them_all_up_to_three() -> None:
    same = "The ferry to Amrum leaves at nine."
    assert ask(FERRY, *(document(n, same) for n in range(5))) == f"{same} [^1][^2][^3]"


def test_equals_go_to_the_lower_number_and_the_earlier_place() -> None:
    sources = [
        document(1, "Ferries leave to Amrum. Ferry leaves to Amrum."),
        document(2, "Ferry left to Amrum."),
    ]
    assert [line[-2] for line in ask("ferry leave Amrum", *sources).split("\n")] == ["1", "1"]
    assert ask("ferry leave Amrum", *sources).startswith(
        "Ferries leave to Amrum. [^1]\nFerry leaves"
    )


# --- rows, nodes, edges, key-values -----------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What is the status of order 1001?",
            "status: late, id: 1001 [^1]",
        ),
        ("Who manages Nordfracht?", "manager: Ines Holm, name: Nordfracht [^3]"),
        ("Which carrier is in Ulm?", "name: Südpost, city: Ulm, id: 4, manager: Karl Rau [^4]"),
        ("How many refund days are there?", "key: refund_days, value: 30 [^6]"),
        ("What is order 1001 shipped by?", "orders/1001 shipped_by carriers/3 [^5]"),
    ],
)
def test_records_and_edges_are_quoted_as_readable_text(question: str, expected: str) -> None:
    assert ask(question, *SHOP).split("\n")[0] == expected


def test_two_hops_are_two_quotations() -> None:
    answer = ask("Who is the manager of the carrier that ships order 1001?", *SHOP)
    assert answer == (
        "orders/1001 shipped_by carriers/3 [^5]\nmanager: Ines Holm, name: Nordfracht [^3]"
    )


def test_a_row_that_is_asked_for_is_joined_by_its_key_or_by_an_edge() -> None:
    album = row("Album", id=3, AlbumId=3, ArtistId=2, Title="Restless and Wild")
    track = row("Track", id=5, AlbumId=3, Name="Princess of the Dawn")
    artists = [row("shop.Artist", id=n, ArtistId=n, Name=name) for n, name in ((1, "X"), (2, "Y"))]
    question = "Which {} made the album Restless and Wild with the track Princess of the Dawn?"
    for sources in ([album, track, *artists], [*artists, track, album]):
        answer = ask(question.format("artist"), *sources)
        assert len(answer.split("\n")) == 3
        assert all(expected in answer for expected in ("Restless", "Princess", "Name: Y")), answer
        assert "Name: Y" not in ask(question.format("band"), *sources), (
            "the question does not ask for it"
        )
    edge = '{"from":"urn:reddb:row:Album/3","label":"by","to":"urn:reddb:row:bands/7"}'
    band = row("bands", id=7, name="Accept")
    linked = [album, track, band, Source("urn:reddb:edge:links/1", edge)]
    assert "name: Accept" in ask(question.format("band"), *linked)
    assert "name: Accept" not in ask(question.format("band"), *linked[:3]), "nothing leads there"


def test_a_third_row_adds_question_words_or_is_left_out() -> None:
    crew = [row("crew", id=n, boat="Uthlande", name=name) for n, name in enumerate("ABC")]
    assert len(ask("Who is on the Uthlande?", *crew).split("\n")) == 2
    crew[2] = row("crew", id=2, boat="Uthlande", name="C", cook=True)
    assert "name: C" in ask("Who is the cook on the Uthlande?", *crew)


def test_what_leads_to_a_quoted_row_is_not_joined() -> None:
    album = row("album", id=3, title="Restless and Wild")
    tracks = [row("track", id=n, album_id=3, name=f"Song {n}") for n in (1, 2)]
    answer = ask("Is there a track on Restless and Wild?", album, *tracks)
    assert "title: Restless and Wild" in answer
    assert answer.startswith("Nothing here says “track”"), "the album does not"
    assert answer.count("Song") < 2


def test_of_a_wide_record_the_fields_that_answer_are_shown() -> None:
    wide = {f"column_{n:02}": "filler " * 3 for n in range(60)}
    source = row("boats", **wide, name="Uthlande", zz_harbour="Dagebüll")
    line = ask("What is the harbour of Uthlande?", source)
    assert len(line) < 320
    assert "name: Uthlande" in line
    assert "zz_harbour: Dagebüll" in line


# --- no answer -----------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the capital of Mongolia?", "Nothing here mentions “Mongolia”."),
        ("Why did Zoltan take the ferry to Amrum?", "Nothing here mentions “Zoltan”."),
        ("Who paid for ticket 9999 of the ferry?", "Nothing here mentions “9999”."),
        (
            "volcano eruption temperature",
            "Nothing here mentions “volcano”, “eruption”, “temperature”.",
        ),
        ("?!", NO_ANSWER),
    ],
)
def test_what_the_data_does_not_hold_is_not_answered(question: str, answer: str) -> None:
    assert ask(question, *HARBOUR) == answer
    assert citations.parse(answer, 9).citations == ()


def test_without_sources_or_text_there_is_no_answer() -> None:
    nothing = "Nothing here mentions “ferry”, “Amrum”, “leave”."
    assert ask(FERRY) == nothing
    assert ask(FERRY, document(1, ""), row("a"), Source("urn:reddb:kv:a/b", "null")) == nothing


def test_a_misspelt_name_is_still_answered() -> None:
    source = document(1, "Sigismund's Column stands in Warsaw since 1644.")
    assert ask("Where stands Sigimund's Column?", source).endswith("[^1]")


def test_capitals_mean_nothing_in_other_languages() -> None:
    source = document(1, "Die Fähre nach Amrum fährt um neun Uhr ab.")
    assert ask("Wann fährt die Fähre nach Amrum im Winterfahrplan?", source).endswith("[^1]")


# --- the port ---------------------------------------------------------------------------------


def test_it_costs_nothing_and_names_its_version() -> None:
    completion = complete(FERRY, HARBOUR)
    assert (completion.prompt_tokens, completion.completion_tokens) == (0, 0)
    assert completion.model == MODEL == "extractive-10"
    assert Extractive().price(1000, 1000) == 0.0


def test_each_quotation_is_a_piece() -> None:
    emitted: list[str] = []
    sources = [document(n, f"The ferry to Amrum leaves at {n}.") for n in range(3)]
    completion = complete(FERRY, sources, emitted=emitted)
    assert len(emitted) > 1
    assert all(piece.startswith("\n") for piece in emitted[1:])
    assert "".join(emitted) == completion.text


@given(st.integers(min_value=0, max_value=60), st.sampled_from(["", "[^9] ", "```", "é" * 9]))
def test_the_answer_stays_within_the_budget(budget: int, noise: str) -> None:
    sources = [document(n, f"The ferry {noise} leaves to Amrum at {n}.") for n in range(3)]
    for question in (FERRY, "What is the capital of Mongolia?"):
        answer = complete(question, sources, max_tokens=budget).text
        assert token_count.estimate(answer) <= budget
        if answer:
            check_markers(answer, 3)


def test_a_quotation_over_the_budget_is_cut_at_a_space_and_marked() -> None:
    answer = complete(FERRY, HARBOUR, max_tokens=10).text
    assert answer == "The ferry to Amrum leaves … [^2]"


def test_one_long_word_over_the_budget_is_cut_anywhere() -> None:
    answer = complete("ferry", [document(1, "ferry-" + "x" * 400)], max_tokens=20).text
    assert re.fullmatch(r"ferry-x+ … \[\^1\]", answer)


def test_every_process_gives_the_same_answer() -> None:
    program = (
        "import asyncio, json, sys\n"
        "from redask.core.model import Knobs, Source\n"
        "from redask.providers.extractive.answerer import Extractive\n"
        "from redask.core.rules.prompt import assemble\n"
        "question, sources = json.load(sys.stdin)\n"
        "prompt = assemble(question, [Source(*one) for one in sources])\n"
        "call = Extractive().complete(prompt, Knobs(None, None), max_tokens=500)\n"
        "sys.stdout.buffer.write(asyncio.run(call).text.encode())\n"
    )
    question = "Which ferry ticket or order does Nordfracht ship, and when?"
    sources = [(source.urn, source.payload) for source in (*HARBOUR, *SHOP)]
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps([question, sources]).encode(),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout.decode()
        for seed in ("0", "1", "2", "3")
    }
    assert answers == {ask(question, *HARBOUR, *SHOP)}
    assert answers != {NO_ANSWER}


# --- code, lists and tables -------------------------------------------------------------------

SSL = document(
    1,
    "By default it verifies connections. You can disable verification like this:\n\n"
    "```python\nhttpx.get(url,  verify=False)\n```\n\nCookies are kept.",
    "ssl",
)


def test_how_to_is_answered_with_the_code() -> None:
    assert ask("How do I disable verification?", SSL) == (
        "You can disable verification like this: [^1]\n"
        "```python\nhttpx.get(url,  verify=False)\n```"
    )


def test_code_of_the_paragraph_comes_only_where_steps_are_asked_for() -> None:
    asked = "{} verifies connections by default?"
    assert "```" not in ask(asked.format("What"), SSL)
    told = ask(asked.format("How do I see what"), SSL)
    assert "connections. [^1] You can disable verification like this: [^1]\n```python\n" in told


def test_steps_that_go_on_are_quoted_in_their_order() -> None:
    text = (
        "First install it:\n\n```\npip\n```\n\nThen enable the engine:\n\n```\non\n```\n\nIt hums."
    )
    assert ask("How do I enable the engine?", document(1, text)) == (
        "First install it: [^1]\n```\npip\n```\nThen enable the engine: [^1]\n```\non\n```"
    )


def test_a_lead_in_brings_its_list_and_a_row_its_header() -> None:
    source = document(1, "There are two hooks:\n\n- request, before\n- response, after")
    assert ask("Which hooks are there?", source) == (
        "There are two hooks [^1]:\n- request, before\n- response, after"
    )
    table = document(1, "| ferry to | leaves |\n|---|---|\n| Amrum | at nine |\n| Sylt | at ten |")
    assert ask("When does the ferry to Sylt leave?", table).startswith(
        "| ferry to | leaves [^1] |\n|---|---|\n| Sylt | at ten |"
    )


def test_a_heading_answers_only_when_it_has_the_date_that_is_asked_for() -> None:
    payload = {"heading": "0.27.2 (27th August, 2024) > Fixed", "path": "", "title": "Log"}
    payload["text"] = "* Reintroduced the shortcut for all types of addresses that there are."
    source = Source("urn:reddb:document:docs/a#1", json.dumps(payload))
    assert ask("When was 0.27.2 released?", source) == "0.27.2 (27th August, 2024) [^1]"
    answer = ask("What was fixed in 0.27.2?", source)
    assert answer.startswith("[0.27.2 (27th August, 2024)] Reintroduced the shortcut")


def test_what_lacks_an_identifier_that_the_best_has_is_left_out() -> None:
    answer = ask(
        "What fixes CVE-2023-22809?",
        document(1, "An update fixes CVE-2023-22810."),
        document(2, "An update fixes CVE-2023-22809."),
    )
    assert answer == "An update fixes CVE-2023-22809. [^2]"


def test_another_source_is_quoted_only_when_it_is_hardly_worse() -> None:
    good = document(1, "The ferry to Amrum leaves at nine o'clock in the morning.")
    stray = document(2, "The ferry to Sylt is painted in white and blue every summer.")
    assert ask(FERRY, good, stray).count("\n") == 0
    equal = document(2, "The ferry to Amrum leaves at ten o'clock on every single Sunday.")
    assert ask(FERRY, good, equal).count("\n") == 1


def test_a_sentence_that_goes_on_with_the_best_is_quoted() -> None:
    text = "The lack of free quarks has a cause. This phenomenon is called confinement."
    assert "confinement" in ask("What is the term for the lack of free quarks?", document(1, text))


def test_a_word_that_nobody_has_is_taken_for_a_similar_one() -> None:
    source = document(1, "Bread is cheap. You can disable the timeout with a setting of None.")
    assert "None" in ask("how do i disbale timeuots", source)


def test_a_link_and_a_referral_do_not_answer() -> None:
    source = document(
        1,
        "[Code](https://example.org/hishel)\n\nFor more about Hishel caching, see the manual.\n\n"
        "Hishel keeps what was sent, which is called caching.",
    )
    assert ask("What is Hishel caching?", source).startswith("Hishel keeps")


def test_a_block_that_does_not_fit_the_budget_is_left_out() -> None:
    answer = complete("How do I disable verification?", [SSL], max_tokens=16).text
    assert answer == "You can disable verification like this: [^1]"


def test_an_edge_from_a_quoted_record_is_quoted_where_it_says_more() -> None:
    jonas = row("people", id="jonas", name="Jonas Okafor", role="support engineer")
    edge = Source(
        "urn:reddb:edge:links/1",
        '{"from":"urn:reddb:row:people/jonas","label":"reports to","to":"urn:reddb:row:people/mo"}',
    )
    said = ask("Who does Jonas Okafor report to?", jonas, edge)
    assert said.split("\n")[-1] == "people/jonas reports to people/mo [^2]"
    assert "reports" not in ask("Which role has Jonas Okafor?", jonas, edge)
