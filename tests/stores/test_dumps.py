"""A dump is a tenant's data and nothing else; loaded, it is the same under the same policies."""

import json
from collections.abc import Iterator
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
    written(tmp_path / "one.jsonl", VECTOR)
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


def written(path: Path, *records: object) -> Path:
    lines = [{"redask_dump": 1, "made_by": "test"}, *records]
    body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    end = {"kind": "end", "records": len(records), "sha256": sha256(body).hexdigest()}
    path.write_bytes(body + json.dumps(end).encode() + b"\n")
    return path


def entity(urn: object, payload: object, **more: object) -> dict[str, object]:
    return {"kind": "entity", "urn": urn, "payload": payload, **more}


ROW = entity("urn:reddb:row:a/1", {"id": 1})
VECTOR = entity("urn:reddb:vector:v/1", {}, vector=[0.6, 0.8])
BAD = {
    "no URN": [entity("urn:nothing", {})],
    "a URN that is a number": [entity(7, {})],
    "a URN that stands twice": [ROW, ROW],
    "a payload that is a list": [entity("urn:reddb:row:a/2", [])],
    "half of a character": [entity("urn:reddb:row:a/2", {"a": "\ud800"})],
    "too many columns": [entity("urn:reddb:row:a/2", {f"c{n}": 1 for n in range(1501)})],
    "a vector of words": [entity("urn:reddb:vector:v/1", {}, vector=["x"])],
    "a vector that is a number": [entity("urn:reddb:vector:v/1", {}, vector=7)],
    "vectors of two lengths": [VECTOR, entity("urn:reddb:vector:v/2", {}, vector=[1.0])],
    "an edge to nothing": [
        ROW,
        entity(
            "urn:reddb:edge:a/x",
            {"from": "urn:reddb:row:a/1", "to": "urn:reddb:row:a/9", "label": "l"},
        ),
    ],
    "a role that is no text": [{"kind": "user", "name": "eve", "role": 7, "attributes": {}}],
    "attributes that are a list": [{"kind": "user", "name": "e", "role": "r", "attributes": []}],
    "a user who stands twice": 2 * [{"kind": "user", "name": "e", "role": "r", "attributes": {}}],
    "no policy": [{"kind": "policy", "collection": "a", "document": {"read": 7}}],
    "a policy that is taken away": [{"kind": "policy", "collection": "a", "document": None}],
    "a collection that is a list": [{"kind": "policy", "collection": [], "document": POLICY}],
    "a language that is a number": [{"kind": "language", "collection": "a", "language": 7}],
    "no type": [{"kind": "column_type", "collection": "a", "key": "b", "type": "nothing"}],
    "a type that is a list": [{"kind": "column_type", "collection": "a", "key": "b", "type": []}],
}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[redask.OpenDatabase]:
    with redask.open(tmp_path_factory.mktemp("held") / "db") as db:
        db.add_user("mia", role="support")
        yield db


@pytest.mark.parametrize("records", BAD.values(), ids=BAD)
def test_a_dump_with_one_bad_record_changes_nothing(
    tmp_path: Path, held: redask.OpenDatabase, records: list[object]
) -> None:
    new = {"kind": "user", "name": "max", "role": "owner", "attributes": {}}
    file = written(tmp_path / "dump.jsonl", new, entity("urn:reddb:row:good/1", {}), *records)
    with pytest.raises(BadAsk):
        held.load(file)
    assert [(user.name, user.role) for user in held.users()] == [("mia", "support")]
    assert held.policies() == {}
    assert held.doctor()["store"]["entities"] == 0


def test_an_edge_may_join_what_the_tenant_has(tmp_path: Path) -> None:
    with redask.open(tmp_path / "db") as db:
        one, two = db.put("a", [{"id": 1}, {"id": 2}])
        edge = db.link(one, "next to", two)
        payload = json.loads(db.get(edge) or "")
        db.delete(edge)
        db.set_policy("a", {"read": [{"roles": ["support"]}]})
        db.load(written(tmp_path / "dump.jsonl", entity(edge, payload)))
        assert db.get(edge) is not None


def test_a_user_who_is_there_keeps_role_and_attributes_and_is_named(tmp_path: Path) -> None:
    users: list[object] = [
        {"kind": "user", "name": name, "role": "owner", "attributes": {}} for name in ("mia", "max")
    ]
    file = written(tmp_path / "dump.jsonl", *users)
    with redask.open(tmp_path / "db") as db:
        db.add_user("mia", role="support", attributes={"region": "north"})
        assert db.load(file).kept == ("mia",)
        found = [(user.name, user.role, dict(user.attributes)) for user in db.users()]
    assert found == [("max", "owner", {}), ("mia", "support", {"region": "north"})]
    done = CliRunner().invoke(main, ["--db", str(tmp_path / "db"), "load", str(file)])
    assert done.output == (
        "0 entities, 0 policies, 2 users\nusers who differ here stay as they are (1): mia\n"
    )


NORTH: dict[str, object] = {"read": [{"roles": ["support"], "rows": "region = 'north'"}]}
ALL: dict[str, object] = {"read": [{"roles": ["*"]}]}


def test_a_dump_replaces_no_policy_unless_asked_to_and_then_says_so(tmp_path: Path) -> None:
    policy: dict[str, object] = {"kind": "policy", "collection": "notes", "document": ALL}
    file = written(tmp_path / "dump.jsonl", policy, entity("urn:reddb:row:notes/2", {"id": 2}))
    with redask.open(tmp_path / "db") as db:
        db.put("notes", [{"id": 1, "region": "north"}])
        for before in (NORTH, None):  # another one; or none, for what is here
            db.set_policy("notes", before)
            with pytest.raises(BadAsk, match="another policy than in the dump: notes; load it"):
                db.load(file)
            assert db.policies() == ({} if before is None else {"notes": NORTH})
            assert db.get("urn:reddb:row:notes/2") is None
    words = ["--db", str(tmp_path / "db"), "load", str(file)]
    assert CliRunner().invoke(main, words).exit_code == 2
    done = CliRunner().invoke(main, [*words, "--replace-policies"])
    assert done.output == "1 entities, 1 policies, 0 users\npolicies that were replaced: notes\n"
    with redask.open(tmp_path / "db") as db:
        assert db.policies() == {"notes": ALL}
        assert db.load(file).replaced == ()  # it is the same by now


def test_a_policy_of_what_is_not_here_yet_needs_nobodys_leave(tmp_path: Path) -> None:
    policy: dict[str, object] = {"kind": "policy", "collection": "notes", "document": NORTH}
    with redask.open(tmp_path / "db") as db:
        assert db.load(written(tmp_path / "dump.jsonl", policy)).replaced == ()
        assert db.policies() == {"notes": NORTH}


def test_a_load_is_in_the_access_log_with_what_it_changes(tmp_path: Path) -> None:
    records: list[object] = [
        {"kind": "user", "name": name, "role": "owner", "attributes": {}} for name in ("mia", "max")
    ]
    records.append({"kind": "policy", "collection": "notes", "document": ALL})
    file = written(tmp_path / "dump.jsonl", *records)
    with redask.open(tmp_path / "db") as db:
        db.add_user("mia", role="support")
        db.set_policy("notes", NORTH)
        with pytest.raises(BadAsk):
            db.load(file)
        assert not [each for each in db.audit(log="access") if each.row["action"] == "load"]
        db.load(file, replace_policies=True)
        ended, begun = [each.row for each in db.audit(2, log="access")]
    assert [each["outcome"] for each in (begun, ended)] == ["begun", "ok"]
    assert (begun["action"], begun["subject"]) == ("load", "dump.jsonl")
    assert json.loads(str(begun["detail"])) == {
        "policies": ["notes"],
        "replaced": ["notes"],
        "users": ["max"],
    }


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
