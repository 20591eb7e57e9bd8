"""`--crash-rounds N`: how often the crash test kills; `make crash` asks for 200."""

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "crash_round" in metafunc.fixturenames:
        rounds = int(metafunc.config.getoption("--crash-rounds"))
        metafunc.parametrize("crash_round", range(rounds))
