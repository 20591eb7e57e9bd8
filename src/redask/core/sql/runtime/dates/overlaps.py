"""OVERLAPS of two spans of time, each given by its ends in microseconds."""

from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name


def _span(start: int | None, end: int | None) -> tuple[int, int | None] | None:
    """The start and the end, in order; None without any."""
    if start is None:
        return None if end is None else (end, None)
    if end is not None and start > end:
        return end, start
    return start, end


def overlaps(
    start: int | None, end: int | None, other_start: int | None, other_end: int | None
) -> bool | None:
    """Whether they have a moment in common; NULL when an unknown end decides."""
    one, other = _span(start, end), _span(other_start, other_end)
    if one is None or other is None:
        return None
    if one[0] == other[0]:
        return None if one[1] is None or other[1] is None else True
    first, second = (one, other) if one[0] < other[0] else (other, one)
    if first[1] is None:
        return None
    if second[0] < first[1]:
        return True
    return None if second[1] is None else False


FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_overlaps", ("BIGINT",) * 4, "BOOLEAN", overlaps, True),
)
