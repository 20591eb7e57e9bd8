"""Sealing an open database: what fails costs no answer, is told by `doctor`, and is tried again."""

import json
import shlex
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sealed import new_key
from waiting import until

import redask
from redask.core.errors import BadAsk, Denied, Misconfigured, StoreFailed
from redask.core.model import Caller
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.sealing_settings import SealingSettings
from redask.core.settings import Settings
from redask.engine.auditing.sealing_thread import SealingThread
from redask.providers.sealing.ed25519_keys import KeyFile
from redask.stores.sqlite.calls_migrations import CALLS_FILE


def opened(directory: Path, **sealing: str) -> redask.OpenDatabase:
    chosen = Settings(sealing=SealingSettings(**sealing))  # type: ignore[arg-type]
    return redask.open(directory / "data", settings=chosen, embedder="none")


def sealed(directory: Path, rows: int = 3) -> Path:
    """A database whose rows were sealed into `out`. → its key"""
    key = new_key(directory)
    with opened(directory, key=str(key), file=str(directory / "out")) as db:
        for number in range(rows):
            db.ask(f"What is {number}?")
        db.seal_audit()
    return key


def test_it_is_done_at_once_at_every_interval_and_when_it_is_closed() -> None:
    times = threading.Semaphore(0)

    def work() -> bool:
        times.release()
        return True

    thread = SealingThread(work, 0.01)
    for _ in range(3):
        assert times.acquire(timeout=60)
    thread.close()
    rare = SealingThread(work, 3600)
    assert times.acquire(timeout=60)
    while times.acquire(blocking=False):
        pass
    rare.close()
    assert times.acquire(blocking=False)


@pytest.mark.parametrize("fails", [True, False])
def test_what_was_not_done_is_tried_again_before_the_interval_is_over(
    monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    monkeypatch.setattr("redask.engine.auditing.sealing_thread.RETRY_SECONDS", 0.01)
    times: list[int] = []

    def work() -> bool:
        times.append(1)
        if fails:
            raise StoreFailed("no signer")
        return False

    thread = SealingThread(work, 3600)
    assert until(lambda: len(times) > 3)
    thread.close()


def test_a_sink_that_fails_costs_no_answer_and_gets_the_newest_when_it_works(
    tmp_path: Path,
) -> None:
    key, out = new_key(tmp_path), tmp_path / "missing" / "out"
    with opened(tmp_path, key=str(key), file=str(out)) as db:
        db.ask("Who?")
        report = db.seal_audit()
        [problem] = report.problems
        assert "file" in problem
        assert "No such file" in problem
        assert len(report.checkpoints) == 1
        assert db.ask("What?").answer
        assert db.doctor()["problems"] == [problem]
        out.parent.mkdir()
        assert db.seal_audit().problems == ()
        assert db.doctor()["problems"] == []
    [line] = out.read_text().splitlines()
    assert json.loads(line)["size"] == 2


def test_a_signer_that_fails_is_told_by_doctor_until_it_works(tmp_path: Path) -> None:
    key = new_key(tmp_path)
    public = KeyFile(key).public
    with opened(tmp_path, signer="/nowhere/at/all", public_key=public) as db:
        db.ask("Who?")
        with pytest.raises(StoreFailed, match="cannot be run"):
            db.seal_audit()
        [problem] = db.doctor()["problems"]
        assert "signer fails: audit.seal.signer cannot be run" in problem
    program = (
        "import sys; from pathlib import Path;"
        "from redask.providers.sealing.ed25519_keys import KeyFile;"
        f"sys.stdout.write(KeyFile(Path({str(key)!r})).sign(sys.stdin.buffer.read()).hex())"
    )
    command = shlex.join([sys.executable, "-c", program])
    with opened(tmp_path, signer=command, public_key="ab" * 32) as db:
        with pytest.raises(StoreFailed, match=r"does not sign with audit\.seal"):
            db.seal_audit()
        assert db.doctor()["problems"]
    with opened(tmp_path, signer=command, public_key=f"{key}.pub") as db:
        [made] = db.seal_audit().checkpoints
        assert made["key"] == public
        assert db.doctor()["problems"] == []


def test_without_a_key_nobody_seals_and_there_is_no_problem(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.ask("Who?")
        with pytest.raises(Misconfigured, match=r"nobody signs: set audit\.seal"):
            db.seal_audit()
        assert db.doctor()["problems"] == []
    with pytest.raises(Misconfigured, match="must be an https"):
        opened(tmp_path, key="k", url="http://logs.example/")


def test_a_key_that_cannot_be_used_is_told_before_anything_is_served(tmp_path: Path) -> None:
    chosen = Settings(sealing=SealingSettings(key=str(tmp_path / "none")), select_workers=0)
    with pytest.raises(Misconfigured, match="cannot be read"):
        redask.open(tmp_path / "data", settings=chosen, embedder="none", serving=True)


def test_a_log_that_does_not_begin_with_what_was_sealed_is_not_sealed_again(
    tmp_path: Path,
) -> None:
    key = sealed(tmp_path)
    with closing(sqlite3.connect(tmp_path / "data" / CALLS_FILE, isolation_level=None)) as file:
        [(hashes,)] = file.execute("SELECT hashes FROM audit_tiles WHERE level = 0").fetchall()
        file.execute("UPDATE audit_tiles SET hashes = ?", (bytes(32) + hashes[32:],))
    with opened(tmp_path, key=str(key)) as db:
        db.ask("Who?")
        with pytest.raises(StoreFailed, match="is not what was sealed, so nothing is sealed"):
            db.seal_audit()
        assert isinstance(db.verify_audit(), Broken)


def test_verify_takes_checkpoints_a_head_and_the_operators_key(tmp_path: Path) -> None:
    key, out = sealed(tmp_path), tmp_path / "out"
    with opened(tmp_path, key=str(key)) as db:
        verdict = db.verify_audit(checkpoints=out)
        assert isinstance(verdict, Intact)
        head = verdict.head.hash
        db.ask("Who?")
        assert isinstance(db.verify_audit(checkpoints=[out], head=head), Intact)
        assert isinstance(db.verify_audit(head="00" * 32), Broken)
        other = new_key(tmp_path, "other.pem")
        foreign = db.verify_audit(checkpoints=out, keys=[f"{other}.pub"])
        assert isinstance(foreign, Broken)
        assert "is not trusted" in foreign.reason
        with pytest.raises(BadAsk, match="none of the checkpoints is of the access log"):
            db.verify_audit(checkpoints=out, log="access")
    with opened(tmp_path) as db:
        with pytest.raises(BadAsk, match="say with which public key"):
            db.verify_audit(checkpoints=out)
        assert isinstance(db.verify_audit(checkpoints=out, keys=[KeyFile(key).public]), Intact)
    with opened(tmp_path, signer="s", public_key=f"{key}.pub") as db:
        assert isinstance(db.verify_audit(checkpoints=out), Intact)


def test_rows_cut_from_both_files_are_missed_by_a_checkpoint_that_was_kept(tmp_path: Path) -> None:
    """What `verify` alone cannot find: both files are put back from the same back-up."""
    key = new_key(tmp_path)
    with opened(tmp_path, key=str(key), file=str(tmp_path / "out")) as db:
        db.ask("Who?")
        db.backup(tmp_path / "backup")
        db.ask("What?")
        db.seal_audit()
    redask.restore(tmp_path / "backup", to=tmp_path / "data", overwrite=True)
    with opened(tmp_path, key=str(key)) as db:
        verdict = db.verify_audit(checkpoints=tmp_path / "out")
        assert isinstance(verdict, Broken)


def test_a_tenant_proves_and_exports_its_own_rows_only(tmp_path: Path) -> None:
    key = new_key(tmp_path)
    with opened(tmp_path, key=str(key), file=str(tmp_path / "out")) as db:
        db.ask("Who is local?")
        chosen = db._async._app.settings
        with redask.open(
            tmp_path / "data", tenant="other", settings=chosen, embedder="none"
        ) as other:
            other.ask("Who is other?")
            db.seal_audit()
            proof = json.loads(other.prove_audit(1))
            assert proof["record"]["row"]["question"] == "Who is other?"
            assert proof["checkpoint"]["tenant"] == "other"
            lines: list[str] = []
            other.export_audit_lines(lines.append)
            assert "Who is local?" not in "".join(lines)
            assert isinstance(other.verify_audit(checkpoints=tmp_path / "out"), Intact)
            with pytest.raises(Denied):
                other.seal_audit()
        lines = []
        db.export_audit_lines(lines.append)
        assert "Who is local?" in "".join(lines)
        assert "Who is other?" in "".join(lines)
        assert Caller() == Caller("local", "local", "owner")
        with pytest.raises(BadAsk, match="a row is named by its number"):
            db.prove_audit("1")  # type: ignore[arg-type]


def test_an_export_is_verified_elsewhere_with_checkpoints(tmp_path: Path) -> None:
    key, out, export = sealed(tmp_path), tmp_path / "out", tmp_path / "log.jsonl"
    with opened(tmp_path, key=str(key)) as db:
        assert db.export_audit(export) == 4
        head = db.audit(1)[0].hash
    keys = [f"{key}.pub"]
    verdict = redask.verify_export(export, checkpoints=out, keys=keys, head=head)
    assert isinstance(verdict, Intact)
    assert verdict.rows == 3
    assert isinstance(redask.verify_export(export, head="00" * 32), Broken)
    text = export.read_text(encoding="utf-8")
    export.write_text(text.replace("What is 1?", "What is 2?"), encoding="utf-8")
    changed = redask.verify_export(export)
    assert changed == Broken(2, "row 2 is not what was written", "local")
    export.write_text("", encoding="utf-8")
    for bad, what in ((export, "holds no chain"), (tmp_path, "cannot be read"), (key, "line 1")):
        with pytest.raises(BadAsk, match=what):
            redask.verify_export(bad)
    export.write_text(text, encoding="utf-8")
    with pytest.raises(BadAsk, match="say with which public key"):
        redask.verify_export(export, checkpoints=out)
    with pytest.raises(BadAsk, match=r"line 1: it is no JSON"):
        redask.verify_export(export, checkpoints=key, keys=keys)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(BadAsk, match="is no text file"):
        redask.verify_export(export, checkpoints=tmp_path / "bytes", keys=keys)
    lone = json.loads(out.read_text())
    out.write_text(json.dumps({**lone, "tenant": "nobody"}))
    with pytest.raises(BadAsk, match="none of the checkpoints is of a chain of the file"):
        redask.verify_export(export, checkpoints=out, keys=keys)
