"""What one of several processes of a server may have of what all may."""

from redask.core.serving_limits import ALONE, ProcessPlace, ServingLimits, part_of
from redask.core.settings import Settings


def test_a_process_has_its_part_rounded_up_so_that_none_has_nothing() -> None:
    place = ProcessPlace(2, 3)
    assert [place.part(whole) for whole in (0, 1, 3, 4, 64)] == [0, 1, 1, 2, 22]
    assert not place.is_first
    assert ALONE.is_first
    assert ALONE.part(64) == 64


def test_connections_and_asks_are_divided_and_wrong_tokens_are_counted_together() -> None:
    limits = ServingLimits(
        connections=100,
        connections_per_address=11,
        unauthenticated_connections=7,
        wrong_tokens=20,
        user_running=1,
        user_waiting=4,
        tenant_running=5,
        tenant_waiting=6,
    )
    assert part_of(limits, ProcessPlace(0, 2)) == ServingLimits(
        connections=50,
        connections_per_address=6,
        unauthenticated_connections=4,
        wrong_tokens=20,
        user_running=1,
        user_waiting=2,
        tenant_running=3,
        tenant_waiting=3,
    )
    assert part_of(ServingLimits(), ProcessPlace(0, 2)) == ServingLimits()
    assert part_of(limits, ALONE) == limits


def test_the_settings_of_one_process_have_its_part_of_what_selects_may_use() -> None:
    chosen = Settings(select_spool_bytes=100, select_user_seconds=30, select_tenant_seconds=61)
    part = chosen.in_process(ProcessPlace(0, 2))
    assert (part.select_spool_bytes, part.select_user_seconds) == (50, 15)
    assert part.select_tenant_seconds == 31
    assert Settings().in_process(ALONE) == Settings()
    assert Settings().in_process(ProcessPlace(0, 2)).select_user_seconds is None
