"""Which entities came from which file, as every store keeps it."""

from dataclasses import replace

import pytest

from redask.core.errors import BadAsk, Denied
from redask.core.model import Caller, Kind
from redask.core.ports import (
    DeclaredKey,
    Entity,
    FileLink,
    Load,
    Origin,
    OriginFacts,
    OriginManifest,
)
from redask.stores import entity_rows
from redask.stores.backend import EntityStore

ME = Caller()


def origin(path: str, revision: str | None = "s") -> Origin:
    return Origin(path, "/d", None, revision)


def made(*ids: object, collection: str = "t", **values: object) -> list[Entity]:
    return entity_rows.entities(collection, [{"id": each, **values} for each in ids])


def documents(*labels: str) -> list[Entity]:
    return entity_rows.entities("d", [{"id": label} for label in labels], kind=Kind.DOCUMENT)


def live(store: EntityStore) -> set[str]:
    return {change.urn for change in store.changes("local", 0, 1000) if change.entity}


def test_what_an_origin_no_longer_brings_goes(store: EntityStore, manifest: OriginManifest) -> None:
    first = manifest.load([Load(origin("/d/a"), made(1, 2, 3))], ME)
    again = manifest.load([Load(origin("/d/a"), [*made(1), *made(3, x=1), *made(4)])], ME)
    assert (first.written, first.removed) == (3, 0)
    assert (again.written, again.removed) == (2, 1)
    assert live(store) == {f"urn:reddb:row:t/{number}" for number in (1, 3, 4)}


def test_parts_are_swept_with_the_last_and_unfinished_until_then(
    store: EntityStore, manifest: OriginManifest
) -> None:
    manifest.load([Load(origin("/d/a", "old"), made(1, 2, 9))], ME)
    manifest.load([Load(origin("/d/a", "new"), made(1), last=False)], ME)
    assert manifest.known("/d/a", ME)["/d/a"].revision is None
    assert len(live(store)) == 3
    done = manifest.load([Load(origin("/d/a", "new"), made(3), first=False)], ME)
    assert (done.written, done.removed) == (1, 2)
    assert manifest.known("/d/a", ME)["/d/a"].revision == "new"
    assert live(store) == {"urn:reddb:row:t/1", "urn:reddb:row:t/3"}


def test_parts_begun_anew_forget_what_was_seen_before(
    store: EntityStore, manifest: OriginManifest
) -> None:
    manifest.load([Load(origin("/d/a"), made(1, 2), last=False)], ME)
    manifest.load([Load(origin("/d/a"), made(2, 3))], ME)
    assert live(store) == {"urn:reddb:row:t/2", "urn:reddb:row:t/3"}


def test_an_origin_that_collides_is_refused_and_the_others_are_written(
    store: EntityStore, manifest: OriginManifest
) -> None:
    manifest.load([Load(origin("/d/a"), made(1))], ME)
    loads = [
        Load(origin("/d/b"), [*made(1), *made(2)]),
        Load(origin("/d/c"), made(3)),
        Load(origin("/d/e"), made(3)),
    ]
    done = manifest.load(loads, ME)
    assert dict(done.refused) == {"/d/b": "/d/a", "/d/e": "/d/c"}
    assert set(manifest.known("/d", ME)) == {"/d/a", "/d/c"}
    assert live(store) == {"urn:reddb:row:t/1", "urn:reddb:row:t/3"}
    urns = ["urn:reddb:row:t/3"]
    assert manifest.collisions(origin("/d/a"), urns, ME) == "/d/c"
    assert manifest.collisions(origin("/d/c"), urns, ME) is None


def test_what_nobody_brought_is_taken_over(store: EntityStore, manifest: OriginManifest) -> None:
    store.put(made(1, 2), ME)
    manifest.load([Load(origin("/d/a"), made(1))], ME)
    assert manifest.remove(["/d/a", "/d/never"], ME) == 1
    assert live(store) == {"urn:reddb:row:t/2"}


def test_a_batch_that_is_refused_leaves_nothing(
    store: EntityStore, manifest: OriginManifest
) -> None:
    bad = entity_rows.link("urn:reddb:row:t/1", "x", "urn:reddb:row:t/99")
    with pytest.raises(BadAsk):
        manifest.load([Load(origin("/d/a"), made(1)), Load(origin("/d/b"), [bad])], ME)
    assert (live(store), manifest.known("/d", ME)) == (set(), {})


def test_known_are_those_at_a_path_or_below_it(manifest: OriginManifest) -> None:
    paths = ("/d", "/d/a", "/d/a/b", "/d.a", "/da", "/e")
    manifest.load([Load(origin(path), made(place)) for place, path in enumerate(paths)], ME)
    assert set(manifest.known("/d", ME)) == {"/d", "/d/a", "/d/a/b"}
    assert set(manifest.known("/d/a", ME)) == {"/d/a", "/d/a/b"}
    assert set(manifest.known("/", ME)) == set(paths)
    assert manifest.known("/d", Caller(tenant="other")) == {}


def test_an_origin_with_something_missing_has_no_revision(
    store: EntityStore, manifest: OriginManifest
) -> None:
    manifest.load([Load(origin("/d/a"), made(1, 2))], ME)
    store.delete(["urn:reddb:row:t/2"], ME)
    assert manifest.known("/d/a", ME)["/d/a"].revision is None


def test_links_are_settled_anew_for_whoever_links_to_a_changed_origin(
    store: EntityStore, manifest: OriginManifest
) -> None:
    (one, two) = documents("one", "two")
    links = [FileLink(one.urn, "/d/b", "x")]
    manifest.load([Load(origin("/d/a"), [one], links), Load(origin("/d/b"), [two])], ME)
    assert manifest.pending_links(10, ME) == {"/d/a": links, "/d/b": []}
    assert list(manifest.pending_links(1, ME)) == ["/d/a"]
    assert manifest.chunks("/d/b", ME) == [two.urn]
    edge = entity_rows.link(one.urn, "links to", two.urn)
    assert manifest.link({"/d/a": [edge], "/d/b": []}, ME).written == 1
    assert manifest.pending_links(10, ME) == {}
    manifest.load([Load(origin("/d/b"), [two])], ME)
    assert list(manifest.pending_links(10, ME)) == ["/d/a", "/d/b"]
    assert manifest.link({"/d/a": [], "/d/b": []}, ME).removed == 1
    manifest.remove(["/d/b"], ME)
    assert list(manifest.pending_links(10, ME)) == ["/d/a"]
    assert live(store) == {one.urn}


def test_tenants_have_manifests_of_their_own(store: EntityStore, manifest: OriginManifest) -> None:
    other = Caller(tenant="other")
    manifest.load([Load(origin("/d/a"), made(1))], ME)
    assert manifest.load([Load(origin("/d/b"), made(1))], other).refused == {}
    assert manifest.remove(["/d/a"], other) == 0
    assert manifest.collisions(origin("/d/z"), ["urn:reddb:row:t/1"], other) == "/d/b"
    assert len(live(store)) == 1


def test_chunks_are_documents_in_their_order(store: EntityStore, manifest: OriginManifest) -> None:
    made_here = documents("b", "a", "c")
    manifest.load([Load(origin("/d/a"), [*made_here, *made(1)])], ME)
    store.delete([made_here[1].urn], ME)
    assert manifest.chunks("/d/a", ME) == [made_here[0].urn, made_here[2].urn]


def test_the_keys_of_an_origin_are_kept_until_it_brings_others_or_goes(
    manifest: OriginManifest,
) -> None:
    primary = DeclaredKey("t", ("a", "b"))
    foreign = DeclaredKey("t", ("c",), "u", ("d",))
    manifest.load([Load(origin("/d/b"), made(9), keys=[DeclaredKey("v", ("x",))])], ME)
    manifest.load([Load(origin("/d/a"), made(1), last=False, keys=[foreign, primary])], ME)
    manifest.load([Load(origin("/d/a"), made(2), first=False)], ME)
    assert manifest.declared_keys("local") == [foreign, primary, DeclaredKey("v", ("x",))]
    assert manifest.declared_keys("other") == []
    manifest.load([Load(origin("/d/a"), made(1), keys=[primary])], ME)
    assert manifest.declared_keys("local") == [primary, DeclaredKey("v", ("x",))]
    manifest.remove(["/d/a"], ME)
    assert manifest.declared_keys("local") == [DeclaredKey("v", ("x",))]


def test_the_listing_tells_what_each_origin_brought_and_when(
    store: EntityStore, manifest: OriginManifest
) -> None:
    manifest.load([Load(origin("/d/b"), made(1, 2))], ME, 7)
    manifest.load([Load(origin("/d/a"), made(3))], ME)
    manifest.load([Load(origin("/d/c"), [])], ME, 9)
    assert manifest.listing(ME) == [
        OriginFacts("/d/a", {"t": 1}, None),
        OriginFacts("/d/b", {"t": 2}, 7),
        OriginFacts("/d/c", {}, 9),
    ]
    store.delete([made(1)[0].urn], ME)
    assert manifest.listing(ME)[1] == OriginFacts("/d/b", {"t": 1}, 7)
    with pytest.raises(Denied):
        manifest.listing(replace(ME, role="sales"))
