"""Chinook, eleven tables of a music shop, ingested by one command and asked five questions.

By words and graph alone, without a model. The question across three tables is also answered by a
stand-in for a model that joins what it is shown.
"""

import json
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main
from redask.core.model import Capabilities, Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities

DATA = Path(os.environ.get("REDASK_DATA") or Path(__file__).parents[3] / "shared" / "data")
CHINOOK = DATA / "databases" / "chinook.sqlite"

pytestmark = pytest.mark.skipif(
    not CHINOOK.exists(), reason=f"no evaluation data at {DATA} (REDASK_DATA says where it is)"
)
ROW = "urn:reddb:row:"
ACROSS = "Which artist made the album Restless and Wild with the track Princess of the Dawn?"


class Joiner:
    """A fake model: it follows foreign keys from row to row and cites each row on the way."""

    name = "joiner"
    model = "joiner-1"
    capabilities: Capabilities = capabilities.of("scripted")

    def narrow(self, seed: int) -> int:
        return seed

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        return 0.0

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        rows = {
            source.urn.removeprefix(ROW): (number, json.loads(source.payload))
            for number, source in enumerate(prompt.sources, start=1)
        }
        (first, track), *_ = [
            row for urn, row in rows.items() if urn.startswith("Track/") and _named(row, prompt)
        ]
        second, album = rows[f"Album/{track['AlbumId']}"]
        third, artist = rows[f"Artist/{album['ArtistId']}"]
        text = f"{track['Name']} [^{first}] is on {album['Title']} [^{second}]"
        return Completion(f"{text} by {artist['Name']} [^{third}].", self.model)


def _named(row: tuple[int, dict[str, str]], prompt: Prompt) -> bool:
    return f"track {row[1]['Name']}" in prompt.question


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("chinook") / "db"
    result = CliRunner().invoke(main, ["--db", str(place), "ingest", str(CHINOOK)])
    assert result.exit_code == 0, result.output
    assert "48851 entities written, 0 removed" in result.output
    return place


@pytest.fixture(scope="module")
def shop(directory: Path) -> Iterator[redask.OpenDatabase]:
    with redask.open(directory, providers={"joiner": Joiner()}) as opened:
        opened.search("ferry")  # indexes what was ingested: an ask has a deadline, this has none
        yield opened


@pytest.mark.parametrize(
    ("question", "expected", "cited"),
    [
        ("Who composed the track Balls to the Wall?", "U. Dirkschneider", "row:Track/2"),
        (
            "What is the phone number of the customer František Wichterlová?",
            "Phone: +420 2 4172 5555",
            "row:Customer/5",
        ),
        ("When was the employee Nancy Edwards hired?", "HireDate: 2002-05-01", "row:Employee/2"),
        (
            "Which employee is the support rep of the customer Leonie Köhler?",
            "Customer/2 support rep Employee/5",
            "row:Customer/2",
        ),
        (ACROSS, "Title: Restless and Wild", "row:Album/3"),
        ("Which genre has the track Princess of the Dawn?", "Name: Rock", "row:Genre/1"),
    ],
)
def test_a_question_is_answered_with_the_right_rows(
    shop: redask.OpenDatabase, question: str, expected: str, cited: str
) -> None:
    answer = shop.ask(question, using="extractive", plan="off")
    assert expected in answer.answer
    assert f"urn:reddb:{cited}" in [note.urn for note in answer.citations]
    assert answer.validation.ok


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What is the phone number of the customer František Wichterlová?",
            "phone: +420 2 4172 5555 [^1]",
        ),
        ("Which genre has the track Princess of the Dawn?", "name: Rock [^1]"),
        (ACROSS, "name: Accept [^1]"),
    ],
)
def test_a_cell_of_one_row_is_computed(
    shop: redask.OpenDatabase, question: str, expected: str
) -> None:
    answer = shop.ask(question, using="extractive")
    assert answer.answer == expected
    assert [note.urn.split("/")[0] for note in answer.citations] == ["urn:reddb:query:postgresql"]


@pytest.mark.parametrize(
    ("using", "expected"), [("joiner", "by Accept ["), ("extractive", "Name: Accept")]
)
def test_a_question_across_three_tables_finds_and_cites_all_three_rows(
    shop: redask.OpenDatabase, using: str, expected: str
) -> None:
    answer = shop.ask(ACROSS, using=using, plan="off")
    assert expected in answer.answer, "the artist is named nowhere in the question"
    assert answer.validation.ok
    rows = {note.urn.removeprefix(ROW) for note in answer.citations}
    assert rows == {"Track/5", "Album/3", "Artist/2"}


def test_every_foreign_key_is_an_edge_and_again_writes_nothing(
    shop: redask.OpenDatabase,
) -> None:
    report = shop.doctor()
    assert (report["problems"], report["store"]["collections"]) == ([], 12)
    assert report["store"]["edges"] == 33_244
    assert shop.ingest(CHINOOK).written == 0
