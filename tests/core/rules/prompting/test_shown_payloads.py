"""Nulls and digests are not shown, unless the question is about them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules.prompting.shown_payloads import shown
from redask.core.wire.json import text as canonical

SHA = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
BASE64 = "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="


def made(**columns: object) -> str:
    return canonical(columns)


@pytest.mark.parametrize(
    ("before", "question", "after"),
    [
        (made(a=1, b=None), "why?", made(a=1)),
        (made(a={"b": None, "c": 2}), "why?", made(a={"c": 2})),
        (made(a=[None, 1], b=None), "why?", made(a=[None, 1])),
        (made(name="x", sha256=SHA), "why?", made(name="x")),
        (made(name="x", etag=SHA[:32].upper()), "why?", made(name="x")),
        (made(name="x", sum=f"sha256:{SHA}"), "why?", made(name="x")),
        (made(name="x", integrity=f"sha256-{BASE64}"), "why?", made(name="x")),
        (made(a=None), "why?", "{}"),
    ],
)
def test_dead_weight_is_left_out(before: str, question: str, after: str) -> None:
    assert shown(before, question) == after


@pytest.mark.parametrize(
    ("payload", "question"),
    [
        (made(name="x", checksum=SHA), "What is the checksum of x?"),
        (made(name="x", closedAt=None), "Was it closed?"),
        (made(name="x", commit=SHA), f"Which file has {SHA}?"),
        (made(id=SHA, name="x"), "why?"),
        (made(name="x", parent_id=SHA), "why?"),
        (made(text="null and void: null"), "why?"),
        (made(text=f"the hash is {SHA} here"), "why?"),
        (made(slug="How-To-Install-2-The-Package-On-Windows-And-Linux"), "why?"),
        (made(uuid="123e4567-e89b-12d3-a456-426614174000"), "why?"),
        (made(text="a" * 300), "why?"),
        (made(text="x" * 40), "why?"),
        ("[null]", "why?"),
        ("{not json:null", "why?"),
        ("plain", "why?"),
    ],
)
def test_everything_else_is_the_same_string(payload: str, question: str) -> None:
    assert shown(payload, question) == payload


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just(SHA),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), _JSON), st.text(max_size=10))
def test_it_is_canonical_and_shown_once_is_shown_for_good(
    value: dict[str, object], question: str
) -> None:
    once = shown(canonical(value), question)
    assert shown(once, question) == once
    assert len(once) <= len(canonical(value))
