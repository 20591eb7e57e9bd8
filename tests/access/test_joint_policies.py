"""What two policies allow together: rows of both, columns that both show, nothing else."""

import itertools
import json

import pytest

from redask.core.access.joint_policies import joint, narrower, transitional_layout
from redask.core.access.policy import (
    MAX_PROJECTIONS,
    WHOLE,
    ClassLayout,
    Policy,
    Principal,
    Projection,
    grant,
    read_policy,
)
from redask.core.model import Caller

ROWS = [
    {"id": number, "region": region, "level": level, "pay": 7}
    for number, (region, level) in enumerate(itertools.product(("north", "south"), range(3)))
]
RULES: list[list[dict[str, object]]] = [
    [],
    [{"roles": ["*"]}],
    [{"roles": ["a"], "rows": "region = :user.region"}],
    [{"roles": ["a", "b"], "rows": "level > 0", "hide": ["pay"]}],
    [{"roles": ["a"], "mask": ["pay"]}, {"roles": ["*"], "rows": "level = 1", "show": ["level"]}],
    [{"roles": ["b"], "show": ["pay"], "mask": ["level"]}],
]
POLICIES = [read_policy("t", {"read": rules}) for rules in RULES]
PEOPLE = [
    Principal(Caller("local", "u", role), attributes)
    for role in ("a", "b", "c", "owner")
    for attributes in ({}, {"region": "north"})
]
PROJECTIONS = [
    WHOLE,
    Projection(frozenset({"pay"})),
    Projection(mask=frozenset({"pay"})),
    Projection(mask=frozenset({"level"}), only=frozenset({"pay"})),
    Projection(only=frozenset({"pay", "region"})),
    Projection(frozenset({"level"}), frozenset({"region"})),
]


def shown(policy: Policy, who: Principal) -> dict[int, dict[str, object]]:
    given = grant(policy, who)
    found: dict[int, dict[str, object]] = {}
    for number, row in enumerate(ROWS):
        if given is not None and given.admits(policy.layout.policy_class(row)):
            found[number] = json.loads(given.projection.show(json.dumps(row)))
    return found


def of_both(one: dict[str, object], other: dict[str, object]) -> dict[str, object]:
    return {
        name: "***" if "***" in (one[name], other[name]) else one[name]
        for name in one.keys() & other.keys()
    }


@pytest.mark.parametrize("pair", list(itertools.product(POLICIES, repeat=2)))
def test_a_joint_policy_shows_what_both_show(pair: tuple[Policy, Policy]) -> None:
    together = joint(pair)
    for who in PEOPLE:
        one, other = shown(pair[0], who), shown(pair[1], who)
        both = {number: of_both(one[number], other[number]) for number in one.keys() & other.keys()}
        assert shown(together, who) == both


@pytest.mark.parametrize("pair", list(itertools.product(PROJECTIONS, repeat=2)))
def test_a_column_is_shown_only_where_both_show_it(pair: tuple[Projection, Projection]) -> None:
    payload = json.dumps(ROWS[0])
    one, other = (json.loads(each.show(payload)) for each in pair)
    assert json.loads(narrower(*pair).show(payload)) == of_both(one, other)


@pytest.mark.parametrize("pair", list(itertools.product(POLICIES, repeat=2)))
def test_both_can_be_worked_out_on_the_layout_in_between(pair: tuple[Policy, Policy]) -> None:
    together = joint(pair)
    layout = transitional_layout(together, pair[1])
    assert layout is not None
    for who, policy in itertools.product(PEOPLE, (together, pair[1])):
        given = grant(policy, who)
        assert given is None or given.fits(layout)


def test_without_one_of_them_the_layout_is_that_of_the_other() -> None:
    assert transitional_layout(None, None) is None
    assert transitional_layout(POLICIES[3], None) == POLICIES[3].layout
    assert transitional_layout(None, POLICIES[3]) == POLICIES[3].layout


def test_a_row_has_no_more_projections_than_it_may_and_those_to_come_are_among_them() -> None:
    def many(prefix: str) -> Policy:
        rules = [
            {"roles": [f"r{number}"], "hide": [f"{prefix}{number}"], "rows": f"{prefix} = 1"}
            for number in range(MAX_PROJECTIONS - 1)
        ]
        return read_policy("t", {"read": rules})

    together, new = joint([many("x"), many("y")]), many("y")
    layout = transitional_layout(together, new)
    assert layout is not None
    assert len(layout.projections) == MAX_PROJECTIONS
    assert set(new.layout.projections) <= set(layout.projections)
    assert layout.columns == ("x", "y")


def test_a_grant_fits_a_layout_that_has_its_columns_and_its_projection() -> None:
    who = Principal(Caller("local", "u", "a"), {"region": "north"})
    rows, columns = grant(POLICIES[2], who), grant(POLICIES[4], who)
    assert rows is not None
    assert columns is not None
    assert rows.fits(POLICIES[2].layout)
    assert not rows.fits(ClassLayout("t", ("level",)))
    assert columns.fits(POLICIES[4].layout)
    assert not columns.fits(ClassLayout("t", POLICIES[4].layout.columns))
