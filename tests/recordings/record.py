"""Writes the recordings beside this file: `python tests/recordings/record.py`.

Recordings are made once, before a change that must not be seen; run it again only when a contract
changes, and read the difference.
"""

import sys
import tempfile
from pathlib import Path

import surface


def main(words: list[str]) -> None:
    """All sections; or one of them into a folder, in a place, which is how all are made."""
    if words:
        section, into, place = words
        surface.write(section, Path(into), Path(place))
        return
    with tempfile.TemporaryDirectory(prefix="redask-recording-") as place:
        surface.collect(surface.RECORDED, Path(place))


if __name__ == "__main__":
    main(sys.argv[1:])
