"""The chain of the first edition: the first row that is not as written is named."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules.auditing import first_chain
from redask.core.rules.auditing.first_chain import FirstHead, FirstRow


def written(rows: list[str], gone: int = 0) -> tuple[list[FirstRow], FirstHead]:
    """The links of these rows and their head, after retention took the first `gone`."""
    links: list[FirstRow] = []
    last = first_chain.GENESIS
    for seq, row in enumerate(rows, start=1):
        last = first_chain.link(last, seq, row)
        links.append(FirstRow(seq, row, last))
    gone_hash = links[gone - 1].hash if gone else first_chain.GENESIS
    return links[gone:], FirstHead(len(rows), last, gone, gone_hash)


def test_a_link_hashes_the_one_before_the_number_and_the_row() -> None:
    expected = hashlib.sha256(b"0" * 64 + (1).to_bytes(8, "big") + b'{"a":1}').hexdigest()
    assert first_chain.link(first_chain.GENESIS, 1, '{"a":1}') == expected


@given(st.lists(st.text(alphabet="ab{}", min_size=1), max_size=8), st.integers(0, 8))
def test_what_was_written_verifies_also_after_retention(rows: list[str], gone: int) -> None:
    gone = min(gone, len(rows))
    links, head = written(rows, gone)
    assert first_chain.first_fault(links, head, first_chain.seal(head)) is None


@given(st.lists(st.text(alphabet="ab", min_size=1), min_size=1, max_size=8), st.data())
def test_a_changed_row_is_named(rows: list[str], data: st.DataObject) -> None:
    links, head = written(rows)
    place = data.draw(st.integers(0, len(rows) - 1))
    links[place] = FirstRow(place + 1, links[place].row + "!", links[place].hash)
    verdict = first_chain.first_fault(links, head, first_chain.seal(head))
    assert verdict == (place + 1, f"row {place + 1} is not what was written")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_dropped_row_is_named_at_either_end_too(place: int) -> None:
    links, head = written(["a", "b", "c"])
    del links[place]
    verdict = first_chain.first_fault(links, head, first_chain.seal(head))
    assert verdict == (place + 1, f"row {place + 1} is missing")


def test_a_row_behind_the_head_was_added() -> None:
    links, _ = written(["a", "b", "c"])
    _, head = written(["a", "b"])
    verdict = first_chain.first_fault(links, head, first_chain.seal(head))
    assert verdict == (3, "row 3 was added behind the end of the old log")


def test_a_head_that_does_not_match_its_seal_is_named() -> None:
    links, head = written(["a", "b"])
    verdict = first_chain.first_fault(links, FirstHead(1, head.hash), first_chain.seal(head))
    assert verdict == (0, "the head of the old log was changed")


def test_a_last_row_that_was_rewritten_with_its_hash_is_named() -> None:
    _, head = written(["a", "b"])
    forged, _ = written(["a", "x"])
    verdict = first_chain.first_fault(forged, head, first_chain.seal(head))
    assert verdict == (2, "row 2 is not what was written")
