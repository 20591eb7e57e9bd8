"""Contract 12: the cost guards, in their order and at their edges."""

import math
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Usage
from redask.core.rules import cost
from redask.core.rules.cost import Allow, CheckMoment, Limits, Reject, Spent

DAY = 86_400 * 10**9
TODAY = 20_000
NOON = TODAY * DAY + DAY // 2
NOTHING = Spent(TODAY, 0.0)
ORDER = ("max_prompt_tokens", "max_sources_bytes", "max_completion_tokens", "timeout_ms")
USED = dict(
    zip(ORDER, ("prompt_tokens", "sources_bytes", "completion_tokens", "elapsed_ms"), strict=True)
)
DEFAULTS = dict(zip(ORDER, (8192, 262_144, 1024, 30_000), strict=True))
CAPPED = Limits(daily_cost_cap_usd=1.0)


def usage(limit: str, value: int) -> Usage:
    return replace(Usage(), **{USED[limit]: value})


def check(
    used: Usage,
    limits: Limits = CAPPED,
    daily: Spent = NOTHING,
    moment: CheckMoment = CheckMoment.BEFORE,
) -> Allow | Reject:
    return cost.check(used, daily, limits, NOON, moment)


def test_the_defaults_are_those_of_the_contract() -> None:
    assert {name: getattr(Limits(), name) for name in ORDER} == DEFAULTS
    assert Limits().daily_cost_cap_usd is None


@pytest.mark.parametrize("limit", ORDER)
@pytest.mark.parametrize("moment", CheckMoment)
def test_at_the_limit_is_allowed_and_one_more_is_not(limit: str, moment: CheckMoment) -> None:
    cap = DEFAULTS[limit]
    assert check(usage(limit, cap), Limits(), moment=moment) == Allow()
    rejected = check(usage(limit, cap + 1), Limits(), moment=moment)
    detail = f"ask.{limit} allows {cap}, this is {cap + 1}"
    assert rejected == Reject(limit, cap + 1, cap, detail)


@pytest.mark.parametrize("first", range(5))
def test_the_first_breach_in_the_fixed_order_wins(first: int) -> None:
    over = Usage(9000, 300_000, 2000, 40_000, 2.0)
    for limit in ORDER[:first]:
        over = replace(over, **{USED[limit]: 0})
    rejected = check(over)
    assert isinstance(rejected, Reject)
    assert rejected.limit == (*ORDER, "daily_cost_cap_usd")[first]


@pytest.mark.parametrize(
    ("planned", "spent", "allowed"),
    [
        (1.0, 0.0, True),
        (0.0, 1.0, True),
        (0.5, 0.5, True),
        (math.nextafter(1.0, 2), 0.0, False),
        (0.5, math.nextafter(1.0, 2) - 0.5, False),
        (0.0, 1.5, False),
        (math.inf, 0.0, False),
    ],
)
def test_projected_is_spent_today_plus_planned(planned: float, spent: float, allowed: bool) -> None:
    verdict = check(Usage(cost_usd=planned), daily=Spent(TODAY, spent))
    if allowed:
        assert verdict == Allow()
    else:
        detail = f"ask.daily_cost_cap_usd allows 1.0, this makes {planned + spent}"
        assert verdict == Reject("daily_cost_cap_usd", planned + spent, 1.0, detail)


@pytest.mark.parametrize("day", [TODAY - 1, TODAY + 1, 0, -1])
def test_another_day_than_todays_counts_nothing(day: int) -> None:
    assert check(Usage(cost_usd=1.0), daily=Spent(day, 1000.0)) == Allow()


@pytest.mark.parametrize("cap", [0.0, 1.0])
def test_with_a_cap_an_unknown_price_is_refused_and_never_counted_as_zero(cap: float) -> None:
    rejected = check(Usage(cost_usd=None), Limits(daily_cost_cap_usd=cap))
    detail = f"ask.daily_cost_cap_usd is {cap} and the price is unknown"
    assert rejected == Reject("daily_cost_cap_usd", None, cap, detail)


@pytest.mark.parametrize(("planned", "spent"), [(math.nan, 0.0), (0.0, math.nan)])
def test_with_a_cap_a_cost_that_is_no_number_is_refused(planned: float, spent: float) -> None:
    rejected = check(Usage(cost_usd=planned), daily=Spent(TODAY, spent))
    assert isinstance(rejected, Reject)
    assert rejected.limit == "daily_cost_cap_usd"


@pytest.mark.parametrize("price", [None, 1e9])
def test_without_a_cap_any_price_is_allowed(price: float | None) -> None:
    assert check(Usage(cost_usd=price), Limits(), Spent(TODAY, 1e9)) == Allow()


@pytest.mark.parametrize("price", [None, 2.0])
@pytest.mark.parametrize(
    ("moment", "judged"),
    [(CheckMoment.BEFORE, True), (CheckMoment.DURING, True), (CheckMoment.AFTER, False)],
)
def test_a_paid_answer_is_never_withheld_for_its_cost(
    price: float | None, moment: CheckMoment, judged: bool
) -> None:
    verdict = check(Usage(cost_usd=price), moment=moment)
    assert isinstance(verdict, Reject if judged else Allow)


def test_the_check_is_before_the_call_unless_it_says_otherwise() -> None:
    assert isinstance(cost.check(Usage(cost_usd=2.0), NOTHING, CAPPED, NOON), Reject)


def test_a_cap_of_zero_allows_what_is_free() -> None:
    free = Limits(daily_cost_cap_usd=0.0)
    assert check(Usage(cost_usd=0.0), free) == Allow()
    assert isinstance(check(Usage(cost_usd=5e-324), free), Reject)


@given(
    st.tuples(*(st.sampled_from([cap - 1, cap, cap + 1]) for cap in DEFAULTS.values())),
    st.none() | st.sampled_from([0.0, 0.5, 0.75]),
    st.sampled_from([TODAY, TODAY - 1]),
    st.none() | st.sampled_from([0.5, 1.0]),
)
def test_the_verdict_is_the_first_breach_of_a_plain_list(
    counts: tuple[int, int, int, int], price: float | None, day: int, cap: float | None
) -> None:
    breaches = [limit for limit, used in zip(ORDER, counts, strict=True) if used > DEFAULTS[limit]]
    today = 0.5 if day == TODAY else 0.0
    if cap is not None and (price is None or price + today > cap):
        breaches.append("daily_cost_cap_usd")
    verdict = check(Usage(*counts, price), Limits(daily_cost_cap_usd=cap), Spent(day, 0.5))
    assert getattr(verdict, "limit", None) == (breaches[0] if breaches else None)
    if isinstance(verdict, Reject):
        assert f"ask.{verdict.limit}" in verdict.detail
        assert str(verdict.allowed) in verdict.detail
        assert verdict.used is None or str(verdict.used) in verdict.detail


@pytest.mark.parametrize(
    ("now", "day"),
    [(0, 0), (DAY - 1, 0), (DAY, 1), (-1, -1), (-DAY, -1), (-DAY - 1, -2), (NOON, TODAY)],
)
def test_days_are_utc_by_floor_division(now: int, day: int) -> None:
    assert cost.day_of(now) == day
    assert cost.start_of(day) <= now < cost.start_of(day + 1)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)))
def test_a_day_is_the_utc_calendar_day_before_1970_too(moment: datetime) -> None:
    since = moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    now = since // timedelta(microseconds=1) * 1000
    assert cost.day_of(now) == (moment.date() - date(1970, 1, 1)).days


@pytest.mark.parametrize(
    ("sizes", "question", "kept"),
    [
        ([], 0, 0),
        ([(10, 10)], 0, 1),
        ([(99, 99)], 99, 1),  # the first is kept: check refuses it
        ([(99, 0), (0, 0)], 0, 1),
        ([(5, 5), (5, 5)], 0, 2),  # at both limits
        ([(5, 5), (5, 6)], 0, 1),
        ([(5, 5), (6, 5)], 0, 1),
        ([(5, 5), (5, 5)], 1, 1),
        ([(1, 1), (99, 99), (1, 1)], 0, 1),  # from the tail: nothing behind a gap
        ([(5, 0), (5, 0), (0, 0)], 0, 3),
    ],
)
def test_sources_are_dropped_from_the_tail_until_tokens_and_bytes_fit(
    sizes: list[tuple[int, int]], question: int, kept: int
) -> None:
    assert cost.fit(sizes, question, Limits(max_prompt_tokens=10, max_sources_bytes=10)) == kept


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=12),
    st.integers(0, 40),
    st.integers(1, 40),
    st.integers(1, 40),
)
def test_fit_keeps_the_longest_head_that_the_check_allows(
    sizes: list[tuple[int, int]], question: int, tokens: int, octets: int
) -> None:
    limits = Limits(max_prompt_tokens=tokens, max_sources_bytes=octets)

    def allowed(kept: int) -> bool:
        head = sizes[:kept]
        used = Usage(question + sum(t for t, _ in head), sum(b for _, b in head))
        return check(used, limits) == Allow()

    fitting = [kept for kept in range(1, len(sizes) + 1) if allowed(kept)]
    assert cost.fit(sizes, question, limits) == max(fitting, default=min(1, len(sizes)))


@pytest.mark.parametrize(
    ("remaining", "left", "share"),
    [(30_000, 3, 10_000), (20_000, 2, 10_000), (10_001, 2, 5000), (7, 1, 7), (0, 3, 0), (9, 0, 9)],
)
def test_an_attempt_gets_the_remaining_time_over_the_providers_not_yet_tried(
    remaining: int, left: int, share: int
) -> None:
    assert cost.share(remaining, left) == share


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_the_shares_never_add_up_to_more_than_the_time(remaining: int, providers: int) -> None:
    spent = 0
    for left in range(providers, 0, -1):
        spent += cost.share(remaining - spent, left)
    assert spent == remaining


@given(st.floats(0, 1e6, allow_nan=False))
def test_nano_dollars_are_rounded_up_by_less_than_one(usd: float) -> None:
    nanos = cost.nanos(usd)
    exact = Fraction(repr(usd)) * 10**9
    assert exact <= nanos < exact + 1
    assert cost.dollars(nanos) >= usd or cost.dollars(nanos) == pytest.approx(usd)


def test_nano_dollars_of_round_sums_are_exact_and_bounded() -> None:
    assert [cost.nanos(usd) for usd in (0.0, 0.3, 1e-9, 1e-10)] == [0, 3 * 10**8, 1, 1]
    assert cost.nanos(1e300) == 1 << 61
    assert (cost.dollars(3 * 10**8), cost.dollars(0)) == (0.3, 0.0)


@pytest.mark.parametrize(
    ("sizes", "most"),
    [
        ([], (512, 2048)),
        ([(900, 9)], (900, 2048)),  # it fits: no source is cut
        ([(20_000, 9), (100, 9), (100, 9)], (7800, 2048)),  # what the others leave
        ([(20_000, 9), (20_000, 9), (100, 9)], (3950, 2048)),
        ([(1000, 9)] * 20, (2000, 2048)),  # many: a quarter of the room is never cut
        ([(9, 90_000), (9, 90_000)], (512, 20_000)),
    ],
)
def test_a_source_has_the_room_that_the_smaller_ones_leave(
    sizes: list[tuple[int, int]], most: tuple[int, int]
) -> None:
    limits = cost.Limits(max_prompt_tokens=8192, max_sources_bytes=40_000)
    assert cost.share_of_room(sizes, 192, limits) == most


@given(
    st.lists(st.tuples(st.integers(1, 30_000), st.integers(1, 30_000)), max_size=12),
    st.integers(2048, 20_000),
)
def test_what_is_cut_to_its_share_drops_no_other_unless_there_are_many(
    sizes: list[tuple[int, int]], room: int
) -> None:
    limits = cost.Limits(max_prompt_tokens=room, max_sources_bytes=room * 4)
    most = cost.share_of_room(sizes, 0, limits)
    cut = [(min(tokens, most[0]), min(size, most[1])) for tokens, size in sizes]
    large = sum(tokens >= room // 4 or size >= room for tokens, size in sizes)
    if large <= 1 and sum(min(each[0], room // 4) for each in sizes) <= room // 2:
        assert sum(tokens for tokens, _ in cut) <= max(room, 512 * len(cut))
    assert all(one <= other for one, other in zip(cut, sizes, strict=True))
