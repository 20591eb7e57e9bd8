"""Dataclasses whose methods are compiled at the first call behave like the library's own."""

import dataclasses
import pickle
import subprocess
import sys
from typing import Any

import pytest

from redask.cli import dataclass_methods

pytestmark = pytest.mark.skipif(
    not hasattr(dataclasses, "_create_fn"), reason="this Python compiles a class at once"
)


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Late compilation, for one test. → the names of what was compiled"""
    compiled: list[str] = []
    at_once = dataclasses._create_fn  # type: ignore[attr-defined]

    def _create_fn(
        name: str,
        args: Any,
        body: Any,
        *,
        globals: Any = None,
        locals: Any = None,
        return_type: Any = dataclasses.MISSING,
    ) -> Any:
        compiled.append(name)
        return at_once(name, args, body, globals=globals, locals=locals, return_type=return_type)

    monkeypatch.setattr(dataclasses, "_create_fn", _create_fn)
    assert dataclass_methods.compile_when_called()
    return compiled


def made() -> type[Any]:
    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Boat:
        name: str
        seats: int = 4
        crew: list[str] = dataclasses.field(default_factory=list, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "name", self.name.strip())

    return Boat


def told(kind: type[Any]) -> list[str]:
    """What a class answers to everything that the library writes for it."""

    class Ferry(kind):  # type: ignore[misc]
        pass

    def said(ask: Any) -> str:
        try:
            return repr(ask())
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    one, other = kind(" Oslo "), kind("Oslo", crew=["Ana"])
    asked = [
        lambda: one,
        lambda: one == other,
        lambda: one == kind("Oslo", 5),
        lambda: one == "Oslo",
        lambda: one < kind("Paris"),
        lambda: one < 3,
        lambda: hash(one) == hash(other),
        kind,
        lambda: kind("Oslo", 4, [], 1),
        lambda: kind("Oslo", sails=2),
        lambda: setattr(one, "seats", 5),
        lambda: delattr(one, "seats"),
        lambda: dataclasses.replace(other, seats=9),
        lambda: dataclasses.asdict(other),
        lambda: Ferry("Bergen"),
        lambda: Ferry("Oslo") == one,
    ]
    return [said(ask) for ask in asked]


def test_a_class_does_what_the_librarys_own_does(late: list[str]) -> None:
    later = told(made())
    own = subprocess.run(
        [sys.executable, "-c", "import test_dataclass_methods as t; print(t.told(t.made()))"],
        capture_output=True,
        text=True,
        check=True,
        cwd=__file__.rpartition("/")[0],
    )
    assert str(later) == own.stdout.strip()


def test_a_method_is_compiled_at_its_first_call_and_then_is_the_classs_own(late: list[str]) -> None:
    kind = made()
    assert late == []
    first = kind("Oslo")
    assert late == ["__init__"]
    kind("Bergen")
    assert first == kind("Oslo")
    assert first == kind("Oslo")
    assert late == ["__init__", "__eq__"]
    assert kind.__init__.__code__.co_varnames[:2] == ("self", "name")
    assert kind.__init__.__qualname__.endswith("Boat.__init__")


def test_frozen_objects_with_slots_can_be_pickled(late: list[str]) -> None:
    kind = dataclasses.make_dataclass("Rope", [("metres", int)], frozen=True, slots=True)
    kind.__module__ = __name__
    globals()["Rope"] = kind
    try:
        assert pickle.loads(pickle.dumps(kind(3))) == kind(3)
    finally:
        del globals()["Rope"]


def test_a_library_without_that_function_or_with_another_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def other(name: str) -> None: ...

    monkeypatch.setattr(dataclasses, "_create_fn", other)
    assert not dataclass_methods.compile_when_called()
    assert getattr(dataclasses, "_create_fn") is other  # noqa: B009 - it is private
    monkeypatch.delattr(dataclasses, "_create_fn")
    assert not dataclass_methods.compile_when_called()


def test_the_program_compiles_late_and_a_program_that_imports_redask_does_not() -> None:
    code = (
        "import dataclasses, sys\nimport redask, redask.cli\n"
        "from redask.core.model import Caller\n"
        "print(dataclasses._create_fn.__module__)\n"
        "try:\n    redask.cli.main(['--version'])\nexcept SystemExit:\n    pass\n"
        "print(dataclasses._create_fn.__module__)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, _, after = done.stdout.splitlines()
    assert (before, after) == ("dataclasses", "redask.cli.dataclass_methods")
