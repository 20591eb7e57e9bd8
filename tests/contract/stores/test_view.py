"""One view: how far the store is, what a caller may see, and the vector space, at one moment."""

from redask.core.model import Caller
from redask.stores import entity_rows
from redask.stores.backend import EntityStore, Users

ME = Caller()
READER = Caller("local", "ada", "reader")
OPEN_ROWS = {"read": [{"roles": ["reader"], "rows": "open = true"}]}


def put(store: EntityStore, *ids: int, **values: object) -> None:
    store.put(entity_rows.entities("t", [{"id": each, **values} for each in ids]), ME)


def test_a_tenant_without_anything_is_at_the_beginning(store: EntityStore) -> None:
    view = store.view(Caller(tenant="nobody"))
    assert (view.watermark, view.space) == (0, None)
    assert (view.visibility.version, view.visibility.projections) == (0, None)


def test_the_watermark_is_that_of_the_last_change(store: EntityStore) -> None:
    put(store, 1, 2)
    assert store.view(ME).watermark == store.watermark("local") == 2
    assert store.view(Caller(tenant="other")).watermark == 0


def test_the_space_is_there_while_there_are_vectors(store: EntityStore) -> None:
    put(store, 1)
    assert store.view(ME).space is None
    made = entity_rows.entities("v", [{"id": 1}], vectors=[[1.0, 0.5]])
    store.put(made, ME, model="mini")
    assert store.view(ME).space == ("mini", 2)
    assert store.view(Caller(tenant="other")).space is None
    store.delete([made[0].urn], ME)
    assert store.view(ME).space is None


def test_without_policies_everybody_sees_everything(store: EntityStore) -> None:
    put(store, 1)
    assert store.view(READER).visibility.projections is None
    assert store.view(READER).visibility.denied == frozenset()


def test_who_is_not_named_is_denied_and_the_owner_never_is(store: EntityStore) -> None:
    put(store, 1, open=True)
    store.set_policy("t", OPEN_ROWS, ME)
    assert store.view(Caller("local", "bob", "client")).visibility.denied == {"t"}
    assert store.view(READER).visibility.denied == frozenset()
    assert store.view(ME).visibility.denied == frozenset()


def test_the_keys_of_a_view_are_those_of_the_change_log(store: EntityStore) -> None:
    put(store, 1, open=True)
    put(store, 2, open=False)
    store.set_policy("t", OPEN_ROWS, ME)
    changes = {change.urn[-1]: change for change in store.changes("local", 0, 10)}
    mine = store.view(READER).visibility.projections
    everything = store.view(ME).visibility.projections
    assert mine is not None
    assert everything is not None
    shown, hidden = changes["1"], changes["2"]
    assert [key for key, _ in shown.projections if key in mine] == [shown.projections[0][0]]
    assert mine[shown.projections[0][0]] == shown.class_key
    assert hidden.class_key not in mine.values()
    assert {shown.class_key, hidden.class_key} <= set(everything.values())


def test_the_version_changes_with_whatever_changes_who_sees_what(
    store: EntityStore, users: Users
) -> None:
    seen = [store.view(READER).visibility.version]

    def expect(moved: bool) -> None:
        now = store.view(READER).visibility.version
        assert (now != seen[-1]) is moved
        seen.append(now)

    put(store, 1, open=True)
    seen.append(store.view(READER).visibility.version)
    put(store, 2, open=True)
    expect(moved=False)
    store.set_policy("t", OPEN_ROWS, ME)
    expect(moved=True)
    put(store, 3, open="neither")  # a new policy class
    expect(moved=True)
    put(store, 4, open="neither")
    expect(moved=False)
    users.add_user("ada", "reader", {}, ME)
    expect(moved=True)
    users.change_user("ada", None, {"a": 1}, ME)
    expect(moved=True)
    users.make_token("ada", 0, None, ME)
    expect(moved=False)
    users.remove_user("ada", 1, ME)
    expect(moved=True)
