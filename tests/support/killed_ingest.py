"""A process that ingests a folder and may be killed: `killed_ingest.py DIRECTORY FOLDER [MOST]`.

It writes in small parts, so that there are many moments to be killed at, and prints a line after
every transaction. After MOST of them it waits to be killed.
"""

import itertools
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import redask
from redask.ingest import pipeline, spool
from redask.stores.relational.manifest import RelationalManifest


def announcing(write: Callable[..., Any], count: Iterator[int], most: int) -> Callable[..., Any]:
    def announced(*args: Any, **kwargs: Any) -> Any:
        result = write(*args, **kwargs)
        print("written", flush=True)
        if next(count) == most:
            threading.Event().wait()
        return result

    return announced


def main(directory: str, folder: str, most: int) -> None:
    count = itertools.count(1)
    spool.SMALL = 8
    pipeline.BATCH = 8
    for name in ("load", "link", "remove"):
        setattr(
            RelationalManifest, name, announcing(getattr(RelationalManifest, name), count, most)
        )
    with redask.open(directory) as db:
        db.ingest(folder)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else 0)
