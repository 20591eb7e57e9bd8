"""One hypothesis profile for all: repeatable, and no test fails because a machine is slow.

And the options that say how often the crash tests kill, how many databases are searched for
leaks, and how many questions every transport is asked. A database that a test opens, here or in
another process, has no embedder unless the test says so: loading a model takes its time. Nor has
it a key for the ids of edges: databases with the same data are compared byte by byte. Servers know
the providers that are for tests.
"""

import os

import pytest
from hypothesis import settings

settings.register_profile("redask", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("redask")
os.environ["REDASK_EMBEDDER_NAME"] = "none"
os.environ["REDASK_ACCESS_EDGE_IDS"] = "content"
os.environ["REDASK_ASK_PROVIDERS_TESTING"] = "true"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--crash-rounds", default="6", help="rounds of kill -9 in tests/crash")
    parser.addoption("--access-rounds", default="100", help="databases in tests/access")
    parser.addoption("--access-backend", default="sqlite", help="of tests/access: or postgresql")
    parser.addoption("--same-questions", default="100", help="questions on every backend")
    parser.addoption("--ledger-rounds", default="4", help="rounds of kill -9 of the ledger's user")
    parser.addoption("--audit-rows", default="80", help="rows of the audit log that is attacked")
    parser.addoption("--rot-places", default="2", help="of each derived file, bytes that rot")
    parser.addoption("--replayed-asks", default="40", help="asks that are replayed")
    parser.addoption("--cache-histories", default="40", help="histories of the answer cache")
    parser.addoption("--node-operations", default="160", help="operations on several nodes")
    parser.addoption("--file-histories", default="80", help="steps of histories of files")
    parser.addoption(
        "--transport-questions", default="80", help="questions asked at every transport"
    )
    parser.addoption("--schema-examples", default="8", help="requests for each route, both kinds")
