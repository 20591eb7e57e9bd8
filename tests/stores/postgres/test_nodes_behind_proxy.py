"""HAProxy in front of two `redask serve` on a primary, one of which reads a standby that lags."""

import re
from pathlib import Path

import httpx
import pytest
from haproxy import proxy
from postgres_cluster import Cluster
from served import Served
from waiting import SECONDS, until

import redask
from redask.core.settings import load

SETTINGS = load('[embedder]\nname = "none"', {})


class Node(Served):
    words = ("serve", "--port", "0", "--no-grpc", "--no-pg")


def put(url: str, number: int, word: str) -> None:
    with redask.open(url, settings=SETTINGS) as db:
        db.put("calls", [{"id": number, "note": f"The pilot saw the {word}."}])


def filled(url: str) -> dict[str, str]:
    """→ the headers of a reader"""
    put(url, 1, "lighthouse")
    with redask.open(url, settings=SETTINGS) as db:
        db.add_user("ann", role="reader")
        return {"authorization": f"Bearer {db.make_token('ann')}"}


def test_a_node_whose_standby_lags_says_so_gets_no_questions_and_would_answer_rightly(
    servers: Cluster, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDASK_EMBEDDER_NAME", "none")
    url, standby = servers.primary.url(name), servers.standbys[0]
    headers = filled(url)
    assert servers.replayed(standby)
    read_url = {"REDASK_READ_URL": standby.url(name)}
    with (
        Node(Path(f"{url}?application_name=a"), **read_url) as first,
        Node(Path(f"{url}?application_name=b")) as second,
        proxy(tmp_path, [first.addresses[0], second.addresses[0]], checks=True) as front,
    ):

        def asked(where: str, word: str) -> httpx.Response:
            question = {"question": f"Who saw the {word}?"}
            return httpx.post(f"{where}/v1/ask", json=question, headers=headers, timeout=SECONDS)

        def answering(word: str) -> set[str]:
            """The nodes that answer, as the proxy's cookie names them."""
            try:
                told = [asked(front, word) for _ in range(6)]
            except httpx.HTTPError:
                return set()
            assert all(word in each.text for each in told if each.status_code == 200)
            cookies = " ".join(each.headers.get("set-cookie", "") for each in told)
            return set(re.findall("node[12]", cookies))

        def reasons() -> tuple[int, str]:
            found = httpx.get(f"{first.addresses[0]}/readyz", timeout=SECONDS)
            return found.status_code, found.text

        assert until(lambda: answering("lighthouse") == {"node1", "node2"})
        standby.execute("SELECT pg_wal_replay_pause()")
        try:
            put(url, 2, "iceberg")
            assert "iceberg" in asked(first.addresses[0], "iceberg").text  # by the primary
            assert until(lambda: "lagging" in reasons()[1])
            status, text = reasons()
            assert (status, "lag_bytes" in text) == (200, True)
            assert until(lambda: answering("iceberg") == {"node2"})
        finally:
            standby.execute("SELECT pg_wal_replay_resume()")
        assert until(lambda: answering("iceberg") == {"node1", "node2"})
