"""A plugin of pytest in the drivers' suites: which tests run, how long, and on what.

Tests that connect to no server are not run: they say nothing of one. LEFT_OUT names a list as
`left_out_lists` has it, LEAVE_OUT the kinds of its lines that are not run. With READ_ONLY the
database of the running PostgreSQL is told to read only. A test that takes LONGEST seconds fails.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from left_out_lists import read_list

LONGEST = 240
# the fixtures of the suites that know where the server is
WHERE = {"dsn", "svcconn", "db_kwargs"}


class TooLong(Exception):
    """A test did not end."""


def pytest_configure() -> None:
    """Let nothing be written, whatever the driver connects as."""
    if os.environ.get("READ_ONLY"):
        import psycopg

        with psycopg.connect(autocommit=True) as connection:
            connection.execute("ALTER DATABASE postgres SET default_transaction_read_only = on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is listed."""
    left_out = read_list(Path(os.environ["LEFT_OUT"]))
    kinds = os.environ["LEAVE_OUT"].split()
    chosen: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        wanted = connects(item) and not left_out.line(spelled(item), kinds)
        (chosen if wanted else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = chosen


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """End a test, with what is before and after it, that does not end by itself."""

    def ring(*_: object) -> None:
        signal.alarm(5)  # once more, should something swallow it
        raise TooLong(f"longer than {LONGEST} s")

    signal.signal(signal.SIGALRM, ring)
    signal.alarm(LONGEST)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def connects(item: pytest.Item) -> bool:
    """Whether a test talks to the running server; asyncpg's tests of standbys start theirs."""
    kind: Any = getattr(item, "cls", None)
    if hasattr(kind, "setup_cluster"):
        return not any(each.__name__ == "HotStandbyTestCase" for each in kind.__mro__)
    return bool(WHERE & set(getattr(item, "fixturenames", ())))


def spelled(item: pytest.Item) -> str:
    """A test's name as a JUnit report has it."""
    path, *names = item.nodeid.split("::")
    *outer, name = names
    return f"{'.'.join([path.removesuffix('.py').replace('/', '.'), *outer])}::{name}"
