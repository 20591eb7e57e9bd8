"""What every store promises about users and tokens."""

import pytest

from redask.core.access.credentials import User
from redask.core.errors import BadAsk, Denied, Unauthenticated
from redask.core.model import Caller
from redask.stores import EntityStore

ME = Caller()
OTHER = Caller(tenant="other")
SECOND = 10**9


def test_a_token_is_its_user_s_until_it_expires_or_is_revoked(store: EntityStore) -> None:
    people = store.people
    people.add("mia", "support", {"region": "north"}, ME)
    lasting = people.make_token("mia", 0, None, ME)
    short = people.make_token("mia", 5, 10, ME)
    who = Caller("local", "mia", "support")
    assert people.sign_in(short, 5 + 10 * SECOND - 1) == people.sign_in(lasting, 99) == who
    with pytest.raises(Unauthenticated):
        people.sign_in(short, 5 + 10 * SECOND)
    people.revoke(lasting.split("_")[1], 100, ME)
    people.revoke(lasting.split("_")[1], 200, ME)
    with pytest.raises(Unauthenticated):
        people.sign_in(lasting, 100)
    assert [(each.made, each.expires, each.revoked) for each in people.tokens(ME)] == [
        (0, None, 100),
        (5, 5 + 10 * SECOND, None),
    ]


def test_a_role_and_attributes_are_those_of_now(store: EntityStore) -> None:
    people = store.people
    people.add("mia", "support", {"a": 1}, ME)
    token = people.make_token("mia", 0, None, ME)
    assert people.change("mia", "boss", None, ME) == User("mia", "boss", {"a": 1})
    assert people.sign_in(token, 0).role == "boss"
    assert people.change("mia", None, {}, ME) == User("mia", "boss", {})
    people.remove("mia", 1, ME)
    with pytest.raises(Unauthenticated):
        people.sign_in(token, 0)
    assert people.users(ME) == []


def test_tenants_have_their_own_people_of_the_same_name(store: EntityStore) -> None:
    people = store.people
    for caller, role in ((ME, "here"), (OTHER, "there")):
        people.add("mia", role, {}, caller)
    tokens = [people.make_token("mia", 0, None, caller) for caller in (ME, OTHER)]
    assert [people.sign_in(token, 0).role for token in tokens] == ["here", "there"]
    with pytest.raises(Unauthenticated):
        people.sign_in(tokens[0], 0, tenant="other")
    people.remove("mia", 0, OTHER)
    assert people.sign_in(tokens[0], 0, tenant="local").role == "here"
    with pytest.raises(BadAsk):
        people.revoke(tokens[0].split("_")[1], 0, OTHER)


def test_nobody_but_an_owner_sees_or_changes_them(store: EntityStore) -> None:
    people, reader = store.people, Caller(role="auditor")
    for work in (
        lambda: people.users(reader),
        lambda: people.tokens(reader),
        lambda: people.add("mia", "owner", {}, reader),
        lambda: people.change("mia", "owner", {}, reader),
        lambda: people.remove("mia", 0, reader),
        lambda: people.make_token("mia", 0, None, reader),
        lambda: people.revoke("x", 0, reader),
    ):
        with pytest.raises(Denied):
            work()
