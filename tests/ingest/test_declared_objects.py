"""reStructuredText: what a directive declares is a section; lists without bullets are lists."""

from pathlib import Path

import pytest
from filing import contents, write

import redask
from redask.ingest.readers import chunks
from redask.ingest.readers.markup import restructured
from redask.ingest.readers.markup.restructured_lists import ListTerm, term
from redask.ingest.readers.markup.restructured_objects import facts, is_object, name, signature

SETTINGS = """\
Settings
========

What can be set.

Built-in
--------

These are read:

.. py:data:: FERRY_KEY

    Signs the tickets.

    Default: ``None``

.. confval:: ferry_dir
   :type: ``str``
   :default: ``".ferries"``

   .. versionadded:: 1.2

   Where ferries are.

.. option:: -x
            --exit=NUM

   Ends at once.

.. versionchanged:: 2.3
   ``FERRY_ENV`` was removed.

Fares
-----

Four.
"""


def said(text: str) -> list[tuple[tuple[str, ...], str]]:
    return [(chunk.headings, chunk.text) for chunk in chunks.cut(restructured.outline(text))]


def test_an_object_is_a_section_and_what_follows_it_belongs_to_the_section_above() -> None:
    assert restructured.outline(SETTINGS).title == "Settings"
    assert said(SETTINGS) == [
        ((), "What can be set."),
        (("Built-in",), "These are read:"),
        (("Built-in", "FERRY_KEY"), "Signs the tickets.\n\nDefault: `None`"),
        (
            ("Built-in", "ferry_dir"),
            'New in version 1.2\n\nType: `str`. Default: `".ferries"`.\n\nWhere ferries are.',
        ),
        (("Built-in", "-x, --exit"), "`-x`, `--exit=NUM`\n\nEnds at once."),
        (("Built-in",), "Changed in version 2.3: `FERRY_ENV` was removed."),
        (("Fares",), "Four."),
    ]


def test_objects_are_inside_objects_and_nothing_after_them_is_lost() -> None:
    text = (
        ".. class:: Ferry(size)\n\n   A ferry.\n\n   .. method:: leave()\n\n      Leaves.\n\n"
        "   It floats.\n\nThe end.\n"
    )
    assert said(text) == [
        ((), "The end."),
        (("Ferry",), "`Ferry(size)`\n\nA ferry."),
        (("Ferry", "leave"), "`leave()`\n\nLeaves."),
        (("Ferry",), "It floats."),
    ]


def test_an_object_without_a_word_about_it_or_inside_a_list_or_a_note_is_a_line() -> None:
    assert said("Settings\n========\n\n.. setting:: PORT\n\nPORT is nine.\n") == [
        ((), "PORT\n\nPORT is nine.")
    ]
    assert said("- one\n\n  .. data:: PORT\n\n     Nine.\n") == [((), "- one\n\n  PORT\n\n  Nine.")]
    noted = ".. note::\n\n   .. data:: PORT\n\n      Nine.\n"
    assert said(noted) == [((), "Note:\n\nPORT\n\nNine.")]
    only = "Top.\n\n.. only:: html\n\n   .. data:: PORT\n\n      Nine.\n"
    assert said(only)[-1] == (("PORT",), "Nine.")


def test_a_directive_is_named_by_its_options_where_it_has_no_argument() -> None:
    text = (
        "Core\n====\n\nTop.\n\n.. conf::\n   :keys: work_dir, toxworkdir\n"
        "   :default: {root}/.tox\n   :version_added: 1.0\n\n   Where it works.\n\n"
        ".. conf::\n   :default: 3\n\n   No name.\n"
    )
    assert said(text) == [
        ((), "Top.\n\nNo name."),
        (("work_dir, toxworkdir",), "Where it works.\n\nDefault: {root}/.tox. New in version 1.0."),
    ]


def test_a_tab_that_is_named_after_its_language_is_its_code() -> None:
    tabs = "Set it:\n\n.. tab:: TOML\n\n   .. code-block:: toml\n\n      x = 1\n"
    assert said(tabs) == [((), "Set it:\n\n```toml\nx = 1\n```")]
    linux = "Set it:\n\n.. tab:: Linux\n\n   .. code-block:: sh\n\n      x\n"
    assert said(linux) == [((), "Set it:\n\nLinux\n\n```sh\nx\n```")]
    assert said("Run:\n\n.. code-tab:: sh\n\n   x\n") == [((), "Run:\n\n```sh\nx\n```")]


def test_a_label_of_another_file_that_is_an_identifier_stays_one() -> None:
    assert said("Use :ref:`pass_env`, see :ref:`how-to-sail`.") == [
        ((), "Use pass_env, see how to sail.")
    ]


def test_a_code_block_after_a_version_or_first_in_an_object_stays_code() -> None:
    assert said(".. versionadded:: 3\n\n   .. code::\n\n      x\n") == [
        ((), "New in version 3\n\n```\nx\n```")
    ]
    text = "Top.\n\n.. data:: PORT\n   :value: 9\n\n   .. code::\n\n      x\n"
    assert said(text)[-1] == (("PORT",), "Value: 9.\n\n```\nx\n```")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("``--app hello``\n    The name.\n\n    More.", "- `--app hello`: The name.\n\n  More."),
        ("port : int\n   A number.", "- port (int): A number."),
        (":Exit code 5: No tests\n   were found", "- Exit code 5: No tests\nwere found"),
        (
            ":param int size: The size\n:returns: a ferry",
            "- `size` (int): The size\n\n- Returns: a ferry",
        ),
        (
            "-v, --verbose  Say more\n--size=N\n   Its size",
            "- `-v, --verbose`: Say more\n\n- `--size=N`: Its size",
        ),
        ("name\n    .. code::\n\n       x", "- name:\n\n  ```\n  x\n  ```"),
        (":ref:`text <lab>` is a role", "text is a role"),
        (":orphan:", ":orphan:"),
    ],
)
def test_definitions_fields_and_options_are_items_of_a_list(text: str, expected: str) -> None:
    assert said(text) == [((), expected)]


def test_a_term_is_recognised_by_its_line_and_the_next() -> None:
    assert term(["-v", "   Say more"]) == ListTerm("`-v`", 2)
    assert term(["-v"]) is None
    assert term(["-- a dash"]) is None
    assert term(["A text::", "    code"]) is None
    assert term(["A paragraph", "of two lines"]) is None
    assert term([":a:", "  b"]) == ListTerm("a", 3)


@pytest.mark.parametrize(
    ("directive", "signatures", "heading", "told"),
    [
        ("py:data", ["SECRET_KEY"], "SECRET_KEY", ""),
        ("function", ['open(path, mode="r") -> File'], "open", '`open(path, mode="r") -> File`'),
        ("option", ["-x, --exitfirst"], "-x, --exitfirst", ""),
        ("option", ["--maxfail=NUM"], "--maxfail", "`--maxfail=NUM`"),
        ("attribute", ["size: int = 3"], "size", "`size: int = 3`"),
        ("method", ["async run()"], "run", "`async run()`"),
        ("describe", ["(nothing)"], "(nothing)", ""),
        ("http:get", ["/ferries"], "GET /ferries", "`/ferries`"),
    ],
)
def test_the_heading_is_the_name_without_arguments(
    directive: str, signatures: list[str], heading: str, told: str
) -> None:
    assert is_object(directive, signatures[0])
    assert name(directive, signatures) == heading
    assert signature(heading, signatures) == told


def test_other_directives_are_no_objects_and_other_options_no_facts() -> None:
    assert not is_object("tab", "toml")
    assert not is_object("get", "/x")
    assert not is_object("py:data", "")
    assert facts([":type: int", ":noindex:", ":default: 3"]) == "Type: int. Default: 3."


def test_a_setting_is_found_by_its_name_and_cited_with_it(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    """End to end: the directive is a section of the file, and the answer is what it says."""
    write(tmp_path / "docs" / "settings.rst", SETTINGS)
    db.ingest(tmp_path / "docs")
    headings = {each.get("heading") for each in contents(db, "document:docs").values()}
    assert "Built-in > FERRY_KEY" in headings
    answer = db.ask("What is FERRY_KEY used for?")
    assert "Signs the tickets." in answer.answer
