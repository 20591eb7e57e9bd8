"""The quick way to take a URN apart says what the slow way says."""

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from redask.core.errors import BadUrn, UrnFault
from redask.core.model import Kind, Urn
from redask.core.rules import urn as urns
from redask.stores.canonical_urns import address, canonical

TEXT = st.text(st.characters(codec="utf-8"), min_size=1)
URNS = st.builds(
    lambda kind, collection, name, fragment: Urn(
        kind, collection, name, fragment if kind is Kind.DOCUMENT else None
    ),
    st.sampled_from(Kind),
    TEXT,
    TEXT,
    st.none() | TEXT,
)


@given(URNS)
def test_a_canonical_urn_is_its_own_address(parts: Urn) -> None:
    text = urns.encode(parts)
    assert address(text) == (text, parts.kind, parts.collection)


@given(URNS)
def test_lower_case_hex_is_brought_to_the_one_spelling(parts: Urn) -> None:
    text = urns.encode(parts)
    scheme, _, body = text.rpartition(":")
    pieces = body.split("%")
    spelled = "%".join([pieces[0], *(piece[:2].lower() + piece[2:] for piece in pieces[1:])])
    assert address(f"{scheme}:{spelled}") == (text, parts.kind, parts.collection)
    assert canonical(f"{scheme}:{spelled}") == text


@given(st.text(alphabet="urnedbow:/#%aé 0\n235F"))
@example("a%2Fb#c%20")
@example("a%2fb#c")
@example("a#b#c")
@example("a%41")
@example("#a")
@example("a#")
@example("urn:reddb:row:a/b\n")
@example("urn:reddb:row:a/b/c")
@example("urn:reddb:row:a/")
@example("urn:reddb:row:a#b/c")
@example("urn:reddb:row:a/b#c")
@example("urn:reddb:row:a:b/c")
def test_what_the_rules_refuse_is_refused(tail: str) -> None:
    whole = [
        f"urn:reddb:{kind}:{head}{tail}" for kind in ("row", "document") for head in ("", "a/")
    ]
    for text in (tail, *whole):
        wanted = _outcome(urns.decode, text)
        assert _outcome(quick, text) == wanted
        assert _outcome(lambda urn: urns.decode(canonical(urn)), text) == wanted


def quick(text: str) -> Urn:
    """What `address` says, in the words of the rules."""
    spelled, kind, collection = address(text)
    parts = urns.decode(spelled)
    assert (parts.kind, parts.collection) == (kind, collection)
    assert spelled == urns.encode(parts)
    return parts


def _outcome(decode: Callable[[str], Urn], text: str) -> Urn | UrnFault:
    try:
        return decode(text)
    except BadUrn as refused:
        return refused.fault


@pytest.mark.parametrize("odd", [None, 5, b"urn:reddb:row:a/1"])
def test_what_is_no_text_is_no_urn(odd: object) -> None:
    with pytest.raises(BadUrn, match=type(odd).__name__):
        address(odd)  # type: ignore[arg-type] # that is the test
