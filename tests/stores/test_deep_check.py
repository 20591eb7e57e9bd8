"""`doctor --deep` reads everything, names what is damaged, and mends what is derived."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main
from redask.core.errors import Cancelled, StoreFailed
from redask.core.model import Caller
from redask.stores import entity_rows
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.sqlite_backend import SqliteBackend
from redask.stores.sqlite.store import FILE

ROW = "urn:reddb:row:notes/2"
DAMAGE = {
    "payload": "UPDATE entities SET payload = replace(payload, 'nine', 'five') WHERE urn = ?",
    "policy class": "UPDATE entities SET label = label + 1 WHERE urn = ?",
    "collection": "UPDATE entities SET collection = collection + 1 WHERE urn = ?",
    "no JSON": "UPDATE entities SET payload = substr(payload, 2) WHERE urn = ?",
    "no text": "UPDATE entities SET payload = CAST(x'fffe7b' AS TEXT) WHERE urn = ?",
}


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    with redask.open(tmp_path, embedder="hashed") as db:
        notes = [{"id": n, "text": f"the ferry leaves at nine from {n}"} for n in range(5)]
        db.put("notes", notes)
        db.put("others", [{"id": 1, "text": "harbour"}])
        db.search("ferry")
    return tmp_path


def spoil(directory: Path, statement: str, *given: object) -> None:
    with closing(sqlite3.connect(directory / FILE)) as connection, connection:
        connection.execute(statement, given)


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_entity_is_named_and_no_reader_gets_it(directory: Path, kind: str) -> None:
    spoil(directory, DAMAGE[kind], ROW)
    with redask.open(directory, embedder="hashed") as db:
        with pytest.raises(StoreFailed) as raised:
            db.get(ROW)
        assert ROW not in str(raised.value)  # who asked may not be one who may know of it
        assert db.get("urn:reddb:row:notes/1") is not None
        report = db.doctor(deep=True)
        (problem,) = [each for each in report["problems"] if "not what was written" in each]
        assert problem.startswith(f"{ROW} is not what was written: restore it from a back-up")
        if kind == "no text":  # SQLite itself cannot read it any more
            return
        db.put("notes", [{"id": 2, "text": "the ferry leaves at nine from 2"}])
        db.doctor(deep=True)
        assert db.doctor(deep=True)["problems"] == []
        assert "nine" in str(db.get(ROW))


def test_a_vector_of_the_embedder_is_made_again(directory: Path) -> None:
    with redask.open(directory, embedder="hashed") as db:
        expected = db.search("ferry").buckets
    spoil(directory, "UPDATE vectors SET vector = zeroblob(length(vector)) WHERE key = 2")
    with redask.open(directory, embedder="hashed") as db:
        report = db.doctor(deep=True)
        assert report["mended"] == ["the vector of urn:reddb:row:notes/1 is made again"]
        assert report["problems"] == []
        assert db.search("ferry").buckets == expected
        assert db.doctor(deep=True)["mended"] == []


def test_a_vector_that_was_given_is_named(tmp_path: Path) -> None:
    with SqliteBackend(tmp_path) as backend:
        rows = entity_rows.entities("notes", [{"id": 2}], vectors=[[1.0, 2.0]])
        backend.store.put(rows, Caller())
    spoil(tmp_path, "UPDATE vectors SET vector = zeroblob(8)")
    with redask.open(tmp_path, embedder="none") as db:
        report = db.doctor(deep=True)
        assert [each.split(" is not")[0] for each in report["problems"]] == [f"the vector of {ROW}"]
        assert report["mended"] == []


def test_index_counters_and_cached_answers_are_mended(directory: Path) -> None:
    with redask.open(directory, embedder="hashed") as db:
        db.ask("When does the ferry leave?", cache={"ttl": "1h"})
    (index,) = directory.rglob("forward.sqlite")
    index.write_bytes(index.read_bytes()[:-1] + b"?")
    spoil(directory, "UPDATE holdings SET entities = entities + 1")
    with closing(sqlite3.connect(directory / "calls.sqlite")) as connection, connection:
        connection.execute("UPDATE answers SET answer = replace(answer, 'nine', 'five')")
    with redask.open(directory, embedder="hashed") as db:
        mended = db.doctor(deep=True)["mended"]
        assert [each.split(":")[0] for each in mended] == [
            "the index was made again",
            "counted again",
            "1 cached answers were damaged and are forgotten",
        ]
        again = db.doctor(deep=True)
        assert (again["mended"], again["problems"]) == ([], [])


def test_it_can_be_ended(directory: Path) -> None:
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        raise Cancelled("enough")

    with redask.open(directory, embedder="hashed") as db, pytest.raises(Cancelled):
        db.doctor(deep=True, progress=progress)
    assert told == [(6, 6)]


def test_the_command_names_and_mends(directory: Path) -> None:
    spoil(directory, DAMAGE["payload"], ROW)
    run = CliRunner().invoke(main, ["--db", str(directory), "doctor", "--deep"])
    assert run.exit_code != 0
    assert f"PROBLEM {ROW} is not what was written" in run.output


def test_rows_of_an_older_database_get_their_checksums(directory: Path) -> None:
    spoil(directory, "UPDATE entities SET checksum = NULL")
    spoil(directory, "UPDATE vectors SET checksum = NULL")
    spoil(directory, "UPDATE store SET checksums = 0")
    with redask.open(directory, embedder="hashed") as db:
        assert db.doctor(deep=True)["problems"] == []
    spoil(directory, DAMAGE["payload"], ROW)
    with redask.open(directory, embedder="hashed") as db, pytest.raises(StoreFailed):
        db.get(ROW)


def test_an_index_ahead_of_its_store_is_a_problem_that_doctor_names(directory: Path) -> None:
    spoil(directory, "UPDATE tenants SET seq = 3")
    spoil(directory, "DELETE FROM entities WHERE seq > 3")
    with redask.open(directory, embedder="none") as db:
        problems = db.doctor()["problems"]
    assert any("index: the index is at change" in each for each in problems), json.dumps(problems)


def test_a_page_of_the_file_of_calls_that_nobody_reads_is_looked_at(directory: Path) -> None:
    calls = directory / CALLS_FILE
    with closing(sqlite3.connect(calls)) as connection:
        found = "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'answers' AND type = 'index'"
        [page] = connection.execute(found).fetchone()
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    content = bytearray(calls.read_bytes())
    content[(page - 1) * size] ^= 0x55
    calls.write_bytes(content)
    with redask.open(directory, embedder="hashed") as db:
        assert db.doctor()["problems"] == []
        [problem] = db.doctor(deep=True)["problems"]
        assert problem.startswith(f"{CALLS_FILE}: SQLite says: ")
        db.add_user("olga", role="owner")
        olga = db.signed_in(
            db.make_token("olga")
        )  # the file is of every tenant: she is told nothing
        assert olga.doctor(deep=True)["problems"] == []
