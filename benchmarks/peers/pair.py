"""redask, redask without the graph, and raw in one process, asked in turns.

A busy machine harms all alike then. No contestant of the table: `parts` holds the seconds of each
and of its steps. Who comes first changes with every question.
"""

import time
from collections import defaultdict
from pathlib import Path

from peers import raw, redask, redask_flat
from peers.contest import CitedReply, Known, Passage

PACKAGES = (*redask.PACKAGES, *raw.PACKAGES)
NOTE = "redask and raw in turns"


def open_up(home: Path, known: Known) -> "Pair":
    return Pair(home, known)


class Pair:
    """All of them, open."""

    def __init__(self, home: Path, known: Known) -> None:
        self._ours = redask.open_up(home / "redask", known)
        self._raw = raw.open_up(home / "raw", known)
        self._ways = [
            ("redask", redask.OurDatabase.options),
            ("flat", redask_flat.FlatDatabase.options),
            ("raw", None),
        ]
        self.parts: dict[str, list[float]] = defaultdict(list)

    def ask(self, question: str) -> CitedReply:
        self._ways.append(self._ways.pop(0))
        for name, options in self._ways:
            asked: redask.OurDatabase | raw.RawEngines = self._raw
            if options is not None:
                asked, self._ours.options = self._ours, options
            asked.parts.clear()
            started, busy = time.perf_counter(), time.process_time()
            reply = asked.ask(question)
            self.parts[name].append(time.perf_counter() - started)
            self.parts[f"{name} CPU"].append(time.process_time() - busy)
            for step, taken in asked.parts.items():
                self.parts[f"{name} {step}"] += taken
        return reply

    def insert(self, passage: Passage) -> None:
        self._ours.insert(passage)
        self._raw.insert(passage)

    def close(self) -> None:
        self._ours.close()
        self._raw.close()
