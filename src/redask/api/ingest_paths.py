"""Which paths an ingest is given: `check` that there are some, and that each of them exists.

A path that does not exist is a mistake of whoever typed it, and is refused before anything is
read or made. What cannot be read although it exists is a problem in the ingest's report.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from redask.core.errors import BadAsk


def check(paths: Sequence[str | Path]) -> list[str]:
    """The paths as text; `BadAsk` names all that do not exist."""
    if not paths:
        raise BadAsk("name at least one file or folder to ingest", detail="paths")
    places = [os.fspath(path) for path in paths]
    missing = [place for place in places if not _exists(place)]
    if missing:
        named = ", ".join(each.encode("utf-8", "backslashreplace").decode() for each in missing)
        raise BadAsk(f"there is no file or folder {named}; nothing was read", detail=named)
    return places


def _exists(path: str) -> bool:
    """Whether something is there, be it readable or not."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # not allowed, a loop of links, a bad name: the report says which
    return True
