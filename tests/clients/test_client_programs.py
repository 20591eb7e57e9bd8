"""Go, Perl, PHP, R, Java and node at the Postgres wire transport, each by a program of its own.

Each reads two tables, groups by month, binds a parameter, gets an error of each kind, runs out of
time, and (but R, which cannot) cancels, which nothing else here would end; Java and node read by
cursors too. `tools/clients.sh`
installs them. docs/client_tests.md says which client does what.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from pgwire_server import PgwireServer
from shop_world import BY_MONTH, FAILING, MONTHS, SLOW

PROGRAMS = Path(__file__).parent / "programs"
NODE = Path(__file__).parent.parent / "node"
JAVA = Path(__file__).parent.parent / "java"
JDBC = Path("/usr/share/java/postgresql.jar")
READ = [
    "bound Bob 2024-01-31",
    *(f"month {month} {total}" for month, total in MONTHS),
    *(f"error {state}" for state in FAILING.values()),
    "timeout 57014",
]


def said(*command: str, **environment: str) -> list[str]:
    if shutil.which(command[0]) is None:
        pytest.fail(f"{command[0]} is not installed: run tools/clients.sh")
    ended = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
    assert ended.returncode == 0, ended.stderr
    return [line.rstrip() for line in ended.stdout.splitlines()]


def probe(shop: PgwireServer, program: str, name: str) -> list[str]:
    token = shop.tokens["mia"]
    return said(program, str(PROGRAMS / name), str(shop.port), token, BY_MONTH, *FAILING)


def test_perl_reads_fails_and_cancels(shop: PgwireServer) -> None:
    assert probe(shop, "perl", "dbd_probe.pl") == [
        *READ,
        "cancelled yes",
        "keys id",
        "references orders customer_id",
        "after 1",
    ]


def test_php_reads_fails_and_cancels(shop: PgwireServer) -> None:
    assert probe(shop, "php", "php_probe.php") == [
        *READ,
        "cancelling yes",
        "columns customer_id id paid placed total urn",
        "after 1",
    ]


def test_r_reads_and_fails(shop: PgwireServer) -> None:
    lines = probe(shop, "Rscript", "r_probe.R")
    assert lines[:3] == READ[:3]
    assert [line.split()[0] for line in lines[3:]] == [
        *(["error"] * len(FAILING)),
        *("timeout", "tables", "columns"),
    ]
    assert {"customers", "orders"} <= set(lines[-2].split())
    assert "secrets" not in lines[-2]
    assert lines[-1] == "columns customer_id id paid placed total urn"


def test_go_reads_fails_and_cancels(shop: PgwireServer) -> None:
    token = shop.tokens["mia"]
    url = f"postgres://mia:{token}@{shop.host}:{shop.port}/local?sslmode=disable"
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


def test_jdbc_reads_in_parts_fails_and_cancels(shop: PgwireServer) -> None:
    if not JDBC.exists():
        pytest.fail("the JDBC driver is not installed: run tools/clients.sh")
    url = f"jdbc:postgresql://{shop.host}:{shop.port}/local"
    lines = said(
        *("java", "-cp", str(JDBC), str(JAVA / "CursorProbe.java"), url, "mia"),
        *(shop.tokens["mia"], BY_MONTH, SLOW, *FAILING),
    )
    assert lines == [
        READ[0],
        *["call CALLED"] * 7,
        *READ[1:-1],
        *["parts 25 325"] * 7,
        "timeout 57014",
        "cancelled 57014",
        "after 1",
    ]


def test_node_reads_by_cursors_and_streams_fails_and_cancels(shop: PgwireServer) -> None:
    for package in ("pg", "pg-cursor", "pg-query-stream"):
        if not (NODE / "node_modules" / package).is_dir():
            pytest.fail(f"{package} is not installed: run tools/clients.sh")
    token = shop.tokens["mia"]
    program = str(NODE / "cursor_probe.mjs")
    lines = said("node", program, str(shop.port), token, BY_MONTH, SLOW, *FAILING)
    assert lines == [
        *READ[:-1],
        *("part 10 1 10", "part 10 11 20", "part 5 21 25"),
        "wrong 22012",
        "stream 500500",
        "timeout 57014",
        "cancelled 57014",
        "after 1",
    ]
