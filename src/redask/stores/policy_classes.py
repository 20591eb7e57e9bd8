"""Policy classes: what the policy of a collection looks at in an entity, and nothing else.

a policy changes in                    then
the columns its conditions look at,    all that the collection holds is classified anew, and
or its column projections              counts as changed
the columns it hides from anybody      besides, vectors that an embedder made of the
                                       collection are dropped: they told of other columns
anything else (roles, conditions)      nothing moves: only who sees what is worked out anew
"""

from collections.abc import Mapping
from dataclasses import dataclass

from redask.core.access.policy import Policy
from redask.stores.write_rules import GIVEN, VectorSpace


def class_of(policy: Policy | None, content: Mapping[str, object]) -> str | None:
    """The policy class of an entity; None when no condition looks at it (`UNCLASSIFIED`)."""
    if policy is None or not policy.columns:
        return None
    return policy.policy_class(content)


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """A collection's policy before and after; None is no policy."""

    before: Policy | None
    after: Policy | None

    @property
    def reclassifies(self) -> bool:
        """Whether what the collection holds is to be classified and indexed anew."""
        return _layout(self.before) != _layout(self.after)

    def drops_vectors(self, space: VectorSpace | None) -> bool:
        """Whether the collection's vectors, which are of this space, tell too much or too little.

        Those that came with the data are the owner's own, and stay.
        """
        hides_others = _hidden(self.before) != _hidden(self.after)
        return hides_others and space is not None and space[0] != GIVEN


def _layout(policy: Policy | None) -> object:
    return None if policy is None else (policy.columns, policy.projections)


def _hidden(policy: Policy | None) -> frozenset[str]:
    return frozenset() if policy is None else policy.hidden
