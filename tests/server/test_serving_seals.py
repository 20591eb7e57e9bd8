"""A server seals by itself, at an interval and when it stops; a sink that fails stops no answer."""

import json
from pathlib import Path

import httpx
from sealed import new_key
from served import Served, fill
from waiting import SECONDS, until

import redask
from redask.core.rules.audit_chain import Intact


class Serve(Served):
    """HTTP alone."""

    words = ("serve", "--port", "0", "--no-pg", "--no-grpc")


def ask(server: Serve, token: str) -> httpx.Response:
    return httpx.post(
        f"{server.addresses[0]}/v1/ask",
        json={"question": "When does the ferry leave?"},
        headers={"Authorization": f"Bearer {token}"},
        timeout=SECONDS,
    )


def sizes(out: Path) -> list[int]:
    """How many asks each checkpoint in the file holds."""
    lines = out.read_text().splitlines() if out.exists() else []
    return [each["size"] for each in map(json.loads, lines) if each["log"] == "ask"]


def test_it_seals_while_it_runs_and_when_it_stops(tmp_path: Path) -> None:
    tokens = fill(tmp_path / "db", f"[ask]\ntimeout_ms = {SECONDS * 1000:.0f}\n")
    token, key, out = tokens["mia"], new_key(tmp_path), tmp_path / "no" / "out"
    env = {"REDASK_AUDIT_SEAL_KEY": str(key), "REDASK_AUDIT_SEAL_FILE": str(out)}
    with Serve(tmp_path / "db", **env, REDASK_AUDIT_SEAL_EVERY="1s") as server:
        assert ask(server, token).status_code == 200  # though the sink fails
        out.parent.mkdir()
        assert until(lambda: 1 in sizes(out))
        assert ask(server, token).status_code == 200
        assert until(lambda: 2 in sizes(out))
    with Serve(tmp_path / "db", **env, REDASK_AUDIT_SEAL_EVERY="1d") as server:
        assert ask(server, token).status_code == 200
    assert sizes(out)[-1] == 3
    with redask.open(tmp_path / "db") as db:
        verdict = db.verify_audit(checkpoints=out, keys=[f"{key}.pub"])
    assert isinstance(verdict, Intact)
