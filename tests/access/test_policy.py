"""Policy documents, and what a principal is granted by them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.access.policy import (
    MASK,
    MAX_PROJECTIONS,
    MAX_RULES,
    WHOLE,
    Grant,
    Policy,
    Principal,
    Projection,
    grant,
    must_own,
    read_policy,
)
from redask.core.errors import BadAsk, Denied
from redask.core.model import Caller
from redask.core.wire.json import text

SUPPORT = {
    "roles": ["support", "sales"],
    "rows": "region = :user.region and status <> 'draft'",
    "hide": ["salary"],
    "mask": ["email"],
}
OTHERS = {"roles": ["*"], "rows": "public = true"}
POLICY = read_policy("people", {"read": [SUPPORT, OTHERS]})


def somebody(role: str, **attributes: object) -> Principal:
    return Principal(Caller("t", "mia", role), attributes)


def sees(policy: Policy, who: Principal, row: dict[str, object]) -> dict[str, Any] | None:
    """A row as it is shown to somebody."""
    granted = grant(policy, who)
    if granted is None or not granted.admits(policy.layout.policy_class(row)):
        return None
    shown: dict[str, Any] = json.loads(granted.projection.show(text(row)))
    return shown


ROW: dict[str, object] = {"id": 1, "region": "north", "status": "done", "salary": 9, "name": "Bo"}


@pytest.mark.parametrize(
    ("who", "row", "shown"),
    [
        (somebody("owner"), {**ROW, "status": "draft"}, {**ROW, "status": "draft"}),
        (
            somebody("support", region="north"),
            ROW,
            {"id": 1, "region": "north", "status": "done", "email": MASK, "name": "Bo"},
        ),
        (somebody("support", region="south"), ROW, None),
        (somebody("support", region="north"), {**ROW, "status": "draft"}, None),
        (somebody("support", region="north"), {"id": 1, "region": "north"}, None),
        (somebody("support", region=["north"]), ROW, None),
        (somebody("support"), ROW, None),
        (somebody("support"), {**ROW, "public": True}, None),
        (somebody("client"), ROW, None),
        (somebody("client"), {**ROW, "public": True}, {**ROW, "public": True}),
        (somebody("client"), {**ROW, "public": "true"}, None),
        (somebody("Support", region="north"), ROW, None),
        (somebody("", region="north"), {**ROW, "public": True}, {**ROW, "public": True}),
    ],
)
def test_a_rule_gives_its_rows_and_its_columns(
    who: Principal, row: dict[str, object], shown: dict[str, object] | None
) -> None:
    assert sees(POLICY, who, row) == shown


def test_without_a_policy_the_tenant_reads_everything() -> None:
    assert grant(None, somebody("client")) == Grant()
    assert Grant().admits("")
    assert Grant().projection is WHOLE


def test_without_rules_only_the_owner_reads() -> None:
    closed = read_policy("t", {"read": []})
    assert grant(closed, somebody("support")) is None
    assert grant(closed, somebody("owner")) == Grant()


def test_an_attribute_the_user_lacks_closes_the_collection() -> None:
    assert grant(POLICY, somebody("support")) is None
    negated = read_policy("t", {"read": [{"roles": ["a"], "rows": "not x = :user.y"}]})
    assert grant(negated, somebody("a")) is None
    assert grant(negated, somebody("a", y=1)) is not None


def test_an_attribute_cannot_pose_as_name_role_or_tenant() -> None:
    rows = "a = :user.name and b = :user.role and c = :user.tenant"
    own = read_policy("t", {"read": [{"roles": ["r"], "rows": rows}]})
    forged = Principal(Caller("t", "mia", "r"), {"name": "eve", "role": "owner", "tenant": "other"})
    assert sees(own, forged, {"a": "mia", "b": "r", "c": "t"}) is not None
    assert sees(own, forged, {"a": "eve", "b": "owner", "c": "other"}) is None


def test_the_role_s_own_rule_wins_over_the_one_for_everybody_wherever_it_stands() -> None:
    turned = read_policy("people", {"read": [OTHERS, SUPPORT]})
    who = somebody("support", region="north")
    for policy in (POLICY, turned):
        assert sees(policy, who, {"public": True}) is None
        assert sees(policy, who, ROW) is not None


def test_a_mask_tells_nothing_of_what_is_behind_it() -> None:
    projection = Projection(hide=frozenset({"a"}), mask=frozenset({"b", "c"}))
    assert projection.show('{"a":1,"b":null,"d":1}') == projection.show(
        '{"b":"long text","c":5,"d":1}'
    )
    assert projection.show('{"d":1}') == '{"b":"***","c":"***","d":1}'


def test_a_policy_class_holds_what_the_conditions_look_at_and_nothing_else() -> None:
    policy_class = POLICY.layout.policy_class(
        {**ROW, "public": None, "status": ["x"], "region": "n" * 5000}
    )
    assert json.loads(policy_class) == {"region": "n" * 1001, "status": []}
    assert POLICY.layout.columns == ("public", "region", "status")
    assert read_policy("t", {"read": [{"roles": ["a"]}]}).layout.policy_class(ROW) == ""
    assert POLICY.layout.policy_class({**ROW, "salary": 1}) == POLICY.layout.policy_class(
        {**ROW, "salary": 2}
    )


def test_keys_differ_by_collection_class_and_projection_and_by_nothing_else() -> None:
    other = read_policy("pets", {"read": [SUPPORT, OTHERS]})
    again = read_policy("people", {"read": [SUPPORT, OTHERS]})
    classes = [
        (policy, policy_class)
        for policy in (POLICY, other)
        for policy_class in ("", "{}", '{"a":1}')
    ]
    keys = {policy.layout.class_key(policy_class) for policy, policy_class in classes} | {
        policy.layout.projection_key(policy_class, projection)
        for policy, policy_class in classes
        for projection in policy.layout.projections
    }
    assert len(keys) == 2 * 3 * 3
    assert POLICY.layout.projection_key(
        "{}", POLICY.layout.projections[1]
    ) == again.layout.projection_key("{}", again.layout.projections[1])


def rules(*given: object) -> dict[str, object]:
    return {"read": list(given)}


@pytest.mark.parametrize(
    ("document", "where"),
    [
        (None, "read"),
        ([], "read"),
        ({}, "read"),
        ({"read": [], "write": []}, "read"),
        ({"read": {}}, "read"),
        (rules(*({"roles": [f"r{i}"]} for i in range(MAX_RULES + 1))), "read"),
        (rules(1), "read[0]"),
        (rules({}), "read[0].roles"),
        (rules({"roles": []}), "read[0].roles"),
        (rules({"roles": "support"}), "read[0].roles"),
        (rules({"roles": [""]}), "read[0].roles"),
        (rules({"roles": [7]}), "read[0].roles"),
        (rules({"roles": [10**5000]}), "read[0].roles"),
        (rules({"roles": ["a\x1f"]}), "read[0].roles"),
        (rules({"roles": ["owner"]}), "read[0].roles"),
        (rules({"roles": ["a"]}, {"roles": ["b", "a"]}), "read[1].roles"),
        (rules({"roles": ["a"], "colums": []}), "read[0].colums"),
        (rules({"roles": ["a"], 1: 2, "x": 3}), "read[0].1"),
        (rules({"roles": ["a"], "hide": None}), "read[0].hide"),
        (rules({"roles": ["a"], "hide": ["id"]}), "read[0].hide"),
        (rules({"roles": ["a"], "mask": ["id"]}), "read[0].mask"),
        (rules({"roles": ["a"], "hide": ["x"], "mask": ["x"]}), "read[0].mask"),
        (rules({"roles": ["a"], "hide": [f"c{i}" for i in range(1001)]}), "read[0].hide"),
        (rules({"roles": ["a"], "rows": 1}), "read[0].rows"),
        (rules({"roles": ["a"], "rows": "a ="}), "read[0].rows"),
        (rules({"roles": ["a"], "rows": "x" * 5000}), "read[0].rows"),
        (rules(*({"roles": [f"r{i}"], "hide": [f"c{i}"]} for i in range(MAX_PROJECTIONS))), "read"),
    ],
)
def test_a_bad_policy_is_told_where(document: object, where: str) -> None:
    with pytest.raises(BadAsk) as caught:
        read_policy("t", document)
    assert caught.value.detail == where


def test_as_many_faces_as_there_may_be() -> None:
    given = [{"roles": [f"r{i}"], "hide": [f"c{i}"]} for i in range(MAX_PROJECTIONS - 1)]
    policy = read_policy("t", {"read": [*given, {"roles": ["whole"]}]})
    assert len(policy.layout.projections) == MAX_PROJECTIONS
    assert policy.layout.projections[0] == WHOLE


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["a = 1"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["read", "roles", "rows", "hide", "mask", "x"]), inner, max_size=3
        )
    ),
    max_leaves=10,
)


@given(_ANY | st.lists(_ANY, max_size=3).map(lambda listed: {"read": listed}))
def test_any_document_is_a_policy_or_a_bad_ask(document: object) -> None:
    try:
        policy = read_policy("t", document)
    except BadAsk:
        return
    assert isinstance(document, dict)
    assert len(policy.rules) == len(document["read"])


_VALUES: st.SearchStrategy[object] = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["north", "done", []])
)
_CONTENT = st.dictionaries(
    st.sampled_from(["region", "status", "public", "salary", "email", "name"]), _VALUES, max_size=6
)


@given(_CONTENT, _CONTENT, st.sampled_from(["support", "client"]))
def test_rows_that_differ_in_hidden_columns_alone_look_the_same(
    one: dict[str, object], other: dict[str, object], role: str
) -> None:
    who = somebody(role, region="north")
    mixed = dict(one)
    mixed.update((name, other[name]) for name in ("salary", "email") if name in other)
    if role == "support":
        assert sees(POLICY, who, mixed) == sees(POLICY, who, one)
    else:
        assert (sees(POLICY, who, mixed) is None) == (sees(POLICY, who, one) is None)


def test_only_an_owner_may_write() -> None:
    must_own(Caller())
    for role in ("auditor", "support", "", "Owner", "*"):
        with pytest.raises(Denied):
            must_own(Caller("t", "u", role))
