"""What a user sees of redask, collected anew: `collect(into)` writes a JSON file a section.

    python     names, signatures and fields of the public API      recorded_api
    answers    questions over two databases, as three users        recorded_answers
    command    help, and exit code and output of calls             recorded_command
    http · lines · grpc · postgres    what each door says          recorded_<door>

A section is a function that yields `(key, value)`. It runs in a process of its own, with an
environment of its own, so that no key, terminal or earlier test can matter. Nothing here imports
a module of redask but `redask` itself: the recordings must outlive every move of modules.
"""

import dataclasses
import enum
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import redask

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
SOURCE = Path(redask.__file__).parent.parent
COMMAND = Path(sys.executable).with_name("redask")
SECTIONS = {
    "answers": "recorded_answers",
    "command": "recorded_command",
    "python": "recorded_api",
    "http": "recorded_http",
    "postgres": "recorded_postgres",
    "lines": "recorded_lines",
    "grpc": "recorded_grpc",
}
AT_ONCE = 2
Recorded = Iterator[tuple[str, object]]

_QUOTE = r'\\*"'  # JSON may stand in a text of JSON
_VARIES = (
    # a token: its public part and its secret
    (re.compile(r"redask_[0-9a-f]{16}_[\w-]+"), "<token>"),
    # times in nanoseconds: of audit rows and of tokens
    (
        re.compile(rf"({_QUOTE}(?:ts|made|expires|revoked){_QUOTE}: ?(?:{_QUOTE})?)\d{{19}}"),
        r"\g<1>0",
    ),
    # names and times of chat completions
    (re.compile(rf"({_QUOTE}id{_QUOTE}: ?{_QUOTE}chatcmpl-)[0-9a-f]{{24}}"), r"\g<1>0"),
    (re.compile(rf"({_QUOTE}created{_QUOTE}: ?)[1-9]\d{{9}}"), r"\g<1>0"),
    # times for people
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "<time>"),
    # hashes of the audit chain, which depend on times
    (
        re.compile(rf"({_QUOTE}(?:hash|head|pruned_hash){_QUOTE}: ?{_QUOTE}|head )[0-9a-f]{{64}}"),
        r"\1<hash>",
    ),
    # where a property is in memory
    (re.compile("<property object at 0x[0-9a-f]+>"), "<property>"),
    # how long a call to a provider took
    (re.compile(r"\b\d+ ms, "), "<n> ms, "),
    # sizes of files
    (re.compile(r"\d+\.\d MB"), "<size>"),
    # ports that the system chose
    (re.compile(r"127\.0\.0\.1:\d+"), "127.0.0.1:<port>"),
    # where an annotation's class is defined, which is what is going to change
    (re.compile(r"\bredask(?!\.v1\.)(?:\.[a-z_]\w*)+\.(?=[A-Z])"), ""),
)


def normalise(text: str, place: Path | None = None) -> str:
    """The text without what is random, a time, a port or a path: `_VARIES` lists it all."""
    if place is not None:
        text = text.replace(str(place), "<place>")
    for pattern, shown in _VARIES:
        text = pattern.sub(shown, text)
    return text


def plain(value: Any) -> Any:
    """Whatever the API gives, as JSON has it; objects and errors with the name of their class."""
    if isinstance(value, BaseException):
        told = {name: each for name, each in vars(value).items() if not name.startswith("_")}
        return {"class": type(value).__name__, "text": str(value), **plain(told)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (each.name for each in dataclasses.fields(value))
        return {
            "class": type(value).__name__,
            **{name: plain(getattr(value, name)) for name in names},
        }
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(each) for each in value]
    return value


def outcome(work: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """What a call returns as plain data, or the error it raises on purpose."""
    try:
        return plain(work(*given, **options))
    except redask.AskError as error:
        return {"raised": plain(error)}


class Payloads:
    """Long payloads, each kept once under a short name, so that recordings stay small."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    def short(self, value: Any) -> Any:
        """The value with a name in place of every `payload`."""
        if isinstance(value, dict):
            return {key: self._one(key, each) for key, each in value.items()}
        return [self.short(each) for each in value] if isinstance(value, list) else value

    def _one(self, key: str, value: Any) -> Any:
        if key != "payload" or not isinstance(value, str):
            return self.short(value)
        name = sha256(value.encode()).hexdigest()[:12]
        self.kept[name] = value
        return name


def environment() -> dict[str, str]:
    """The same for everybody: no keys, no colours, no embedder, a fixed width."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "PYTHONPATH": str(SOURCE),
        "PYTHONWARNINGS": "ignore",
        "REDASK_ACCESS_EDGE_IDS": "content",
        "REDASK_ASK_PROVIDERS_TESTING": "true",
        "REDASK_EMBEDDER_NAME": "none",
        "TERM": "dumb",
        "TZ": "UTC",
    }


def write(section: str, into: Path, place: Path) -> None:
    """Run one section, here, in an empty folder; one line of its file is one thing recorded."""
    lines: dict[str, str] = {}
    for key, value in import_module(SECTIONS[section]).record(place):
        if key in lines:
            raise ValueError(f"{section} records {key!r} twice")
        shown = json.dumps(value, ensure_ascii=False, default=str)
        lines[key] = normalise(f"{json.dumps(key, ensure_ascii=False)}: {shown}", place)
    text = "{\n" + ",\n".join(lines.values()) + "\n}\n"
    (into / f"{section}.json").write_text(text, encoding="utf-8")


def collect(into: Path, place: Path) -> None:
    """Every section into `<into>/<section>.json`, two at a time; `place` is an empty folder."""
    into.mkdir(parents=True, exist_ok=True)

    def run(section: str) -> None:
        (place / section).mkdir()
        words = (HERE / "record.py", section, into, place / section)
        command = [sys.executable, *map(str, words)]
        subprocess.run(command, env=environment(), cwd=place / section, check=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(run, SECTIONS))
