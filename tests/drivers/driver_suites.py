"""The drivers' own tests, against redask: `python tests/drivers/driver_suites.py [driver …]`.

Their sources are got by pip (psycopg's, which its package lacks, from the folder that
PSYCOPG_SOURCE names) into `.driver-suites`, and are never a part of this repository. Which tests
need no writes is measured and not chosen: `--measure` runs each suite against a real PostgreSQL
whose transactions are read-only, and writes what does not pass there to `left_out/DRIVER.txt`, with
what it said. What does pass there, and is about something that redask says it has not, is in
`left_out/DRIVER-ours.txt`, with the reason, by hand.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))

from real_postgres import private_postgres  # noqa: E402
from served import Served  # noqa: E402

import redask  # noqa: E402
from redask.core.settings import load  # noqa: E402

CACHE = ROOT / ".driver-suites"
TESTS = {"asyncpg": "tests", "pg8000": "test", "psycopg": "tests"}
LEAST = 0.95
_LONGEST = 160


class SuiteServe(Served):
    """redask with a tenant and a user named postgres, as the suites expect."""

    words = ("serve", "--port", "0", "--no-grpc", "--pg-port", "0")


def sources(driver: str) -> Path:
    """The folder of a driver's tests, brought here if need be."""
    release = version(driver)
    place = CACHE / f"{driver}-{release}"
    if place.exists():
        return place
    CACHE.mkdir(exist_ok=True)
    if driver == "psycopg":
        given = os.environ.get("PSYCOPG_SOURCE")
        if not given:
            raise SystemExit("psycopg's package has no tests: PSYCOPG_SOURCE names a checkout")
        shutil.copytree(Path(given) / "tests", place / "tests")
        return place
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"]
    command += ["--no-build-isolation", "-d", str(CACHE), f"{driver}=={release}"]
    subprocess.run(command, check=True)
    [archive] = CACHE.glob(f"{driver}-{release}.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(CACHE / "unpacked", filter="data")
    # only the tests: the driver is the one that is installed
    folder = CACHE / "unpacked" / f"{driver}-{release}" / TESTS[driver]
    shutil.copytree(folder, place / TESTS[driver])
    return place


@contextmanager
def redask_served(directory: Path) -> Iterator[dict[str, str]]:
    """redask, and how clients find it."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / "redask.toml").write_text('[embedder]\nname = "none"\n')
    settings = load('[embedder]\nname = "none"', {})
    with redask.open(directory, settings=settings, tenant="postgres") as db:
        db.add_user("postgres", role="reader")
        token = db.make_token("postgres")
    with SuiteServe(directory) as server:
        [address] = [each for each in server.addresses if each.startswith("postgresql")]
        yield variables("127.0.0.1", address.rpartition(":")[2], token)


@contextmanager
def postgres_served() -> Iterator[dict[str, str]]:
    """A real PostgreSQL that only reads."""
    with private_postgres(tcp=True) as where:
        found = variables("127.0.0.1", str(where["port"]), "unused")
        yield {**found, "PGOPTIONS": "", "READ_ONLY": "1"}


def variables(host: str, port: str, password: str) -> dict[str, str]:
    dsn = f"host={host} port={port} user=postgres password={password} dbname=postgres"
    return {
        "PGHOST": host,
        "PGPORT": port,
        "PGUSER": "postgres",
        "PGPASSWORD": password,
        "PGDATABASE": "postgres",
        "PSYCOPG_TEST_DSN": dsn,
    }


def run(driver: str, where: dict[str, str], left_out: set[str]) -> dict[str, str]:
    """The tests that ran, each with what it said; nothing: it passed."""
    folder = sources(driver)
    report = CACHE / f"{driver}.xml"
    report.unlink(missing_ok=True)
    listed = CACHE / f"{driver}-left-out.txt"
    listed.write_text("\n".join(sorted(left_out)))
    environment = {**os.environ, **where, "PYTHONPATH": f"{HERE}:{os.environ['PYTHONPATH']}"}
    environment["LEFT_OUT"] = str(listed)
    command = [sys.executable, "-m", "pytest", TESTS[driver], "-v", "-p", "no:cacheprovider"]
    command += ["-p", "suite_selection", "-p", "no:xdist", "--junitxml", str(report)]
    command += ["-o", "addopts=", "-W", "ignore", "--tb", "line"]
    command += ["--continue-on-collection-errors", "--rootdir", str(folder), "-c", os.devnull]
    subprocess.run(
        command,
        cwd=folder,
        env=environment,
        check=False,
        stdout=(CACHE / f"{driver}.log").open("wb"),
        timeout=3600,
    )
    found: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if case.find("skipped") is not None:
            continue
        faults = [*case.findall("failure"), *case.findall("error")]
        found[name] = _said(faults[0]) if faults else ""
    return found


def _said(fault: ET.Element) -> str:
    message = fault.get("message") or "failed"
    return re.sub(r"\s+", " ", message)[:_LONGEST]


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def listed(driver: str, ends: tuple[str, ...] = (".txt", "-ours.txt")) -> set[str]:
    """The tests that are left out."""
    found = set()
    for end in ends:
        file = HERE / "left_out" / f"{driver}{end}"
        if file.exists():
            found |= {line.partition("\t")[0] for line in file.read_text().splitlines()}
    return found - {""}


def main() -> None:
    """Run, or measure, the suites that are named."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("drivers", nargs="*", default=["asyncpg", "pg8000"])
    reader.add_argument("--measure", action="store_true")
    given = reader.parse_args()
    worst = 1.0
    for driver in given.drivers:
        if given.measure:
            with postgres_served() as where:
                found = run(driver, where, listed(driver, ("-ours.txt",)))
            lines = [f"{name}\t{said}" for name, said in sorted(found.items()) if said]
            (HERE / "left_out").mkdir(exist_ok=True)
            (HERE / "left_out" / f"{driver}.txt").write_text("\n".join(lines) + "\n")
            passed = len(found) - len(lines)
            say(f"{driver} {version(driver)}: {passed} of {len(found)} need no writes")
            continue
        with redask_served(CACHE / "db") as where:
            found = run(driver, where, listed(driver))
        failed = {name: said for name, said in found.items() if said}
        for name, said in sorted(failed.items()):
            say(f"  {name}: {said}")
        rate = 1 - len(failed) / max(1, len(found))
        say(f"{driver} {version(driver)}: {len(found) - len(failed)} of {len(found)}, {rate:.1%}")
        worst = min(worst, rate)
    sys.exit(worst < LEAST)


if __name__ == "__main__":
    main()
