"""kill -9 at random moments of an ingest: once completed, nobody can tell that it happened."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from filing import app_of, database, held, write

import redask

INGEST = Path(__file__).parent.parent / "support" / "killed_ingest.py"
QUESTIONS = ("ferry 7", "which tide", "late island")


def fill(folder: Path, seed: int) -> None:
    """Documents that link to each other, tables and a database; another seed, another version."""
    chance = random.Random(seed)
    words = "ferry harbour tide island late storm".split()
    for number in chance.sample(range(60), 45):
        sections = "\n\n".join(
            f"## Part {part}\n\n{' '.join(chance.choices(words, k=30))}"
            f" [on](d{chance.randrange(60)}.md#part-{chance.randrange(4)})"
            for part in range(chance.randrange(1, 4))
        )
        write(folder / f"d{number}.md", f"# Ferry {number}\n\n{sections}\n")
    rows = [f"{number},{chance.choice(words)}" for number in chance.sample(range(500), 300)]
    write(folder / "t.csv", "\n".join(["id,name", *rows]) + "\n")
    database(
        folder / "shop.sqlite",
        "BEGIN",
        "CREATE TABLE port (id INTEGER PRIMARY KEY, name)",
        "CREATE TABLE ship (id INTEGER PRIMARY KEY, port_id REFERENCES port)",
        *(f"INSERT INTO port VALUES ({n}, '{chance.choice(words)} {n}')" for n in range(80)),
        *(f"INSERT INTO ship VALUES ({n}, {chance.randrange(100)})" for n in range(80)),
        "COMMIT",
    )


def state(directory: Path) -> tuple[Any, ...]:
    """All that can be told of a database: content, manifest, what searches find."""
    with redask.open(directory) as db:
        assert db.doctor()["problems"] == []
        with app_of(db).backend.store._database.reading() as connection:  # type: ignore[attr-defined]
            origins = connection.execute(
                "SELECT path, root, choice, stamp, unlinked FROM ingest_origins ORDER BY 1"
            ).fetchall()
            items = connection.execute(
                "SELECT urn, path, place FROM ingest_items JOIN entities USING (key)"
                " JOIN ingest_origins ON ingest_origins.id = origin ORDER BY 1"
            ).fetchall()
        found = [db.search(question).buckets for question in QUESTIONS]
        return held(db), origins, items, found


def ingest(
    directory: Path, folder: Path, writes: int | None = None, delay: float = 0.0, most: int = 0
) -> int:
    """Ingest in another process, killed a moment after so many writes. → how many there were.

    It makes no more than `most` before it is killed, however late that is.
    """
    command = [sys.executable, str(INGEST), str(directory), str(folder), str(most)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seen = 0
        while seen != writes and process.stdout.readline():
            seen += 1
        if writes is not None:
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        seen += len(process.stdout.readlines())
    assert writes is not None or process.returncode == 0
    return seen


def test_an_ingest_that_was_killed_and_completed_is_like_one_that_was_not(
    tmp_path: Path, ingest_round: int
) -> None:
    chance = random.Random(ingest_round)
    folder = tmp_path / "files"
    fill(folder, 1000 + ingest_round)
    if chance.random() < 0.5:  # half of the rounds bring a database up to date
        ingest(tmp_path / "db", folder)
        for file in folder.iterdir():
            file.unlink()
        fill(folder, 2000 + ingest_round)
    whole = ingest(tmp_path / "plain", folder)
    for life in range(3):
        writes = chance.randrange(whole // (life + 2))
        most = 0 if life else whole - 1
        seen = ingest(tmp_path / "db", folder, writes, chance.uniform(0.0, 0.02), most)
        assert life or seen < whole, "the first kill comes in time"
    ingest(tmp_path / "db", folder)
    assert state(tmp_path / "db") == state(tmp_path / "plain")
