"""design.md as a test: who imports whom, what stays pure, names and sizes.

Every check takes source text, so that it can be tried on a planted violation (at the end).
Add a part, and a row in MAY_IMPORT says what it may use; rows import only rows above them.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import redask

SRC = Path(redask.__file__).parent
FILES = sorted(SRC.rglob("*.py"))

_NOUNS = {"model", "errors"}
_ADAPTER = _NOUNS | {"rules", "ports"}
MAY_IMPORT: dict[str, set[str]] = {
    "model": set(),
    "errors": {"model"},
    "rules": _NOUNS,
    "ports": _NOUNS | {"rules"},
    "clauses": _NOUNS | {"rules"},
    "settings": _NOUNS | {"rules"},
    "wire": _NOUNS | {"rules", "clauses"},
    "access": _NOUNS | {"rules", "wire.json"},
    "stores": _ADAPTER | {"access", "wire.json"},
    "index": _ADAPTER,
    "embedders": _ADAPTER,
    "providers": _ADAPTER,
    "ingest": _ADAPTER,
    "telemetry": set(),
    "workers": set(),
    "run": _NOUNS | {"rules"},
    "budget": _ADAPTER | {"run"},
    "recall": _ADAPTER | {"settings"},
    "embedding": _ADAPTER,
    "likeness": _ADAPTER,
    "retrieval": _ADAPTER | {"access", "settings", "telemetry", "embedding"},
    "engine": _ADAPTER
    | {"settings", "run", "budget", "recall", "retrieval", "telemetry"}
    | {"workers"},
    "provisioning": _ADAPTER | {"settings", "providers"},
    "transports": _NOUNS
    | {"access.credentials", "ports", "clauses", "wire", "engine", "__version__"},
    "app": _ADAPTER
    | {"access", "clauses", "settings", "wire", "engine", "__version__"}
    | {"budget", "recall", "retrieval", "embedding", "likeness", "provisioning", "workers"}
    | {"stores", "index", "embedders", "providers", "ingest", "transports"},
    "results": _NOUNS | {"ports", "wire"},
    "administration": _ADAPTER | {"access", "app"},
    "async_api": _ADAPTER
    | {"access.credentials", "administration", "app", "clauses", "embedding", "results"},
    "api": _ADAPTER
    | {"administration", "app", "async_api", "embedding", "provisioning", "results"},
    "serving": _NOUNS | {"access.credentials", "ports", "async_api", "transports"},
    "sample": _NOUNS | {"rules", "api"},
    "evaluation": _NOUNS | {"rules", "api"},
    "cli": _ADAPTER
    | {"access.credentials", "api", "clauses", "wire", "settings", "sample", "evaluation"}
    | {"async_api", "results", "serving", "transports", "__version__"},
    "web": set(),
    "__init__": _NOUNS | {"api", "async_api", "results"},  # the public names
}
PURE = {"model", "errors", "rules", "clauses", "settings", "wire", "ports"}
STANDARD = set(
    """collections collections.abc dataclasses decimal difflib enum fractions functools hashlib
    itertools json math operator re string tomllib types typing unicodedata""".split()
)
# files, consoles, code made at run time, and what differs from process to process
IMPURE_BUILTINS = set(
    "open input print breakpoint exec eval compile __import__ globals locals hash id".split()
)
BANNED_NAMES = set("utils util helpers helper common base manager managers misc".split())
MAX_FILE, MAX_FUNCTION, MAX_DOCSTRING = 400, 60, 40

PUBLIC_NAMES = [
    "AskError",
    "AsyncDatabase",
    "Caller",
    "CitedAnswer",
    "Mode",
    "OpenDatabase",
    "__version__",
    "aopen",
    "open",
]
RULES = set(
    """terms fusion urn fingerprint prompt capabilities determinism cost caching failover
    citations validation audit explain""".split()
)

Check = Callable[[str, str], Iterator[str]]


def part_of(path: Path) -> str:
    """The top-level part that a file under src/redask belongs to."""
    return path.parts[0].removesuffix(".py")


def modules_of(source: str) -> Iterator[tuple[int, str]]:
    """Every module a source imports, anywhere in it; relative ones start with a dot."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.level or node.module is None):
            yield node.lineno, "." * node.level + (node.module or "")
        elif isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("redask."):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, str(node.module)


def wrong_imports(source: str, part: str) -> Iterator[str]:
    """Imports of redask that the part's row does not allow."""
    if part not in MAY_IMPORT:
        yield f"{part} is a new part: add a row to MAY_IMPORT that says what it may import"
        return
    for line, module in modules_of(source):
        name = module.removeprefix("redask.")
        if module.startswith(".") or module == "redask" or name == "*":
            yield f"line {line}: say which part of redask: from redask.part import name"
        elif name != module and not any(
            f"{name}.".startswith(f"{allowed}.") for allowed in {part} | MAY_IMPORT[part]
        ):
            yield f"line {line}: {part} may not import {name}"


def impurities(source: str, part: str) -> Iterator[str]:
    """What a pure part may not touch."""
    if part not in PURE:
        return
    for line, module in modules_of(source):
        if module.partition(".")[0] not in ("redask", "") and module not in STANDARD:
            yield f"line {line}: {module} is not on the list of pure modules"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and node.id in IMPURE_BUILTINS:
            if isinstance(node.ctx, ast.Load):
                yield f"line {node.lineno}: {node.id} in a pure part"
        elif isinstance(node, ast.Global):
            yield f"line {node.lineno}: a pure part keeps no state"
        elif isinstance(node, ast.AsyncFunctionDef) and part != "ports":
            yield f"line {node.lineno}: the core has no colour: {node.name} is async"


def unfrozen(source: str, part: str) -> Iterator[str]:
    """Dataclasses of a pure part that could change."""
    for node in ast.walk(ast.parse(source)):
        if part not in PURE or not isinstance(node, ast.ClassDef):
            continue
        for decorator in node.decorator_list:
            written = ast.unparse(decorator)
            if "dataclass" in written and "frozen=True" not in written:
                yield f"line {node.lineno}: {node.name} is not frozen"


def wrong_size(source: str, _part: str) -> Iterator[str]:
    """A file, a function or a module's docstring that is too long, or a docstring that is not."""
    tree = ast.parse(source)
    lines = len(source.splitlines())
    docstring = ast.get_docstring(tree) or ""
    if lines > MAX_FILE:
        yield f"{lines} lines, more than {MAX_FILE}"
    if not docstring.strip():
        yield "a module's docstring is its contract: there is none"
    if len(docstring.splitlines()) > MAX_DOCSTRING:
        yield f"a docstring of more than {MAX_DOCSTRING} lines"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            if length > MAX_FUNCTION:
                yield f"line {node.lineno}: {node.name} has {length} lines, over {MAX_FUNCTION}"


def banned_names(path: Path) -> list[str]:
    return [name for name in path.parts if name.removesuffix(".py") in BANNED_NAMES]


def public_names(source: str) -> list[str]:
    """What a module offers: `__all__`, else the names it binds without a leading underscore."""
    names: list[str] = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return sorted(ast.literal_eval(node.value))
        if isinstance(node, ast.Import | ast.ImportFrom):
            names += [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [target.id for target in targets if isinstance(target, ast.Name)]
    return sorted(name for name in names if not name.startswith("_") or name == "__version__")


# --- the package -----------------------------------------------------------------------


@pytest.mark.parametrize("check", [wrong_imports, impurities, unfrozen, wrong_size])
@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(SRC)))
def test_a_file_keeps_the_design(file: Path, check: Check) -> None:
    source = file.read_text(encoding="utf-8")
    assert list(check(source, part_of(file.relative_to(SRC)))) == []


def test_no_module_is_named_for_nothing() -> None:
    assert [name for file in FILES for name in banned_names(file.relative_to(SRC))] == []


def test_the_public_names_are_these() -> None:
    source = (SRC / "__init__.py").read_text(encoding="utf-8")
    assert public_names(source) == sorted(PUBLIC_NAMES)
    assert all(hasattr(redask, name) for name in PUBLIC_NAMES)


def test_every_rule_of_the_design_is_one_module() -> None:
    assert {file.stem for file in (SRC / "rules").glob("*.py")} >= RULES
    assert {file.stem for file in (SRC / "wire").glob("*.py")} >= {"json", "envelope", "sse"}


def test_the_pure_parts_exist_and_the_package_is_typed() -> None:
    assert {part_of(file.relative_to(SRC)) for file in FILES} >= PURE | {"__init__"}
    assert (SRC / "py.typed").exists()


# --- the table -------------------------------------------------------------------------


def test_a_row_imports_only_rows_above_it() -> None:
    above: set[str] = {"__version__"}
    for part, allowed in MAY_IMPORT.items():
        assert {name.partition(".")[0] for name in allowed} <= above, part
        above.add(part)


def test_the_promises_of_the_design_hold_in_the_table() -> None:
    adapters = {"stores", "index", "embedders", "providers", "ingest"}
    for part in adapters:
        assert "engine" not in MAY_IMPORT[part]
    for part in set(MAY_IMPORT) - {"app", "provisioning"}:
        assert not adapters & MAY_IMPORT[part], "only app knows all adapters"
    for part in PURE:
        assert MAY_IMPORT[part] <= PURE, "what is pure rests on what is pure"


# --- the checks themselves, on planted violations ---------------------------------------


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("model", "from redask.errors import AskError"),
        ("model", "from redask import errors"),
        ("errors", "import redask.rules.urn"),
        ("rules", "from redask.clauses import parse"),
        ("rules", "from redask import settings as s"),
        ("rules", "def f():\n    from redask.wire import json"),
        ("rules", "if TYPE_CHECKING:\n    import redask.engine"),
        ("rules", "from . import urn"),
        ("rules", "from .urn import encode"),
        ("rules", "from ..engine import Engine"),
        ("rules", "import redask"),
        ("rules", "from redask import *"),
        ("ports", "from redask.engine import Engine"),
        ("settings", "from redask.clauses import CLAUSES"),
        ("wire", "from redask.engine import Engine"),
        ("stores", "from redask.wire import envelope"),
        ("stores", "from redask.wire import json_other"),
        ("stores", "from redask import wire"),
        ("index", "from redask.access import policy"),
        ("index", "from redask.engine import Engine"),
        ("engine", "from redask.stores.sqlite import Sqlite"),
        ("engine", "from redask.wire.json import encode"),
        ("transports", "from redask.providers import PROVIDERS"),
        ("transports", "from redask.stores import STORES"),
        ("cli", "from redask.stores import STORES"),
        ("app", "from redask.cli import main"),
        ("web", "from redask.model import Ask"),
    ],
)
def test_a_forbidden_import_is_seen(part: str, source: str) -> None:
    assert len(list(wrong_imports(source, part))) == 1


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("rules", "from redask.rules import prompt as prompts\nfrom redask.model import Ask"),
        ("rules", "import redaskew\nfrom modeling import x"),
        ("stores", "from redask.wire.json import encode\nfrom redask.wire import json"),
        ("stores", "import redask.wire.json"),
        ("cli", "from redask import __version__, api"),
        ("app", "from redask.stores.sqlite import Sqlite"),
    ],
)
def test_an_allowed_import_is_left_alone(part: str, source: str) -> None:
    assert list(wrong_imports(source, part)) == []


def test_a_new_part_is_told_to_add_a_row() -> None:
    assert part_of(Path("planner/plan.py")) == part_of(Path("planner.py")) == "planner"
    assert "add a row to MAY_IMPORT" in next(wrong_imports("", "planner"))


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import os.path",
        "from os import environ",
        "import time as t",
        "from datetime import datetime",
        "def f():\n    import socket",
        "import logging",
        "import random",
        "from secrets import token_hex",
        "import uuid",
        "from pathlib import Path",
        "import asyncio",
        "import numpy",
        "import importlib",
        "from concurrent.futures import Future",
        "open('x')",
        "read = open",
        "print('x')",
        "eval('1')",
        "__import__('os')",
        "hash('x')",
        "sorted([], key=id)",
        "def f():\n    global x",
        "async def f(): ...",
    ],
)
def test_an_impurity_is_seen_in_a_pure_part_and_only_there(source: str) -> None:
    assert len(list(impurities(source, "rules"))) == 1
    assert list(impurities(source, "stores")) == []


def test_what_is_pure_is_left_alone() -> None:
    source = "import re\nimport collections.abc\nclass A:\n    id: str\nre.compile('x')\nx.open()"
    assert list(impurities(source, "rules")) == []
    assert list(impurities("async def f(): ...", "ports")) == []


def test_an_unfrozen_dataclass_is_seen() -> None:
    for decorator in ("dataclass", "dataclass(slots=True)", "dataclasses.dataclass(frozen=False)"):
        assert len(list(unfrozen(f"@{decorator}\nclass A: ...", "model"))) == 1
    assert list(unfrozen("@dataclass(frozen=True)\nclass A: ...", "model")) == []
    assert list(unfrozen("@dataclass\nclass A: ...", "stores")) == []


def test_sizes_are_counted_on_both_sides_of_the_bound() -> None:
    head = '"""Doc."""\n'
    assert list(wrong_size(head + "\n" * 399, "model")) == []
    assert len(list(wrong_size(head + "\n" * 400, "model"))) == 1
    for keyword in ("def", "async def"):
        body = f"class A:\n    {keyword} f(self):\n" + "        x = 1\n"
        assert list(wrong_size(head + body + "        x = 1\n" * 58, "model")) == []
        assert len(list(wrong_size(head + body + "        x = 1\n" * 59, "model"))) == 1


def test_docstrings_are_required_and_short() -> None:
    assert len(list(wrong_size("x = 1", "model"))) == 1
    assert len(list(wrong_size('""""""', "model"))) == 1
    assert list(wrong_size('"""' + "a\n" * 39 + 'b"""', "model")) == []
    assert len(list(wrong_size('"""' + "a\n" * 40 + 'b"""', "model"))) == 1


def test_a_banned_name_is_seen_as_file_and_as_folder() -> None:
    for path in (
        "utils.py",
        "rules/helpers.py",
        "common/x.py",
        "stores/base.py",
        "misc/__init__.py",
    ):
        assert len(banned_names(Path(path))) == 1
    assert banned_names(Path("rules/database.py")) == []


def test_every_way_to_bind_a_public_name_is_seen() -> None:
    source = (
        "from redask.app import open, aopen as a\nimport redask.model\n"
        "__version__ = '1'\n_x = y = 1\n"
        "def f(): ...\nasync def g(): ...\nclass H: ...\nz: int = 1\n_private: int = 2\n"
    )
    assert public_names(source) == sorted(["open", "a", "redask", "__version__", "y", *"fgHz"])
