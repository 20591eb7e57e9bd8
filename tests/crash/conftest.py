"""`--crash-rounds N`: how often the crash tests kill; `make crash` asks for 200.

A round of the ingest's test kills three times and takes longer: there are a quarter as many.
"""

import pytest


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    rounds = int(metafunc.config.getoption("--crash-rounds"))
    if "crash_round" in metafunc.fixturenames:
        metafunc.parametrize("crash_round", range(rounds))
    if "ingest_round" in metafunc.fixturenames:
        metafunc.parametrize("ingest_round", range(max(1, rounds // 4)))
