"""Where a cursor stands after each FETCH and MOVE, without a database."""

import pytest

from redask.server.pgwire.cursors.cursor_scan import ALL, CursorScan, FetchDirection
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError

Steps = list[tuple[FetchDirection, int, list[int]]]


@pytest.mark.parametrize(
    "steps",
    [
        [("forward", 2, [0, 1]), ("forward", ALL, [2, 3, 4]), ("forward", 1, [])],
        [("forward", 5, [0, 1, 2, 3, 4]), ("backward", 1, [3]), ("forward", 9, [4])],
        [("forward", ALL, [0, 1, 2, 3, 4]), ("backward", 2, [4, 3]), ("backward", ALL, [2, 1, 0])],
        [("backward", 1, []), ("forward", 0, []), ("forward", 1, [0]), ("forward", 0, [0])],
        [("absolute", 3, [2]), ("relative", 0, [2]), ("relative", -2, [0]), ("relative", 4, [4])],
        [("absolute", -1, [4]), ("absolute", -5, [0]), ("absolute", -6, []), ("forward", 1, [0])],
        [("absolute", 9, []), ("backward", 1, [4]), ("absolute", 0, []), ("forward", -1, [])],
        [("forward", 4, [0, 1, 2, 3]), ("absolute", 2, [1]), ("absolute", 5, [4])],
    ],
)
def test_rows_of_a_cursor_of_five(steps: Steps) -> None:
    fetching, moving = CursorScan(5), CursorScan(5)
    for direction, count, rows in steps:
        assert list(fetching.fetch(direction, count)) == rows
        assert moving.move(direction, count) == len(rows)
        assert (moving.position, moving.at_start, moving.at_end) == (
            fetching.position, fetching.at_start, fetching.at_end,
        )  # fmt: skip


def test_moving_back_over_all_counts_the_rows_passed() -> None:
    scan = CursorScan(5)
    scan.fetch("forward", 3)
    assert scan.move("backward", ALL) == 2
    scan.fetch("forward", ALL)
    assert scan.move("backward", ALL) == 5


@pytest.mark.parametrize(
    ("direction", "count"),
    [("backward", 1), ("forward", -1), ("relative", -1), ("absolute", 1), ("absolute", 0)],
)
def test_a_cursor_that_does_not_scroll_goes_forward_only(
    direction: FetchDirection, count: int
) -> None:
    scan = CursorScan(5, scrolls=False)
    assert list(scan.fetch("absolute", 2)) == [1]
    with pytest.raises(SqlStateError) as caught:
        scan.fetch(direction, count)
    assert caught.value.sqlstate == "55000"
