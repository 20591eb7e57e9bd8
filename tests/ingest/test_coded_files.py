"""Source code by function, settings by key, notebooks by cell."""

import json
from pathlib import Path

import pytest
from filing import contents, write

import redask
from redask.ingest.readers import chunks
from redask.ingest.readers.coded import settings_files, source_code

PYTHON = '''"""Ferries and their times."""

import math

LATE = 5


# how long it takes
@cached
def hours(distance):
    return math.ceil(distance / 20)


class Ferry:
    """One of them."""

    speed = 20

    def leave(self, hour):
        return hour + LATE

    async def sink(self):
        pass
'''


_GO = (
    "package ferry\n\n// Leave it.\nfunc (f *Ferry) Leave(h int) {\n\n\tx()\n}\n\n"
    "type Ferry struct {\n}\n"
)
_TYPESCRIPT = (
    "import x\n\nexport default async function leave(h) {\n}\n\n"
    "export const LATE = 5\n\nabstract class Ferry {\n}\n"
)
_C = "#include <a.h>\n\n/* how\n   long */\nstatic int hours(int d)\n{\n  return 1;\n\n}\n"


def test_python_is_read_by_function_class_and_method() -> None:
    found = list(chunks.cut(source_code.outline(PYTHON, "python")))
    assert [(chunk.headings, chunk.place["line"]) for chunk in found] == [
        ((), 1),
        (("hours",), 8),
        (("Ferry",), 14),
        (("Ferry", "leave"), 19),
        (("Ferry", "sink"), 22),
    ]
    assert found[0].text == ("Ferries and their times.\n\n```python\nimport math\n\nLATE = 5\n```")
    assert found[1].text.startswith(
        "```python\n# how long it takes\n@cached\ndef hours(distance):\n"
    )
    assert found[3].text == (
        "```python\n    def leave(self, hour):\n        return hour + LATE\n```"
    )


@pytest.mark.parametrize(
    "text",
    ["def broken(:\n    pass\n\nclass Ferry:\n    x = 1\n", "(" * 50_000, "x = " + "-" * 50_000],
)
def test_python_that_does_not_parse_is_read_by_blocks(text: str) -> None:
    assert list(chunks.cut(source_code.outline(text, "python")))


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("go", _GO, ["Leave", "Ferry"]),
        ("typescript", _TYPESCRIPT, ["leave", "LATE", "Ferry"]),
        ("c", _C, ["hours"]),
        ("sql", "-- stops\nCREATE TABLE IF NOT EXISTS stop (\n  id int\n);\n\nSELECT 1;", ["stop"]),
        ("rust", "pub fn leave() {}\n\nimpl Ferry {\n    fn x() {}\n}\n", ["leave", "Ferry"]),
    ],
)
def test_other_languages_are_read_by_top_level_blocks(
    language: str, text: str, names: list[str]
) -> None:
    found = list(chunks.cut(source_code.outline(text, language)))
    assert [chunk.headings[0] for chunk in found if chunk.headings] == names
    code = "\n".join(chunk.text for chunk in found)
    assert all(line in code for line in text.split("\n"))
    lines = text.split("\n")
    assert all(lines[int(chunk.place["line"]) - 1] == chunk.text.split("\n")[1] for chunk in found)


def test_settings_are_read_by_key_and_table_with_their_comments() -> None:
    yaml = "# all\n\n# when\nferry:\n  hour: 9\n'dogs': no\n---\n- name: Amrum\n  hour: 9\n"
    found = list(chunks.cut(settings_files.outline(yaml, "yaml")))
    assert [(chunk.headings, chunk.place["line"]) for chunk in found] == [
        ((), 1),
        (("ferry",), 3),
        (("dogs",), 6),
        (("Amrum",), 8),
    ]
    assert found[1].text == "```yaml\n# when\nferry:\n  hour: 9\n```"
    toml = "a = 1\n\n# when\n[ferry.times]\nhour = 9\n[[dog]]\n[[dog]]\n"
    found = list(chunks.cut(settings_files.outline(toml, "toml")))
    assert [chunk.label for chunk in found] == ["top", "ferry-times", "dog", "dog-2"]


def test_a_notebook_is_read_by_cell(db: redask.OpenDatabase, tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Ferries\n", "\n", "Count them:"]},
        {
            "cell_type": "code",
            "source": "len(ferries)",
            "outputs": [
                {"output_type": "execute_result", "data": {"text/plain": ["42"], "image/png": "x"}},
                {"output_type": "stream", "text": ["y" * 5000]},
            ],
        },
        {"cell_type": "markdown", "source": "## Dogs\n\nOne."},
        "no cell",
    ]
    book = {"cells": cells, "metadata": {"language_info": {"name": "python"}}}
    write(tmp_path / "a.ipynb", json.dumps(book))
    assert db.ingest(tmp_path / "a.ipynb").ok
    found = contents(db, "document:documents/")
    first = found["a.ipynb#top"]
    assert first["text"].startswith("Count them:\n\n```python\nlen(ferries)\n```")
    assert (first["title"], first["cells"]) == ("Ferries", "1-2")
    text = "".join(chunk["text"] for chunk in found.values())
    assert "Output:\n\n```\n42\n" in text
    assert text.count("y") < 2100
    assert (found["a.ipynb#dogs"]["cells"], found["a.ipynb#dogs"]["text"]) == ("3", "One.")


_UNITS = ["def ", "a ", "class A:\n  def f(self):\n    pass\n", "func ", "(", "a(", "x:\n"]
_UNITS += ["- a: ", "[a]\n", "[", "# \n", "A<B> ", "'", "/*\n", "\n\na", "&a *a "]


@pytest.mark.parametrize("unit", _UNITS)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    for language in ("python", "go"):
        assert list(chunks.cut(source_code.outline(text, language)))
    for language in ("yaml", "toml"):
        assert list(chunks.cut(settings_files.outline(text, language)))
