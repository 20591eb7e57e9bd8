"""SELECT beside a backend, whichever it is: `open_selector(location)`."""

from pathlib import Path

from redask.core.ports import Selector
from redask.stores.columnar.selector import FOLDER, ColumnarSelector


def open_selector(location: str, closed: bool = False) -> Selector:
    """SELECT for the database at a location, which is there; `closed` is what has no policy."""
    return ColumnarSelector(location, closed=closed)


def verify_tables(directory: Path, tenant: str) -> str:
    """What is wrong with the tables of a tenant, which are then made again; empty if nothing is."""
    from redask.stores.columnar.generations.generation_files import folder_of, verify_generation

    return verify_generation(folder_of(directory / FOLDER, tenant))
