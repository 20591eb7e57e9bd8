"""Which roles may use which providers and models."""

import pytest

from redask.core.errors import Denied, Misconfigured
from redask.core.rules.failover import Step
from redask.core.rules.spending.provider_access import (
    AllowRule,
    admitted,
    may_use,
    read_rules,
)
from redask.core.settings import load

RULES = read_rules(
    [
        {"roles": ["analyst"], "providers": ["OpenAI", "groq"], "models": ["small"]},
        {"roles": ["owner"], "providers": ["*"]},
        {"roles": ["*"], "providers": ["ollama"]},
    ]
)
OPENAI, GROQ, OLLAMA = Step("openai", None), Step("groq", "small"), Step("ollama", None)
QUOTED = Step("extractive", None)


def model(step: Step) -> str:
    return step.model or "large"


@pytest.mark.parametrize(
    ("role", "step", "allowed"),
    [
        ("analyst", Step("openai", "small"), True),
        ("analyst", OPENAI, False),
        ("analyst", GROQ, True),
        ("analyst", OLLAMA, True),
        ("analyst", Step("anthropic", "small"), False),
        ("owner", OPENAI, True),
        ("owner", Step("mine", "any"), True),
        ("reader", GROQ, False),
        ("reader", OLLAMA, True),
        ("reader", QUOTED, True),
    ],
)
def test_a_rule_names_role_provider_and_model(role: str, step: Step, allowed: bool) -> None:
    assert may_use(role, step, RULES, model) is allowed
    assert may_use(role, step, (), model)


def test_what_the_caller_named_is_denied_what_the_settings_named_passed_over() -> None:
    walk = (OPENAI, GROQ)
    assert admitted(walk, "owner", RULES, model, named=True) == walk
    assert admitted(walk, "analyst", RULES, model, named=False) == (GROQ,)
    with pytest.raises(Denied, match="'analyst' may not use openai with the model 'large'"):
        admitted(walk, "analyst", RULES, model, named=True)
    with pytest.raises(Denied, match="'reader' may not use openai") as caught:
        admitted(walk, "reader", RULES, model, named=False)
    assert caught.value.detail == "openai"
    assert admitted((), "reader", RULES, model, named=False) == ()


def test_they_are_read_from_the_settings() -> None:
    text = '[[allow]]\nroles = ["a"]\nproviders = ["groq"]\n'
    assert load(text).allow == (AllowRule(frozenset("a"), frozenset({"groq"})),)
    assert load("").allow == ()


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({}, "allow"),
        (["x"], "allow[0]"),
        ([{"roles": ["a"]}], "allow[0]"),
        ([{"roles": ["a"], "providers": ["b"], "model": ["c"]}], "allow[0]"),
        ([{"roles": "a", "providers": ["b"]}], "allow[0].roles"),
        ([{"roles": [], "providers": ["b"]}], "allow[0].roles"),
        ([{"roles": ["a"], "providers": [1]}], "allow[0].providers"),
        ([{"roles": ["a"], "providers": ["b"], "models": ["\0"]}], "allow[0].models"),
    ],
)
def test_what_is_wrong_is_named(document: object, where: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        read_rules(document)
    assert caught.value.detail == where
