"""DuckDB's postgres extension attaches the database and reads by COPY.

The extension is of another version of DuckDB than ours: it runs in a process of its own, with the
packages that `tools/clients.sh` puts into tests/clients/duckdb_packages.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pgwire_server import PgwireServer
from shop_world import BY_MONTH, MONTHS, fill_shop

HERE = Path(__file__).parent
PACKAGES = HERE / "duckdb_packages"
FAILING = {
    "SELECT * FROM nosuch": 'relation "nosuch" does not exist',
    "SELECT * FROM secrets": "your role may not read the collection",
    "SELECT 1 / 0": "division by zero",
}


def test_duckdb_attaches_reads_groups_binds_and_fails(tmp_path: Path) -> None:
    if not (PACKAGES / "duckdb_extensions").is_dir():
        pytest.fail("DuckDB's postgres extension is not installed: run tools/clients.sh")
    with PgwireServer(tmp_path / "db") as transport:
        fill_shop(transport, tmp_path)
        where = (
            f"host={transport.host} port={transport.port} dbname=local user=mia"
            f" password={transport.tokens['mia']}"
        )
        program = str(HERE / "programs" / "duckdb_probe.py")
        ended = subprocess.run(
            [sys.executable, program, where, BY_MONTH, *FAILING],
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
    for line, message in zip(lines[5:-1], FAILING.values(), strict=True):
        assert message in line
    assert lines[-1] == "read-only"
