"""Lines that belong together: steps and their code, the sides of a comparison, lists in parts."""

import json

import pytest
from quotable import ask

from redask.core.model import Source
from redask.providers.extractive import excerpts
from redask.providers.extractive.choice import comparing
from redask.providers.extractive.relevance import ExcerptRanker


def chunk(path: str, heading: str, text: str, part: int = 1) -> Source:
    payload = {"heading": heading, "path": path, "text": text, "title": path}
    name = f"{path}#{heading}".replace(" ", "-").replace(">", ".")
    suffix = f"~{part}" if part > 1 else ""
    return Source(f"urn:reddb:document:docs/{name}{suffix}", json.dumps(payload))


FLAG = "The easiest way to stop custom queries is the allow_sql setting of the server."
BELOW = "Whether visitors may send queries of their own.\n\n```\nserve --setting allow_sql off\n```"
LATER = "Whether pages have a footer that names the author.\n\n```\nserve --setting footer off\n```"


def test_a_setting_that_is_named_brings_the_code_of_its_section() -> None:
    sources = (
        chunk("access.md", "Queries", FLAG),
        chunk("settings.md", "footer", LATER),
        chunk("settings.md", "`allow_sql`", BELOW),
    )
    answer = ask("How do I stop custom queries?", *sources)
    assert answer.startswith(f"{FLAG} [^1]\n")
    assert "serve --setting allow_sql off\n```" in answer
    assert "footer" not in answer
    assert "allow_sql off" not in ask("What is the easiest way to stop custom queries?", *sources)


def test_the_example_below_a_section_belongs_to_its_prose() -> None:
    prose = "A client can call directly into a web application that speaks the WSGI protocol."
    code = "Here is one for Flask:\n\n```python\nclient = Client(transport=WSGI(app))\n```"
    other = "Here is one for Starlette:\n\n```python\nclient = Client(transport=ASGI(app))\n```"
    answer = ask(
        "How do I call a WSGI application directly?",
        chunk("transports.md", "WSGI", prose),
        chunk("transports.md", "ASGI > Example", other),
        chunk("transports.md", "WSGI > Example", code),
    )
    assert "transport=WSGI(app)" in answer
    assert "transport=ASGI(app)" not in answer


def test_an_entry_of_a_help_text_is_no_step() -> None:
    entries = "  copy    Copy snapshots to another repository\n  init    Make a new repository here"
    help_text = f"Usage help:\n\n```\n{entries}\n```"
    lead = "To move snapshots between two repositories, use the copy command:"
    steps = f"{lead}\n\n```\ntool copy --from here\n```"
    sources = (chunk("help.md", "Usage", help_text), chunk("work.md", "Copying snapshots", steps))
    answer = ask("How do I copy snapshots to another repository?", *sources)
    assert "tool copy --from here" in answer.split("\n\n")[0]


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between read timeout and pool timeout?", ("read", "pool")),
        ("How do timeouts differ between httpx and requests?", ("httpx", "requests")),
        ("What is the difference between a soft and a hard limit in it?", ("soft", "hard")),
        ("Which one is read and which one is write?", None),
        ("What is the difference between pools and pools?", None),
    ],
)
def test_the_sides_of_a_comparison(question: str, sides: tuple[str, str] | None) -> None:
    found = comparing.sides(question)
    wanted = None if sides is None else tuple(frozenset((side,)) for side in sides)
    assert found == wanted


def test_what_two_things_are_compared_in() -> None:
    topic = comparing.topic("What is the difference between httpx and requests for redirects?")
    assert topic == {"redirects"}
    assert comparing.topic("How do timeouts differ between a and b?") == {"timeouts"}
    assert comparing.topic("Which is it?") == frozenset()
    assert not comparing.holds(frozenset({"requests"}), "the requested host")
    assert comparing.holds(frozenset({"requests"}), "Unlike Requests, it waits.")


BASIC = "The difference is that it is unencrypted, an encoding of the name and the password."
DIGEST = "A challenge and response authentication scheme that needs one more round-trip."
NETRC = "A file in the home directory holds the names and passwords of some hosts for it."


def test_each_side_of_a_comparison_is_quoted() -> None:
    answer = ask(
        "What is the difference between basic and digest authentication?",
        chunk("auth.md", "Authentication > Basic authentication", BASIC),
        chunk("auth.md", "Authentication > NetRC authentication", NETRC),
        chunk("auth.md", "Authentication > Digest authentication", DIGEST),
    )
    assert BASIC in answer
    assert DIGEST in answer
    assert NETRC not in answer


@pytest.mark.parametrize(
    ("text", "contrasted"),
    [
        ("Unlike requests, httpx has timeouts.", True),
        ("It works with httpx and requests.", False),
        ("While it waits, httpx does nothing.", False),
    ],
)
def test_a_contrast_names_both_sides_and_says_what_differs(text: str, contrasted: bool) -> None:
    sides = frozenset({"httpx"}), frozenset({"requests"})
    assert comparing.contrasts(sides, text) is contrasted


def test_a_line_on_both_sides_is_better_than_one_on_one() -> None:
    one = "Timeouts of httpx differ by what they wait for, and each of them can be set to a value."
    both = "While requests waits for ever by default, httpx has timeouts everywhere, of 5 seconds."
    sources = (chunk("timeouts.md", "Timeouts", one), chunk("compat.md", "Timeouts", both))
    answer = ask("How do timeouts differ between httpx and requests?", *sources)
    assert answer.startswith(f"{both} [^2]")


LEAD = "The forget command accepts the following policy options:"


def listed(names: str) -> str:
    items = "\n".join(f"- `--keep-{name} n` keeps that many of them" for name in names.split())
    return f"{LEAD}\n\n{items}"


def test_a_list_that_is_cut_into_chunks_is_quoted_whole_and_in_its_order() -> None:
    answer = ask(
        "Which policy options does forget accept?",
        chunk("forget.md", "Policies", listed("weekly monthly"), 3),
        chunk("forget.md", "Policies", listed("last hourly"), 2),
    )
    assert answer.startswith(
        "[forget.md] " + LEAD.removesuffix(":") + " [^1][^2]:\n- `--keep-last n`"
    )
    assert answer.index("hourly") < answer.index("weekly") < answer.index("monthly")


def test_parts_with_a_gap_between_them_are_not_joined() -> None:
    answer = ask(
        "Which policy options does forget accept?",
        chunk("forget.md", "Policies", listed("weekly monthly"), 4),
        chunk("forget.md", "Policies", listed("last hourly"), 2),
    )
    assert "weekly" in answer
    assert "hourly" not in answer


def test_where_something_is_says_the_line_with_its_path() -> None:
    vague = "The cache is stored in the folder that the caller of the command has chosen for it."
    place = "The cache is stored by default in a folder:\n\n- Linux: `~/.cache/tool`\n- other: none"
    answer = ask(
        "Where is the cache stored?",
        chunk("a.md", "Checks", vague),
        chunk("b.md", "Caching", place),
    )
    assert "`~/.cache/tool`" in answer.split("\n\n")[0]


def test_the_words_of_a_compound_are_found_in_it() -> None:
    text = "A backup of the home folder is made like this, and takes a minute or two at most."
    other = "Go back to the folder of the project, and look for the largest of the files in it."
    answer = ask(
        "How do I back up the home folder?", chunk("a.md", "Go", other), chunk("b.md", "Make", text)
    )
    assert answer.startswith(text)


def test_a_line_of_tags_is_no_line() -> None:
    badge = '<p align="center"> <img src="https://x/test.svg" alt="Test suite"> </p>'
    found = excerpts.read(chunk("a.md", "Top", f"{badge}\n\nIt runs the whole test suite."))
    assert [each.text for each in found.excerpts] == ["It runs the whole test suite."]
    assert excerpts.has_words("<b>Note</b>: the test suite is slow.")


def test_typing_errors_are_mended_for_vectors_but_not_in_names() -> None:
    ranker = ExcerptRanker("how to instal datasete and mok it with Homebrw", {})
    text = "You can install datasette with Homebrew, and mock it in tests."
    ranker.add(1, excerpts.read(chunk("a.md", "Install", text)))
    ranker.rank()
    assert ranker.spelt() == "how to install datasette and mock it with Homebrw"


def test_the_section_headed_by_the_task_beats_a_neighbour_with_code() -> None:
    beside = chunk(
        "tutorial.md",
        "Create a blueprint",
        "Define the blueprint and register it in the factory.\n\n```python\nbp = Blueprint()\n```",
    )
    own = chunk(
        "blueprints.md",
        "Registering Blueprints",
        "How do you register a blueprint? Like this:\n\n```python\napp.register_blueprint(bp)\n```",
    )
    answer = ask("How do I register a blueprint?", beside, own)
    assert "app.register_blueprint(bp)" in answer


def test_the_first_step_of_the_section_comes_before_a_later_one() -> None:
    text = (
        "1. Run the following command in your shell:\n\n```bash\npip install ferry\n```\n\n"
        "2. Check that you installed the right ferry:\n\n```bash\nferry --version\n```"
    )
    answer = ask("How do I install ferry?", chunk("start.md", "Install ferry", text))
    assert answer.index("pip install ferry") < answer.index("ferry --version")


def test_a_reason_follows_what_it_is_a_reason_of() -> None:
    text = (
        "Do not use the development server in production. It is for local work only. "
        "It is not designed to be secure or stable."
    )
    source = chunk("server.md", "Server", text)
    asked = "Why should I not use the development server in production?"
    assert "not designed to be secure" in ask(asked, source)
    assert "not designed" not in ask("May I use the development server in production?", source)
    because = chunk("server.md", "Server", "The server is slow because it has one thread.")
    assert ask("Why is the server slow?", because).startswith(
        "[server.md] The server is slow because"
    )
    nothing = chunk("server.md", "Server", "The server is slow. It has one thread. It is old.")
    assert ask("Why is the server slow?", nothing).startswith("[Server] The server is slow. [^1]")


def test_a_line_is_not_quoted_twice_because_one_is_bold() -> None:
    line = "Never stop the ferry on the way to Amrum."
    sources = chunk("a.md", "Ferry", line), chunk("b.md", "Ferry", f"**{line}**")
    assert ask("May I stop the ferry on the way to Amrum?", *sources).count("Never stop") == 1


def test_the_name_of_a_declared_object_comes_with_what_it_says() -> None:
    own = chunk(
        "cli.rst", "Options > --last-failed, --lf", "Rerun only the tests that failed before."
    )
    answer = ask("How do I rerun only failed tests?", own)
    assert answer.startswith("[--last-failed, --lf] Rerun only the tests that failed before. [^1]")
    named = chunk(
        "cli.rst", "Options > --lf", "With --lf only the tests that failed before are run."
    )
    assert ask("How do I rerun only failed tests?", named).startswith("With --lf only")


def test_an_address_stays_with_the_line_that_introduces_it() -> None:
    text = "Flaws should be reported to the bounty program:\n\nhttps://bounty.example.org"
    answer = ask("Where should flaws be reported?", chunk("a.md", "Flaws", text))
    assert "program: https://bounty.example.org [^1]" in answer
    text = "Here is an example of flaws:\n\nThe sail is torn."
    assert "flaws: The sail" not in ask(
        "Which example of flaws is there?", chunk("a.md", "F", text)
    )


def test_swapped_letters_are_a_typing_error() -> None:
    source = chunk(
        "skip.md", "Skipping", "To skip a test, mark it with the decorator of that name."
    )
    assert ask("How do I skpi a test?", source).startswith("To skip a test")
