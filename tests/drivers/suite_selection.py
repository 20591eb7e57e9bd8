"""A plugin of pytest in the drivers' suites: leaves tests out, and has PostgreSQL only read.

LEFT_OUT names a file with the names of tests, as a JUnit report spells them. With READ_ONLY, what a
suite's own cluster would be set to is asked of the running one.
"""

import os
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Let nothing be written, whatever the driver connects as."""
    if os.environ.get("READ_ONLY"):
        import psycopg

        with psycopg.connect(autocommit=True) as connection:
            connection.execute("ALTER DATABASE postgres SET default_transaction_read_only = on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is listed."""
    left_out = set(Path(os.environ["LEFT_OUT"]).read_text().splitlines())
    chosen = [item for item in items if spelled(item) not in left_out]
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = chosen


def spelled(item: pytest.Item) -> str:
    """A test's name as a JUnit report has it."""
    path, *names = item.nodeid.split("::")
    *outer, name = names
    return f"{'.'.join([path.removesuffix('.py').replace('/', '.'), *outer])}::{name}"
