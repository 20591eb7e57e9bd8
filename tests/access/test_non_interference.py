"""What a principal may not read changes no byte of what that principal gets.

Each round makes a database at random (see `worlds`). What its principal can read is compared
with what the policies mean, worked out a second time; all that the principal gets, with what a
twin gives that holds only what the principal can read, under no policy. Then what the principal
may not read is changed at random, and nothing may change. `--access-rounds` says how many
databases; `make test-access` makes 10,000. They come in small parts, for all processes that test.
"""

import pytest

from tests.access.checking import check

ROUNDS = 10  # in a part


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    rounds = int(metafunc.config.getoption("--access-rounds"))
    if "first" in metafunc.fixturenames:
        metafunc.parametrize("first", range(0, rounds, ROUNDS))


def test_nothing_depends_on_what_a_principal_may_not_read(first: int) -> None:
    for seed in range(first, first + ROUNDS):
        check(seed)
