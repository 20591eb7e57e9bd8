"""redask without the graph (`DEPTH 0`): words and vectors, as the others have them."""

from pathlib import Path

from peers import redask
from peers.contest import Known

PACKAGES = redask.PACKAGES
NOTE = "the same with DEPTH 0: no graph"
build = redask.build


def open_up(home: Path, known: Known) -> redask.OurDatabase:
    return FlatDatabase(home, known)


class FlatDatabase(redask.OurDatabase):
    """redask, asked without the graph."""

    options = {"depth": 0}  # noqa: RUF012 - never written to
