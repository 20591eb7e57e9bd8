"""What speaks for a line beside its words: definitions, values, changes, referrals, help texts."""

import asyncio
import json

import pytest
from quotable import ask, complete

from redask.core.model import Knobs, Source
from redask.core.rules import prompt
from redask.providers.extractive import excerpts
from redask.providers.extractive.answerer import Extractive
from redask.providers.extractive.code import help_lines
from redask.providers.extractive.excerpts import QuotableSource
from redask.providers.extractive.merits import line_merits

SETTINGS = "Rows that a page of a table shows: the default is 100 of them."
CHANGED = "The default of page_size is 50 rows now."


def chunk(path: str, heading: str, text: str) -> Source:
    payload = {"heading": heading, "path": path, "text": text, "title": path}
    return Source(
        f"urn:reddb:document:docs/{path}~{heading}".replace(" ", "%20"), json.dumps(payload)
    )


@pytest.mark.parametrize("path", ["CHANGELOG.md", "docs/changes.rst", "history.md", "NEWS.txt"])
def test_a_list_of_changes_comes_behind_a_reference(path: str) -> None:
    old = chunk(path, "0.2 (2018-05-20)", CHANGED)
    new = chunk("settings.md", "page_size", SETTINGS)
    assert ask("What is the default of page_size?", old, new).startswith(
        f"[page_size] {SETTINGS} [^2]"
    )
    assert "50 rows now. [^1]" in ask("When was the default of page_size changed?", old, new)


def test_headings_of_versions_are_changes_too() -> None:
    old = chunk("notes.md", "Version 0.2.1 > Fixed", CHANGED)
    new = chunk("settings.md", "page_size", SETTINGS)
    assert ask("What is the default of page_size?", old, new).startswith(
        f"[page_size] {SETTINGS} [^2]"
    )


def test_what_something_is_says_the_line_that_opens_its_section() -> None:
    use = chunk("caching.md", "Caching", "If you use a cache elsewhere, you can use Hishel here.")
    text = "[GitHub](https://a.example) - [Docs](https://b.example)\n\nAn elegant HTTP cache."
    assert "An elegant HTTP cache. [^2]" in ask(
        "What is Hishel?", use, chunk("p.md", "Hishel", text)
    )


def test_a_line_of_code_or_links_alone_is_no_answer() -> None:
    signature = chunk("api.md", "Response", "* `def .raise_for_status()` - **Response**")
    prose = chunk(
        "quick.md", "Errors", "Call `raise_for_status()` and an error of the server is raised."
    )
    answer = ask("What does raise_for_status do?", signature, prose)
    assert answer.startswith("Call `raise_for_status()`")


def test_a_version_is_a_whole_number() -> None:
    source = chunk("CHANGELOG.md", "0.13.0 (May 6th, 2020)", "The release of ferry 0.13.0 is here.")
    refused = complete("When was ferry 3.0 released?", [source])
    assert [each.detail for each in refused.warnings] == ["entity_missing: 3.0"]
    assert complete("When was ferry 0.13.0 released?", [source]).warnings == ()


def test_what_changed_in_a_version_is_what_stands_below_it() -> None:
    text = "* Parsing of a zone in an address of the harbour. (#2990)"
    source = chunk("CHANGELOG.md", "0.24.1 (17th May, 2023) > Fixed", text)
    other = chunk("CHANGELOG.md", "0.24.2 (1st June, 2023) > Fixed", "* Colours of boats. (#2991)")
    answered = complete("What was fixed in 0.24.1?", [other, source])
    assert answered.warnings == ()
    assert "Parsing of a zone" in answered.text
    assert "Colours" not in answered.text


@pytest.mark.parametrize(
    ("literal", "text", "found"),
    [
        ("3.0", "in 3.0.", True),
        ("3.0", "in 3.0.1", False),
        ("3.0", "in 0.13.0", False),
        ("max_rows", "`max_rows`", True),
        ("max_rows", "max_rows_2", False),
        ("$PORT", "the $PORT", True),
    ],
)
def test_literals_are_whole(literal: str, text: str, found: bool) -> None:
    assert bool(line_merits.whole(literal).search(text)) is found


def test_how_to_brings_the_code_of_another_source() -> None:
    told = chunk(
        "sql.md", "SQL", "The easiest way to disable arbitrary queries is the setting allow_sql."
    )
    code = "Arbitrary queries are disabled so:\n\n```\nferry --setting allow_sql off\n```"
    answer = ask(
        "How do I disable arbitrary queries?", told, chunk("settings.md", "allow_sql", code)
    )
    assert "ferry --setting allow_sql off" in answer


HELP = """\
Usage: ferry serve [OPTIONS]

  -p, --port INTEGER RANGE  Port for the server,
                            defaults to 8001
  --cors                    Enable CORS for all of them
  --load PATH
                            Path to an extension to load

settings:
  page_size                 Rows of a page (default=100)
"""


def test_options_of_a_help_text_are_lines_of_their_own() -> None:
    assert help_lines.find(HELP) == [
        "-p, --port INTEGER RANGE Port for the server, defaults to 8001",
        "--cors Enable CORS for all of them",
        "--load PATH Path to an extension to load",
        "page_size Rows of a page (default=100)",
    ]
    source = chunk("cli.md", "ferry serve", f"This is its help:\n\n```\n{HELP}```")
    assert "defaults to 8001 [^1]" in ask("On which port is the ferry served by default?", source)


@pytest.mark.parametrize(
    "code",
    [
        "",
        "def f(x):\n    return x",
        "x = 1  # the first of them\ny = 2  # and the second one",
        HELP[:120],
    ],
)
def test_other_code_has_no_options(code: str) -> None:
    assert help_lines.find(code) == []


def test_a_question_is_read_as_the_search_read_it() -> None:
    source = chunk("time.md", "Timeouts", "The default timeout is 5 seconds for all of them.")
    typed = "what is the defualt timeuot"

    def told(read_as: str) -> str:
        asked = prompt.assemble(typed, [source], read_as=read_as)
        return asyncio.run(Extractive().complete(asked, Knobs(None, None), max_tokens=200)).text

    assert told("what is the default timeout").endswith("5 seconds for all of them. [^1]")


def test_the_default_is_the_line_that_says_nothing_else_below_the_name() -> None:
    used = chunk("web.md", "Cookies", "The SESSION_AGE config can be an integer or `timedelta`.")
    own = chunk(
        "config.md",
        "Built-in > SESSION_AGE",
        "How old a session may be, in seconds.\n\nDefault: `timedelta(days=31)`",
    )
    answer = ask("What is the default of SESSION_AGE?", used, own)
    assert answer.startswith("[SESSION_AGE] Default: `timedelta(days=31)` [^2]")


def test_a_default_is_stated_where_its_value_is_and_not_only_the_word() -> None:
    every = document_of("The client is careful to enforce timeouts everywhere by default.")
    said = document_of("The default timeout for network inactivity is five seconds.")
    assert ask("What is the default timeout?", every, said).startswith("The default timeout for")


def document_of(text: str) -> Source:
    return chunk(f"{text[:9].replace(' ', '-')}.md", "Timeouts", text)


def test_a_note_of_a_version_does_not_open_a_section_and_says_since_when() -> None:
    own = chunk("config.md", "Built-in > KEYS", "New in version 3.1\n\nOld keys that still sign.")
    assert ask("What is KEYS used for?", own).startswith("[KEYS] Old keys that still sign. [^1]")
    other = chunk(
        "config.md", "Built-in > max_size", "New in version 3.1\n\nThe largest size of a part."
    )
    assert ask("Since which version is max_size available?", other).startswith(
        "[max_size] New in version 3.1 [^1]"
    )


def test_what_changed_in_a_version_comes_behind_what_holds() -> None:
    own = chunk("config.md", "Uploads", "New in version 0.6: the limit of uploads.\n\nText.")
    now = chunk("uploads.md", "Uploads", "The limit of uploads is set by the operator alone.")
    assert ask("What sets the limit of uploads?", own, now).startswith("The limit of uploads is")


def test_a_line_that_says_what_something_is_defines_it() -> None:
    used = chunk("marks.md", "Marks", "An xfail is shown with the letter x, and counted apart.")
    said = chunk("skip.md", "Skipping", "An **xfail** means that a test is expected to fail.")
    answer = ask("What is the difference between skip and xfail?", used, said)
    assert "An **xfail** means" in answer
    assert line_merits.LineMerits("What is an xfail?", ()).of(
        *_placed("An **xfail** means that a test fails for a reason that is known."), False
    ) > line_merits.LineMerits("What is an xfail?", ()).of(
        *_placed("The report of a run shows **xfail** means of a test that is known."), False
    )


def _placed(text: str) -> tuple[excerpts.Excerpt, excerpts.QuotableSource]:
    passage = excerpts.read(chunk("a.md", "Runs", text))
    return passage.excerpts[0], passage


def test_a_negated_question_is_answered_by_a_negated_line() -> None:
    grants = "This licence grants the company the right to show your content to others."
    denies = "This licence does not grant the company the right to sell your content."
    sources = chunk("a.md", "Licence", grants), chunk("b.md", "Licence", denies)
    asked = "What does the licence not grant the company of your content?"
    assert ask(asked, *sources).startswith(f"[b.md] {denies}")


def test_how_to_prefers_what_tells_the_reader_to_do_something() -> None:
    told = chunk("b.md", "Flaws", "Vulnerabilities should be reported to the bounty program.")
    idea = chunk("a.md", "Flaws", "The idea is that hackers report vulnerabilities here often.")
    assert ask("How do I report vulnerabilities?", idea, told).startswith("Vulnerabilities should")


def test_a_list_that_stands_in_a_sentence_answers_which() -> None:
    these = chunk("a.md", "A", "These two files are needed to deploy the ferry service anywhere.")
    named = "To deploy the ferry service two files are needed: `sails.txt` and `Ferryfile`."
    sources = these, chunk("b.md", "B", named)
    assert ask("Which files are needed to deploy the ferry service?", *sources).startswith(named)
    assert "These two" in ask("Are files needed to deploy the ferry service?", *sources)[:20]


def test_counting_up_speaks_for_a_line_and_pointing_back_against_it() -> None:
    merits = line_merits.LineMerits("Which files are needed?", ())

    def merit(text: str) -> float:
        return round(merits.of(*_placed(text), opens=False), 6)

    plain = merit("The files that are needed for this are on the table.")
    assert merit("The files `a.txt` and `b.txt` are needed for this here.") == plain + 0.2
    assert merit("You need what the list has: sails, ropes and a mast.") == plain + 0.2
    assert merit("These files that are needed are on the long table.") == plain - 0.2
    assert merit("- The files `a.txt` and `b.txt` are needed for this.") == plain + 0.2
    listed = _placed("All of it:\n\n- The files `a.txt` and `b.txt` are needed for this.")[1]
    assert round(merits.of(listed.excerpts[1], listed, opens=False), 6) == plain


def test_a_part_of_a_sentence_comes_behind_a_whole_one() -> None:
    part = chunk("a.md", "A", "- all ferries that leave the harbour at nine o'clock,\n- others")
    whole = chunk("b.md", "B", "Some ferries leave the harbour at nine o'clock on Sundays only.")
    assert ask("Do ferries leave the harbour at nine o'clock?", part, whole).startswith("Some")


@pytest.mark.parametrize(
    ("path", "headings", "is_of_changes"),
    [
        ("CHANGELOG.md", (), True),
        ("readme.md", ("0.27.2 (27th August, 2024)",), True),
        ("readme.md", ("Tool", "Changelog", "[1.2.1] - 2026-03-01"), True),
        ("readme.md", ("Tool", "What's New"), True),
        ("readme.md", ("Tool", "Changes of address"), False),
        ("readme.md", ("Manual", "1.2 Returns"), False),
    ],
)
def test_a_source_of_changes_by_its_file_or_a_heading_above_it(
    path: str, headings: tuple[str, ...], is_of_changes: bool
) -> None:
    passage = QuotableSource("", (), "", headings, path=path)
    assert line_merits.is_of_changes(passage) is is_of_changes
