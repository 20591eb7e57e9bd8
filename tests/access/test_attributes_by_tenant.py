"""Two tenants, one user name: `:user.…` in a policy means the attributes of the caller's own user.

The tenants mirror each other, so whichever of the two users a mix-up takes, one of them shows it.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import redask
from redask.core.access.policy import Principal
from redask.core.model import Caller
from redask.stores.entity_rows import entities
from redask.stores.relational.visibility_queries import principal
from redask.stores.sqlite.sqlite_backend import SqliteBackend

ROWS = [
    {"id": "north", "region": "north", "text": "The ferry leaves at nine."},
    {"id": "south", "region": "south", "text": "The ferry leaves at ten."},
]
REGIONS = {"first": "north", "second": "south"}
POLICY = {"read": [{"roles": ["support"], "rows": "region = :user.region"}]}


@pytest.fixture
def owners(tmp_path: Path) -> Iterator[dict[str, redask.OpenDatabase]]:
    """One directory with two tenants; each has a mia, of another region."""
    with ExitStack() as stack:
        opened = {}
        for tenant, region in REGIONS.items():
            db = stack.enter_context(redask.open(tmp_path / "db", tenant=tenant))
            db.put("notes", ROWS)
            db.add_user("mia", role="support", attributes={"region": region})
            db.set_policy("notes", POLICY)
            opened[tenant] = db
        yield opened


@pytest.mark.parametrize("tenant", REGIONS)
def test_a_policy_that_names_an_attribute_takes_it_from_the_callers_tenant(
    owners: dict[str, redask.OpenDatabase], tenant: str
) -> None:
    mia = owners[tenant].signed_in(owners[tenant].make_token("mia"), tenant=tenant)
    own, other = (f"urn:reddb:row:notes/{region}" for region in _own_first(tenant))
    assert [hit.urn for hit in mia.search("ferry")] == [own]
    assert mia.get(own) is not None
    assert mia.get(other) is None
    assert [row["id"] for row in mia.execute("SELECT id FROM notes")] == [REGIONS[tenant]]
    assert [source.urn for source in mia.ask("When does the ferry leave?").sources_flat] == [own]


@pytest.mark.parametrize("tenant", REGIONS)
def test_changing_a_role_keeps_the_attributes_of_the_own_tenants_user(
    owners: dict[str, redask.OpenDatabase], tenant: str
) -> None:
    owners[tenant].set_user("mia", role="support")
    for name, region in REGIONS.items():
        assert [user.attributes for user in owners[name].users()] == [{"region": region}]


def test_a_name_that_only_another_tenant_knows_has_no_attributes(tmp_path: Path) -> None:
    first, second = (Caller(tenant=tenant) for tenant in REGIONS)
    stranger = Caller(second.tenant, "zoe", "support")
    with SqliteBackend(tmp_path) as backend:
        store = backend.store
        store.put(entities("notes", ROWS), second)
        store.set_policy("notes", POLICY, second)
        backend.users.add_user("zoe", "support", {"region": "north"}, first)
        assert store.read(["urn:reddb:row:notes/north"], stranger) == []
        with store.database.reading() as connection:
            assert principal(connection, stranger) == Principal(stranger)


def _own_first(tenant: str) -> list[str]:
    return sorted(REGIONS.values(), key=lambda region: region != REGIONS[tenant])
