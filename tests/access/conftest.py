"""The suite on another backend: with `--access-backend postgresql`, directories are kept there.

The tests are the same. Those that look into files of SQLite, or start processes that would open the
directory as SQLite, are left out, each with its reason.
"""

import postgres_databases
import pytest

from redask.stores.backends import BACKENDS

_FILES = "it looks into a file of SQLite"
_PROCESSES = "it starts processes, which open the directory as SQLite"
LEFT_OUT: dict[str, str] = {}


@pytest.fixture(autouse=True)
def _on_the_chosen_backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.config.getoption("--access-backend") != "postgresql":
        return
    name = request.node.originalname
    if name in LEFT_OUT:
        pytest.skip(LEFT_OUT[name])
    monkeypatch.setitem(BACKENDS, "", postgres_databases.row())
