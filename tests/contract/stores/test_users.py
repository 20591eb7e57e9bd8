"""What every backend promises about users and tokens."""

import pytest

from redask.core.access.credentials import User
from redask.core.errors import BadAsk, Denied, Unauthenticated
from redask.core.model import Caller
from redask.stores.backend import Users

ME = Caller()
OTHER = Caller(tenant="other")
SECOND = 10**9


def test_a_token_is_its_user_s_until_it_expires_or_is_revoked(users: Users) -> None:
    users.add_user("mia", "support", {"region": "north"}, ME)
    lasting = users.make_token("mia", 0, None, ME)
    short = users.make_token("mia", 5, 10, ME)
    who = Caller("local", "mia", "support")
    assert users.sign_in(short, 5 + 10 * SECOND - 1) == users.sign_in(lasting, 99) == who
    with pytest.raises(Unauthenticated):
        users.sign_in(short, 5 + 10 * SECOND)
    users.revoke_token(lasting.split("_")[1], 100, ME)
    users.revoke_token(lasting.split("_")[1], 200, ME)
    with pytest.raises(Unauthenticated):
        users.sign_in(lasting, 100)
    assert [(each.made, each.expires, each.revoked) for each in users.list_tokens(ME)] == [
        (0, None, 100),
        (5, 5 + 10 * SECOND, None),
    ]


def test_a_role_and_attributes_are_those_of_now(users: Users) -> None:
    users.add_user("mia", "support", {"a": 1}, ME)
    token = users.make_token("mia", 0, None, ME)
    assert users.change_user("mia", "boss", None, ME) == User("mia", "boss", {"a": 1})
    assert users.sign_in(token, 0).role == "boss"
    assert users.change_user("mia", None, {}, ME) == User("mia", "boss", {})
    users.remove_user("mia", 1, ME)
    with pytest.raises(Unauthenticated):
        users.sign_in(token, 0)
    assert users.list_users(ME) == []


def test_tenants_have_their_own_users_of_the_same_name(users: Users) -> None:
    for caller, role in ((ME, "here"), (OTHER, "there")):
        users.add_user("mia", role, {}, caller)
    tokens = [users.make_token("mia", 0, None, caller) for caller in (ME, OTHER)]
    assert [users.sign_in(token, 0).role for token in tokens] == ["here", "there"]
    with pytest.raises(Unauthenticated):
        users.sign_in(tokens[0], 0, tenant="other")
    users.remove_user("mia", 0, OTHER)
    assert users.sign_in(tokens[0], 0, tenant="local").role == "here"
    with pytest.raises(BadAsk):
        users.revoke_token(tokens[0].split("_")[1], 0, OTHER)


def test_nobody_but_an_owner_sees_or_changes_them(users: Users) -> None:
    reader = Caller(role="auditor")
    for work in (
        lambda: users.list_users(reader),
        lambda: users.list_tokens(reader),
        lambda: users.add_user("mia", "owner", {}, reader),
        lambda: users.change_user("mia", "owner", {}, reader),
        lambda: users.remove_user("mia", 0, reader),
        lambda: users.make_token("mia", 0, None, reader),
        lambda: users.revoke_token("x", 0, reader),
    ):
        with pytest.raises(Denied):
            work()
