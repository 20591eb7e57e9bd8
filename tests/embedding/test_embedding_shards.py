"""A dump embedded in shards and taken in is, byte for byte, what one machine makes."""

import json
import sqlite3
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import redask
from redask.cli import main
from redask.core.errors import BadAsk, Misconfigured

ROWS = [
    *({"id": n, "name": f"boat {n % 30}", "note": f"it is kept in harbour {n}"} for n in range(80)),
    {"id": "numbers", "note": 17},  # nothing to embed
]
POLICY = {"read": [{"roles": ["clerk"], "hide": ["note"]}]}


def run(db: Path, *words: object) -> Result:
    return CliRunner().invoke(main, ["--db", str(db), *map(str, words)])


def vectors(db: Path) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(db / "redask.sqlite")
    try:
        rows = connection.execute(
            "SELECT urn, vector FROM entities JOIN vectors USING (key) ORDER BY urn"
        )
        return rows.fetchall()
    finally:
        connection.close()


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A dump of data that nobody has embedded; one column is hidden from somebody."""
    with redask.open(tmp_path / "made", embedder="none") as db:
        urns = db.put("boats", ROWS, wait=False)
        db.put("crew", [{"id": 1, "name": "Ana", "note": "earns a lot"}], wait=False)
        db.link(urns[0], "sails after", urns[1])
        db.set_policy("crew", POLICY)
        db.dump(tmp_path / "data.jsonl")
    return tmp_path / "data.jsonl"


@pytest.mark.parametrize("embedder", ["hashed", "minilm"])
def test_shards_that_were_taken_in_give_the_bytes_of_one_machine(
    tmp_path: Path, dump: Path, embedder: str
) -> None:
    assert run(tmp_path / "one", "load", dump, "--embedder", embedder).exit_code == 0
    assert run(tmp_path / "many", "load", dump, "--embedder", "none").exit_code == 0
    files = [tmp_path / f"{number}.vectors" for number in (1, 2, 3)]
    said = [
        run(
            *(tmp_path / "unused", "embed", "--shard", f"{number}/3", dump, "--to", file),
            *("--embedder", embedder),
        )
        for number, file in enumerate(files, start=1)
    ]
    assert [each.exit_code for each in said] == [0, 0, 0], [each.output for each in said]
    assert sum(int(each.output.split()[0]) for each in said) == 81
    assert not (tmp_path / "unused").exists()
    assert vectors(tmp_path / "many") == []
    taken = run(tmp_path / "many", "embed", "--embedder", embedder, *files)
    assert taken.output == "81 texts found in the files, 0 embedded here\n", taken.stderr
    assert vectors(tmp_path / "many") == vectors(tmp_path / "one") != []
    with redask.open(tmp_path / "one", embedder=embedder) as db:
        expected = db.search("which boats are in harbour 7?").to_dict()
    with redask.open(tmp_path / "many", embedder=embedder) as db:
        assert db.search("which boats are in harbour 7?").to_dict() == expected
        assert db.doctor()["embedding"]["pending"] == 0


def test_what_changed_since_the_dump_is_embedded_here(tmp_path: Path, dump: Path) -> None:
    run(tmp_path / "db", "load", dump, "--embedder", "none")
    for number in (1, 2):
        redask_shard(dump, f"{number}/2", tmp_path / str(number))
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put("boats", [{"id": 0, "name": "sunk"}, {"id": "new", "name": "ferry"}], wait=False)
    done = run(tmp_path / "db", "embed", "--embedder", "hashed", tmp_path / "1", tmp_path / "2")
    assert done.output == "80 texts found in the files, 2 embedded here\n"
    with redask.open(tmp_path / "other", embedder="hashed") as db:
        db.load(dump)
        db.put("boats", [{"id": 0, "name": "sunk"}, {"id": "new", "name": "ferry"}])
    assert vectors(tmp_path / "db") == vectors(tmp_path / "other")


def redask_shard(dump: Path, shard: str, to: Path) -> int:
    from redask.api.keeping import embed_shard

    return embed_shard(dump, shard, to=to, embedder="hashed")


def test_a_hidden_column_is_in_no_shard(tmp_path: Path, dump: Path) -> None:
    redask_shard(dump, "1/1", tmp_path / "v")
    held = (tmp_path / "v").read_bytes()
    assert sha256(b"Ana").digest() in held
    assert sha256(b"Ana\nearns a lot").digest() not in held


def test_without_files_what_is_pending_is_embedded(tmp_path: Path) -> None:
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put("boats", ROWS[:3], wait=False)
    assert run(tmp_path / "db", "embed", "--embedder", "hashed").output == "3 embedded\n"
    assert run(tmp_path / "db", "embed", "--embedder", "hashed").output == "0 embedded\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--shard", "4/3", "DUMP", "--to", "out"], "'4/3' is no shard"),
        (["--shard", "1/3", "DUMP"], "a shard needs one dump"),
        (["--to", "out", "DUMP"], "a shard needs one dump"),
        (["--shard", "1/3", "--to", "out"], "a shard needs one dump"),
        (["--shard", "1/3", "DUMP", "--to", "DUMP"], "not written over its dump"),
        (["--shard", "1/3", "DUMP", "--to", "out", "--embedder", "none"], "of this machine"),
        (
            ["--shard", "1/3", "DUMP", "--to", "out", "--embedder", "openai_compatible"],
            "of this machine",
        ),
        (["--shard", "1/3", "missing", "--to", "out"], "cannot be read"),
    ],
)
def test_a_shard_that_cannot_be_made_is_refused_and_leaves_nothing(
    tmp_path: Path, dump: Path, words: list[str], message: str
) -> None:
    places = {"DUMP": str(dump), "out": str(tmp_path / "out"), "missing": str(tmp_path / "missing")}
    before = dump.read_bytes()
    done = run(tmp_path / "db", "embed", *(places.get(word, word) for word in words))
    assert done.exit_code == 2
    assert message in done.stderr
    assert dump.read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_a_damaged_dump_gives_no_shard(tmp_path: Path, dump: Path) -> None:
    lines = dump.read_text().splitlines(keepends=True)
    for damaged in (lines[:-1], [lines[0], *lines[2:]]):
        dump.write_text("".join(damaged))
        with pytest.raises(BadAsk, match="the dump"):
            redask_shard(dump, "1/1", tmp_path / "v")
    assert not (tmp_path / "v").exists()


def test_a_record_whose_payload_is_no_object_gives_no_shard(tmp_path: Path) -> None:
    head = '{"redask_dump":1,"made_by":"0"}\n'
    line = '{"kind":"entity","urn":"urn:reddb:row:boats/1","payload":3}\n'
    end = {"kind": "end", "records": 1, "sha256": sha256((head + line).encode()).hexdigest()}
    (tmp_path / "dump").write_text(f"{head}{line}{json.dumps(end)}\n")
    with pytest.raises(BadAsk, match="line 2 of the dump"):
        redask_shard(tmp_path / "dump", "1/1", tmp_path / "v")


def test_a_damaged_file_and_one_of_another_model_change_nothing(tmp_path: Path, dump: Path) -> None:
    db, good, bad = tmp_path / "db", tmp_path / "good", tmp_path / "bad"
    run(db, "load", dump, "--embedder", "none")
    redask_shard(dump, "1/2", good)
    redask_shard(dump, "2/2", bad)
    content = bytearray(bad.read_bytes())
    content[300] ^= 1
    bad.write_bytes(content)
    done = run(db, "embed", "--embedder", "hashed", good, bad)
    assert (done.exit_code, "was changed or damaged" in done.stderr) == (2, True)
    other = run(db, "embed", "--embedder", "minilm", good)
    assert (other.exit_code, "vectors of two never mix" in other.stderr) == (2, True)
    assert vectors(db) == []
    with (
        redask.open(db, embedder="none") as opened,
        pytest.raises(Misconfigured, match="an embedder of this machine only"),
    ):
        opened.take_vectors(good)
