"""SELECT beside a backend, whichever it is: `open_selector(location)`."""

from redask.core.ports import Selector
from redask.stores.columnar.selector import ColumnarSelector


def open_selector(location: str, closed: bool = False) -> Selector:
    """SELECT for the database at a location, which is there; `closed` is what has no policy."""
    return ColumnarSelector(location, closed=closed)
