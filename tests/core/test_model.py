"""The nouns: each defined once in the whole package, frozen, without behaviour."""

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import pytest

import redask
from redask.core import model
from redask.core.model import (
    Answer,
    Ask,
    Caller,
    Capabilities,
    Event,
    Kind,
    Mode,
    PlanChoice,
    Strictness,
    Usage,
)

PACKAGE = Path(redask.__file__).parent
CLASSES = [
    member
    for _, member in inspect.getmembers(model, inspect.isclass)
    if member.__module__ == model.__name__
]
NOUNS = [cls for cls in CLASSES if is_dataclass(cls)]


def type_names(source: str) -> Iterator[str]:
    """The classes of a module at any depth, and its aliases: capitalised names bound to a type."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[:1].isupper() and not name.isupper():
                yield name


def defined_types() -> Counter[str]:
    files = PACKAGE.rglob("*.py")
    return Counter(name for file in files for name in type_names(file.read_text(encoding="utf-8")))


def test_there_is_exactly_one_mode() -> None:
    assert defined_types()["Mode"] == 1
    assert [mode.value for mode in Mode] == ["strict", "lenient"]


def test_strictness_is_on_or_off_or_supported() -> None:
    assert [word.value for word in Strictness] == ["on", "off", "supported"]


def test_type_names_are_unique_in_the_package() -> None:
    assert [name for name, count in defined_types().items() if count > 1] == []


def test_a_second_mode_would_be_seen_wherever_it_hides() -> None:
    source = "def f():\n    class Mode: ...\nMode = str | int\nLIMIT = 5\n_mode = 1\n"
    assert list(type_names(source)) == ["Mode", "Mode"]


def test_the_nouns_of_the_design_are_here() -> None:
    names = {cls.__name__ for cls in CLASSES}
    assert names >= set(
        "Ask Mode Source Urn Citation Issue Capabilities Knobs Usage Caller".split()
    )
    assert names >= set("Answer Prompt Terms Notice Footnote Validation".split())


def _made(cls: type) -> Any:
    required = [field for field in fields(cls) if field.default is field.default_factory is MISSING]
    return cls(**{field.name: None for field in required})


@pytest.mark.parametrize("cls", NOUNS)
def test_a_noun_is_frozen_and_takes_no_other_attribute(cls: type) -> None:
    noun = _made(cls)
    for field in fields(cls):
        with pytest.raises(FrozenInstanceError):
            setattr(noun, field.name, 1)
    assert not hasattr(noun, "__dict__")
    assert noun == _made(cls)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_noun_has_no_behaviour(cls: type) -> None:
    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    assert is_dataclass(cls) or issubclass(cls, Enum)
    if is_dataclass(cls):
        own = {name for name, member in vars(cls).items() if callable(member)}
        generated = {name for name, member in vars(Empty).items() if callable(member)}
        assert own <= generated | {"__hash__", "__setattr__", "__delattr__"}
        assert not any(isinstance(member, property) for member in vars(cls).values())


@pytest.mark.parametrize("cls", CLASSES)
def test_every_class_of_the_model_has_a_docstring(cls: type) -> None:
    assert cls.__doc__
    assert not cls.__doc__.startswith(f"{cls.__name__}(")  # what dataclass writes itself


def test_an_ask_alone_has_the_contracts_defaults() -> None:
    assert {field.name: field.default for field in fields(Ask) if field.name != "question"} == {
        "explain": False,
        "using": (),
        "model": None,
        "collections": (),
        "limit": 20,
        "min_score": None,
        "depth": 2,
        "strict": None,
        "stream": False,
        "temperature": None,
        "seed": None,
        "cache_ttl": None,
        "nocache": False,
        "evidence": False,
        "plan": PlanChoice.AUTO,
        "steps": 1,
        "history": (),
    }


def test_capabilities_take_the_four_flags_in_the_contracts_order() -> None:
    assert Capabilities(True, False, True, False) == Capabilities(
        supports_citations=True,
        supports_seed=False,
        supports_temperature_zero=True,
        supports_streaming=False,
    )


def test_the_kinds_of_entities_are_the_contracts() -> None:
    assert [kind.value for kind in Kind] == "row document vector node edge kv query".split()


def test_the_embedded_caller_is_the_local_owner() -> None:
    assert Caller() == Caller("local", "local", "owner")


def test_an_answer_has_the_twelve_fields_of_the_envelope_and_evidence() -> None:
    assert {field.name for field in fields(Answer)} == {
        *("answer", "cache_hit", "citations", "completion_tokens", "cost_usd", "mode", "model"),
        *("prompt_tokens", "provider", "retry_count", "sources_flat", "validation"),
        "evidence",
    }


def test_usage_starts_at_nothing() -> None:
    assert Usage() == Usage(0, 0, 0, 0, 0.0)


def test_the_events_are_five() -> None:
    assert [event.__name__ for event in get_args(Event)] == [
        *("SourcesFound", "AnswerToken", "AnswerReset", "Answered", "Failed"),
    ]
