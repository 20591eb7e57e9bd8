"""What `StoreVisibility` shows of edges: those whose ends may be seen, all the way down."""

from collections.abc import Iterable, Sequence

import pytest

from redask.core.access.policy import WHOLE
from redask.core.model import Source
from redask.stores.visibility import (
    EVERYTHING,
    CollectionVisibility,
    EdgePart,
    StoredEntity,
    StoreVisibility,
)

OPEN, GUARDED, CLOSED, LINKS = 1, 2, 3, 4  # collections
SEEN, HIDDEN = 7, 8  # policy classes of the guarded one
VISIBILITY = StoreVisibility(
    collections={GUARDED: CollectionVisibility(WHOLE, frozenset({SEEN})), CLOSED: None}
)
PARTS = {  # what each edge hangs on; 14 and 15 are edges of edges, with the ends of those
    11: [(OPEN, 0), (GUARDED, SEEN)],
    12: [(OPEN, 0), (GUARDED, HIDDEN)],
    13: [(CLOSED, 0), (OPEN, 0)],
    14: [(LINKS, 0), (OPEN, 0), (OPEN, 0), (GUARDED, SEEN)],
    15: [(LINKS, 0), (OPEN, 0), (OPEN, 0), (GUARDED, HIDDEN)],
}
WHOLE_EDGES = {11, 14}


def parts(edges: Sequence[int]) -> Iterable[EdgePart]:
    return [EdgePart(edge, *numbers) for edge in edges for numbers in PARTS[edge]]


def edge(key: int) -> StoredEntity:
    return StoredEntity(f"urn:reddb:edge:links/{key}", key, LINKS, 0, '{"label":"owns"}')


def test_an_edge_is_whole_if_every_end_may_be_seen() -> None:
    assert VISIBILITY.whole_edges(PARTS, parts) == WHOLE_EDGES
    assert VISIBILITY.whole_edges([], parts) == frozenset()


@pytest.mark.parametrize("key", PARTS)
def test_an_edge_with_an_end_that_is_hidden_is_not_shown(key: int) -> None:
    shown = VISIBILITY.show([edge(key)], parts)
    assert shown == ([Source(edge(key).urn, edge(key).payload)] if key in WHOLE_EDGES else [])


def test_edges_and_others_are_shown_in_their_order_each_by_its_own_rule() -> None:
    rows = [
        StoredEntity("urn:reddb:row:guarded/1", 1, GUARDED, SEEN, '{"id":1}'),
        StoredEntity("urn:reddb:row:guarded/2", 2, GUARDED, HIDDEN, '{"id":2}'),
        StoredEntity("urn:reddb:row:open/12", 12, OPEN, 0, '{"id":12}'),
    ]
    found = [edge(12), rows[0], edge(11), rows[1], rows[2]]
    expected = [rows[0].urn, edge(11).urn, rows[2].urn]
    assert [source.urn for source in VISIBILITY.show(found, parts)] == expected


def test_without_policies_no_edge_is_looked_into() -> None:
    def none_needed(edges: Sequence[int]) -> Iterable[EdgePart]:
        raise AssertionError("nothing is hidden")

    assert EVERYTHING.whole_edges(PARTS, none_needed) == set(PARTS)
    assert len(EVERYTHING.show([edge(key) for key in PARTS], none_needed)) == len(PARTS)
