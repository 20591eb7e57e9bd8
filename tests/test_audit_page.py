"""docs/audit.md: its verifiers agree with ours, on a whole log and on a changed one."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sealed import new_key

import redask
from redask.core.rules.audit_chain import Intact
from redask.core.sealing_settings import SealingSettings
from redask.core.settings import Settings

PAGE = Path(__file__).parents[1] / "docs" / "audit.md"
DAY_NS = 86_400 * 10**9
PROVEN = (0, 4, 5)  # of the newest rows, of which the last has an erased value
VERIFIER, PROVES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of which retention took rows, with an erased value; its export, checkpoints, proofs."""
    directory, now = tmp_path_factory.mktemp("page"), [0]
    sealing = SealingSettings(key=str(new_key(directory)), file=str(directory / "checkpoints"))
    settings = Settings(audit_retention_days=10, sealing=sealing)
    for days in (range(20), range(20, 31), range(31, 33)):
        with redask.open(
            directory / "data", settings=settings, embedder="none", clock=lambda: now[0]
        ) as db:
            for day in days:
                now[0] = (20_000 + day) * DAY_NS
                db.ask(f"What does Zoë do on day {day}?")
            db.seal_audit()
    with redask.open(directory / "data", settings=settings, embedder="none") as db:
        rows = [entry.seq for entry in db.audit(9)]  # records of prunings stand between them
        db.erase_audit(rows[5], ["question"], reason="request 12")
        db.seal_audit()
        for place in PROVEN:
            proof = db.prove_audit(rows[place])
            (directory / f"proof{place}").write_text(proof, encoding="utf-8")
        db.export_audit(directory / "export")
    return directory


def run(program: str, *given: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", program, *map(str, given)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def verified(world: Path, export: str, checkpoints: str | None = None) -> str:
    """What the printed verifier says; of files with this content."""
    (world / "given").write_text(export, encoding="utf-8")
    kept = (world / "checkpoints").read_text(encoding="utf-8")
    (world / "sealed").write_text(kept if checkpoints is None else checkpoints, encoding="utf-8")
    done = run(VERIFIER, world / "given", world / "sealed", world / "key.pem.pub")
    return done.stdout if done.returncode == 0 else done.stderr.splitlines()[-1]


def test_the_printed_verifier_verifies_and_finds_what_was_changed(world: Path) -> None:
    export = (world / "export").read_text(encoding="utf-8")
    checkpoints = (world / "checkpoints").read_text(encoding="utf-8")
    assert '{"leaves":' in export
    assert '"erased":{"provenance":' in export
    assert isinstance(redask.verify_export(world / "export"), Intact)
    whole = verified(world, export)
    assert "ask local rows up to" in whole
    assert whole.count("sealed with") == checkpoints.count('"log":"ask"') == 4
    changed = verified(world, export.replace("on day 30?", "on day 31?"))
    [line] = [line for line in export.splitlines() if "on day 30?" in line]
    assert changed == f"AssertionError: row {json.loads(line)['seq']} is not what was written"
    assert "is missing" in verified(world, "".join(export.splitlines(keepends=True)[:-1]))
    unnoted = "\n".join(line for line in export.splitlines() if '"kind":"erased"' not in line)
    assert "AssertionError" in verified(world, unnoted)
    assert "InvalidSignature" in verified(world, export, checkpoints.replace('"size":', '"size":1'))
    forged = re.sub('"leaves":\\["....', '"leaves":["0000', export, count=1)
    assert verified(world, forged) == "AssertionError: pruned rows"


@pytest.mark.parametrize("place", PROVEN)
def test_the_printed_check_of_a_proof_agrees(world: Path, place: int) -> None:
    functions = VERIFIER.split("export, checkpoints, key")[0]
    program = f"{functions}\n{PROVES}\nprint(proves(json.load(open(sys.argv[1]))))"
    assert run(program, world / f"proof{place}").stdout == "True\n"
    assert redask.verify_proof(world / f"proof{place}", keys=[f"{world}/key.pem.pub"]) is None
    text = (world / f"proof{place}").read_text(encoding="utf-8")
    (world / "changed").write_text(text.replace('"retry_count":0', '"retry_count":1'))
    assert run(program, world / "changed").stdout == "False\n"
