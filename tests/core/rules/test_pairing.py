"""rules.auditing.pairing: each row of its table."""

import pytest

from redask.core.rules.auditing.pairing import LogSide, StoreSide, pairing_fault, unpaired


@pytest.mark.parametrize(
    ("store", "log", "new", "fault"),
    [
        (StoreSide("s"), LogSide("l"), True, ""),
        (StoreSide("s"), LogSide("l", "s", "m1"), True, ""),
        (StoreSide("s", "l", "m1"), LogSide("l", "s", "m1"), False, ""),
        (StoreSide("s", "l", "m1"), LogSide("l", "s", "m2", "m1"), False, ""),
        (StoreSide("s", "l", "m1"), LogSide("l", "s", "m3", "m2"), False, "not of one time"),
        (StoreSide("s", "l", "m3"), LogSide("l", "s", "m1"), False, "not of one time"),
        (StoreSide("s"), LogSide("l", "s", "m2", "m1"), False, "not of one time"),
        (StoreSide("s"), LogSide("l", "other", "m1"), False, "beside another store"),
        (StoreSide("s", "l", "m1"), LogSide("l", "other", "m1"), False, "beside another store"),
        (StoreSide("s", "l", "m1"), LogSide("new"), False, "another log"),
        (StoreSide("s", "l", "m1"), LogSide("new", "s", "m1"), False, "another log"),
    ],
)
def test_the_table(store: StoreSide, log: LogSide, new: bool, fault: str) -> None:
    assert unpaired(store, log) is new
    found = pairing_fault(store, log)
    assert (found is None) is (fault == "")
    assert fault in (found or "")
