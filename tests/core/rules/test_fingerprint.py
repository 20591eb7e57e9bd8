"""Contract 8: vectors, and the properties of a hash over a set."""

import hashlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.errors import BadAsk
from redask.core.rules import fingerprint

U64 = st.integers(0, 2**64 - 1)
PAIRS = st.lists(st.tuples(st.text(), U64 | st.integers(0, 2)), max_size=8)
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
TWO = "a2b5c4276f8b1e98b1d67669b47899552fbf77dcf307c2bd33beee6482b7969d"


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (
            [("urn:reddb:row:incidents/1", 1)],
            "d94525d7d8a9fa65bf106be5b8f22649b569398f504b7597b437d2fabe5f5c8b",
        ),
        ([("reddb:a/1", 1), ("reddb:a/2", 7)], TWO),
        ([("reddb:a/2", 7), ("reddb:a/1", 1)], TWO),
        ([("reddb:a/2", 7), ("reddb:a/1", 1), ("reddb:a/2", 7)], TWO),
        ([], EMPTY),
    ],
)
def test_the_vectors_of_the_contract(pairs: list[tuple[str, int]], expected: str) -> None:
    assert fingerprint.of(pairs) == expected


def test_any_iterable_will_do() -> None:
    assert fingerprint.of(iter([("reddb:a/1", 1), ("reddb:a/2", 7)])) == TWO


@given(PAIRS)
def test_it_is_the_sha_256_of_the_sorted_distinct_records(pairs: list[tuple[str, int]]) -> None:
    records = sorted({(urn.encode("utf-8"), struct.pack(">Q", version)) for urn, version in pairs})
    joined = b"".join(urn + b"\x1f" + version + b"\x1e" for urn, version in records)
    assert fingerprint.of(pairs) == hashlib.sha256(joined).hexdigest()


@given(st.data(), PAIRS)
def test_neither_order_nor_repetition_matters(
    data: st.DataObject, pairs: list[tuple[str, int]]
) -> None:
    other = data.draw(st.permutations(pairs + pairs[:2]))
    assert fingerprint.of(other) == fingerprint.of(pairs)


@given(PAIRS, st.text(), U64, U64)
def test_another_version_is_another_fingerprint(
    pairs: list[tuple[str, int]], urn: str, version: int, other: int
) -> None:
    rest = [pair for pair in pairs if pair[0] != urn]
    same = fingerprint.of([*rest, (urn, version)]) == fingerprint.of([*rest, (urn, other)])
    assert same == (version == other)


def test_one_urn_in_two_versions_counts_twice() -> None:
    both = fingerprint.of([("a", 1), ("a", 2)])
    assert both not in (fingerprint.of([("a", 1)]), fingerprint.of([("a", 2)]), EMPTY)


def test_urns_are_sorted_by_bytes_and_versions_by_number() -> None:
    records = [("B", 256), ("a", 2), ("a", 10), ("é", 0), ("\uffee", 0), ("\U00010000", 0)]
    joined = b"".join(u.encode() + b"\x1f" + struct.pack(">Q", v) + b"\x1e" for u, v in records)
    assert fingerprint.of(reversed(records)) == hashlib.sha256(joined).hexdigest()


@pytest.mark.parametrize("version", [0, 1, 2**63, 2**64 - 1])
def test_versions_of_a_u64_are_taken(version: int) -> None:
    assert len(fingerprint.of([("a", version)])) == 64


@pytest.mark.parametrize("version", [-1, 2**64, -(2**64), 10**30])
def test_versions_outside_u64_are_refused(version: int) -> None:
    with pytest.raises(BadAsk, match=str(version)):
        fingerprint.of([("a", 1), ("a", version)])


def test_the_content_version_of_the_contract() -> None:
    assert fingerprint.content_version('{"a":1}') == 97598696656828973


@given(st.text())
def test_a_content_version_is_the_big_endian_start_of_the_sha_256(payload: str) -> None:
    digest = hashlib.sha256(payload.encode("utf-8")).hexdigest()
    assert fingerprint.content_version(payload) == int(digest[:16], 16)


@given(st.text(), st.text())
def test_a_content_version_always_fits_a_fingerprint(urn: str, payload: str) -> None:
    assert len(fingerprint.of([(urn, fingerprint.content_version(payload))])) == 64
