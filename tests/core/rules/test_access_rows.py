"""rules.auditing.access_rows: the keys; refusals are counted by the minute, and bounded."""

import hashlib

from redask.core.model import Caller
from redask.core.rules.auditing.access_rows import (
    KEYS,
    MAX_SUBJECT,
    MOST,
    Refusals,
    SignInRefusal,
    access_row,
    left_over,
    refuse,
)

MIA = Caller("acme", "mia", "support")
MINUTE = 60 * 10**9
SOMEBODY = SignInRefusal("local", "mia", "10.0.0.1")


def test_a_row_has_ten_keys() -> None:
    row = access_row(5, MIA, "select", "SELECT 1")
    assert tuple(row) == KEYS
    assert list(row.values()) == [
        *(5, "acme", "mia", "support", "select", "SELECT 1", "", "ok", "", 1)
    ]


def test_a_subject_may_be_hashed_is_bounded_and_always_has_utf_8() -> None:
    digest = f"sha256:{hashlib.sha256(b'SELECT 1').hexdigest()}"
    assert access_row(5, MIA, "select", "SELECT 1", hashed=True)["subject"] == digest
    long = "é" * (MAX_SUBJECT + 1)
    cut = str(access_row(5, MIA, "search", long)["subject"])
    assert cut.startswith("é" * MAX_SUBJECT + "… sha256:")
    assert access_row(5, MIA, "search", "é" * MAX_SUBJECT)["subject"] == "é" * MAX_SUBJECT
    assert access_row(5, MIA, "search", "a\ud800b")["subject"] == "a?b"


def test_the_first_refusal_of_a_minute_is_a_row_and_the_others_are_counted() -> None:
    state, rows = refuse(Refusals(), SOMEBODY, 0)
    assert rows == ((SOMEBODY, 1),)
    for _ in range(99):
        state, rows = refuse(state, SOMEBODY, MINUTE - 1)
        assert rows == ()
    assert left_over(state) == ((SOMEBODY, 99),)
    state, rows = refuse(state, SOMEBODY, MINUTE)
    assert rows == ((SOMEBODY, 99), (SOMEBODY, 1))
    assert left_over(state) == ()
    assert refuse(state, SOMEBODY, 0)[1] == ((SOMEBODY, 1),)  # the clock went back


def test_many_names_and_addresses_in_a_minute_are_few_rows() -> None:
    state, written = Refusals(), 0
    for number in range(10_000):
        state, rows = refuse(state, SignInRefusal("local", f"user{number}", f"10.0.{number}"), 5)
        written += len(rows)
    assert written == MOST + 1
    assert left_over(state) == ((SignInRefusal("local", "", "others"), 10_000 - MOST - 1),)
