"""What tells a hidden column, by its address or by being there, is hidden as well.

An edge that a file made of a foreign key, a row whose address is its key, a chunk of a document, a
row that its content names: see `policy_classes`.
"""

from collections.abc import Sequence

import pytest

from redask.core.errors import BadAsk
from redask.core.model import Caller, Kind, Urn
from redask.core.ports import DeclaredKey, Entity, Load, Origin
from redask.stores.backend import Backend, EntityStore
from redask.stores.entity_rows import entities, entity, link

ME = Caller()
READER = Caller("local", "ada", "reader")
KEYS = (
    DeclaredKey("customers", ("no",)),
    DeclaredKey("orders", ("customer_id",), "customers", ("no",)),
    DeclaredKey("orders", ("mail",), "customers", ("mail",)),
)
CUSTOMERS = [
    entity(Urn(Kind.ROW, "customers", str(no)), {"no": no, "mail": f"c{no}@x.org", "name": name})
    for no, name in ((1, "Ada"), (2, "Ben"))
]
ORDERS = [
    entity(
        Urn(Kind.ROW, "orders", str(n)),
        {"id": n, "title": "kettle", "customer_id": n, "mail": f"c{n}@x.org"},
    )
    for n in (1, 2)
]
BY_ID = [link(o.urn, "customer", c.urn) for o, c in zip(ORDERS, CUSTOMERS, strict=True)]
BY_MAIL = [link(o.urn, "mail", c.urn) for o, c in zip(ORDERS, CUSTOMERS, strict=True)]
BY_HAND = [link(ORDERS[0].urn, "praises", CUSTOMERS[1].urn)]
ON_EDGE = [link(CUSTOMERS[0].urn, "doubts", BY_ID[0].urn)]
EDGES = [*BY_ID, *BY_MAIL, *BY_HAND, *ON_EDGE]


def policy(**columns: Sequence[str]) -> dict[str, object]:
    return {"read": [{"roles": ["reader"], **columns}]}


@pytest.fixture
def store(backend: Backend) -> EntityStore:
    origin = Origin("/shop.db", "/shop.db", None, "1")
    parts = [*CUSTOMERS, *ORDERS, *EDGES]
    backend.manifest.load([Load(origin, parts, keys=KEYS)], ME)
    return backend.store


def seen(store: EntityStore, who: Caller = READER) -> list[str]:
    """The edges that somebody reads, by every way to read of a store."""
    read = {source.urn for source in store.read([each.urn for each in EDGES], who)}
    assert {source.urn for source in store.page("links", who)} == read
    counts = {each.name: each.entities for each in store.collections(who)}
    assert counts.get("links", {}).get(Kind.EDGE, 0) == len(read)
    assert bool(store.columns("links", who)) == bool(read)
    shown = store.view(who).visibility.projections
    changed = {
        change.urn
        for change in store.changes("local", 0, 1000)
        if change.entity and (shown is None or {key for key, _ in change.projections} & {*shown})
    }
    assert read <= changed
    return [each.urn for each in EDGES if each.urn in read]


def urns(*edges: Entity) -> list[str]:
    return [each.urn for each in edges]


@pytest.mark.parametrize(
    ("collection", "columns", "left"),
    [
        ("orders", {"hide": ["title"]}, EDGES),
        ("orders", {"hide": ["customer_id"]}, [*BY_MAIL, *BY_HAND]),
        ("orders", {"mask": ["customer_id"]}, [*BY_MAIL, *BY_HAND]),
        ("orders", {"show": ["title"]}, BY_HAND),
        ("orders", {"show": ["title", "customer_id", "mail"]}, EDGES),
        ("orders", {"show": ["title", "mail"], "mask": ["customer_id"]}, [*BY_MAIL, *BY_HAND]),
        ("customers", {"hide": ["mail"]}, [*BY_ID, *BY_HAND, *ON_EDGE]),
        ("customers", {"hide": ["name"]}, EDGES),
    ],
)
def test_an_edge_made_of_a_column_that_is_hidden_is_hidden(
    store: EntityStore, collection: str, columns: dict[str, list[str]], left: list[Entity]
) -> None:
    assert seen(store) == urns(*EDGES)
    store.set_policy(collection, policy(**columns), ME)
    assert seen(store) == urns(*left)
    assert seen(store, ME) == urns(*EDGES)
    store.set_policy(collection, None, ME)
    assert seen(store) == urns(*EDGES)


def test_so_is_one_that_comes_after_the_policy(backend: Backend) -> None:
    store = backend.store
    store.set_policy("orders", policy(hide=["customer_id"]), ME)
    origin = Origin("/shop.db", "/shop.db", None, "1")
    backend.manifest.load([Load(origin, [*CUSTOMERS, *ORDERS, *EDGES], keys=KEYS)], ME)
    assert seen(store) == urns(*BY_MAIL, *BY_HAND)


def test_the_policy_of_the_edges_holds_besides(store: EntityStore) -> None:
    store.set_policy("orders", policy(hide=["customer_id"]), ME)
    store.set_policy("links", {"read": [{"roles": ["reader"], "rows": "label <> 'mail'"}]}, ME)
    assert seen(store) == urns(*BY_HAND)
    store.set_policy("orders", None, ME)
    assert seen(store) == urns(*BY_ID, *BY_HAND, *ON_EDGE)


def test_a_link_in_a_text_goes_with_the_text(backend: Backend) -> None:
    content = {"path": "a.md", "text": "see b", "title": "a"}
    chunks = [entity(Urn(Kind.DOCUMENT, "docs", f"{n}.md", "top"), content) for n in "ab"]
    edge = link(chunks[0].urn, "links to", chunks[1].urn)
    backend.store.put([*chunks, edge], ME)
    backend.store.set_policy("docs", policy(hide=["text"]), ME)
    assert backend.store.read([edge.urn], READER) == []
    assert len(backend.store.read([each.urn for each in chunks], READER)) == 2


@pytest.mark.parametrize(
    ("collection", "columns", "why"),
    [
        ("customers", {"hide": ["no"]}, "no is part of the address"),
        ("customers", {"mask": ["no"]}, "no is part of the address"),
        ("customers", {"show": ["name"]}, "show must name it"),
        ("links", {"hide": ["to"]}, "to is part of the address"),
        ("links", {"show": ["from", "label"]}, "to is part of the address"),
        ("docs", {"hide": ["path", "heading"]}, "heading, path is part of the address"),
        ("found", {"hide": ["colour"]}, "came without an id"),
    ],
)
def test_hiding_an_address_is_refused_and_changes_nothing(
    store: EntityStore, collection: str, columns: dict[str, list[str]], why: str
) -> None:
    chunk = {"path": "a.md", "text": "x", "title": "a", "heading": "Top"}
    store.put([entity(Urn(Kind.DOCUMENT, "docs", "a.md", "top"), chunk)], ME)
    store.put(entities("found", [{"colour": "red", "size": 3}]), ME)
    for refuse in (store.check_policy, store.set_policy):
        with pytest.raises(BadAsk, match=why) as caught:
            refuse(collection, policy(**columns), ME)
        assert caught.value.detail == "read[0]"
    assert store.policies(ME) == {}
    assert store.policy_faults(ME) == []


def test_what_comes_later_under_an_address_that_is_hidden_is_hidden_and_told(
    backend: Backend,
) -> None:
    store = backend.store
    store.set_policy("customers", policy(show=["name"]), ME)
    store.set_policy("found", policy(hide=["colour"]), ME)
    backend.manifest.load([Load(Origin("/s", "/s", None, "1"), CUSTOMERS, keys=KEYS)], ME)
    made = entities("found", [{"colour": "red", "size": 3}])
    store.put(made, ME)
    wanted = [each.urn for each in (*CUSTOMERS, *made)]
    assert store.read(wanted, READER) == []
    assert len(store.read(wanted, ME)) == 3
    assert [fault.partition(",")[0] for fault in store.policy_faults(ME)] == [
        "the policy of 'customers' hides no",
        "the policy of 'found' hides a column",
    ]


def test_a_row_with_an_id_is_not_named_by_its_content(backend: Backend) -> None:
    store = backend.store
    store.put(entities("t", [{"id": "0123456789abcdef", "a": 1}]), ME)
    store.set_policy("t", policy(hide=["a"]), ME)
    assert [each.payload for each in store.page("t", READER)] == ['{"id":"0123456789abcdef"}']
    assert store.policy_faults(ME) == []


@pytest.mark.parametrize("columns", [{}, {"rows": "a = 1"}])
def test_choosing_rows_of_what_its_content_names_is_fine(
    backend: Backend, columns: dict[str, str]
) -> None:
    store = backend.store
    store.put(entities("t", [{"a": 1}]), ME)
    store.set_policy("t", {"read": [{"roles": ["reader"], **columns}]}, ME)
    assert len(store.page("t", READER)) == 1
