"""Contract 4: the row that proves a call, to the byte."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Mode, Notice
from redask.core.rules import audit
from redask.core.wire.json import encode

EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
KEYS = {
    *("ts", "tenant", "user", "role", "question", "sources_urns", "provider", "model"),
    *("prompt_tokens", "completion_tokens", "cost_usd", "answer_hash", "citations", "cache_hit"),
    *("mode", "temperature", "seed", "validation_ok", "retry_count", "errors"),
}
TEXT = st.text()


def record(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "ts": 1700000000123456789,
        "tenant": "acme",
        "user": "ada",
        "role": "analyst",
        "question": "why?",
        "sources_urns": ("urn:reddb:row:t/2", "urn:reddb:row:t/1"),
        "provider": "openai",
        "model": "gpt-x",
        "prompt_tokens": 812,
        "completion_tokens": 40,
        "cost_usd": 0.000321,
        "answer": "hello",
        "citations": (2, 1, 9),
        "cache_hit": False,
        "mode": Mode.STRICT,
        "temperature": 0.0,
        "seed": 2958604639977193162,
        "validation_ok": True,
        "retry_count": 1,
        "errors": (Notice("provider_failed", "groq: 5xx: bad gateway"),),
    }
    return audit.record(**{**given, **changes})


def test_the_row_is_golden_to_the_byte() -> None:
    assert (
        encode(record())
        == (
            f'{{"answer_hash":"{HELLO}","cache_hit":false,"citations":[2,1,9],"completion_tokens":40,'
            '"cost_usd":0.000321,"errors":[{"detail":"groq: 5xx: bad gateway",'
            '"kind":"provider_failed"}],"mode":"strict","model":"gpt-x","prompt_tokens":812,'
            '"provider":"openai","question":"why?","retry_count":1,"role":"analyst",'
            '"seed":2958604639977193162,"sources_urns":["urn:reddb:row:t/2","urn:reddb:row:t/1"],'
            '"temperature":0.0,"tenant":"acme","ts":1700000000123456789,"user":"ada",'
            '"validation_ok":true}'
        ).encode()
    )


def test_a_row_without_an_answer_is_golden_too() -> None:
    failed = record(
        sources_urns=(),
        prompt_tokens=0,
        completion_tokens=0,
        cost_usd=0,
        answer="",
        citations=(),
        mode=Mode.LENIENT,
        temperature=None,
        seed=None,
        validation_ok=False,
        retry_count=0,
        errors=(Notice("denied", "not you"),),
    )
    assert (
        encode(failed)
        == (
            f'{{"answer_hash":"{EMPTY}","cache_hit":false,"citations":[],"completion_tokens":0,'
            '"cost_usd":0.0,"errors":[{"detail":"not you","kind":"denied"}],"mode":"lenient",'
            '"model":"gpt-x","prompt_tokens":0,"provider":"openai","question":"why?",'
            '"retry_count":0,"role":"analyst","seed":null,"sources_urns":[],"temperature":null,'
            '"tenant":"acme","ts":1700000000123456789,"user":"ada","validation_ok":false}'
        ).encode()
    )


def test_the_keys_are_listed_in_their_order() -> None:
    assert tuple(record()) == audit.KEYS


def test_the_row_has_exactly_twenty_keys() -> None:
    assert len(KEYS) == 20
    assert record().keys() == KEYS


def test_the_answer_is_the_twenty_first_key_only_on_demand_and_moves_no_other() -> None:
    plain, full = record(include_answer=False), record(include_answer=True)
    assert full.pop("answer") == "hello"
    assert list(full.items()) == list(plain.items())
    assert "answer" not in record()


@pytest.mark.parametrize(("text", "digest"), [("", EMPTY), ("hello", HELLO)])
def test_the_answer_hash_has_the_vectors_of_the_contract(text: str, digest: str) -> None:
    assert audit.answer_hash(text) == digest
    assert record(answer=text)["answer_hash"] == digest


@given(TEXT)
def test_the_answer_hash_is_lower_case_hex_sha_256_of_utf_8(text: str) -> None:
    assert audit.answer_hash(text) == hashlib.sha256(text.encode("utf-8")).digest().hex()


@given(TEXT)
def test_the_question_is_verbatim_or_as_the_deployment_chooses_its_hash(question: str) -> None:
    assert record(question=question)["question"] == question
    hashed = record(question=question, hash_question=True)
    assert hashed.pop("question") == "sha256:" + hashlib.sha256(question.encode()).hexdigest()
    assert hashed == {k: v for k, v in record().items() if k != "question"}


def test_a_role_may_be_empty_and_is_never_null() -> None:
    assert record(role="")["role"] == ""


@given(st.lists(st.integers(1, 2**32 - 1)), st.lists(TEXT), st.lists(st.tuples(TEXT, TEXT)))
def test_the_builder_keeps_what_it_gets_in_the_order_it_gets(
    citations: list[int], urns: list[str], errors: list[tuple[str, str]]
) -> None:
    row = record(citations=citations, sources_urns=urns, errors=[Notice(*each) for each in errors])
    assert row["citations"] == citations
    assert row["sources_urns"] == urns
    assert [(each["kind"], each["detail"]) for each in row["errors"]] == errors
    assert all(each.keys() == {"kind", "detail"} for each in row["errors"])


@pytest.mark.parametrize(
    ("temperature", "seed", "shown"),
    [
        (None, None, b"[null,null]"),
        (0.0, 0, b"[0.0,0]"),
        (1, 2**64 - 1, b"[1.0,18446744073709551615]"),
        (0.5, None, b"[0.5,null]"),
    ],
)
def test_a_knob_not_sent_is_null_and_zero_is_a_value(
    temperature: float | None, seed: int | None, shown: bytes
) -> None:
    row = record(temperature=temperature, seed=seed)
    assert encode([row["temperature"], row["seed"]]) == shown


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("cost_usd", 0, b"0.0"),
        ("cost_usd", 3, b"3.0"),
        ("cost_usd", 1e-07, b"1e-07"),
        ("prompt_tokens", 2**63 - 1, b"9223372036854775807"),
        ("completion_tokens", 2**63 - 1, b"9223372036854775807"),
        ("completion_tokens", 0, b"0"),
        ("ts", -1, b"-1"),
        ("cache_hit", True, b"true"),
        ("validation_ok", False, b"false"),
        ("mode", Mode.LENIENT, b'"lenient"'),
        ("errors", (), b"[]"),
        ("retry_count", 0, b"0"),
    ],
)
def test_a_field_is_written_exactly(key: str, value: object, shown: bytes) -> None:
    assert encode(record(**{key: value})[key]) == shown


@given(
    st.fixed_dictionaries(
        {
            **dict.fromkeys(("tenant", "user", "role", "provider", "model"), TEXT),
            **dict.fromkeys(("prompt_tokens", "completion_tokens"), st.integers(0, 2**63 - 1)),
            **dict.fromkeys(("cache_hit", "validation_ok"), st.booleans()),
            "ts": st.integers(),
            "cost_usd": st.floats(0, 1e6),
        }
    )
)
def test_equal_input_gives_equal_bytes_and_every_value_its_own_key(fields: dict[str, Any]) -> None:
    row = record(**fields)
    assert encode(row) == encode(record(**fields))
    assert json.loads(encode(row)) == row == {**record(), **fields}
