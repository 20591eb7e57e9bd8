"""reStructuredText, AsciiDoc, XML and subtitles: what they say, as Markdown, and where."""

from collections.abc import Callable
from pathlib import Path

import pytest
from filing import contents, edges, write

import redask
from redask.ingest.readers import chunks
from redask.ingest.readers.markup import asciidoc, restructured, roles
from redask.ingest.readers.outlines import Outline


def said(outline: Outline) -> list[tuple[tuple[str, ...], str]]:
    return [(chunk.headings, chunk.text) for chunk in chunks.cut(outline)]


def rst(text: str) -> str:
    """The text of a document with one chunk."""
    (chunk,) = said(restructured.outline(text))
    return chunk[1]


def test_titles_have_the_level_in_which_their_style_appears() -> None:
    text = "=====\nGuide\n=====\n\nAll.\n\nTimes\n-----\n\nAt nine.\n\n"
    text += "Sunday\n~~~~~~\n\nNever.\n\nFares\n-----\n\n4\n"
    found = restructured.outline(text)
    assert found.title == "Guide"
    assert said(found) == [
        ((), "All."),
        (("Times",), "At nine."),
        (("Times", "Sunday"), "Never."),
        (("Fares",), "4"),
    ]
    assert [chunk.place["line"] for chunk in chunks.cut(found)] == [5, 10, 15, 20]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Run it::\n\n    ferry \\\n      --now\n\nDone.",
            "Run it:\n\n```\nferry \\\n  --now\n```\n\nDone.",
        ),
        ("Run it ::\n\n    ferry", "Run it\n\n```\nferry\n```"),
        (
            ".. code-block:: python\n   :linenos:\n\n   def f():\n\n       pass",
            "```python\ndef f():\n\n    pass\n```",
        ),
        (".. note::\n    Never on\n    Sunday.", "Note:\n\nNever on\nSunday."),
        (".. warning:: It sinks.", "Warning: It sinks."),
        (".. versionadded:: 1.2", "New in version 1.2"),
        ("a\n\n.. a comment\n   of two lines\n\nb", "a\n\nb"),
        ("a\n\n.. [[[cog x ]]]\n\nb", "a\n\nb"),
        ("a\n\n.. image:: x.png\n   :alt: y\n\nb", "a\n\nb"),
        (
            ".. tab:: ferry.yaml\n\n    .. code-block:: yaml\n\n        a: 1",
            "ferry.yaml\n\n```yaml\na: 1\n```",
        ),
        (
            "- one\n- two\n  more\n\n- three::\n\n      x",
            "- one\n- two\n  more\n\n- three:\n\n  ```\n  x\n  ```",
        ),
        (
            "==== ====\nStop Hour\n==== ====\nA    9\nB    10\n==== ====",
            "| Stop | Hour |\n| --- | --- |\n| A | 9 |\n| B | 10 |",
        ),
        (
            "+---+----+\n| a | b  |\n+===+====+\n| 1 | 2  |\n|   | 3  |\n+---+----+",
            "| a | b |\n| --- | --- |\n| 1 | 2 3 |",
        ),
        (
            ".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n   * - 1\n     - 2",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        (
            '.. csv-table::\n   :header: a, b\n\n   1, "2, 3"',
            "| a | b |\n| --- | --- |\n| 1 | 2, 3 |",
        ),
        (
            "See ``x_y``, :class:`~a.B`, `site <https://x.org>`__ and :ref:`the_label`.",
            "See `x_y`, `a.B`, [site](https://x.org) and the_label.",
        ),
        (":ref:`text <lab>` :issue:`12` \\*", "text #12 *"),
        (".. [1] A note.", "[1] A note."),
    ],
)
def test_restructured_text_becomes_markdown(text: str, expected: str) -> None:
    assert rst(text) == expected


def test_a_reference_inside_a_file_is_the_title_and_one_to_a_page_is_a_link(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    write(
        tmp_path / "d" / "a.rst",
        "Ferry\n=====\n\nSee :ref:`fares` and :doc:`b`.\n\n"
        ".. _fares:\n\nWhat it costs\n-------------\n\n4 Euro.\n",
    )
    write(tmp_path / "d" / "b.rst", "Dogs\n====\n\nOne.\n")
    assert db.ingest(tmp_path / "d").ok
    found = contents(db, "document:d/")
    assert found["a.rst#top"]["text"] == "See What it costs and [b](b.rst)."
    assert found["a.rst#what-it-costs"]["line"] == 11
    assert edges(db) == {("document:d/a.rst#top", "links to", "document:d/b.rst#top")}


def test_asciidoc_becomes_markdown() -> None:
    text = (
        "= Guide\n:toc:\n\nSee link:b.adoc[b], <<x,the rest>>.\n\n// no\n== Install\n\nRun:\n\n"
        "[source,sh]\n----\nferry\n  --now\n----\n\nNOTE: Never.\n\n== Rest\n\n* one\n** two\n\n"
        '[cols="1,1"]\n|===\n|Stop |Hour\n\n|A\n|9\n|===\n\n....\nraw\n....\n'
    )
    found = asciidoc.outline(text)
    assert found.title == "Guide"
    assert said(found) == [
        ((), "See [b](b.adoc), the rest."),
        (("Install",), "Run:\n\n```sh\nferry\n  --now\n```\n\nNote: Never."),
        (
            ("Rest",),
            "- one\n  - two\n\n| Stop | Hour |\n| --- | --- |\n| A | 9 |\n\n```\nraw\n```",
        ),
    ]


def test_xml_is_rows_where_it_is_data(db: redask.OpenDatabase, tmp_path: Path) -> None:
    write(
        tmp_path / "news.xml",
        "<rss><channel><title>News</title><item><id>a</id><n>7</n></item>"
        "<item><id>b</id><n>8</n><tag x='1'>y</tag></item></channel></rss>",
    )
    write(tmp_path / "ports.xml", "<ports><port id='1'/><port id='2'/></ports>")
    write(tmp_path / "one.xml", "<order><number>7</number></order>")
    assert db.ingest(*tmp_path.glob("*.xml")).ok
    assert contents(db, "row:") == {
        "news.item/a": {"id": "a", "n": 7},
        "news.item/b": {"id": "b", "n": 8, "tag": {"x": 1, "text": "y"}},
        "news/news": {"title": "News"},
        "ports.port/1": {"id": 1},
        "ports.port/2": {"id": 2},
        "one/one": {"number": 7},
    }


def test_xml_is_text_where_it_is_a_document(db: redask.OpenDatabase, tmp_path: Path) -> None:
    write(
        tmp_path / "a.xml",
        "<!DOCTYPE book><book><title>Ferries</title><chapter><title>Times</title>"
        "<para>They leave at <em>nine</em>.</para><para>Never late.</para></chapter></book>",
    )
    assert db.ingest(tmp_path / "a.xml").ok
    (chunk,) = contents(db, "document:").values()
    assert (chunk["title"], chunk["heading"]) == ("Ferries", "Times")
    assert chunk["text"] == "They leave at nine.\n\nNever late."


def test_subtitles_are_sentences_with_their_times(db: redask.OpenDatabase, tmp_path: Path) -> None:
    cues = "1\n00:00:01,000 --> 00:00:02,000\nThe <i>ferry</i> leaves\n\n"
    cues += "2\n00:00:02,100 --> 00:00:03,000\nat nine.\n\n"
    write(tmp_path / "a.srt", cues + "3\n01:02:03,000 --> 01:02:04,000\nNever on Sunday.\n")
    write(tmp_path / "b.vtt", "WEBVTT\n\n00:05.000 --> 00:06.000\n<v Ada>At nine.</v>\n")
    assert db.ingest(tmp_path / "a.srt", tmp_path / "b.vtt").ok
    assert {name: chunk["text"] for name, chunk in contents(db, "document:documents/").items()} == {
        "a.srt#top": "[00:00:01] The ferry leaves at nine.\n\n[01:02:03] Never on Sunday.",
        "b.vtt#top": "[00:00:05] Ada: At nine.",
    }


_UNITS = ["..", ".. x::\n", "* ", "- a\n  ", "=", "a\n===\n", "`", "``", ":a:`b", "+-", "== ==\n"]
_UNITS += [
    "::\n\n ",
    " ",
    "|",
    "[",
    "<<",
    "xref:a",
    "link:",
    "----\n",
    "`a <",
    "http://[",
    "\n  - a",
]


@pytest.mark.parametrize("unit", _UNITS)
@pytest.mark.parametrize("outline", [restructured.outline, asciidoc.outline])
def test_hostile_text_takes_linear_time(outline: Callable[[str], Outline], unit: str) -> None:
    assert list(chunks.cut(outline(unit * (100_000 // len(unit))))) is not None


@pytest.mark.parametrize(
    "text",
    [
        f"a{1_000_000 * '`'}",
        f".. confval:: a\n   :type:{1_000_000 * ' '}{501 * 'x'}",
    ],
    ids=["marks of code", "blanks before a value"],
)
def test_what_ends_far_off_or_never_takes_linear_time(text: str) -> None:
    assert restructured.outline(text) is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a ``b`` ``c```", "a `b` `c``"),
        (f"``{2000 * 'x'}`` a", f"`{2000 * 'x'}` a"),
        (f"``{2001 * 'x'}`` ``a``", f"``{2001 * 'x'}` `a``"),
        ("```a`` b", "``a` b"),
        ("``a", "``a"),
    ],
)
def test_code_stands_between_two_marks_not_far_apart(text: str, expected: str) -> None:
    assert roles.marked(text, roles.RoleNames(())) == expected


def test_deep_nesting_is_cut_off() -> None:
    deep = "\n\n".join(" " * 2 * level + f"- item {level}" for level in range(500))
    assert "item 499" in "".join(chunk.text for chunk in chunks.cut(restructured.outline(deep)))
