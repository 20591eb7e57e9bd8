"""The error of index files that cannot be used, worded for an operator."""

from redask.core.errors import CorruptIndex


def corrupt(problem: str, *, detail: str = "") -> CorruptIndex:
    """The error to raise; whoever catches it rebuilds the index from the store's change log."""
    return unusable(f"the index is corrupt: {problem}", detail=detail)


def unusable(problem: str, *, detail: str = "") -> CorruptIndex:
    """The same for an index that is intact but of another version or another store."""
    return CorruptIndex(
        f"{problem}; rebuild the index with `redask doctor --rebuild-index`", detail=detail
    )
