"""Statements made to be slow, in worker processes: each ends, and holds nobody else up."""

import threading
from collections.abc import Iterator

import pytest
from waiting import SECONDS, until

import redask
from redask.core.errors import AskError
from redask.core.model import Caller
from redask.engine.processes.process_selector import ProcessSelector
from redask.engine.processes.worker_messages import WorkerLimits

ME = Caller()
SLOW_MS = 300
LONG_MS = int(SECONDS * 1000)
SLOW = {
    "recursion": "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n FROM c) SELECT n FROM c",
    "series": "SELECT count(*) FROM generate_series(1, 1000000000000)",
    "cross join": "SELECT count(*) FROM t a, t b, t c, t d, t e WHERE a.s < b.s || c.s || d.s",
    "cells": f"SELECT {', '.join(['s'] * 300)} FROM t a, generate_series(1, 50) n",
    "numerics": "SELECT sum(exp(n / 7.0) / 3) FROM generate_series(1, 10000000) n",
    "long texts": "SELECT count(initcap(repeat('a', 900000) || n)) FROM generate_series(1, 9999) n",
    "pattern": "SELECT count(*) FROM t a, t b WHERE repeat(a.s, 9999) ~ '(x+x+)+y'",
    "growing": "WITH RECURSIVE c(s) AS (SELECT 'a' UNION ALL SELECT s || s FROM c) SELECT s FROM c",
    "sorting": "SELECT a.s FROM t a, t b, t c ORDER BY md5(a.s || b.s || c.s) LIMIT 1",
    "aggregate": "SELECT array_agg(n) FROM generate_series(1, 100000000) n",
    "json": "SELECT jsonb_agg(a.s) FROM t a, t b, t c",
    "nesting": "SELECT " + "upper(" * 190 + "'a'" + ")" * 190,
    "joins": "SELECT 1 FROM " + ", ".join(f"t t{n}" for n in range(60)),
    "wide": "SELECT 1 FROM t WHERE " + " OR ".join(f"s LIKE '%{n}%'" for n in range(3000)),
}


@pytest.fixture(scope="module")
def selector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessSelector]:
    location = tmp_path_factory.mktemp("slow")
    with redask.open(location) as db:
        db.put("t", [{"id": n, "s": f"x{n}"} for n in range(300)])
    made = ProcessSelector(
        "redask.stores.selectors:open_selector",
        (str(location),),
        processes=2,
        limits=WorkerLimits(grace_seconds=1),
    )
    made.select("SELECT count(*) FROM t", (), ME, timeout_ms=LONG_MS)
    yield made
    made.close()


@pytest.mark.parametrize("name", sorted(SLOW))
def test_a_slow_statement_ends_and_another_client_is_served_meanwhile(
    selector: ProcessSelector, name: str
) -> None:
    told: list[str] = []
    running = threading.Thread(target=lambda: told.append(_told(selector, SLOW[name])), daemon=True)
    running.start()
    for _ in range(2):
        found = selector.select("SELECT count(*) FROM t", (), ME, timeout_ms=LONG_MS)
        assert found.rows == [(300,)]
    assert until(lambda: told)
    assert told[0] in ("rows", "DeadlineExceeded", "LimitExceeded", "SqlError")


def _told(selector: ProcessSelector, sql: str) -> str:
    try:
        selector.select(sql, (), ME, timeout_ms=SLOW_MS)
    except AskError as error:
        return type(error).__name__
    return "rows"
