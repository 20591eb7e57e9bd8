"""rules.chain: a chain that was written verifies; the first row that was not is named."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.rules import audit_chain
from redask.core.rules.audit_chain import Broken, Chained, Head, Intact


def written(rows: list[str], gone: int = 0) -> tuple[list[Chained], Head]:
    """The links of these rows and their head, after retention took the first `gone`."""
    links: list[Chained] = []
    last = audit_chain.GENESIS
    for seq, row in enumerate(rows, start=1):
        last = audit_chain.link(last, seq, row)
        links.append(Chained(seq, row, last))
    gone_hash = links[gone - 1].hash if gone else audit_chain.GENESIS
    return links[gone:], Head(len(rows), last, gone, gone_hash)


def test_a_link_hashes_the_one_before_the_number_and_the_row() -> None:
    expected = hashlib.sha256(b"0" * 64 + (1).to_bytes(8, "big") + b'{"a":1}').hexdigest()
    assert audit_chain.link(audit_chain.GENESIS, 1, '{"a":1}') == expected


@given(st.lists(st.text(alphabet="ab{}", min_size=1), max_size=8), st.integers(0, 8))
def test_what_was_written_verifies_also_after_retention(rows: list[str], gone: int) -> None:
    gone = min(gone, len(rows))
    links, head = written(rows, gone)
    assert audit_chain.verify(links, head, audit_chain.seal(head)) == Intact(len(rows) - gone, head)


@given(st.lists(st.text(alphabet="ab", min_size=1), min_size=1, max_size=8), st.data())
def test_a_changed_row_is_named(rows: list[str], data: st.DataObject) -> None:
    links, head = written(rows)
    place = data.draw(st.integers(0, len(rows) - 1))
    links[place] = Chained(place + 1, links[place].row + "!", links[place].hash)
    verdict = audit_chain.verify(links, head, audit_chain.seal(head))
    assert verdict == Broken(place + 1, f"row {place + 1} is not what was written")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_dropped_row_is_named_at_either_end_too(place: int) -> None:
    links, head = written(["a", "b", "c"])
    del links[place]
    verdict = audit_chain.verify(links, head, audit_chain.seal(head))
    assert verdict == Broken(place + 1, f"row {place + 1} is missing")


def test_a_row_behind_the_head_was_added() -> None:
    links, _ = written(["a", "b", "c"])
    _, head = written(["a", "b"])
    verdict = audit_chain.verify(links, head, audit_chain.seal(head))
    assert verdict == Broken(3, "row 3 was added behind the end of the log")


def test_a_head_that_does_not_match_its_seal_is_named() -> None:
    links, head = written(["a", "b"])
    verdict = audit_chain.verify(links, Head(1, head.hash), audit_chain.seal(head))
    assert verdict == Broken(0, "the head of the log was changed")


def test_a_last_row_that_was_rewritten_with_its_hash_is_named() -> None:
    _, head = written(["a", "b"])
    forged, _ = written(["a", "x"])
    verdict = audit_chain.verify(forged, head, audit_chain.seal(head))
    assert verdict == Broken(2, "row 2 is not what was written")
