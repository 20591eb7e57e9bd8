"""Read policies of collections: `read_policy(document)`, then `grant` for a principal.

    {"read": [
      {"roles": ["support"], "rows": "region = :user.region and status <> 'draft'",
       "hide": ["salary"], "mask": ["email"]},
      {"roles": ["*"], "rows": "public = true", "show": ["title", "text"]}
    ]}

    principal                                    visible rows of the collection
    role `owner`                                 all, whatever the policy says
    any role, when there is no policy            all of the tenant's
    the rule that names the role                 its rows, without its hidden columns
    no rule, but one for `*`                     the rows of that rule
    no rule                                      none: naming the collection is `Denied`
    a rule whose condition needs an attribute    none, likewise: a condition that cannot be
    that the user lacks                          evaluated denies

A hidden column is removed. A masked one is `***` in every row, whether the row has a value or
not: even that would reveal something. `show` names the columns that stay in place of those that
go: what comes later is hidden. `id` and `_id` are the address of a row: they always stay. What
else is one depends on the data (`stores.policy_classes`): hiding it is refused there.

**Projections** are the different column sets the rules give, the whole first; each is indexed
apart, so there are at most 16. A row's **policy class** is what the conditions look at, and
nothing else: who may read it depends on its class alone. Both are the `ClassLayout` of a policy;
`class_key` and `projection_key` name a class, and a projection of it, in one opaque word.

`grant` is the one function that turns principal and policy into what may be read; SELECT,
search, ASK, EXPLAIN, look-up and graph walks all ask it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from types import MappingProxyType

from redask.core import places
from redask.core.access.predicate import MAX_TEXT, Condition, parse
from redask.core.errors import BadAsk, BadStatement, Denied
from redask.core.model import Caller
from redask.core.text import lower, name_fault
from redask.core.values import printable
from redask.core.wire.json import text

OWNER = "owner"
AUDITOR = "auditor"
AUDITORS = frozenset({OWNER, AUDITOR})  # who may see what others asked and spent
ANY_ROLE = "*"
MASK = "***"
OPEN = "all"  # class key and projection key of what no policy speaks of
MAX_PROJECTIONS = 16
MAX_RULES = 1000
_MAX_COLUMNS = 1000
_KEYS = ("roles", "rows", "hide", "mask", "show")
_ADDRESSES = ("id", "_id")  # what every reader takes for the address of a row, in any case


@dataclass(frozen=True, slots=True)
class Projection:
    """A column projection: a payload without some columns, and with others masked.

    `only`, if given, are the columns that stay, besides those that are masked.
    """

    hide: frozenset[str] = frozenset()
    mask: frozenset[str] = frozenset()
    only: frozenset[str] | None = None

    def hides(self, column: str) -> bool:
        """Whether the value of a column cannot be seen."""
        if column in self.hide or column in self.mask:
            return True
        return self.only is not None and column not in self.only and not is_address(column)

    def show(self, payload: str) -> str:
        """The projected payload, as canonical JSON, without the place of a row."""
        if self == WHOLE:
            return payload
        content = json.loads(payload)
        seen = places.columns(content).items()
        shown = {name: value for name, value in seen if not self.hides(name)}
        return text(shown | dict.fromkeys(self.mask, MASK))

    def order(self) -> tuple[list[str], list[str], list[str] | None]:
        """What tells one projection from another, as plain data in one order."""
        return sorted(self.hide), sorted(self.mask), _sorted(self.only)


def is_address(column: str) -> bool:
    """Whether a column of this name is taken for the address of its row."""
    return lower(column) in _ADDRESSES


WHOLE = Projection()


@dataclass(frozen=True, slots=True)
class Rule:
    """The rows and columns that some roles may read."""

    roles: tuple[str, ...]
    rows: Condition | None
    projection: Projection


@dataclass(frozen=True, slots=True)
class ClassLayout:
    """What tells the policy classes of a collection apart, and in which projections each is there.

    Rows keep the layout by which they were classified last, whatever the policy is by now.
    """

    collection: str
    columns: tuple[str, ...] = ()
    projections: tuple[Projection, ...] = (WHOLE,)

    @classmethod
    def of(cls, collection: str, rules: Iterable[Rule]) -> "ClassLayout":
        """The layout that all of these rules can be worked out on."""
        given = tuple(rules)
        in_conditions = {name for rule in given if rule.rows for name in rule.rows.columns}
        projections = {rule.projection for rule in given} - {WHOLE}
        ordered = sorted(projections, key=lambda each: (*each.order()[:2], text(each.order()[2])))
        return cls(collection, tuple(sorted(in_conditions)), (WHOLE, *ordered))

    def with_columns(self, names: Iterable[str]) -> "ClassLayout":
        """The same, whose classes tell these columns, too."""
        return replace(self, columns=tuple(sorted({*self.columns, *names})))

    @property
    def hidden(self) -> tuple[list[str], list[str] | None]:
        """The columns that some projection hides or masks, and (None: all) those that each shows.

        Equal where `hides` is.
        """
        gone = frozenset().union(*(each.hide | each.mask for each in self.projections))
        lists = [each.only | each.mask for each in self.projections if each.only is not None]
        return sorted(gone), _sorted(frozenset.intersection(*lists) if lists else None)

    def hides(self, column: str) -> bool:
        """Whether any projection hides or masks a column."""
        return any(projection.hides(column) for projection in self.projections)

    def policy_class(self, content: Mapping[str, object]) -> str:
        """What the conditions see of an entity, as canonical JSON; long texts are cut."""
        seen: dict[str, object] = {}
        for name in self.columns:
            value = content.get(name)
            if isinstance(value, str):
                value = value[: MAX_TEXT + 1]
            elif isinstance(value, list | dict):
                value = []
            if value is not None:
                seen[name] = value
        return text(seen) if self.columns else ""

    def class_key(self, policy_class: str) -> str:
        """The word for a policy class."""
        return self._key(policy_class, "")

    def projection_key(self, policy_class: str, projection: Projection) -> str:
        """The word for a projection of a policy class."""
        hide, mask, only = projection.order()
        told = [hide, mask] if only is None else [hide, mask, only]
        return self._key(policy_class, text(told))

    def _key(self, policy_class: str, projection: str) -> str:
        joined = text([self.collection, list(self.columns), policy_class, projection])
        return sha256(joined.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Policy:
    """A collection's rules, and the layout of the classes that they need."""

    collection: str
    rules: tuple[Rule, ...]
    layout: ClassLayout = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", ClassLayout.of(self.collection, self.rules))


@dataclass(frozen=True, slots=True)
class Principal:
    """A caller with the attributes of its user."""

    caller: Caller
    attributes: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def values(self) -> Mapping[str, object]:
        """The values of `:user.…`; an attribute never overrides name, role or tenant."""
        caller = self.caller
        own = {"name": caller.user, "role": caller.role, "tenant": caller.tenant}
        return {**self.attributes, **own}


@dataclass(frozen=True, slots=True)
class Grant:
    """What one principal may read of one collection."""

    projection: Projection = WHOLE
    rows: Condition | None = None
    user: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def admits(self, policy_class: str) -> bool:
        """Whether entities of this policy class may be read."""
        if self.rows is None:
            return True
        return self.rows.holds(json.loads(policy_class) if policy_class else {}, self.user)

    def fits(self, layout: ClassLayout) -> bool:
        """Whether classes of this layout tell all that it asks for, in its projection."""
        known = self.rows is None or self.rows.columns <= frozenset(layout.columns)
        return known and self.projection in layout.projections


def grant(policy: Policy | None, principal: Principal) -> Grant | None:
    """What the principal may read of the policy's collection; None for nothing."""
    if policy is None or principal.caller.role == OWNER:
        return Grant()
    for role in (principal.caller.role, ANY_ROLE):
        for rule in policy.rules:
            if role in rule.roles:
                user = principal.values()
                if rule.rows and not rule.rows.attributes <= user.keys():
                    return None
                return Grant(rule.projection, rule.rows, user)
    return None


def must_own(caller: Caller) -> None:
    """Raise `Denied` unless the caller may write data, policies and users."""
    if caller.role != OWNER:
        raise Denied(f"the role {caller.role!a} may only read: this needs the role {OWNER}")


def must_audit(caller: Caller) -> None:
    """Raise `Denied` unless the caller may see what others asked and spent."""
    if caller.role not in AUDITORS:
        raise Denied(f"the role {caller.role!a} may not look at what others asked and spent")


def read_policy(collection: str, document: object) -> Policy:
    """A policy from plain data, or `BadAsk` that says what is wrong and where."""
    if not isinstance(document, dict) or set(document) != {"read"}:
        raise _bad("read", 'a policy is an object with one key, "read"')
    listed = document["read"]
    if not isinstance(listed, list) or len(listed) > MAX_RULES:
        raise _bad("read", f"is a list of at most {MAX_RULES} rules")
    rules = tuple(_rule(f"read[{index}]", each) for index, each in enumerate(listed))
    seen: dict[str, int] = {}
    for index, rule in enumerate(rules):
        for role in rule.roles:
            if seen.setdefault(role, index) != index:
                raise _bad(f"read[{index}].roles", f"{role!a} has a rule already")
    policy = Policy(collection, rules)
    if len(policy.layout.projections) > MAX_PROJECTIONS:
        raise _bad("read", f"more than {MAX_PROJECTIONS - 1} different sets of hidden columns")
    return policy


def _rule(where: str, document: object) -> Rule:
    if not isinstance(document, dict):
        raise _bad(where, "a rule is an object")
    unknown = sorted(printable(key) for key in set(document) - set(_KEYS))
    if unknown:
        raise _bad(f"{where}.{unknown[0]}", f"no such key: there are {', '.join(_KEYS)}")
    roles = _names(f"{where}.roles", document.get("roles"))
    if not roles:
        raise _bad(f"{where}.roles", "names at least one role")
    if OWNER in roles:
        raise _bad(f"{where}.roles", "the owner reads everything: no rule changes that")
    projection = _projection(where, document)
    rows = document.get("rows")
    if rows is not None and not isinstance(rows, str):
        raise _bad(f"{where}.rows", "a condition is text")
    try:
        condition = None if rows is None else parse(rows)
    except BadStatement as error:
        raise _bad(f"{where}.rows", error.message) from None
    return Rule(roles, condition, projection)


def _projection(where: str, document: Mapping[str, object]) -> Projection:
    hide, mask = (_names(f"{where}.{key}", document.get(key, [])) for key in ("hide", "mask"))
    for key, names in (("hide", hide), ("mask", mask)):
        for name in names:
            if is_address(name):
                raise _bad(f"{where}.{key}", f"{name} is the address of a row: it stays")
    if set(hide) & set(mask):
        raise _bad(f"{where}.mask", f"{min(set(hide) & set(mask))!a} is hidden already")
    if "show" not in document:
        return Projection(frozenset(hide), frozenset(mask))
    show = _names(f"{where}.show", document["show"])
    if hide:
        raise _bad(f"{where}.hide", "show hides all that it does not name: leave hide out")
    if set(show) & set(mask):
        raise _bad(f"{where}.mask", f"{min(set(show) & set(mask))!a} is shown: name it once")
    return Projection(mask=frozenset(mask), only=frozenset(show))


def _sorted(names: frozenset[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)


def _names(where: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > _MAX_COLUMNS:
        raise _bad(where, f"is a list of at most {_MAX_COLUMNS} names")
    for name in value:
        fault = name_fault(name) if isinstance(name, str) else "is not text"
        if fault:
            raise _bad(where, f"the name {printable(name)} {fault}")
    return tuple(value)


def _bad(where: str, why: str) -> BadAsk:
    return BadAsk(f"the policy is not valid at {where}: {why}", detail=where)
