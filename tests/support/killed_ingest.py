"""A process that ingests a folder and may be killed: `killed_ingest.py DIRECTORY FOLDER`.

It writes in small parts, so that there are many moments to be killed at, and prints a line after
every transaction.
"""

import sys
from collections.abc import Callable
from typing import Any

import redask
from redask.ingest import pipeline, spool
from redask.stores.sqlite.manifest import SqliteManifest


def announcing(write: Callable[..., Any]) -> Callable[..., Any]:
    def announced(*args: Any, **kwargs: Any) -> Any:
        result = write(*args, **kwargs)
        print("written", flush=True)
        return result

    return announced


def main(directory: str, folder: str) -> None:
    spool.SMALL = 8
    pipeline.BATCH = 8
    for name in ("load", "link", "forget"):
        setattr(SqliteManifest, name, announcing(getattr(SqliteManifest, name)))
    with redask.open(directory) as db:
        db.ingest(folder)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
