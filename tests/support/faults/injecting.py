"""One injection: an operation with its Nth system call failing, and what is found afterwards.

`Injector` forks for each: a process that is disturbed, then one that is not and looks at what is
left. It has the shim in it, and has imported and used everything, so that a fork costs little.

Found wrong (`Verdict.wrong`): an exception that is none of ours, or kind `internal`; a hang; a
process that died; a stack trace on standard error; a part that is neither as before nor as after;
success reported and not all there; an answer without a row; a log that does not verify; a problem
that `doctor` names; and that the same operation, undisturbed, does not end where it ends otherwise.
"""

import faulthandler
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import redask
from faults import shim
from faults.operations import OPERATIONS, Operation, look, opened
from faults.shim import Fault
from redask.app.locations import is_database
from redask.core.rules.audit_chain import Broken
from redask.index import generation
from redask.index.vector import nearest
from redask.stores.columnar import tenant_projection

HANG_SECONDS = 90
_MARGIN = 2  # threads make the number of calls differ a little from run to run


@dataclass(frozen=True, slots=True)
class InjectionPoint:
    """Which call of which operation fails, and how."""

    operation: str
    fault: Fault
    number: int

    @property
    def name(self) -> str:
        return f"{self.operation}: {self.fault.name} {self.number}"


@dataclass(slots=True)
class Verdict:
    """What came of one injection; nothing was disturbed if no call was struck."""

    point: str
    struck: int = 0
    outcome: str = ""
    wrong: list[str] = field(default_factory=list)


class Injector:
    """Worlds before and after each operation, below one directory."""

    def __init__(self, directory: Path, operations: tuple[Operation, ...] = OPERATIONS) -> None:
        generation.MAX_TAIL = nearest.FOLD_AT = tenant_projection.MAX_TAIL = 8
        self._directory = directory.resolve()
        self._place = self._directory / "run" / "world"
        self._operations = {each.name: each for each in operations}
        self._calls: dict[str, dict[str, int]] = {}
        self._before: dict[str, dict[str, Any]] = {}
        self._after: dict[str, dict[str, Any]] = {}
        self._end: dict[str, Any] = {}

    def prepare(self) -> None:
        """Make the worlds, and see what each operation does undisturbed."""
        made: set[Callable[[Path], None]] = set()
        for each in self._operations.values():
            if each.prepare not in made:  # at the place where it is used: paths are remembered
                self._place.mkdir(parents=True)
                each.prepare(self._place)
                shutil.copytree(self._place, self._template(each))
            made.add(each.prepare)
            world = self._world(each)
            self._before[each.name] = _looked_at(each, world, {})[0]
            world = self._world(each)
            told = self._forked(partial(_disturbed, each, world, None, 0))
            if told.get("error"):
                raise RuntimeError(f"{each.name} fails undisturbed: {told}")
            self._calls[each.name] = told["calls"]
            self._after[each.name] = _looked_at(each, world, {})[0]
            self._end[each.name] = _end(each, world)[0]
            shutil.rmtree(world.parent)

    def points(self) -> list[InjectionPoint]:
        """Every point there is."""
        return [
            InjectionPoint(name, fault, number)
            for name, calls in self._calls.items()
            for fault in shim.FAULTS
            for number in range(1, calls[fault.call] + _MARGIN)
        ]

    def is_counted(self, point: InjectionPoint) -> bool:
        """Whether the operation made that call when undisturbed: the margin is beyond that."""
        return point.number <= self._calls[point.operation][point.fault.call]

    def inject(self, point: InjectionPoint) -> Verdict:
        """Disturb, then look."""
        operation = self._operations[point.operation]
        world = self._world(operation)
        told = self._forked(lambda: _disturbed(operation, world, point.fault, point.number))
        verdict = Verdict(point.name, told.get("struck", 1), told.get("error") or "ok")
        verdict.wrong += told["wrong"]
        if not verdict.struck:
            return verdict
        found = self._forked(lambda: self._judged(operation, world, told))
        verdict.wrong += found["wrong"]
        return verdict

    def _judged(self, operation: Operation, world: Path, told: dict[str, Any]) -> dict[str, Any]:
        before, after = self._before[operation.name], self._after[operation.name]
        found, wrong = _looked_at(operation, world, told.get("seen") or {})
        for name in sorted({*before, *after, *found}):
            states = [("before", before.get(name)), ("after", after.get(name))]
            fits = [state for state, value in states if value == found.get(name)]
            if not fits:
                wrong.append(f"{name} is neither as before nor as after: {_short(found.get(name))}")
            elif not told.get("error") and "after" not in fits:
                wrong.append(f"success was reported, and {name} is as before")
        operation.act(world)
        end, more = _end(operation, world)
        if end != self._end[operation.name]:
            wrong.append(f"done again it ends otherwise: {_short(end)}")
        return {"wrong": wrong + more}

    def _template(self, operation: Operation) -> Path:
        return self._directory / operation.prepare.__name__

    def _world(self, operation: Operation) -> Path:
        """A copy of the world before, at a place that is the same each time."""
        shutil.rmtree(self._place.parent, ignore_errors=True)
        shutil.copytree(self._template(operation), self._place)
        return self._place

    def _forked(self, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The work's result, done in a fork; `wrong` says how the fork ended otherwise."""
        told, said = self._directory / "told.json", self._directory / "said.txt"
        told.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            _child(work, told, said)
        _, status = os.waitpid(child, 0)
        errors = said.read_text(errors="replace")
        result: dict[str, Any] = {"wrong": []}
        if told.exists():
            result |= json.loads(told.read_text())
        if os.WIFSIGNALED(status):
            result["wrong"].append(f"killed by signal {os.WTERMSIG(status)}: {errors[-3000:]}")
        elif not told.exists():
            result["wrong"].append(f"it hung: {errors[-6000:]}")
        elif "Traceback" in errors or "Exception ignored" in errors:
            result["wrong"].append(f"standard error has {errors[-3000:]}")
        return result


def _child(work: Callable[[], dict[str, Any]], told: Path, said: Path) -> None:
    """What a fork does; it never returns."""
    errors = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(errors, 2)
    os.dup2(errors, 1)
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    sys.stdout = sys.stderr
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True, file=sys.stderr)
    try:
        result = work()
    except BaseException:
        result = {"wrong": [f"looking at it failed: {traceback.format_exc()[-3000:]}"]}
    shim.arm(Path("/nowhere"))
    draft = told.with_suffix(".draft")
    draft.write_text(json.dumps(result))
    os.replace(draft, told)
    os._exit(0)


def _disturbed(
    operation: Operation, world: Path, fault: Fault | None, number: int
) -> dict[str, Any]:
    result: dict[str, Any] = {"wrong": []}
    shim.arm(world, fault, number)
    try:
        result["seen"] = operation.act(world)
    except redask.AskError as error:
        result["error"] = f"{type(error).__name__}: {error.message} ({error.detail})"
        if type(error).kind == "internal" and type(error) is not redask.AskError:
            result["wrong"].append(f"an internal error: {error.message}")
    except BaseException:
        result["error"] = "raw"
        result["wrong"].append(f"an exception of nobody's: {traceback.format_exc()[-3000:]}")
    result["calls"], result["struck"] = shim.seen(), shim.struck()
    return result


def _looked_at(
    operation: Operation, world: Path, seen: dict[str, int]
) -> tuple[dict[str, Any], list[str]]:
    """The parts of an operation, and what is wrong with the database."""
    if not is_database(str(world / "db")):
        return operation.parts(world, None), []
    with opened(world) as db:
        return operation.parts(world, db), _faults(db, seen)


def _end(operation: Operation, world: Path) -> tuple[Any, list[str]]:
    """Where an operation ends: its parts, what the database finds; and what is wrong with it."""
    with opened(world) as db:
        return {"parts": operation.parts(world, db), "look": look(db)}, _faults(db, {})


def _faults(db: redask.OpenDatabase, seen: dict[str, int]) -> list[str]:
    """What is wrong with the logs, and what `doctor` says."""
    wrong = []
    for log in ("ask", "access"):
        verdict = db.verify_audit(log=log)
        if isinstance(verdict, Broken):
            wrong.append(f"the {log} log does not verify: {verdict.reason}")
    for log, least in seen.items():
        have = len(db.audit(1000, log=log))
        if have < least + (1 if log == "ask" else 3):
            wrong.append(f"{least} results were seen, and the {log} log has {have} rows in all")
    return wrong + [f"doctor: {each}" for each in db.doctor()["problems"]]


def _short(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return text if len(text) < 1500 else f"{text[:1500]}…"
