"""The drivers' own tests, against redask: `python tests/drivers/driver_suites.py [driver …]`.

Their sources are got by pip (psycopg's, which its package lacks, from the folder that
PSYCOPG_SOURCE names) into `.driver-suites`, and are never a part of this repository. Which tests
need no writes is measured: `--measure` runs each suite against a real PostgreSQL whose transactions
are read-only, and writes what does not pass there to `left_out/DRIVER.txt`. `--reasons`
adds what passes there and not here and is refused by name or is no read (`refusal_reasons`), with
what redask said; these are run with the others, and one that passes is said. Tests that a suite
marks as slow are not run.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import psycopg

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))

from left_out_lists import (  # noqa: E402
    BY_REASON,
    MEASURED,
    LeftOutList,
    collapsed,
    read_list,
    write_list,
)
from real_postgres import private_postgres  # noqa: E402
from refusal_reasons import reason_of  # noqa: E402
from served import Served  # noqa: E402

import redask  # noqa: E402
from redask.core.settings import load  # noqa: E402

CACHE = ROOT / ".driver-suites"
TESTS = {"asyncpg": "tests", "pg8000": "test", "psycopg": "tests"}
# what the suites import beside their driver
EXTRAS = (
    "pytest-mock==3.15.1",
    "pytz==2026.2",
    "python-dateutil==2.9.0.post0",
    "six",
    "pproxy==2.7.9",
    "distro==1.9.0",
)
# psycopg_pool is another package, CockroachDB another server
IGNORED = ("tests/pool", "tests/crdb")
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


def extras() -> Path:
    """The folder of what the suites import beside their driver."""
    place = CACHE / "extras"
    if not place.exists():
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
        subprocess.run([*command, "--target", str(place), *EXTRAS], check=True)
    return place


@contextmanager
def redask_served(directory: Path) -> Iterator[dict[str, str]]:
    """redask, and how clients find it."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True, mode=0o700)
    # a slow machine is not what is measured
    settings_text = '[embedder]\nname = "none"\n[select]\ntimeout_ms = 60000\n'
    (directory / "redask.toml").write_text(settings_text)
    settings = load('[embedder]\nname = "none"', {})
    with redask.open(directory, settings=settings, tenant="postgres") as db:
        db.add_user("postgres", role="reader")
        token = db.make_token("postgres")
    with SuiteServe(directory) as server:
        [address] = [each for each in server.addresses if each.startswith("postgresql")]
        found = variables("127.0.0.1", address.rpartition(":")[2], token)
        # the first statement of a server loads DuckDB, and some tests wait for 50 ms only
        with psycopg.connect(found["PSYCOPG_TEST_DSN"], password=token) as connection:
            connection.execute("SELECT pg_sleep(0)")
        yield found


@contextmanager
def postgres_served() -> Iterator[dict[str, str]]:
    """A real PostgreSQL that only reads."""
    with private_postgres(tcp=True) as where:
        found = variables("127.0.0.1", str(where["port"]), "unused")
        yield {**found, "PGOPTIONS": "", "READ_ONLY": "1"}


def variables(host: str, port: str, password: str) -> dict[str, str]:
    # without the password, which PGPASSWORD says: a test takes it away
    dsn = f"host={host} port={port} user=postgres dbname=postgres"
    return {
        "PGHOST": host,
        "PGPORT": port,
        "PGUSER": "postgres",
        "PGPASSWORD": password,
        "PGDATABASE": "postgres",
        "PSYCOPG_TEST_DSN": dsn,
    }


def run(
    driver: str, where: dict[str, str], kinds: tuple[str, ...], run_name: str
) -> dict[str, str]:
    """The tests that ran, without these kinds, each with what it said; nothing: it passed."""
    folder = sources(driver)
    report = CACHE / f"{driver}-{run_name}.xml"
    report.unlink(missing_ok=True)
    path = ":".join([str(HERE), str(ROOT / "src"), str(extras())])
    environment = {**os.environ, **where, "PYTHONPATH": path}
    environment |= {"LEFT_OUT": str(list_file(driver)), "LEAVE_OUT": " ".join(kinds)}
    command = [sys.executable, "-m", "pytest", TESTS[driver], "-v"]
    command += ["-p", "suite_selection", "-p", "no:xdist", "-p", "no:randomly", "-m", "not slow"]
    command += ["-o", "addopts=", "-W", "ignore", "--tb", "native", "--junitxml", str(report)]
    command += [f"--ignore={each}" for each in IGNORED]
    command += ["--continue-on-collection-errors", "--rootdir", str(folder), "-c", os.devnull]
    command += ["-o", f"cache_dir={CACHE}/cache-{driver}-{run_name}"]
    shutil.rmtree(CACHE / f"cache-{driver}-{run_name}", ignore_errors=True)
    with (CACHE / f"{driver}-{run_name}.log").open("wb") as log:
        subprocess.run(command, cwd=folder, env=environment, check=False, stdout=log, timeout=7200)
    return results(report)


def results(report: Path) -> dict[str, str]:
    """What a JUnit report says of each test that was not skipped."""
    found: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        if case.find("skipped") is not None:
            continue
        faults = [*case.findall("failure"), *case.findall("error")]
        found[name] = _said(faults[0]) if faults else found.get(name, "")
    return found


def _said(fault: ET.Element) -> str:
    """The first line that says something; pg8000's errors are dictionaries."""
    message = fault.get("message") or "failed"
    fields = re.search(r"'C': '(\w+)', 'M': (.+?), '[A-Z]':", message)
    if fields:
        message = f"{fields[1]} {fields[2]}"
    lacks = re.search(r"fixture '(\w+)' not found", message)
    if lacks:
        message = f"the suite needs a plugin of pytest for {lacks[1]}"
    return re.sub(r"\s+", " ", message.replace(str(ROOT), ""))[:_LONGEST].strip()


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def list_file(driver: str) -> Path:
    return HERE / "left_out" / f"{driver}.txt"


def measure(driver: str) -> None:
    """Write which tests read, as a PostgreSQL tells that only reads."""
    with postgres_served() as where:
        found = run(driver, where, (), "postgres")
    fails = {name: said for name, said in found.items() if said}
    before = read_list(list_file(driver))
    by_reason = LeftOutList(0, tuple(line for line in before.lines if line.kind in BY_REASON))
    passed = [name for name in found if name not in fails]
    reads = [name for name in passed if not by_reason.line(name, BY_REASON)]
    lines = (*by_reason.lines, *collapsed("postgres", fails, found))
    write_list(list_file(driver), LeftOutList(len(reads), lines))
    say(
        f"{driver} {version(driver)}: of {len(found)} tests that connect {len(passed)} pass on a"
        f" PostgreSQL that only reads, {len(passed) - len(reads)} of them are named"
    )


def name_reasons(driver: str) -> None:
    """Write the lines by reason, from the last run here, of what passes on PostgreSQL."""
    here = results(CACHE / f"{driver}-redask.xml")
    before = read_list(list_file(driver))
    measured = tuple(line for line in before.lines if line.kind in MEASURED)
    lines = [reason_of(name, said) for name, said in sorted(here.items()) if said]
    found = [line for line in lines if line is not None]
    write_list(list_file(driver), LeftOutList(len(here) - len(found), (*found, *measured)))


def compare(driver: str, *, again: bool) -> bool:
    """Run what reads against redask, and say how much of it passes; whether that is enough."""
    left_out = read_list(list_file(driver))
    if again:
        ran = results(CACHE / f"{driver}-redask.xml")
        found = {name: said for name, said in ran.items() if not left_out.line(name, MEASURED)}
    else:
        with redask_served(CACHE / f"db-{driver}") as where:
            found = run(driver, where, MEASURED, "redask")
    reads: dict[str, str] = {}
    others: Counter[str] = Counter()
    stale = []
    for name, said in sorted(found.items()):
        line = left_out.line(name, BY_REASON)
        if line is None:
            reads[name] = said
            continue
        others[line.kind] += 1
        if not said:
            stale.append(name)
    for name, said in reads.items():
        if said:
            say(f"  {name}: {said}")
    for name in stale:
        say(f"  {name}: is listed, and passes: take it out")
    total = max(left_out.reads, len(reads))
    passed = sum(not said for said in reads.values())
    rate, whole = passed / max(1, total), passed / max(1, total + others["refused"])
    say(f"{driver} {version(driver)}: {passed} of {total} tests that read pass, {rate:.1%}")
    say(f"  refused by name: {others['refused']}; with these as failures {whole:.1%}")
    say(f"  no reads, though a PostgreSQL that only reads allows them: {others['no-read']}")
    return rate >= LEAST and not stale


def _psycopg() -> list[str]:
    """psycopg, if there is a checkout: no package has its tests."""
    is_here = "PSYCOPG_SOURCE" in os.environ or (CACHE / f"psycopg-{version('psycopg')}").exists()
    if not is_here:
        say("psycopg is not run: its packages have no tests, PSYCOPG_SOURCE names a checkout")
    return ["psycopg"] if is_here else []


def main() -> None:
    """Run, or measure, the suites that are named."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("drivers", nargs="*", default=["asyncpg", "pg8000", *_psycopg()])
    reader.add_argument("--measure", action="store_true", help="on PostgreSQL")
    reader.add_argument("--reasons", action="store_true", help="name what the last run refused")
    reader.add_argument("--again", action="store_true", help="tell of the last run")
    given = reader.parse_args()
    if given.measure or given.reasons:
        for driver in given.drivers:
            (measure if given.measure else name_reasons)(driver)
        return
    told = [compare(driver, again=given.again) for driver in given.drivers]
    sys.exit(not all(told))


if __name__ == "__main__":
    main()
