"""Contract 13: when the cache is used, the key of an answer, its age, and the TTL literal."""

import hashlib
import re
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from redask.core.errors import BadTtl, TtlFault
from redask.core.model import Notice, Source
from redask.core.rules import caching, prompt
from redask.core.rules.caching import Bypass, Use

VECTOR = "ca47974209a1e07b9890aa73b5bdbcc2fda1bae0ba1d77f186c9dc168b54f903"
SMALL_VECTOR = "ff9372d1f93751268728247869a89107b71f2c2ecb90db800d9cae7e8211a749"
U64_MAX = 2**64 - 1
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"]))
PARTS = st.fixed_dictionaries(
    {
        "tenant": NAMES,
        "user": NAMES,
        "question": NAMES,
        "provider": NAMES,
        "model": NAMES,
        "temperature": st.none() | st.floats(0, 2),
        "seed": st.none() | st.integers(0, U64_MAX),
        "fingerprint": NAMES,
    }
)


def key(**changes: Any) -> str:
    given: dict[str, Any] = {
        "tenant": "t",
        "user": "u",
        "question": "q",
        "provider": "p",
        "model": "m",
        "temperature": 0.0,
        "seed": 1,
        "fingerprint": "f",
    }
    return caching.key(**{**given, **changes})


def hashed(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


@pytest.mark.parametrize(
    ("nocache", "ttl", "enabled", "default"),
    list(product([True, False], [None, 1, 300], [True, False], [None, 60])),
)
def test_the_cache_is_used_as_the_table_says(
    nocache: bool, ttl: int | None, enabled: bool, default: int | None
) -> None:
    decision = caching.decide(nocache=nocache, ttl=ttl, enabled=enabled, default_ttl=default)
    if nocache:
        assert decision == Bypass()
    elif ttl is not None:
        assert decision == Use(ttl)
    elif enabled and default is not None:
        assert decision == Use(60)
    else:
        assert decision == Bypass()


def test_the_key_has_the_vectors_of_the_contract() -> None:
    assert key() == VECTOR
    assert key(temperature=1e-5, seed=None) == SMALL_VECTOR


@pytest.mark.parametrize(
    ("temperature", "shown"),
    [
        (None, "none"),
        (0.0, "0"),
        (-0.0, "0"),
        (0, "0"),
        (1, "1"),
        (1.0, "1"),
        (2.0, "2"),
        (0.5, "0.5"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e-5, "0.00001"),
        (1.5e-7, "0.00000015"),
        (5e-324, "0." + "0" * 323 + "5"),
        (10.0, "10"),
        (1e22, "1" + "0" * 22),
    ],
)
def test_a_temperature_is_a_positional_shortest_decimal(
    temperature: float | None, shown: str
) -> None:
    assert key(temperature=temperature) == hashed("t", "u", "q", "p", "m", shown, "1", "f")


@pytest.mark.parametrize(
    ("seed", "shown"), [(None, "none"), (0, "0"), (U64_MAX, "18446744073709551615")]
)
def test_a_seed_is_none_or_decimal(seed: int | None, shown: str) -> None:
    assert key(seed=seed) == hashed("t", "u", "q", "p", "m", "0", shown, "f")


@given(st.floats(0, 2))
def test_any_temperature_is_written_without_exponent_and_reads_back(temperature: float) -> None:
    digits, _, exponent = f"{temperature!r}".partition("e")
    whole, _, fraction = digits.partition(".")
    shift = int(exponent or 0)
    assert shift <= 0  # 0 to 2: repr has no positive exponent
    if shift:
        fraction = "0" * (-shift - 1) + whole + ("" if fraction == "0" else fraction)
        whole = "0"
    shown = whole if fraction in ("", "0") else f"{whole}.{fraction}"
    assert float(shown) == temperature
    assert key(temperature=temperature) == hashed("t", "u", "q", "p", "m", shown, "1", "f")


@given(PARTS, PARTS)
def test_different_parts_have_different_keys(one: dict[str, Any], two: dict[str, Any]) -> None:
    assert (caching.key(**one) == caching.key(**two)) == (one == two)
    assert re.fullmatch("[0-9a-f]{64}", caching.key(**one))


@given(PARTS, st.sampled_from(["tenant", "user", "question", "provider", "model", "fingerprint"]))
def test_every_part_is_in_the_key_at_its_own_place(parts: dict[str, Any], name: str) -> None:
    changed = {**parts, name: parts[name] + "x"}
    assert caching.key(**changed) != caching.key(**parts)
    assume(parts["tenant"] != parts["user"])
    swapped = {**parts, "tenant": parts["user"], "user": parts["tenant"]}
    assert caching.key(**swapped) != caching.key(**parts)


def test_the_prompt_hash_is_sha_256_of_the_whole_prompt() -> None:
    made = prompt.assemble("q?", [Source("u1", "p1"), Source("u2", "p2")], system="s")
    whole = prompt.render(made).encode()
    assert whole.startswith(b"<system>\ns\n")
    assert caching.prompt_hash(made) == hashlib.sha256(whole).hexdigest()


def test_the_prompt_hash_sees_source_order_redaction_and_the_system_part() -> None:
    one, two = Source("u1", "p1"), Source("u2", "p2")
    prompts = [
        prompt.assemble("q?", [one, two]),
        prompt.assemble("q?", [two, one]),
        prompt.assemble("q?", [one, Source("u2", "p…")]),
        prompt.assemble("q?", [one, two], system="s"),
        prompt.assemble("q!", [one, two]),
    ]
    assert len({caching.prompt_hash(made) for made in prompts}) == len(prompts)


@pytest.mark.parametrize(
    ("age", "expired"),
    [
        (0, False),
        (59_999_999_999, False),
        (60 * 10**9, True),
        (10**15, True),
        (-1, True),
        (-(10**18), True),
    ],
)
@pytest.mark.parametrize("stored_at", [0, 1_700_000_000_123_456_789])
def test_an_entry_expires_when_its_age_reaches_the_ttl(
    stored_at: int, age: int, expired: bool
) -> None:
    assert caching.expired(stored_at, 60, stored_at + age) is expired


@pytest.mark.parametrize(
    ("literal", "seconds"),
    [
        ("1s", 1),
        ("30s", 30),
        ("5m", 300),
        ("2h", 7200),
        ("7d", 604_800),
        ("007s", 7),
        ("0" * 5000 + "1s", 1),
        ("18446744073709551615s", U64_MAX),
        ("307445734561825860m", 307445734561825860 * 60),
        ("5124095576030431h", 5124095576030431 * 3600),
        ("213503982334601d", 213503982334601 * 86_400),
    ],
)
def test_a_ttl_is_digits_and_a_unit(literal: str, seconds: int) -> None:
    assert caching.parse_ttl(literal) == seconds


@pytest.mark.parametrize(
    ("literal", "fault"),
    [
        ("", TtlFault.EMPTY),
        ("m", TtlFault.MISSING_NUMBER),
        (" 5m", TtlFault.MISSING_NUMBER),
        ("-5m", TtlFault.MISSING_NUMBER),
        ("+5m", TtlFault.MISSING_NUMBER),
        (".5m", TtlFault.MISSING_NUMBER),
        ("٥m", TtlFault.MISSING_NUMBER),
        ("５m", TtlFault.MISSING_NUMBER),
        ("²s", TtlFault.MISSING_NUMBER),
        ("\ud800", TtlFault.MISSING_NUMBER),
        ("30", TtlFault.MISSING_UNIT),
        ("0", TtlFault.MISSING_UNIT),
        ("9" * 5000, TtlFault.MISSING_UNIT),
        ("0s", TtlFault.ZERO),
        ("000d", TtlFault.ZERO),
        ("0x", TtlFault.ZERO),  # read from left to right: the zero comes before the unit
        ("5 m", TtlFault.UNKNOWN_UNIT),
        ("5ms", TtlFault.UNKNOWN_UNIT),
        ("5M", TtlFault.UNKNOWN_UNIT),
        ("5m ", TtlFault.UNKNOWN_UNIT),
        ("5m\n", TtlFault.UNKNOWN_UNIT),
        ("5w", TtlFault.UNKNOWN_UNIT),
        ("1.5h", TtlFault.UNKNOWN_UNIT),
        ("1h30m", TtlFault.UNKNOWN_UNIT),
        ("5\udfff", TtlFault.UNKNOWN_UNIT),
        ("9" * 5000 + "w", TtlFault.UNKNOWN_UNIT),
        ("18446744073709551616s", TtlFault.OVERFLOW),
        ("307445734561825861m", TtlFault.OVERFLOW),
        ("5124095576030432h", TtlFault.OVERFLOW),
        ("213503982334602d", TtlFault.OVERFLOW),
        ("100000000000000000000s", TtlFault.OVERFLOW),
        ("9" * 5000 + "s", TtlFault.OVERFLOW),
    ],
)
def test_each_wrong_ttl_has_its_typed_fault(literal: str, fault: TtlFault) -> None:
    with pytest.raises(BadTtl) as caught:
        caching.parse_ttl(literal)
    assert caught.value.fault is fault
    assert caught.value.detail == fault.value
    assert len(caught.value.message) < 200
    caught.value.message.encode()


@pytest.mark.parametrize(
    ("literal", "shown"),
    [("x" * 16, "x" * 16), ("x" * 17, "x" * 15 + "…"), ("5" + "w" * 16, "w" * 16)],
)
def test_a_fault_shows_at_most_sixteen_characters(literal: str, shown: str) -> None:
    with pytest.raises(BadTtl, match=f"'{shown}' "):
        caching.parse_ttl(literal)


@given(st.integers(0, 2 * U64_MAX), st.sampled_from("smhd"), st.integers(0, 30))
def test_a_ttl_is_its_seconds_or_its_fault(number: int, unit: str, zeros: int) -> None:
    literal = "0" * zeros + f"{number}{unit}"
    if 0 < number * SECONDS[unit] <= U64_MAX:
        assert caching.parse_ttl(literal) == number * SECONDS[unit]
    else:
        with pytest.raises(BadTtl) as caught:
            caching.parse_ttl(literal)
        assert caught.value.fault is (TtlFault.OVERFLOW if number else TtlFault.ZERO)


@given(st.text() | st.text("0123456789smhd -.\n"))
def test_any_text_is_a_ttl_or_raises_its_own_error(text: str) -> None:
    found = re.fullmatch("([0-9]+)([smhd])", text)
    seconds = int(found[1]) * SECONDS[found[2]] if found else 0
    if 0 < seconds <= U64_MAX:
        assert caching.parse_ttl(text) == seconds
    else:
        with pytest.raises(BadTtl):
            caching.parse_ttl(text)


def test_a_judge_is_in_the_key_and_nobody_is_as_ever() -> None:
    assert key(judge=()) == VECTOR
    assert key(judge=("openai", "m1")) == hashed(
        "t", "u", "q", "p", "m", "0", "1", "f", "openai", "m1"
    )


def test_an_answer_that_could_not_be_judged_is_not_kept() -> None:
    assert caching.keeps([])
    assert caching.keeps([Notice("unsupported_claim", "x")])
    assert not caching.keeps([Notice("mode_fallback", "x"), Notice("not_judged", "y")])
