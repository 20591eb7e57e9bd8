"""redask and raw in one process, asked in turns, so that a busy machine harms both alike.

No contestant of the table: `parts` holds the seconds of each and of their steps. Who comes first
changes with every question.
"""

import time
from collections import defaultdict
from pathlib import Path

from peers import raw, redask
from peers.contest import CitedReply, Known, Passage

PACKAGES = (*redask.PACKAGES, *raw.PACKAGES)
NOTE = "redask and raw in turns"


def open_up(home: Path, known: Known) -> "Pair":
    return Pair(home, known)


class Pair:
    """Both, open."""

    def __init__(self, home: Path, known: Known) -> None:
        self._both: dict[str, redask.OurDatabase | raw.RawEngines] = {
            "redask": redask.open_up(home / "redask", known),
            "raw": raw.open_up(home / "raw", known),
        }
        self._whole: dict[str, list[float]] = defaultdict(list)
        self._turn = False

    @property
    def parts(self) -> dict[str, list[float]]:
        """Each contestant's times, then those of its steps."""
        for name, opened in self._both.items():
            for step, taken in opened.parts.items():
                self._whole[f"{name} {step}"] = taken
        return self._whole

    def ask(self, question: str) -> CitedReply:
        self._turn = not self._turn
        order = sorted(self._both, reverse=self._turn)
        for name in order:
            started = time.perf_counter()
            reply = self._both[name].ask(question)
            self._whole[name].append(time.perf_counter() - started)
        return reply

    def insert(self, passage: Passage) -> None:
        for opened in self._both.values():
            opened.insert(passage)

    def close(self) -> None:
        for opened in self._both.values():
            opened.close()
