"""Which roles may use which providers and models: `[[allow]]` in the settings, `admitted`.

    [[allow]]
    roles = ["analyst", "owner"]
    providers = ["openai", "groq"]
    models = ["gpt-4o-mini"]         all models, if it is not given

    rules            step of the walk                         then
    none             any                                      it may be used
    some             of a provider that only quotes           it may be used: nothing leaves, and it
                     (`extractive`)                           costs nothing
    some             one rule names role, provider, model     it may be used
    some             none does, and the caller named it       `Denied`
    some             none does, and the settings named it     it is passed over; `Denied` if nobody
                                                              is left

`*` stands for every role, provider or model. A model that nobody names is the provider's own
default. The caller's duty: ask before a provider is opened, so before a key is looked at.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from redask.core import values
from redask.core.errors import Denied, Misconfigured
from redask.core.provider_table import PROVIDERS
from redask.core.rules.failover import Step
from redask.core.text import lower, name_fault

ANY = "*"
_REQUIRED = ("roles", "providers")
_KEYS = (*_REQUIRED, "models")


@dataclass(frozen=True, slots=True)
class AllowRule:
    """Some roles may use some models of some providers."""

    roles: frozenset[str]
    providers: frozenset[str]
    models: frozenset[str] = frozenset({ANY})

    def admits(self, role: str, provider: str, model: str) -> bool:
        """Whether it is about these."""
        pairs = ((self.roles, role), (self.providers, provider), (self.models, model))
        return all(ANY in named or own in named for named, own in pairs)


def read_rules(document: object) -> tuple[AllowRule, ...]:
    """The tables of `[[allow]]`, or `Misconfigured` that says what is wrong and where."""
    if not isinstance(document, list):
        raise Misconfigured("allow must be a list of tables: [[allow]]", detail="allow")
    return tuple(_rule(f"allow[{number}]", each) for number, each in enumerate(document))


def admitted(
    steps: Sequence[Step],
    role: str,
    rules: Sequence[AllowRule],
    model_of: Callable[[Step], str],
    *,
    named: bool,
) -> tuple[Step, ...]:
    """The steps of a walk that a role may take; `named` are those that the caller chose."""
    kept = tuple(step for step in steps if may_use(role, step, rules, model_of))
    for step in steps:
        if step not in kept and (named or not kept):
            wanted = f"{step.provider} with the model {model_of(step)!a}"
            raise Denied(f"the role {role!a} may not use {wanted}", detail=step.provider)
    return kept


def may_use(
    role: str, step: Step, rules: Sequence[AllowRule], model_of: Callable[[Step], str]
) -> bool:
    """Whether a role may use a provider and its model."""
    row = PROVIDERS.get(step.provider)
    if not rules or (row is not None and row.quotes):
        return True
    return any(rule.admits(role, step.provider, model_of(step)) for rule in rules)


def _rule(where: str, document: object) -> AllowRule:
    if not isinstance(document, Mapping):
        raise Misconfigured(f"{where} must be a table", detail=where)
    unknown = next((key for key in document if key not in _KEYS), None)
    missing = next((key for key in _REQUIRED if key not in document), None)
    if unknown is not None or missing is not None:
        why = (
            f"no such key {values.printable(unknown)}"
            if unknown is not None
            else f"{missing} is missing"
        )
        raise Misconfigured(f"{where}: {why}; there are {', '.join(_KEYS)}", detail=where)
    roles, providers, models = (_names(f"{where}.{key}", document.get(key, [ANY])) for key in _KEYS)
    return AllowRule(roles, frozenset(map(lower, providers)), models)


def _names(where: str, value: object) -> frozenset[str]:
    listed = value if isinstance(value, list) else None
    for name in listed or ():
        if not isinstance(name, str) or name_fault(name):
            raise Misconfigured(f"{where}: {values.shown(name)} is no name", detail=where)
    if not listed:
        raise Misconfigured(f"{where} must be a list of names", detail=where)
    return frozenset(listed)
