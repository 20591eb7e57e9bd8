"""A page of docs/clients, run as its reader would: `read` it, `perform` it, see what differs.

    ```bash · ```python · ```javascript   is run, in a folder of the page's own, and must succeed
    ```LANGUAGE NAME                      is written into the file NAME of that folder
    ```text · ```json                     what the step before printed, on both streams; a step
                                          without such a block after it prints nothing
    ``` with lines that begin with "$ "   commands of bash, each with what it printed

In what is printed, `…` stands for what varies or is left out: inside a line for any text, alone
on a line for any number of lines. What bash exports holds for the blocks after it. A command that
ends in ` &` goes on until the page ends, and then must end well: the page goes on as soon as it
printed the lines of its block, and it may print more. Pages show the default ports; every run
takes free ones, and puts the shown ones into what was printed (PORTS has a row for each transport).
`redask` and `python` are those of this test run. Nothing else is replaced.

`python tests/support/pages.py PAGE…` writes what is printed now into pages; read the difference.
"""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
NODE_MODULES = ROOT / "tests" / "node" / "node_modules"
# as pages show them, and the option of `serve`
PORTS = {"8080": "--port", "50051": "--grpc-port", "5433": "--pg-port"}
SECONDS = 60  # for a step
OTHER = "printed something else"
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_RUN = {"bash": "sh", "python": "py", "javascript": "mjs"}
_PRINTED = ("text", "json")


@dataclass(frozen=True)
class PageStep:
    """A block, or a command after a "$ ", with what the page says it prints."""

    language: str
    code: str
    name: str = ""  # of the file to write, for what is not run
    prints: str = ""
    line: int = 0

    @property
    def stays(self) -> bool:
        return self.language == "bash" and self.code.rstrip().endswith(" &")


@dataclass(frozen=True)
class Difference:
    """A step that did not do what its page says."""

    step: PageStep
    printed: str
    reason: str

    def __str__(self) -> str:
        said = f"{self.step.code}\n--- the page says\n{self.step.prints}\n--- printed\n"
        return f"line {self.step.line}: {self.reason}\n{said}{self.printed}"


def read(page: str) -> list[PageStep]:
    """The steps of a page in its order."""
    steps: list[PageStep] = []
    for found in _FENCE.finditer(page):
        language, _, name = found[1].partition(" ")
        line = page.count("\n", 0, found.start()) + 1
        if name:
            steps.append(PageStep(language, found[2], name, line=line))
        elif language in _RUN:
            steps.append(PageStep(language, found[2], line=line))
        elif language in _PRINTED:
            if not steps or steps[-1].name or steps[-1].prints:
                raise ValueError(f"line {line}: no step printed this")
            last = steps.pop()
            steps.append(PageStep(last.language, last.code, "", found[2], last.line))
        elif not language and found[2].startswith("$ "):
            steps += _commands(found[2], line)
        else:
            raise ValueError(f"line {line}: nobody knows how to run {language or 'this'!r}")
    return steps


def _commands(transcript: str, line: int) -> Iterator[PageStep]:
    """The steps of lines after a prompt; a command goes on after a backslash."""
    for part in re.split(r"^\$ ", transcript, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        count = next(i for i, each in enumerate(lines, 1) if not each.rstrip().endswith("\\"))
        printed = "".join(lines[count:])
        yield PageStep("bash", "".join(lines[:count]), "", printed.strip("\n") and printed, line)


def agrees(said: str, printed: str, *, more: bool = False) -> bool:
    """Whether what was printed is what the page says; with `more`, whether it has all of it."""
    pieces = []
    for line in said.strip("\n").split("\n"):
        if line.strip() == "…":
            pieces.append(r"(?:[^\n]*\n)*")
        else:
            pieces.append(r"[^\n]*?".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n")
    shown = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").split("\n"))
    if more:
        return all(re.search(f"^{piece}", shown, re.MULTILINE) for piece in pieces)
    return re.fullmatch("".join(pieces), shown) is not None


@dataclass
class Stagehand:
    """Runs steps in a folder."""

    folder: Path
    ports: dict[str, str] = field(default_factory=dict)  # shown → taken
    running: list[tuple[PageStep, subprocess.Popen[bytes], Path]] = field(default_factory=list)
    count: int = 0

    def prepare(self) -> None:
        self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        shims = self.folder / ".bin"
        shims.mkdir()
        told = " ".join(f"{option} {self.ports[shown]}" for shown, option in PORTS.items())
        python = f"exec {shlex.quote(sys.executable)}"
        paths = shlex.quote(os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)]))
        redask = (
            f'[ "$1" != serve ] || set -- "$@" {told}\nexport PYTHONPATH={paths}\n'
            f"""{python} -c 'from redask.cli import main; main(prog_name="redask")' "$@"\n"""
        )
        for name, code in (("redask", redask), ("python", f'{python} "$@"\n')):
            (shims / name).write_text(f"#!/bin/sh\n{code}")
            (shims / name).chmod(0o755)
        path = shlex.quote(f"{shims}{os.pathsep}{os.environ['PATH']}")
        (shims / "exported").write_text(f"export PATH={path}\n")
        if NODE_MODULES.is_dir():
            (self.folder / "node_modules").symlink_to(NODE_MODULES)

    def perform(self, step: PageStep) -> Difference | None:
        """Do one step."""
        code = step.code
        for shown, taken in self.ports.items():
            code = re.sub(rf"\b{shown}\b", taken, code)
        if step.name:
            (self.folder / step.name).write_text(code, encoding="utf-8")
            return None
        self.count += 1
        if step.stays:
            return self._start(step, code.rstrip().removesuffix("&"))
        return self._run(step, code)

    def _run(self, step: PageStep, code: str) -> Difference | None:
        if step.language == "bash":
            code = f"set -euo pipefail\n{code}\nexport -p > .bin/exported\n"
        else:
            file = f".bin/step{self.count}.{_RUN[step.language]}"
            if step.language == "javascript":  # it looks for packages beside itself
                file = f"step{self.count}.mjs"
            (self.folder / file).write_text(code, encoding="utf-8")
            code = f"{'node' if step.language == 'javascript' else 'python'} {file}\n"
        out = self.folder / ".bin" / f"printed{self.count}"
        process = self._bash(code, out)
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            _end(process, signal.SIGKILL)
            return Difference(step, self._printed(out), f"took longer than {SECONDS} seconds")
        printed = self._printed(out)
        if status:
            return Difference(step, printed, f"ended with {status}")
        if not agrees(step.prints, printed):
            return Difference(step, printed, OTHER)
        return None

    def _start(self, step: PageStep, code: str) -> Difference | None:
        out = self.folder / ".bin" / f"printed{self.count}"
        process = self._bash(f"exec {code}\n", out)
        self.running.append((step, process, out))
        until = time.monotonic() + SECONDS
        while not agrees(step.prints, self._printed(out), more=True):
            if process.poll() is not None or time.monotonic() > until:
                return Difference(step, self._printed(out), "did not print that")
            time.sleep(0.02)
        return None

    def end(self) -> list[Difference]:
        """Stop what stays; it must stop well."""
        found = []
        for step, process, out in self.running:
            alive = process.poll() is None
            if alive:
                _end(process, signal.SIGTERM)
            try:
                status = process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                _end(process, signal.SIGKILL)
                status = process.wait()
            if status or not alive:
                found.append(Difference(step, self._printed(out), f"ended with {status}"))
        return found

    def _bash(self, code: str, out: Path) -> subprocess.Popen[bytes]:
        ours = {name: value for name, value in os.environ.items() if not _is_ours(name)}
        with out.open("wb") as stream:
            return subprocess.Popen(
                ["bash", "-c", f". .bin/exported\n{code}"],
                cwd=self.folder,
                env=ours,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _printed(self, out: Path) -> str:
        text = out.read_text(encoding="utf-8", errors="replace")
        for shown, taken in self.ports.items():
            text = re.sub(rf"(?<=[:= ]){taken}\b", shown, text)
        return text


def perform(page: str, folder: Path, *, on: bool = False) -> list[Difference]:
    """Run a page in an empty folder. → where it is wrong; it goes on after that only if told."""
    hand = Stagehand(folder)
    hand.prepare()
    found: list[Difference] = []
    try:
        for step in read(page):
            wrong = hand.perform(step)
            if wrong is not None:
                found.append(wrong)
                if not (on and wrong.reason == OTHER):
                    break
    finally:
        found += hand.end()
    return found


def rewritten(page: str) -> str:
    """The page with what its steps print now, where that differs."""
    with tempfile.TemporaryDirectory() as folder:
        wrong = perform(page, Path(folder), on=True)
    for found in reversed(wrong):  # so that the lines of those before stay what they are
        if found.reason != OTHER:
            raise SystemExit(str(found))
        code, old = found.step.code.rstrip("\n"), found.step.prints
        begin = sum(map(len, page.splitlines(keepends=True)[: found.step.line]))
        at = page.index(code, begin) + len(code)
        if old:
            start = page.index(old, at)
            page = page[:start] + found.printed + page[start + len(old) :]
        else:
            at = page.index("```", at) + 3
            page = f"{page[:at]}\n\n```text\n{found.printed.strip()}\n```{page[at:]}"
    return page


def free_ports(count: int) -> list[str]:
    """Ports that nobody listens at now."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [str(each.getsockname()[1]) for each in held]
    for each in held:
        each.close()
    return ports


def _is_ours(name: str) -> bool:
    """Whether a variable is the tests' own, or one that would change what a page prints."""
    return name.startswith(("REDASK_", "PYTEST_", "COVERAGE_", "COV_")) or name.endswith("_API_KEY")


def _end(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    os.killpg(process.pid, how)  # its own session: nobody else is in the group


if __name__ == "__main__":
    for given in sys.argv[1:]:
        path = Path(given)
        path.write_text(rewritten(path.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"{given} says what is printed now")
