"""One siege: a calm control, each attack in turn, and SIGTERM with attacks still running.

run = SiegeRun(server, address, token, questions)
run.calm(20)                   what is measured without an attack
run.attacked(attack, 20)       an `AttackReport`
run.ended(attacks, 30)         what SIGTERM came to
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from served import SOURCE

from siege.attack import Address, Attack
from siege.attacker import READY
from siege.judging import SiegeFigures, at_share
from siege.measuring import Measuring, offspring
from siege.siege_server import SiegeServer

SUPPORT = Path(__file__).parents[1]
RECOVERY_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class AttackReport:
    """What was measured while one attack went on, and what came of the attack itself."""

    name: str
    figures: SiegeFigures
    outcomes: dict[str, int]
    said: Sequence[str]  # to the honest client, where it got no answer
    recovered: float | None  # seconds until an ask was as quick as before; None: not in a minute


@dataclass(frozen=True, slots=True)
class Ended:
    """How the server left."""

    seconds: float
    code: int | None  # None: it was killed
    left_behind: int  # processes
    said: bytes


class SiegeRun:
    """See the module."""

    def __init__(
        self, server: SiegeServer, address: Address, token: str, questions: Sequence[str]
    ) -> None:
        self._server = server
        self._address = address
        self._token = token
        self._questions = questions
        self._calm = SiegeFigures([RECOVERY_SECONDS], 0, [], 0, 0, 0)

    def _measuring(self) -> Measuring:
        return Measuring(self._server.process.pid, self._server.port, self._token, self._questions)

    def calm(self, seconds: float) -> SiegeFigures:
        """What is measured without an attack; the server has answered every question before."""
        warm = self._measuring()
        for _ in self._questions:
            warm.answers()
        with self._measuring() as measured:
            time.sleep(seconds)
        self._calm = measured.figures()
        return self._calm

    def attacked(self, attack: Attack, seconds: float) -> AttackReport:
        """What is measured while it is attacked, and whether it answers afterwards."""
        attacker = self._attacker(attack, seconds)
        try:
            with self._measuring() as measured:
                try:
                    told, _ = attacker.communicate(timeout=seconds + 15)
                except subprocess.TimeoutExpired:
                    attacker.kill()
                    told = b"{}"
            recovered = self._recovered(measured)
        finally:
            attacker.kill()
            attacker.wait()
        came = json.loads(told or b"{}")
        figures = measured.figures(answers_afterwards=recovered is not None)
        most = max(figures.process_bytes, int(came.get("peak_bytes", 0)))
        outcomes = came.get("outcomes", {"nothing was told": 1})
        return AttackReport(
            attack.name, replace(figures, process_bytes=most), outcomes, measured.said(), recovered
        )

    def _recovered(self, measured: Measuring) -> float | None:
        """The seconds until the server answers as quickly as in the calm; None: it never does."""
        began, usual = time.monotonic(), 2 * at_share(self._calm.asks, 0.95)
        while time.monotonic() < began + RECOVERY_SECONDS and self._server.alive():
            before = time.monotonic()
            if measured.answers() and time.monotonic() - before <= usual:
                return before - began
        return None

    def ended(self, attacks: Sequence[Attack], within: float) -> Ended:
        """SIGTERM while these go on."""
        running = [self._attacker(each, within + 5) for each in attacks]
        try:
            time.sleep(2)
            workers = offspring(self._server.process.pid)
            began = time.monotonic()
            code: int | None = None
            with suppress(subprocess.TimeoutExpired):
                code = self._server.end(within)
            seconds = time.monotonic() - began
        finally:
            for each in running:
                each.kill()
                each.communicate()
        time.sleep(0.5)
        left = sum(Path(f"/proc/{each}/exe").exists() for each in workers)
        return Ended(seconds, code, left, self._server.said)

    def _attacker(self, attack: Attack, seconds: float) -> "subprocess.Popen[bytes]":
        """A process that is ready to attack."""
        path = os.pathsep.join((str(SOURCE), str(SUPPORT)))
        made = subprocess.Popen(
            [
                *(sys.executable, "-m", "siege.attacker"),
                *(attack.name, self._address.text(), str(seconds)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert made.stdout is not None
        first = made.stdout.readline().decode().strip()
        if first != READY:
            made.kill()
            made.wait()
            raise RuntimeError(f"the attack {attack.name} does not begin")
        return made
