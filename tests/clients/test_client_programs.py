"""Go, Perl, PHP and R at the Postgres wire transport, each by a program in tests/clients/programs.

Each reads two tables, groups by month, binds a parameter, gets an error of each kind, runs out of
time, and (but R, which cannot) cancels. `tools/clients.sh` installs them.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pgwire_server import PgwireServer
from shop_world import BY_MONTH, MONTHS, fill_shop

PROGRAMS = Path(__file__).parent / "programs"
FAILING = {
    "SELEC 1": "42601",
    "SELECT * FROM nosuch": "42P01",
    "SELECT * FROM secrets": "42501",
    "SELECT nope FROM orders": "42703",
    "SELECT 1 / 0": "22012",
    "INSERT INTO orders VALUES (1)": "25006",
}
READ = [
    "bound Bob 2024-01-31",
    *(f"month {month} {total}" for month, total in MONTHS),
    *(f"error {state}" for state in FAILING.values()),
    "timeout 57014",
]


@pytest.fixture(scope="module")
def transport(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PgwireServer]:
    directory = tmp_path_factory.mktemp("programs")
    with PgwireServer(directory / "db") as opened:
        fill_shop(opened, directory)
        yield opened


def said(*command: str, **environment: str) -> list[str]:
    if shutil.which(command[0]) is None:
        pytest.fail(f"{command[0]} is not installed: run tools/clients.sh")
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **environment},
    )
    assert ended.returncode == 0, ended.stderr
    return [line.rstrip() for line in ended.stdout.splitlines()]


def probe(transport: PgwireServer, program: str, name: str) -> list[str]:
    token = transport.tokens["mia"]
    return said(program, str(PROGRAMS / name), str(transport.port), token, BY_MONTH, *FAILING)


def test_perl_reads_fails_and_cancels(transport: PgwireServer) -> None:
    assert probe(transport, "perl", "dbd_probe.pl") == [
        *READ,
        "cancelled 57014",
        "keys id",
        "references orders customer_id",
        "after 1",
    ]


def test_php_reads_fails_and_cancels(transport: PgwireServer) -> None:
    assert probe(transport, "php", "php_probe.php") == [
        *READ,
        "cancelling yes",
        "columns customer_id id paid placed total urn",
        "after 1",
    ]


def test_r_reads_and_fails(transport: PgwireServer) -> None:
    lines = probe(transport, "Rscript", "r_probe.R")
    assert lines[:3] == READ[:3]
    assert [line.split()[0] for line in lines[3:]] == [
        *(["error"] * len(FAILING)),
        *("timeout", "tables", "columns"),
    ]
    assert {"customers", "orders"} <= set(lines[-2].split())
    assert "secrets" not in lines[-2]
    assert lines[-1] == "columns customer_id id paid placed total urn"


def test_go_reads_fails_and_cancels(transport: PgwireServer) -> None:
    token = transport.tokens["mia"]
    url = f"postgres://mia:{token}@{transport.host}:{transport.port}/local?sslmode=disable"
    as_text = BY_MONTH.replace("sum(total)", "sum(total)::text")
    lines = said(
        *("go", "run", str(PROGRAMS / "pgx_probe.go"), url, as_text, *FAILING),
        GO111MODULE="off",
        GOPATH="/usr/share/gocode",
        GOFLAGS="",
    )
    assert lines == [
        *(READ[0] + " <nil>", *READ[1:]),
        "cancelled 57014",
        "after 1",
    ]
