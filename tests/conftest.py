"""One hypothesis profile for all: repeatable, and no test fails because a machine is slow.

And the options that say how often the crash tests kill.
"""

import pytest
from hypothesis import settings

settings.register_profile("redask", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("redask")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--crash-rounds", default="10", help="rounds of kill -9 in tests/crash")
    parser.addoption("--ledger-rounds", default="4", help="rounds of kill -9 of the ledger's user")
