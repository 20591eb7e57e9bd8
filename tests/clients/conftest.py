"""One server with the tables of `shop_world`, for all the clients that a worker of pytest runs."""

from collections.abc import Iterator

import pytest
from pgwire_server import PgwireServer
from shop_world import fill_shop

# a statement that nobody cancels outlasts the test
PATIENT = "[select]\ntimeout_ms = 3600000\n"


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PgwireServer]:
    directory = tmp_path_factory.mktemp("shop")
    with PgwireServer(directory / "db", settings=PATIENT) as opened:
        fill_shop(opened, directory)
        yield opened
