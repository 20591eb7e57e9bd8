"""DuckDB's postgres extension attaches the database and reads by COPY.

It has no way to cancel what runs here, and is cancelled from another session.

The extension is of another version of DuckDB than ours: it runs in a process of its own, with the
packages that `tools/clients.sh` puts into tests/clients/duckdb_packages.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cancelling import cancelled_elsewhere
from pgwire_server import PgwireServer
from shop_world import BY_MONTH, CANCELLED, FAILING, MESSAGES, MONTHS, SLOW

HERE = Path(__file__).parent
PACKAGES = HERE / "duckdb_packages"


def test_duckdb_attaches_reads_groups_binds_and_fails(shop: PgwireServer) -> None:
    if not (PACKAGES / "duckdb_extensions").is_dir():
        pytest.fail("DuckDB's postgres extension is not installed: run tools/clients.sh")
    where = f"host={shop.host} port={shop.port} dbname=local user=mia password={shop.tokens['mia']}"
    program = str(HERE / "programs" / "duckdb_probe.py")
    url = f"postgresql://mia:{shop.tokens['mia']}@{shop.host}:{shop.port}/local"
    with cancelled_elsewhere(url, SLOW):
        ended = subprocess.run(
            [sys.executable, program, where, BY_MONTH, SLOW, *FAILING],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "PYTHONPATH": str(PACKAGES)},
        )
    assert ended.returncode == 0, ended.stderr
    first, *lines = ended.stdout.splitlines()
    assert {"customers", "orders"} <= set(first.split())
    assert "secrets" not in first
    assert lines[:5] == [
        "bound Bob",
        *(f"month {month} {total}" for month, total in MONTHS),
        *(f"there {month} {total}" for month, total in MONTHS),
    ]
    *errors, cancelled, after, writing = lines[5:]
    for line, message in zip(errors, MESSAGES, strict=True):
        assert message in line
    assert CANCELLED in cancelled
    assert (after, writing) == ("after 1", "read-only")
