"""The suite on another backend: with `--access-backend postgresql`, directories are kept there.

The tests are the same. Those that look into files of SQLite, or start processes that would open the
directory as SQLite, are left out, each with its reason.
"""

import postgres_databases
import pytest

from redask.stores.backends import BACKENDS

_FILES = "it looks into files of SQLite, or opens its backend itself"
_PROCESSES = "it starts processes, which open the directory as SQLite"
LEFT_OUT = {
    "test_a_name_that_only_another_tenant_knows_has_no_attributes": _FILES,
    "test_a_token_has_256_random_bits_and_is_nowhere_in_the_files": _FILES,
    "test_a_change_of_users_counts_as_a_change_of_who_sees_what": _FILES,
    "test_a_policy_that_cannot_be_read_lets_nobody_in_until_it_is_replaced": _FILES,
    "test_killed_in_the_middle_it_hides_and_goes_on_with_the_next_process": _PROCESSES,
    "test_the_default_holds_in_the_processes_of_a_server": _PROCESSES,
    "test_hidden_on_transports.py": _PROCESSES,
    "test_tenants_on_transports.py": _PROCESSES,
}


@pytest.fixture(autouse=True)
def _on_the_chosen_backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.config.getoption("--access-backend") != "postgresql":
        return
    for name in (request.node.originalname, request.node.path.name):
        if name in LEFT_OUT:
            pytest.skip(LEFT_OUT[name])
    monkeypatch.setitem(BACKENDS, "", postgres_databases.row())
