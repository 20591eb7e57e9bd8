"""Both sides over the same tables: `twins(directory)`, with what is needed to get there."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from real_postgres import private_postgres

from sql_twin import world
from sql_twin.cases import Case
from sql_twin.here import Here
from sql_twin.reference import Reference
from sql_twin.verdict import Verdict, judge


@dataclass(frozen=True, slots=True)
class Twins:
    """redask and PostgreSQL."""

    here: Here
    real: Reference

    def compare(self, case: Case) -> Verdict:
        """Run a statement on both."""
        return judge(case, self.here.run(case), self.real.run(case))


@contextmanager
def twins(directory: Path) -> Iterator[Twins]:
    """Open the database of a directory, and a PostgreSQL with what it announces."""
    with private_postgres() as where, Here(directory) as here, Reference(where) as real:
        for table, rows in here.tables():
            real.load(table, rows)
        yield Twins(here, real)


def shared_world(place: Path) -> Path:
    """The database of `world`, made by the first process that asks."""
    place.mkdir(parents=True, exist_ok=True)
    made = place / "made"
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            world.build(place / "db")
            made.touch()
    return place / "db"
