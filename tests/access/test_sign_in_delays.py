"""How long a client waits after wrong tokens; what a server remembers of them."""

import pytest

from redask.core.access.credentials import new_token
from redask.core.access.sign_in_delays import (
    ADDRESS_CALLS,
    CALL_SECONDS,
    CALLS,
    FORGOTTEN_SECONDS,
    FREE_OF_NAME,
    MOST_SECONDS,
    WrongCount,
    is_forgotten,
    may_call,
    name_of,
    network_of,
    noted,
    recent_calls,
    seconds_left,
)
from redask.core.errors import Overloaded
from redask.server.wrong_tokens import WrongTokens

HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.mark.parametrize(
    ("counted", "now", "left"),
    [
        (None, 0.0, 0.0),
        (WrongCount(3, 10.0), 10.0, 0.0),  # as many as are free
        (WrongCount(4, 10.0), 10.0, 1.0),
        (WrongCount(4, 10.0), 10.75, 0.25),
        (WrongCount(4, 10.0), 11.0, 0.0),
        (WrongCount(5, 10.0), 10.0, 2.0),
        (WrongCount(9, 10.0), 10.0, 32.0),
        (WrongCount(10, 10.0), 10.0, MOST_SECONDS),
        (WrongCount(10**9, 10.0), 10.0, MOST_SECONDS),
        (WrongCount(10**9, 10.0), 10.0 + FORGOTTEN_SECONDS, 0.0),
    ],
)
def test_the_wait_doubles_up_to_a_minute(
    counted: WrongCount | None, now: float, left: float
) -> None:
    assert seconds_left(counted, now, free=3) == left


def test_what_was_long_ago_is_forgotten() -> None:
    assert noted(None, 5.0) == WrongCount(1, 5.0)
    assert noted(WrongCount(7, 5.0), 6.0) == WrongCount(8, 6.0)
    late = 5.0 + FORGOTTEN_SECONDS
    assert noted(WrongCount(7, 5.0), late) == WrongCount(1, late)
    assert (is_forgotten(WrongCount(7, 5.0), late), is_forgotten(WrongCount(7, 5.1), late)) == (
        True,
        False,
    )


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("unix:", "unix:"),
        ("", ""),
    ],
)
def test_what_counts_as_one_address(address: str, network: str) -> None:
    assert network_of(address) == network


def test_a_token_is_named_by_its_public_part() -> None:
    ident, token, _ = new_token()
    assert name_of(token) == ident
    assert name_of(token[:-1]) != name_of(token[:-2])
    assert token not in name_of(token[:-1])
    assert name_of("\ud800")


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def waits(wrong: WrongTokens, address: str, token: str) -> bool:
    try:
        wrong.check(address, token)
    except Overloaded:
        return True
    return False


def wrong_one(ident: str, number: int) -> str:
    return f"redask_{ident}_{number:064x}"


def test_different_wrong_tokens_make_an_address_wait_and_no_other() -> None:
    clock = Clock()
    wrong = WrongTokens(3, clock)
    good = new_token()[1]
    for _ in range(3):
        wrong.failed(HERE, new_token()[1])
    assert not waits(wrong, HERE, good)
    wrong.failed(HERE, new_token()[1])
    assert waits(wrong, HERE, good)
    assert not waits(wrong, THERE, good)
    with pytest.raises(Overloaded, match="try again in 1 s"):
        wrong.check(HERE, good)
    clock.now += 1.0
    assert not waits(wrong, HERE, good)
    wrong.succeeded(HERE, good)  # which does not make up for the others
    wrong.failed(HERE, new_token()[1])
    assert waits(wrong, HERE, new_token()[1])
    assert not waits(wrong, HERE, good)  # it was good a while ago


def test_guesses_at_one_token_keep_its_owner_out_nowhere_else() -> None:
    clock = Clock()
    wrong = WrongTokens(100, clock)
    ident, good, _ = new_token()
    for number in range(FREE_OF_NAME):
        wrong.failed(HERE, wrong_one(ident, number))
    assert not waits(wrong, HERE, wrong_one(ident, 99))
    wrong.failed(HERE, wrong_one(ident, 99))
    assert waits(wrong, HERE, good)  # from there nobody can tell them apart
    assert not waits(wrong, THERE, good)
    assert not waits(wrong, HERE, new_token()[1])
    clock.now += 1.0
    wrong.succeeded(HERE, good)
    wrong.failed(HERE, wrong_one(ident, 100))
    assert not waits(wrong, HERE, wrong_one(ident, 101))  # counted anew


def test_a_client_that_goes_on_with_an_expired_token_is_one_name() -> None:
    wrong = WrongTokens(3, Clock())
    expired = new_token()[1]
    for _ in range(50):
        wrong.failed(HERE, expired)
    assert waits(wrong, HERE, expired)
    assert not waits(wrong, HERE, new_token()[1])


def test_a_good_token_that_turns_wrong_waits_like_others() -> None:
    wrong = WrongTokens(1, Clock())
    token = new_token()[1]
    wrong.succeeded(HERE, token)
    for _ in range(2):
        wrong.failed(HERE, new_token()[1])
    assert not waits(wrong, HERE, token)
    wrong.failed(HERE, token)
    assert waits(wrong, HERE, token)


def test_users_are_counted_by_name_where_no_token_is_sent() -> None:
    wrong = WrongTokens(100, Clock())
    for _ in range(FREE_OF_NAME + 1):
        wrong.failed_name(HERE, "mia")
    with pytest.raises(Overloaded):
        wrong.check_name(HERE, "mia")
    wrong.check_name(THERE, "mia")
    wrong.check_name(HERE, "bo")
    wrong.succeeded_name(HERE, "mia")
    wrong.check_name(HERE, "mia")


def test_what_is_remembered_has_a_bound() -> None:
    wrong = WrongTokens(1, Clock(), most=10)
    for number in range(50):
        wrong.failed(f"10.0.0.{number}", new_token()[1])
        wrong.succeeded(f"10.0.0.{number}", new_token()[1])
    assert (len(wrong._counts), len(wrong._good)) == (10, 10)
    assert ("10.0.0.49", "") in wrong._counts


def test_calls_of_the_identity_provider_are_bounded_by_address_and_in_all() -> None:
    mine = [(0.0, HERE)] * (ADDRESS_CALLS - 1)
    others = [(1.0, str(each)) for each in range(CALLS - ADDRESS_CALLS)]
    assert may_call(mine, HERE)
    assert not may_call([*mine, (0.0, HERE)], HERE)
    assert may_call([*mine, (0.0, HERE)], THERE)
    assert may_call([*mine, *others], THERE)
    assert not may_call([*mine, *others, (1.0, THERE)], "another")
    assert recent_calls([*mine, *others], CALL_SECONDS - 0.5) == [*mine, *others]
    assert recent_calls([*mine, *others], CALL_SECONDS) == others


def test_a_server_counts_calls_of_the_identity_provider_by_network_and_time() -> None:
    now = [0.0]
    tokens = WrongTokens(clock=lambda: now[0])
    for _ in range(ADDRESS_CALLS):
        tokens.note_call("2001:db8::1")
    with pytest.raises(Overloaded, match="many people are signing in"):
        tokens.note_call("2001:db8::ffff")  # the same network
    tokens.note_call(HERE)
    now[0] = CALL_SECONDS
    tokens.note_call("2001:db8::1")
    assert len(tokens._calls) == 1
