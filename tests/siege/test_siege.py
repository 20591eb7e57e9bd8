"""A little of `make test-siege`: a real server under some attacks answers, and ends; the verdict.

No time is asserted here: the honest client was answered each time, and so was the probe.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from siege.attack import Address
from siege.attacks import ATTACKS, BY_NAME
from siege.document_bombs import BOMBS
from siege.judging import Bounds, SiegeFigures, at_share, failures, ratio
from siege.siege_run import SiegeRun
from siege.siege_server import HOSTILE, SMALL_QUESTIONS, SiegeServer, fill
from waiting import SECONDS

SHORT_SECONDS = 2.0
CALM = SiegeFigures([0.1] * 19 + [0.2], 0, [0.01, 0.02], 0, 100, 200)


def test_a_server_under_attack_answers_the_others_and_ends(tmp_path: Path) -> None:
    tokens = fill(tmp_path / "db", small=True)
    with SiegeServer(tmp_path / "db", small=True) as server:
        address = Address(
            *(server.port, server.grpc_port, server.pg_port, HOSTILE),
            *(tokens.reader, tokens.owner, str(tmp_path / "db"), str(tmp_path)),
        )
        run = SiegeRun(server, address, tokens.honest, SMALL_QUESTIONS)
        short = [each for each in ATTACKS if each.short]
        assert 2 <= len(short) <= 4
        for attack in short:
            report = run.attacked(attack, SHORT_SECONDS)
            assert report.figures.asks, report
            assert (report.figures.unanswered, report.figures.unhealthy) == (0, 0), report
            assert report.figures.answers_afterwards, report
            assert sum(report.outcomes.values()) > 0, report
        ended = run.ended([BY_NAME["16 endless statements by one user"]], SECONDS)
    assert (ended.code, ended.left_behind) == (0, 0), ended
    assert b"Traceback" not in ended.said


def test_every_attack_has_a_name_of_its_own_and_every_bomb_a_file() -> None:
    assert len(BY_NAME) == len(ATTACKS)
    assert len({file for file, _ in BOMBS.values()}) == len(BOMBS)


def test_calm_figures_pass() -> None:
    assert failures(CALM, CALM, Bounds()) == []
    assert at_share(CALM.asks, 0.95) == 0.1
    assert at_share(CALM.asks, 1) == 0.2


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"unanswered": 1}, "1 asks unanswered"),
        ({"asks": []}, "no ask answered"),
        ({"asks": [0.1, 0.31]}, "p95 3.1 times the calm one"),
        ({"unhealthy": 2}, "2 probes unanswered"),
        ({"probes": []}, "no probe answered"),
        ({"probes": [0.1, 0.6]}, "a probe took 600 ms"),
        ({"server_bytes": 1_001_000_000}, "the server had 1001 MB"),
        ({"process_bytes": 2_401_000_000}, "another process had 2401 MB"),
        ({"answers_afterwards": False}, "no quick answer within a minute afterwards"),
    ],
)
def test_each_promise_that_does_not_hold_is_named(changed: dict[str, object], said: str) -> None:
    assert failures(replace(CALM, **changed), CALM, Bounds()) == [said]  # type: ignore[arg-type]  # by name


def test_endless_statements_of_one_user_have_a_bound_of_their_own() -> None:
    stricter = Bounds().under(BY_NAME["16 endless statements by one user"].ratio)
    assert (stricter.ratio, Bounds().under(None)) == (2.0, Bounds())
    twice = replace(CALM, asks=[0.21])
    assert failures(twice, CALM, Bounds()) == []
    assert failures(twice, CALM, stricter) == ["p95 2.1 times the calm one"]


def test_the_bounds_themselves_are_allowed() -> None:
    bounds = Bounds()
    most = SiegeFigures(
        [0.3], 0, [bounds.probe_seconds], 0, bounds.server_bytes, bounds.process_bytes
    )
    assert failures(most, CALM, replace(bounds, ratio=ratio(most, CALM))) == []
