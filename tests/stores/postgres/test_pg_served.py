"""Two `redask serve` on one PostgreSQL, which goes away and comes back: what callers are told."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from real_postgres import private_postgres
from served import Served
from waiting import SECONDS, until

import redask
from redask.core.rules.audit_chain import Intact
from redask.core.settings import load

PASSWORD = "hun#t?er[2"
QUESTION = {"question": "Why was the pilot late?"}
SETTINGS = load('[embedder]\nname = "none"', {})


@contextmanager
def stopped(where: dict[str, Any]) -> Iterator[None]:
    """The server takes no connection inside, and all it had are gone."""
    with psycopg.connect(**where) as connection:
        (data,) = connection.execute("SHOW data_directory").fetchone() or ("",)
    server = int(Path(data, "postmaster.pid").read_text().split()[0])
    os.kill(server, signal.SIGSTOP)
    try:
        for child in Path(f"/proc/{server}/task/{server}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        yield
    finally:
        os.kill(server, signal.SIGCONT)


def test_without_the_primary_every_node_says_503_and_with_it_answers_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDASK_LOCAL_DIRECTORY", str(tmp_path / "local"))
    with private_postgres(tcp=True) as where, ExitStack() as nodes:
        with psycopg.connect(**where, autocommit=True) as connection:
            connection.execute("CREATE ROLE redask LOGIN")
            connection.execute("CREATE DATABASE answers OWNER redask")
        url = f"postgresql://redask:{PASSWORD}@{where['host']}:{where['port']}/answers"
        with redask.open(url, settings=SETTINGS) as db:
            db.put("calls", [{"id": 1, "note": "The pilot came late because of the fog."}])
            db.add_user("olga", role="owner")
            headers = {"authorization": f"Bearer {db.make_token('olga')}"}
        servers = [nodes.enter_context(Served(Path(url))) for _ in range(2)]

        def asked() -> list[httpx.Response]:
            return [
                httpx.post(
                    f"{each.addresses[0]}/v1/ask", json=QUESTION, headers=headers, timeout=SECONDS
                )
                for each in servers
            ]

        told = asked()
        assert [each.status_code for each in told] == [200, 200]
        with stopped(where):
            told += (refused := asked())
            assert [each.status_code for each in refused] == [503, 503]
            kinds = {each.json()["error"]["kind"] for each in refused}
            assert kinds <= {"store_failed", "audit_unavailable"}

        def answered() -> bool:
            told.extend(found := asked())
            return [each.status_code for each in found] == [200, 200]

        assert until(answered), "it did not come back"
        with redask.open(url, settings=SETTINGS) as db:
            assert isinstance(db.verify_audit(), Intact)
            rows = db.audit(limit=1000)
        assert len(rows) >= sum(each.status_code == 200 for each in told)
        for text in (*(each.text for each in told), *(str(each.stderr()) for each in servers)):
            assert "hun" not in text
            assert "er[2" not in text
