"""`make bench-peers`: the same questions through redask, its peers and the bare engines.

    python -m peers [--only NAME …] [--sizes N …] [--questions N] [--home DIR] [--write]
                    [--seconds N] [--limit N] [--kept]

Each contestant is built at each size in a process of its own, with a time limit; then all of a size
are open at the same time and are asked in turns, question by question (`turns`). What was built and
the figures are kept in `HOME`: an interrupted run is resumed, a contestant whose code, packages or
material changed is built again, and all of its size are asked again, as they are when one failed.
Then redask and raw are asked in turns in one process: the target is about that pair. A run over all
of them and both sizes writes its tables into docs/quality.md; `--write` does so for less.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from peers import environments, figures, material, turns
from peers.figures import Row
from peers.turns import ContestantProcess

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "quality.md"
BEGIN, END = "<!-- made by make bench-peers -->", "<!-- end of what make bench-peers made -->"
NAMES = (
    "raw",
    "redask",
    "redask_flat",
    "lancedb",
    "txtai",
    "langchain",
    "llamaindex",
    "haystack",
)
BUILT_BY = {"redask_flat": "redask"}
SIZES = (5_000, 100_000)
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LANCE_LOG": "error",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "ORT_DISABLE_TELEMETRY": "1",
    "RUST_LOG": "error",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_OFFLINE": "1",
}


class Bench:
    """One run: its directory, and its time limits."""

    def __init__(self, home: Path, seconds: float, limit: float, *, reads: bool = False) -> None:
        self.home, self.seconds, self.limit = home, seconds, limit
        self._reads = reads  # what is kept, and measures nothing

    def measure(self, names: Sequence[str], size: int, folder: Path) -> dict[str, dict[str, Any]]:
        """The contestants' figures at a size: as they are kept, else measured in turns."""
        kept = self.home / "results" / f"turns-{size}.json"
        stamp = "".join(stamp_of(name, folder) for name in names)
        found = read_kept(kept, stamp, failed=self._reads)
        if found is None and self._reads:
            return {name: {"reason": "not measured in this run"} for name in names}
        if found is None:
            found = self._run(names, size, folder)
            keep(kept, stamp, found)
        return found

    def pair(self, size: int, folder: Path) -> dict[str, Any]:
        """redask and raw, asked in turns in one process."""
        kept = self.home / "results" / f"pair-{size}.json"
        stamp = stamp_of("redask", folder) + stamp_of("raw", folder) + stamp_of("pair", folder)
        found = read_kept(kept, stamp, failed=self._reads)
        if found is None and self._reads:
            return {"reason": "not measured in this run"}
        if found is None:
            log(f"redask and raw in turns, {size:,} passages")
            place = self.home / "data" / f"pair-{size}"
            shutil.rmtree(place, ignore_errors=True)
            for each in ("redask", "raw"):
                shutil.copytree(self._built(each, size), place / each)
            found = self._stage("pair", "ask", Path(sys.executable), folder, place)
            shutil.rmtree(place, ignore_errors=True)
            keep(kept, stamp, found)
        return found

    def _run(self, names: Sequence[str], size: int, folder: Path) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        starts: dict[str, Callable[[], ContestantProcess]] = {}
        for name in names:
            log(f"{name}, {size:,} passages")
            try:
                python = environments.ready(self.home, name)
            except environments.Uninstallable as reason:
                found[name] = {"reason": f"cannot be installed: {reason}"}
                continue
            maker, place = BUILT_BY.get(name, name), self.home / "data" / f"{name}-{size}"
            found[name] = self._build(maker, size, python, folder)
            if "reason" not in found[name]:
                shutil.rmtree(place, ignore_errors=True)
                shutil.copytree(self._built(maker, size), place)  # asking inserts: keep the other
                started = self._command(name, "ask", python, folder, place)
                starts[name] = partial(ContestantProcess, *started, self.limit)
        for name, process in turns.ask_in_turns(starts, log).items():
            code, errors = process.ended()
            failed = "" if code == 0 else why("ask", code, errors)
            if process.late:
                failed = f"ask took more than {self.limit:.0f} s"
            place = self.home / "data" / f"{name}-{size}"
            found[name] |= self._figures("ask", place, failed)
            shutil.rmtree(place, ignore_errors=True)
        return found

    def _build(self, name: str, size: int, python: Path, folder: Path) -> dict[str, Any]:
        place = self._built(name, size)
        kept, stamp = place.with_suffix(".json"), stamp_of(name, folder)
        built = read_kept(kept, stamp)
        if built is None:
            shutil.rmtree(place, ignore_errors=True)
            built = self._stage(name, "build", python, folder, place)
            keep(kept, stamp, built)
        return built

    def _built(self, name: str, size: int) -> Path:
        return self.home / "data" / f"{name}-{size}-built"

    def _stage(
        self, name: str, stage: str, python: Path, folder: Path, place: Path
    ) -> dict[str, Any]:
        """Run a worker. → what it wrote, with the reason if it did not come to its end."""
        command, given = self._command(name, stage, python, folder, place)
        begun = time.monotonic()
        try:
            done = subprocess.run(
                command,
                env=given,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.limit,
                check=False,
            )
            reason = "" if done.returncode == 0 else why(stage, done.returncode, done.stderr)
        except subprocess.TimeoutExpired:
            reason = f"{stage} took more than {self.limit:.0f} s"
        log(f"{name}, {stage}: {time.monotonic() - begun:.0f} s {reason}")
        return self._figures(stage, place, reason)

    def _command(
        self, name: str, stage: str, python: Path, folder: Path, place: Path
    ) -> tuple[list[str], dict[str, str]]:
        """What starts a worker, and its environment."""
        out = self._out(stage, place)
        out.unlink(missing_ok=True)
        command = [python, "-m", "peers.worker", stage, name, folder, place, out, self.seconds]
        given = {**os.environ, **QUIET, "PYTHONPATH": self._path(name)}
        return [str(each) for each in command], given

    def _figures(self, stage: str, place: Path, reason: str) -> dict[str, Any]:
        """What a worker wrote, and why it did not come to its end."""
        out = self._out(stage, place)
        found: dict[str, Any] = json.loads(out.read_text()) if out.is_file() else {}
        out.unlink(missing_ok=True)
        return found | ({"reason": reason} if reason else {})

    def _out(self, stage: str, place: Path) -> Path:
        return self.home / f"out-{place.name}-{stage}.json"

    def _path(self, name: str) -> str:
        """Peers see the contest alone; ours are imported as the runner imports them."""
        here = str(Path(__file__).parents[1])
        ours = [str(ROOT / "src")] if not environments.requirements(name).is_file() else []
        return os.pathsep.join([here, *ours])


def why(stage: str, code: int, errors: str) -> str:
    """Why a worker ended, in one line: the last line it printed, or the signal."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    last = lines[-1][:120] if lines else ""
    ended = f"signal {-code}" if code < 0 else last or f"exit code {code}"
    return f"{stage}: {ended}".replace("|", "/")


def stamp_of(name: str, folder: Path) -> str:
    """What a figure depends on: the contestant, its packages, the worker, the material, ours."""
    here = Path(__file__).parent
    files = [here / f"{each}.py" for each in (name, "contest", "worker", "material")]
    wanted = environments.requirements(name)
    if wanted.is_file():
        files.append(wanted)
    else:
        files += sorted((ROOT / "src").rglob("*.py"))
    digest = hashlib.sha256(folder.name.encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def read_kept(file: Path, stamp: str, *, failed: bool = False) -> dict[str, Any] | None:
    """The figures kept under this stamp; those of a failure only if requested."""
    if not file.is_file():
        return None
    held: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    found: dict[str, Any] = held["figures"]
    some = [found, *(each for each in found.values() if isinstance(each, dict))]
    good = held["stamp"] == stamp and (failed or not any("reason" in each for each in some))
    return found if good else None


def keep(file: Path, stamp: str, found: dict[str, Any]) -> None:
    """Keep figures; a run that is killed meanwhile leaves the old ones."""
    file.parent.mkdir(parents=True, exist_ok=True)
    half = file.with_suffix(".half")
    half.write_text(json.dumps({"stamp": stamp, "figures": found}), encoding="utf-8")
    os.replace(half, file)


def report(rows: Sequence[Row], pairs: Iterable[tuple[int, dict[str, Any]]]) -> str:
    """Everything that goes onto the page."""
    lines = [
        "Ten sources for each answer, the same vectors for all (looked up, for passages and",
        "questions alike: no model runs while the clock does), a model that answers at once. One",
        "thread for OpenMP and BLAS. All are open at the same time and are asked in turns.",
        f"{material.REAL:,} passages are real (squad2_dev_half, clapnq_dev, 2wiki_101); beyond,",
        "they are made: sentences of two real ones shuffled, vectors mixed with noise.",
        "`pace`: how slow the machine was, relative to the quickest run of the table.",
    ]
    for size in dict.fromkeys(row.size for row in rows):
        lines += ["", f"{size:,} passages:", "", figures.table(rows, size)]
    lines += ["", "redask and raw asked in turns, in one process:", ""]
    lines += [f"- {size:,} passages, {in_one_process(found)}" for size, found in pairs]
    versions = dict.fromkeys(row.versions for row in rows if row.versions)
    return "\n".join([*lines, "", f"Versions: {'; '.join(versions)}."])


def in_one_process(found: dict[str, Any]) -> str:
    """The target, by a run in turns."""
    if "times_s" not in found:
        return f"not measured: {found.get('reason', 'no reason')}"
    parts = {name: figures.percentile(taken, 0.5) for name, taken in found["parts_s"].items()}
    floor = parts["raw engines"], parts["raw commit"]
    whole, flat = (figures.verdict(parts[name], *floor) for name in ("redask", "flat"))
    shown = ", ".join(f"{name} {taken * 1000:.2f}" for name, taken in parts.items())
    return f"{whole}. Without the graph: {flat}. Medians in ms: {shown}."


def written(page: str, made: str) -> str:
    """The page with the text between the markers replaced."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE} lacks the markers {BEGIN} and {END}")
    return f"{head}{BEGIN}\n\n{made}\n\n{END}{tail}"


def log(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="peers", description="redask compared with its peers.")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="NAME")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, metavar="N")
    parser.add_argument("--questions", type=int, default=material.QUESTIONS, metavar="N")
    parser.add_argument("--home", type=Path, default=ROOT / ".peers")
    parser.add_argument("--seconds", type=float, default=25, help="for one contestant's questions")
    parser.add_argument("--limit", type=float, default=420, help="for any one stage")
    parser.add_argument("--kept", action="store_true", help="print what is kept, measure nothing")
    parser.add_argument("--write", action="store_true", help="into docs/quality.md, in any case")
    return parser.parse_args(arguments)


def main() -> None:
    options = options_of()
    bench = Bench(options.home, options.seconds, options.limit, reads=options.kept)
    rows, pairs = [], []
    for size in options.sizes:
        folder = material.prepare(options.home, size, options.questions, log)
        questions = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
        gold = [each["gold"] for each in questions]
        names = [name for name in NAMES if name in options.only]
        for name, found in bench.measure(names, size, folder).items():
            rows.append(figures.judged(name, size, found, gold))
        if {"redask", "raw"} <= {*options.only}:
            pairs.append((size, bench.pair(size, folder)))
    made = report(rows, pairs)
    print(made)
    if options.write or ({*options.only} == {*NAMES} and {*options.sizes} >= {*SIZES}):
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")


if __name__ == "__main__":
    main()
