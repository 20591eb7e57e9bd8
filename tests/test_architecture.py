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

_NOUNS = {"core.model", "core.errors"}
_WORDS = {"core.places", "core.text", "core.values", "core.token_count", "core.provider_table"}
_RULES = _NOUNS | _WORDS | {"core.rules"}
_ADAPTER = _RULES | {"core.languages", "core.ports"}
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),  # the package's docstring
    "core.model": set(),
    "core.errors": {"core.model"},
    "core.provider_table": {"core.model"},
    "core.places": set(),
    "core.languages": _RULES,
    "core.text": _NOUNS,
    "core.token_count": set(),
    "core.equivalence": {"core.text", "core.model"},
    "core.rules": _NOUNS | _WORDS | {"core.equivalence"},
    "core.values": _RULES - {"core.values"},
    "core.planning": _RULES,
    "core.ports": _RULES | {"core.planning"},
    "core.synonyms": _RULES | {"core.planning"},
    "core.clauses": _RULES,
    "core.endpoints": {"core.provider_table"},
    "core.sign_in": _RULES,
    "core.sealing_settings": _RULES,
    "core.setting_readers": _RULES,
    "core.serving_limits": {"core.values"},
    "core.setting_rows": _RULES | {"core.serving_limits", "core.setting_readers", "core.sign_in"},
    "core.settings": _RULES
    | {"core.setting_rows", "core.endpoints", "core.setting_readers", "core.sign_in"}
    | {"core.sealing_settings"}
    | {"core.serving_limits"},
    "core.sql": _RULES,
    "core.wire": _RULES | {"core.clauses", "core.sql"},
    "core.access": _RULES | {"core.sign_in", "core.wire.json"},
    "index": _ADAPTER,
    "stores": _ADAPTER
    | {"core.access", "core.planning", "core.sql", "core.wire.json", "core.wire.row_json"}
    | {"index.file_lock", "index.private_files", "index.sqlite_schema"},
    "embedding": _ADAPTER | {"index.analysis.analyzer"},
    "providers": _ADAPTER | {"core.endpoints", "core.settings", "core.sign_in"},
    "ingest": _ADAPTER,
    "engine": _ADAPTER
    | {"core.access", "core.planning", "core.settings", "core.sign_in", "core.sql.json_cells"}
    | {"core.setting_rows", "core.synonyms"}
    | {"core.wire.query_source", "embedding.stage"},
    "app": _ADAPTER
    | {"core.access", "core.clauses", "core.settings", "core.synonyms", "core.wire"}
    | {"core.serving_limits", "engine", "__version__"}
    | {"stores", "index", "embedding", "providers", "ingest"},
    "api": _ADAPTER
    | {
        "core.access",
        "core.serving_limits",
        "core.clauses",
        "core.planning",
        "core.sql",
        "core.wire",
        "engine.owning_process",
        "app",
        "embedding.stage",
        "providers.pool",
    },
    "server": _NOUNS
    | {"core.access.ask_shares", "core.access.credentials", "core.access.sign_in_delays"}
    | {"core.access.tenant_paces"}
    | {"core.ports", "core.clauses", "core.serving_limits", "core.wire", "__version__"}
    | {"core.sql", "api.asynchronous", "api.event_stream"},
    "evaluation": _RULES | {"core.planning", "api"},
    "cli": _ADAPTER
    | {"core.access.ask_shares", "core.access.credentials", "core.clauses", "core.wire"}
    | {"core.settings", "core.serving_limits", "__version__"}
    | {"core.sql", "api", "evaluation", "server"},
    "__init__": _NOUNS | {"api"},  # the public names
}
PURE = {part for part in MAY_IMPORT if part.startswith("core")} - {"core.access"}
STANDARD = set(
    """collections collections.abc dataclasses decimal difflib enum fractions functools hashlib
    itertools json math operator re string tomllib types typing unicodedata""".split()
)
# dates, UUIDs, float4 and time zones as values; nothing there asks the clock
SQL_VALUES = {"calendar", "datetime", "ipaddress", "struct", "uuid", "zoneinfo"}
DATES = {"core.sql", "core.planning"}
CLOCKS = set("datetime.now datetime.utcnow date.today uuid.uuid1 uuid.uuid4".split())
# files, consoles, code made at run time, and what differs from process to process
IMPURE_BUILTINS = set(
    "open input print breakpoint exec eval compile __import__ globals locals hash id".split()
)
BANNED_NAMES = set("utils util helpers helper common base manager managers misc".split())
MAX_FILE, MAX_FUNCTION, MAX_DOCSTRING = 400, 60, 40
MAX_ROOT, MAX_FOLDER = 12, 16
# the tables by URL scheme: nobody else knows which backend it is
KNOW_SQLITE = {"stores/backends.py", "stores/selectors.py"}
# files of the user's own, files derived from the store, and memory
SQLITE_USERS = {
    "index/forward/block_sums.py",
    "index/forward/column_reading.py",
    "index/forward/forward_index.py",
    "index/forward/forward_writer.py",
    "index/corruption.py",
    "index/graph/adjacency.py",
    "index/sqlite_schema.py",
    "ingest/readers/sqlite_files.py",
    "ingest/spool.py",
    "server/pgwire/catalog/functions.py",
    "server/pgwire/catalog/queries.py",
}

PUBLIC_NAMES = [
    "AskError",
    "AsyncDatabase",
    "Caller",
    "CitedAnswer",
    "Mode",
    "OpenDatabase",
    "__version__",
    "aopen",
    "check",
    "open",
    "restore",
    "verify_export",
    "verify_proof",
]
RULES = set(
    """terms fusion urn fingerprint prompt capabilities determinism cost caching failover
    citations validation audit explain""".split()
)

Check = Callable[[str, str], Iterator[str]]


def part_of(path: Path) -> str:
    """The part that a file under src/redask belongs to: its folder; in `core`, the one below."""
    parts = [name.removesuffix(".py") for name in path.parts]
    if parts[0] == "core" and parts[1] != "__init__":
        return f"core.{parts[1]}"
    return parts[0]


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
    standard = STANDARD | SQL_VALUES if part in DATES else STANDARD
    for line, module in modules_of(source):
        if module.partition(".")[0] not in ("redask", "") and module not in standard:
            yield f"line {line}: {module} is not on the list of pure modules"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and node.id in IMPURE_BUILTINS:
            if isinstance(node.ctx, ast.Load):
                yield f"line {node.lineno}: {node.id} in a pure part"
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in CLOCKS:
            yield f"line {node.lineno}: {ast.unparse(node)} in a pure part"
        elif isinstance(node, ast.Global):
            yield f"line {node.lineno}: a pure part keeps no state"
        elif isinstance(node, ast.AsyncFunctionDef) and part != "core.ports":
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
    assert {file.stem for file in (SRC / "core" / "rules").glob("*.py")} >= RULES
    wire = {file.stem for file in (SRC / "core" / "wire").glob("*.py")}
    assert wire >= {"json", "envelope", "sse"}


def test_the_pure_parts_exist_and_the_package_is_typed() -> None:
    assert {part_of(file.relative_to(SRC)) for file in FILES} >= PURE | {"__init__"}
    assert (SRC / "py.typed").exists()


def test_the_root_has_at_most_a_dozen_names_and_no_folder_many_files() -> None:
    names = {path.name for path in SRC.iterdir()} - {"__init__.py", "__pycache__", "py.typed"}
    assert len(names) <= MAX_ROOT
    for folder in {file.parent for file in FILES}:
        assert len(list(folder.glob("*.py"))) - 1 <= MAX_FOLDER, folder


def test_no_two_modules_share_a_name() -> None:
    names = [file.stem for file in FILES if file.stem != "__init__"]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_only_the_backend_on_sqlite_and_derived_or_foreign_files_use_sqlite3() -> None:
    users = {
        str(file.relative_to(SRC))
        for file in FILES
        if "sqlite3" in {module for _, module in modules_of(file.read_text(encoding="utf-8"))}
    }
    assert {name for name in users if not name.startswith("stores/sqlite/")} <= SQLITE_USERS


def knows_sqlite(source: str, name: str) -> bool:
    """Whether a file outside the backend on SQLite, and outside the tables, imports it."""
    if name.startswith("stores/sqlite/") or name in KNOW_SQLITE:
        return False
    backend = "redask.stores.sqlite"
    return any(f"{module}.".startswith(f"{backend}.") for _, module in modules_of(source))


def test_only_the_tables_by_url_scheme_know_the_backend_on_sqlite() -> None:
    assert {str(file.relative_to(SRC)) for file in FILES} >= KNOW_SQLITE
    for file in FILES:
        name = str(file.relative_to(SRC))
        assert not knows_sqlite(file.read_text(encoding="utf-8"), name), name


# --- the table -------------------------------------------------------------------------


def test_a_row_imports_only_rows_above_it() -> None:
    above: set[str] = {"__version__"}
    for part, allowed in MAY_IMPORT.items():
        for name in allowed:
            assert any(f"{name}.".startswith(f"{each}.") for each in above), (part, name)
        above.add(part)


def test_the_promises_of_the_design_hold_in_the_table() -> None:
    adapters = {"stores", "index", "embedding", "providers", "ingest"}
    for part in adapters:
        assert "engine" not in MAY_IMPORT[part]
    for part in set(MAY_IMPORT) - {"app"}:
        assert not adapters & MAY_IMPORT[part], "only app knows all adapters"
    for part in PURE:
        assert MAY_IMPORT[part] <= PURE, "what is pure rests on what is pure"


# --- the checks themselves, on planted violations ---------------------------------------


@pytest.mark.parametrize(
    ("part", "source"),
    [
        ("core.model", "from redask.core.errors import AskError"),
        ("core.model", "from redask.core import errors"),
        ("core.errors", "import redask.core.rules.urn"),
        ("core.rules", "from redask.core.clauses import parse"),
        ("core.rules", "from redask.core import settings as s"),
        ("core.rules", "def f():\n    from redask.core.wire import json"),
        ("core.rules", "if TYPE_CHECKING:\n    import redask.engine"),
        ("core.rules", "from . import urn"),
        ("core.rules", "from .urn import encode"),
        ("core.rules", "from ..engine import Engine"),
        ("core.rules", "import redask"),
        ("core.rules", "from redask import *"),
        ("core.ports", "from redask.engine import Engine"),
        ("core.settings", "from redask.core.clauses import CLAUSES"),
        ("core.wire", "from redask.engine import Engine"),
        ("stores", "from redask.core.wire import envelope"),
        ("stores", "from redask.core.wire import json_other"),
        ("stores", "from redask.core import wire"),
        ("index", "from redask.core.access import policy"),
        ("index", "from redask.engine import Engine"),
        ("engine", "from redask.stores.sqlite.store import SqliteStore"),
        ("engine", "from redask.core.wire.json import encode"),
        ("server", "from redask.providers import PROVIDERS"),
        ("server", "from redask.stores.backends import BACKENDS"),
        ("cli", "from redask.stores.backends import BACKENDS"),
        ("app", "from redask.cli import main"),
        ("index", "from redask.app import App"),
    ],
)
def test_a_forbidden_import_is_seen(part: str, source: str) -> None:
    assert len(list(wrong_imports(source, part))) == 1


@pytest.mark.parametrize(
    ("part", "source"),
    [
        (
            "core.rules",
            "from redask.core.rules import prompt as prompts\nfrom redask.core.model import Ask",
        ),
        ("core.rules", "import redaskew\nfrom modeling import x"),
        ("stores", "from redask.core.wire.json import encode\nfrom redask.core.wire import json"),
        ("stores", "import redask.core.wire.json"),
        ("cli", "from redask import __version__, api"),
        ("app", "from redask.stores.backends import BACKENDS"),
    ],
)
def test_an_allowed_import_is_left_alone(part: str, source: str) -> None:
    assert list(wrong_imports(source, part)) == []


@pytest.mark.parametrize(
    ("name", "source", "seen"),
    [
        ("app.py", "from redask.stores.sqlite.store import SqliteStore", True),
        ("app.py", "def f():\n    from redask.stores import sqlite", True),
        ("stores/visibility.py", "import redask.stores.sqlite.connection", True),
        ("stores/backends.py", "from redask.stores.sqlite.store import SqliteStore", False),
        (
            "stores/sqlite/store.py",
            "from redask.stores.sqlite.connection import Database",
            False,
        ),
        ("app.py", "from redask.stores.sqlite_files import x", False),
    ],
)
def test_who_knows_the_backend_is_seen(name: str, source: str, seen: bool) -> None:
    assert knows_sqlite(source, name) is seen


def test_a_new_part_is_told_to_add_a_row() -> None:
    assert part_of(Path("planner/plan.py")) == part_of(Path("planner.py")) == "planner"
    assert part_of(Path("core/rules/urn.py")) == part_of(Path("core/rules.py")) == "core.rules"
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
    assert len(list(impurities(source, "core.rules"))) == 1
    assert list(impurities(source, "stores")) == []


def test_values_of_dates_are_pure_in_sql_and_the_clock_is_not() -> None:
    assert list(impurities("from datetime import date\nimport uuid", "core.sql")) == []
    assert len(list(impurities("date.today()", "core.sql"))) == 1
    assert len(list(impurities("uuid.uuid4()", "core.sql"))) == 1


def test_what_is_pure_is_left_alone() -> None:
    source = "import re\nimport collections.abc\nclass A:\n    id: str\nre.compile('x')\nx.open()"
    assert list(impurities(source, "core.rules")) == []
    assert list(impurities("async def f(): ...", "core.ports")) == []


def test_an_unfrozen_dataclass_is_seen() -> None:
    for decorator in ("dataclass", "dataclass(slots=True)", "dataclasses.dataclass(frozen=False)"):
        assert len(list(unfrozen(f"@{decorator}\nclass A: ...", "core.model"))) == 1
    assert list(unfrozen("@dataclass(frozen=True)\nclass A: ...", "core.model")) == []
    assert list(unfrozen("@dataclass\nclass A: ...", "stores")) == []


def test_sizes_are_counted_on_both_sides_of_the_bound() -> None:
    head = '"""Doc."""\n'
    assert list(wrong_size(head + "\n" * 399, "core.model")) == []
    assert len(list(wrong_size(head + "\n" * 400, "core.model"))) == 1
    for keyword in ("def", "async def"):
        body = f"class A:\n    {keyword} f(self):\n" + "        x = 1\n"
        assert list(wrong_size(head + body + "        x = 1\n" * 58, "core.model")) == []
        assert len(list(wrong_size(head + body + "        x = 1\n" * 59, "core.model"))) == 1


def test_docstrings_are_required_and_short() -> None:
    assert len(list(wrong_size("x = 1", "core.model"))) == 1
    assert len(list(wrong_size('""""""', "core.model"))) == 1
    assert list(wrong_size('"""' + "a\n" * 39 + 'b"""', "core.model")) == []
    assert len(list(wrong_size('"""' + "a\n" * 40 + 'b"""', "core.model"))) == 1


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
        "from redask.app import open, aopen as a\nimport redask.core.model\n"
        "__version__ = '1'\n_x = y = 1\n"
        "def f(): ...\nasync def g(): ...\nclass H: ...\nz: int = 1\n_private: int = 2\n"
    )
    assert public_names(source) == sorted(["open", "a", "redask", "__version__", "y", *"fgHz"])
