"""A dump is a tenant's data and nothing else; loaded, it is the same under the same policies."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main
from redask.core.errors import BadAsk, Denied

POLICY = {"read": [{"roles": ["support"], "rows": "region = 'north'"}]}


def filled(directory: Path) -> Path:
    with redask.open(directory) as db:
        one, two, three = db.put(
            "notes",
            [
                {"id": 1, "text": "the ferry leaves at nine", "region": "north", "price": 1.50},
                {"id": 2, "text": "die Fähre", "region": "south", "big": 2**70},
                {"id": 3, "text": "", "region": "north", "deep": {"a": [None, True, "\u2028"]}},
            ],
        )
        edge = db.link(one, "next to", two)
        db.link(edge, "said in", three)
        db.add_user("mia", role="support", attributes={"region": "north"})
        db.make_token("mia")
        db.set_policy("notes", POLICY)
        db._async._app.backend.store.set_language("notes", "en", redask.Caller())
        db.fix_type("notes.price", "float8")
        db.ask("When does the ferry leave?")
    return directory


def answers(db: redask.OpenDatabase) -> list[object]:
    found: list[object] = []
    for reader in (db, db.signed_in(db.make_token("mia"))):
        found.append(reader.search("ferry").buckets)
        found.append(reader.select("SELECT * FROM notes ORDER BY id"))
        found.append(reader.ask("When does the ferry leave?").to_dict())
    return found


def test_what_is_loaded_is_the_same_data_for_the_same_people(tmp_path: Path) -> None:
    first, again = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    with redask.open(filled(tmp_path / "db")) as db:
        counts = db.dump(first)
        expected = answers(db)
    with redask.open(tmp_path / "new") as db:
        assert db.load(first) == counts
        assert db.doctor()["problems"] == []
        assert answers(db) == expected
        watermark = db.doctor()["store"]["watermark"]
        db.load(first)
        assert db.doctor()["store"]["watermark"] == watermark, "loading twice changed something"
        db.dump(again)
    assert (counts.users, counts.policies, counts.entities) == (1, 1, 5)
    assert first.read_bytes() == again.read_bytes()


def test_a_dump_has_no_secrets_and_ends_in_its_checksum(tmp_path: Path) -> None:
    with redask.open(filled(tmp_path / "db")) as db:
        token = db.make_token("mia")
        db.dump(tmp_path / "dump.jsonl")
    whole = (tmp_path / "dump.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    assert token.encode() not in whole
    assert b"leave?" not in whole  # the audit log is not in it
    assert json.loads(lines[0]) == {"redask_dump": 1, "made_by": redask.__version__}
    kinds = [json.loads(line)["kind"] for line in lines[1:-1]]
    assert kinds == ["user", "column_type", "language", "policy", *["entity"] * 5]
    assert json.loads(lines[-1]) == {
        "kind": "end",
        "records": 9,
        "sha256": sha256(b"".join(lines[:-1])).hexdigest(),
    }


def test_vectors_that_were_given_are_data(tmp_path: Path) -> None:
    entity = {"kind": "entity", "urn": "urn:reddb:vector:v/1", "payload": {}, "vector": [0.6, 0.8]}
    lines = [{"redask_dump": 1, "made_by": "test"}, entity]
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    end = {"kind": "end", "records": 1, "sha256": sha256(body).hexdigest()}
    (tmp_path / "one.jsonl").write_bytes(body + json.dumps(end).encode() + b"\n")
    with redask.open(tmp_path / "db") as db:
        db.load(tmp_path / "one.jsonl")
        assert db.doctor()["store"]["vectors"] == 1
        db.dump(tmp_path / "two.jsonl")
    with redask.open(tmp_path / "new") as db:
        db.load(tmp_path / "two.jsonl")
        assert db.doctor()["store"]["vectors"] == 1


def test_a_dump_is_of_one_state(tmp_path: Path) -> None:
    lines: list[str] = []
    with redask.open(filled(tmp_path / "db")) as db, redask.open(tmp_path / "db") as other:

        def write(line: str) -> None:
            lines.append(line)
            if len(lines) == 2:
                other.delete("urn:reddb:row:notes/1", "urn:reddb:row:notes/2")

        db.dump_lines(write)
        assert db.get("urn:reddb:row:notes/1") is None
    assert len(lines) == 11
    (tmp_path / "dump.jsonl").write_text("".join(lines), encoding="utf-8")
    with redask.open(tmp_path / "new") as db:
        assert db.load(tmp_path / "dump.jsonl").entities == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "not whole"),
        (lambda lines: [], "not whole"),
        (lambda lines: lines[:4] + lines[5:], "checksum"),
        (lambda lines: [*lines[:5], lines[6], lines[5], *lines[7:]], "checksum"),
        (lambda lines: [line.replace("nine", "none") for line in lines], "checksum"),
        (lambda lines: [*lines, lines[2]], "follows the end"),
        (lambda lines: ["{}\n", *lines[1:]], "no dump"),
        (lambda lines: ['{"redask_dump":2}\n', *lines[1:]], "another redask"),
        (lambda lines: [lines[0], "[]\n", *lines[1:]], "no record"),
        (lambda lines: [lines[0], '{"kind":"token"}\n', *lines[1:]], "no record"),
        (lambda lines: [lines[0], '{"kind":[]}\n', *lines[1:]], "no record"),
        (lambda lines: [lines[0], "{\n", *lines[1:]], "no JSON"),
        (lambda lines: [lines[0], "[" * 100_000 + "\n", *lines[1:]], "no JSON"),
    ],
)
def test_a_dump_that_is_not_whole_writes_nothing(
    tmp_path: Path, change: object, message: str
) -> None:
    with redask.open(filled(tmp_path / "db")) as db:
        db.dump(tmp_path / "dump.jsonl")
    lines = (tmp_path / "dump.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    assert callable(change)
    text = "".join(change([f"{line.rstrip()}\n" for line in "".join(lines).split("\n")[:-1]]))
    (tmp_path / "dump.jsonl").write_text(text, encoding="utf-8")
    with redask.open(tmp_path / "new") as db:
        with pytest.raises(BadAsk, match=message):
            db.load(tmp_path / "dump.jsonl")
        assert db.doctor()["store"]["entities"] == 0
        assert db.users() == []


def test_a_file_that_cannot_be_read_or_written_is_the_callers_mistake(tmp_path: Path) -> None:
    with redask.open(tmp_path / "db") as db:
        with pytest.raises(BadAsk, match="cannot be read"):
            db.load(tmp_path / "none.jsonl")
        with pytest.raises(BadAsk, match="cannot be written"):
            db.dump(tmp_path / "none" / "dump.jsonl")


def test_only_an_owner_dumps_and_loads_and_only_the_own_tenant(tmp_path: Path) -> None:
    with redask.open(filled(tmp_path / "db")) as db:
        db.dump(tmp_path / "dump.jsonl")
        mia = db.signed_in(db.make_token("mia"))
        with pytest.raises(Denied):
            mia.dump(tmp_path / "mine.jsonl")
        with pytest.raises(Denied):
            mia.load(tmp_path / "dump.jsonl")
        assert not (tmp_path / "mine.jsonl").exists()
    with redask.open(tmp_path / "db", tenant="acme") as db:
        assert db.dump(tmp_path / "acme.jsonl").entities == 0


def test_the_commands_dump_and_load(tmp_path: Path) -> None:
    run, file = CliRunner(), tmp_path / "dump.jsonl"
    database = str(filled(tmp_path / "db"))
    done = run.invoke(main, ["--db", database, "dump", str(file)])
    assert (done.exit_code, done.output) == (0, "5 entities, 1 policies, 1 users\n")
    done = run.invoke(main, ["--db", database, "dump", "-"])
    assert done.output == file.read_text(encoding="utf-8")
    done = run.invoke(main, ["--db", str(tmp_path / "new"), "load", str(file)])
    assert (done.exit_code, done.output) == (0, "5 entities, 1 policies, 1 users\n")
    file.write_text("", encoding="utf-8")
    assert run.invoke(main, ["--db", str(tmp_path / "new"), "load", str(file)]).exit_code == 2
