"""What several policies of a collection allow together: `joint(policies)`, again a policy.

It is in force while rows are classified anew for another policy: until that is done, a caller sees
what the policy before *and* the one to come allow.

    rows          those of every policy's rule for the caller's role
    columns       shown only where every rule shows them; masked where one masks and none hides
    no rule       in one of the policies: nothing

`transitional_layout` is a layout on which both this and the policy to come can be worked out, so
that nothing disappears when the one takes the other's place. What would need more projections than
a row may have is left out: who needs it sees nothing until the new policy is alone.
"""

from collections.abc import Sequence
from functools import reduce

from redask.core.access.policy import (
    ANY_ROLE,
    MAX_PROJECTIONS,
    ClassLayout,
    Policy,
    Projection,
    Rule,
)
from redask.core.access.predicate import Condition, both, parse

_NOTHING = parse("false")


def joint(policies: Sequence[Policy]) -> Policy:
    """A policy of what all of these, one at least, allow."""
    return reduce(_joint, policies)


def transitional_layout(in_force: Policy | None, to_come: Policy | None) -> ClassLayout | None:
    """The layout for the time in between; None is that of no policy."""
    if in_force is None or to_come is None:
        alone = in_force or to_come
        return None if alone is None else alone.layout
    first, later = to_come.layout.projections, in_force.layout.projections
    kept = [*first, *(each for each in later if each not in first)][:MAX_PROJECTIONS]
    rules = (*in_force.rules, *to_come.rules)
    return ClassLayout.of(
        to_come.collection, [each for each in rules if each.projection in kept]
    ).with_columns(in_force.layout.columns)


def narrower(one: Projection, other: Projection) -> Projection:
    """The columns that both show."""
    hide = one.hide | other.hide
    removed = [
        name
        for name in one.mask | other.mask
        if any(each.hides(name) and name not in each.mask for each in (one, other))
    ]
    mask = (one.mask | other.mask) - frozenset(removed)
    lists = [each.only for each in (one, other) if each.only is not None]
    if not lists:
        return Projection(hide, mask)
    return Projection(mask=mask, only=frozenset.intersection(*lists) - hide - one.mask - other.mask)


def _joint(one: Policy, other: Policy) -> Policy:
    roles = {role for policy in (one, other) for rule in policy.rules for role in rule.roles}
    rules = []
    for role in sorted(roles | {ANY_ROLE}):
        given = (_rule(one, role), _rule(other, role))
        if given[0] is not None and given[1] is not None:
            projection = narrower(given[0].projection, given[1].projection)
            rules.append(Rule((role,), _rows(given[0].rows, given[1].rows), projection))
        elif role != ANY_ROLE:  # or it would get what everybody else does
            rules.append(Rule((role,), _NOTHING, Projection()))
    return Policy(other.collection, tuple(rules))


def _rule(policy: Policy, role: str) -> Rule | None:
    for wanted in (role, ANY_ROLE):
        for rule in policy.rules:
            if wanted in rule.roles:
                return rule
    return None


def _rows(one: Condition | None, other: Condition | None) -> Condition | None:
    if one is None or other is None:
        return one or other
    return both(one, other)
