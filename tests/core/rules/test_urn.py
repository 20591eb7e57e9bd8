"""Contract 9: both directions, every refusal, and a round trip for any Unicode."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.errors import BadAsk, BadUrn, UrnFault
from redask.core.model import Kind, Urn
from redask.core.rules import urn

PART = st.text(min_size=1)
URNS = st.builds(Urn, st.sampled_from(Kind), PART, PART) | st.builds(
    Urn, st.just(Kind.DOCUMENT), PART, PART, PART
)
KEPT = "!\"$&'()*+,-.0123456789;<=>?@ABCXYZ[\\]^_`abcxyz{|}~"


def fault_of(text: str) -> UrnFault:
    with pytest.raises(BadUrn) as caught:
        urn.decode(text)
    assert caught.value.detail == caught.value.fault.value
    assert isinstance(caught.value, BadAsk)
    return caught.value.fault


@pytest.mark.parametrize(
    ("decoded", "text"),
    [
        (Urn(Kind.ROW, "incidents", "1"), "urn:reddb:row:incidents/1"),
        (Urn(Kind.DOCUMENT, "docs", "a", "p1"), "urn:reddb:document:docs/a#p1"),
        (Urn(Kind.DOCUMENT, "docs", "a"), "urn:reddb:document:docs/a"),
        (Urn(Kind.VECTOR, "v", "x"), "urn:reddb:vector:v/x"),
        (Urn(Kind.NODE, "n", "a/b"), "urn:reddb:node:n/a%2Fb"),
        (Urn(Kind.EDGE, "e", "a#b:c"), "urn:reddb:edge:e/a%23b%3Ac"),
        (Urn(Kind.KV, "k%v", "a b"), "urn:reddb:kv:k%25v/a%20b"),
        (Urn(Kind.ROW, "café", "😀"), "urn:reddb:row:caf%C3%A9/%F0%9F%98%80"),
        (Urn(Kind.ROW, "\0\n\x1f", "\x7f\x80"), "urn:reddb:row:%00%0A%1F/%7F%C2%80"),
        (Urn(Kind.ROW, KEPT, KEPT), f"urn:reddb:row:{KEPT}/{KEPT}"),
        (Urn(Kind.DOCUMENT, "%41", "%", "#/"), "urn:reddb:document:%2541/%25#%23%2F"),
    ],
)
def test_encoding_and_decoding_are_exact(decoded: Urn, text: str) -> None:
    assert urn.encode(decoded) == text
    assert urn.decode(text) == decoded


def test_the_kinds_are_seven() -> None:
    assert [kind.value for kind in Kind] == "row document vector node edge kv query".split()


@pytest.mark.parametrize("code", range(0x80))
def test_every_ascii_character_is_kept_or_percent_encoded_in_upper_case(code: int) -> None:
    char = chr(code)
    encoded = char if char in "".join(map(chr, range(0x21, 0x7F))) and char not in "%/#:" else None
    expected = encoded or f"%{code:02X}"
    assert urn.encode(Urn(Kind.DOCUMENT, char, char, char)) == (
        f"urn:reddb:document:{expected}/{expected}#{expected}"
    )


@given(URNS)
def test_the_round_trip_is_exact_for_any_unicode(decoded: Urn) -> None:
    assert urn.decode(urn.encode(decoded)) == decoded


@given(URNS)
def test_a_urn_is_printable_ascii_and_what_the_standard_library_would_quote(decoded: Urn) -> None:
    text = urn.encode(decoded)
    assert all("!" <= char <= "~" for char in text)
    parts = [decoded.collection, decoded.id, decoded.fragment or ""]
    safe = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in "%/#:")
    collection, entity, fragment = (quote(part, safe=safe) for part in parts)
    tail = f"#{fragment}" if fragment else ""
    assert text == f"urn:reddb:{decoded.kind.value}:{collection}/{entity}{tail}"


@given(URNS, URNS)
def test_different_entities_have_different_urns(one: Urn, other: Urn) -> None:
    assert (urn.encode(one) == urn.encode(other)) == (one == other)


@given(URNS, st.data())
def test_decoding_accepts_either_hex_case(decoded: Urn, data: st.DataObject) -> None:
    pieces = urn.encode(decoded).split("%")
    flips = data.draw(st.lists(st.booleans(), min_size=len(pieces), max_size=len(pieces)))
    lowered = [
        piece[:2].lower() + piece[2:] if flip and number else piece
        for number, (piece, flip) in enumerate(zip(pieces, flips, strict=True))
    ]
    assert urn.decode("%".join(lowered)) == decoded


def test_a_needless_escape_is_decoded_and_encoded_back_without_it() -> None:
    assert urn.encode(urn.decode("urn:reddb:row:%61/%41")) == "urn:reddb:row:a/A"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        *((bad, UrnFault.SCHEME) for bad in ("", "urn", "row:a/b", "reddb:row:a/b", "urn:reddb")),
        *((f"{bad}:row:a/b", UrnFault.SCHEME) for bad in ("URN:reddb", "urn:RedDB", "Urn:reddb")),
        *(
            (f"{bad}urn:reddb:row:a/b", UrnFault.SCHEME)
            for bad in (" ", "\ufeff", "x", "urn:reddb\0")
        ),
        *(
            (f"urn:reddb:{bad}:a/b", UrnFault.KIND)
            for bad in ("", "table", "ROW", "Row", " row", "row ")
        ),
        *((f"urn:reddb:{bad}", UrnFault.KIND) for bad in ("", "x", "rows", "a/b", "\ud800", "％")),
        ("urn:reddb:row", UrnFault.SEPARATOR),
        ("urn:reddb:row:a", UrnFault.SEPARATOR),
        ("urn:reddb:document:a#f", UrnFault.SEPARATOR),
        *(
            (f"urn:reddb:row:{bad}", UrnFault.EMPTY_COLLECTION)
            for bad in ("", "/", "/b", "#", "#a/b")
        ),
        *((f"urn:reddb:document:{bad}", UrnFault.EMPTY_ID) for bad in ("a/", "a/#f", "a/#")),
        ("urn:reddb:document:a/b#", UrnFault.EMPTY_FRAGMENT),
        ("urn:reddb:row:a/b#", UrnFault.EMPTY_FRAGMENT),
        *(
            (f"urn:reddb:{kind}:a/b#c", UrnFault.FRAGMENT_KIND)
            for kind in Kind
            if kind != "document"
        ),
        *(
            (f"urn:reddb:row:{bad}", UrnFault.RAW_CHARACTER)
            for bad in ("a/b/c", "a//", "a:b/c", "a/b:c")
        ),
        *(
            (f"urn:reddb:document:a/b#{bad}", UrnFault.RAW_CHARACTER)
            for bad in ("c#", "#", "c/d", "c:")
        ),
        *(
            (f"urn:reddb:row:a{bad}/b", UrnFault.RAW_CHARACTER)
            for bad in ("é", "１", "\x80", "\ud800")
        ),
        *(
            (f"urn:reddb:row:a/b{bad}", UrnFault.RAW_CHARACTER)
            for bad in (" ", "\n", "\t", "\0", "\x7f")
        ),
        *(
            (f"urn:reddb:row:a/b%{bad}", UrnFault.PERCENT)
            for bad in ("", "4", "4G", "G4", "%41", "+1", "-")
        ),
        *((f"urn:reddb:row:{bad}/b", UrnFault.PERCENT) for bad in ("%", "%1", "%41%4", "a%zz")),
        *(
            (f"urn:reddb:row:a/{bad}", UrnFault.UTF8)
            for bad in ("%80", "%C3", "%C3%28", "%FF", "%C0%80")
        ),
        *(
            (f"urn:reddb:document:a/b#{bad}", UrnFault.UTF8)
            for bad in ("%ED%A0%80", "%F4%90%80%80")
        ),
        ("urn:reddb:row:%E9/b", UrnFault.UTF8),
    ],
)
def test_decoding_refuses_with_an_error_of_its_own(text: str, fault: UrnFault) -> None:
    assert fault_of(text) is fault


@pytest.mark.parametrize(
    ("decoded", "fault"),
    [
        (Urn(Kind.ROW, "", "1"), UrnFault.EMPTY_COLLECTION),
        (Urn(Kind.ROW, "a", ""), UrnFault.EMPTY_ID),
        (Urn(Kind.DOCUMENT, "a", "b", ""), UrnFault.EMPTY_FRAGMENT),
        *(
            (Urn(kind, "a", "b", "c"), UrnFault.FRAGMENT_KIND)
            for kind in Kind
            if kind != "document"
        ),
        (Urn(Kind.ROW, "\ud800", "b"), UrnFault.UTF8),
        (Urn(Kind.ROW, "a", "b\udfff"), UrnFault.UTF8),
        (Urn(Kind.DOCUMENT, "a", "b", "\ud83d\ude00"), UrnFault.UTF8),
        (Urn("table", "a", "b"), UrnFault.KIND),  # type: ignore[arg-type]
    ],
)
def test_encoding_refuses_what_could_not_be_decoded(decoded: Urn, fault: UrnFault) -> None:
    with pytest.raises(BadUrn) as caught:
        urn.encode(decoded)
    assert caught.value.fault is fault


@pytest.mark.parametrize(
    "text", ["urn:reddb:\ud800", "urn:reddb:row:\ud800/b", "urn:reddb:row:é/b"]
)
def test_a_refusal_is_printable_whatever_was_refused(text: str) -> None:
    with pytest.raises(BadUrn) as caught:
        urn.decode(text)
    assert caught.value.message.isprintable()


MUTATIONS = st.lists(st.sampled_from(["%", "/", "#", ":", "é", "%C3", "%41", "a", ""]), max_size=4)


@given(st.sampled_from(["urn:reddb:row:a/b", "urn:reddb:document:a/b#c"]), MUTATIONS, st.data())
def test_what_decodes_encodes_to_a_fixed_point_and_nothing_else_than_bad_urn_comes_out(
    text: str, mutations: list[str], data: st.DataObject
) -> None:
    for mutation in mutations:
        at = data.draw(st.integers(0, len(text)))
        text = text[:at] + mutation + text[at + data.draw(st.integers(0, 1)) :]
    try:
        decoded = urn.decode(text)
    except BadUrn:
        return
    assert urn.decode(urn.encode(decoded)) == decoded


@given(st.text(st.characters(codec=None)))
def test_any_text_is_a_urn_or_refused(text: str) -> None:
    for each in (text, f"urn:reddb:{text}", f"urn:reddb:document:{text}"):
        try:
            urn.decode(each)
        except BadUrn:
            continue
