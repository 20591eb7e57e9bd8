"""`redask audit` keygen, seal, prove, export, verify and erase, as a person uses them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import redask
from redask.cli import main
from redask.cli.opening import utc_time


def run(directory: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["--db", str(directory / "data"), "audit", *words])


def said(directory: Path, *words: str) -> str:
    """What a command prints that succeeds."""
    result = run(directory, *words)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database with three rows in one log and one in the other, and a key."""
    with redask.open(tmp_path / "data", embedder="none") as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        for question in ("When does it leave?", "Who is Zoë?", "And who is not?"):
            db.ask(question)
        db.select("SELECT * FROM notes")
    said(tmp_path, "keygen", str(tmp_path / "key.pem"))
    monkeypatch.setenv("REDASK_AUDIT_SEAL_KEY", str(tmp_path / "key.pem"))
    monkeypatch.setenv("REDASK_AUDIT_SEAL_FILE", str(tmp_path / "out"))
    return tmp_path


def test_from_the_key_to_a_proof_that_is_checked_elsewhere(world: Path) -> None:
    sealed = said(world, "seal")
    assert "access log, tenant local: 1 rows sealed" in sealed
    assert "ask log, tenant local: 3 rows sealed" in sealed
    said(world, "prove", "2", "--output", str(world / "proof"))
    key = str(world / "key.pem.pub")
    alone = ("verify", "--proof", str(world / "proof"), "--key", key)
    elsewhere = CliRunner().invoke(main, ["--db", str(world / "none"), "audit", *alone])
    newest = json.loads((world / "out").read_text().splitlines()[-1])
    assert elsewhere.exit_code == 0
    assert elsewhere.output.splitlines() == [
        "the proof holds: ask log, tenant local: row 2 is among the 3 records",
        f"  3 records sealed at {utc_time(newest['ts'])} UTC, root {newest['root']}, "
        f"key {newest['key']}",
    ]
    programs = json.loads(said(world, *alone, "--json"))
    assert programs == {"checkpoint": newest, "ok": True, "proves": "inclusion", "seq": 2}
    assert "Zoë" in (world / "proof").read_text(encoding="utf-8")
    assert (world / "proof").stat().st_mode & 0o777 == 0o600
    changed = (world / "proof").read_text(encoding="utf-8").replace("Zoë", "Zoe")
    (world / "proof").write_text(changed, encoding="utf-8")
    broken = run(world, *alone)
    assert broken.exit_code == 9
    assert broken.output.startswith("BROKEN: row 2 as the proof has it is not in the log")
    access = said(world, "prove", "1", "--log", "access")
    assert json.loads(access)["record"]["row"]["action"] == "select"


def test_the_log_and_its_export_are_verified_against_checkpoints(world: Path) -> None:
    said(world, "seal")
    head = said(world, "verify").split("head ")[1].split()[0]
    with redask.open(world / "data", embedder="none") as db:
        db.ask("What else?")
    out, key = str(world / "out"), str(world / "key.pem.pub")
    assert "4 rows, all as written" in said(world, "verify", "--checkpoint", out, "--head", head)
    said(world, "verify", "--checkpoint", out, "--log", "access")
    [last] = [
        each
        for each in map(json.loads, (world / "out").read_text().splitlines())
        if each["log"] == "ask"
    ]
    for words in (("--checkpoint", out), ("--checkpoint", out, "--checkpoint", out)):
        many = "1 checkpoint" if len(words) == 2 else "2 checkpoints"
        assert said(world, "verify", *words).splitlines()[1:] == [
            f"ask log, tenant local: {many} checked, signed with a trusted key; the log of 4 "
            "records begins with what was sealed",
            f"  3 records sealed at {utc_time(last['ts'])} UTC, root {last['root']}, "
            f"key {last['key']}",
            f"not looked at, of another log or tenant: {len(words) // 2} of the checkpoints",
        ]
    programs = json.loads(said(world, "verify", "--checkpoint", out, "--json"))
    assert programs["checkpoints"] == [{"count": 1, "last": last}]
    assert json.loads(said(world, "verify", "--json"))["checkpoints"] == []
    said(world, "export", "--records", "--output", str(world / "log"))
    offline = ("verify", "--export", str(world / "log"), "--checkpoint", out, "--key", key)
    assert said(world, *offline).startswith("4 rows, all as written")
    assert "does not remember" not in said(world, *offline)
    said(world, "seal")
    said(world, "prove", "--since", out, "--output", str(world / "grown"))
    grown = said(world, "verify", "--proof", str(world / "grown"), "--key", key)
    assert "tenant local: the log of 4 records begins with that of 3\n" in grown
    assert grown.count(" records sealed at ") == 2
    lines = (world / "log").read_text(encoding="utf-8").splitlines(keepends=True)
    (world / "log").write_text("".join(lines[:-1]), encoding="utf-8")
    cut = run(world, *offline, "--json")
    assert cut.exit_code == 9
    assert json.loads(cut.output) == {
        "ok": False,
        "reason": "row 4 is missing",
        "seq": 4,
        "tenant": "local",
    }
    lost = run(world, "verify", "--head", "ab" * 32)
    assert (lost.exit_code, "no row has the hash abab" in lost.output) == (9, True)


def test_what_is_erased_is_shown_as_such_and_the_log_verifies(world: Path) -> None:
    said(world, "seal")
    words = ("erase", "2", "--field", "question", "--field", "user", "--reason", "request 12")
    assert said(world, *words) == "erased from row 2, and on record: provenance, question, user\n"
    assert said(world, *words) == "row 2 has none of it any more\n"
    listed = said(world, "list").splitlines()
    assert listed[1].split()[3:] == ["[erased]", "extractive", "refused:no_sources", "[erased]"]
    shown = json.loads(said(world, "show", "2", "--json"))
    assert (shown["row"]["question"], shown["erased"]) == (None, ["provenance", "question", "user"])
    verified = said(world, "verify", "--checkpoint", str(world / "out"))
    assert "tenant local: rows with erased values: 1" in verified
    assert "Zoë" not in said(world, "export") + said(world, "export", "--records")
    said(world, "erase", "1", "--log", "access", "--field", "subject", "--reason", "r")
    assert "select  ok  [erased]" in said(world, "list", "--log", "access")
    with redask.open(world / "data", embedder="none") as db:
        rows = list(db.select('SELECT seq, question, "user" FROM red_ask_audit ORDER BY seq'))
    assert [tuple(row.values()) for row in rows][1] == (2, None, None)


@pytest.mark.parametrize(
    ("words", "exit_code", "fault"),
    [
        (("prove",), 2, "give the number of a row, or --since FILE"),
        (("prove", "1"), 2, "row 1 is not sealed yet"),
        (("prove", "--since", "{0}/none"), 2, "cannot be read: No such file"),
        (("prove", "--since", "{0}/key.pem.pub"), 2, "line 1: it is no JSON"),
        (("verify", "--checkpoint", "{0}/key.pem"), 2, "line 1: it is no JSON"),
        (("verify", "--proof", "{0}/key.pem"), 2, "say with which public key"),
        (("verify", "--proof", "{0}/key.pem", "--key", "x"), 2, "no public key of 64 hex digits"),
        (("verify", "--proof", "{0}/key.pem", "--key", "{0}/key.pem.pub"), 2, "it is no proof"),
        (("verify", "--proof", "x", "--head", "x"), 2, "a proof is checked alone"),
        (("verify", "--export", "{0}/key.pem"), 2, "line 1: it is no line of an export"),
        (("keygen", "{0}/key.pem"), 2, "cannot be made: File exists"),
        (("erase", "9", "--field", "question", "--reason", "r"), 2, "there is no audit row 9"),
        (("erase", "1", "--field", "ts", "--reason", "r"), 2, "'ts' cannot be erased from row 1"),
        (("erase", "1", "--field", "question", "--reason", " "), 2, "has a reason of 1 to 1000"),
    ],
)
def test_bad_input_is_told_in_one_line(
    world: Path, words: tuple[str, ...], exit_code: int, fault: str
) -> None:
    result = run(world, *(word.format(world) for word in words))
    assert result.exit_code == exit_code, result.output
    assert fault in result.output
    assert "Traceback" not in result.output


def test_a_sink_that_fails_is_told_and_so_it_is_by_doctor(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDASK_AUDIT_SEAL_FILE", str(world / "no" / "out"))
    result = run(world, "seal")
    assert result.exit_code == 9
    assert "audit.seal.file cannot be written: No such file" in result.output
    assert "rows sealed" in result.output
    doctor = CliRunner().invoke(main, ["--db", str(world / "data"), "doctor"])
    assert doctor.exit_code == 9
    assert "PROBLEM checkpoints: file" in doctor.output
    monkeypatch.delenv("REDASK_AUDIT_SEAL_FILE")
    lines = said(world, "seal", "--json").splitlines()
    assert [json.loads(line)["log"] for line in lines] == ["access", "ask"]


def test_a_directory_that_was_handed_over_says_nothing_of_keys_and_sinks(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REDASK_AUDIT_SEAL_FILE")
    (world / "data" / "redask.toml").write_text('[audit.seal]\ncommand = "touch /tmp/x"\n')
    result = run(world, "seal")
    assert result.exit_code == 7, result.output
    assert "audit.seal.command is not taken from a database's directory" in result.output
