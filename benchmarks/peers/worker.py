"""One stage of one contestant in a process of its own: `python -m peers.worker …`.

    build NAME MATERIAL HOME OUT            how long writing took, and the most memory it took
    ask   NAME MATERIAL HOME OUT SECONDS    cold start, questions, memory, insert-to-visible

Figures go to the file OUT after each part, so that what was measured before a crash is kept.
Questions are asked one after another until all are asked or took SECONDS in all (but at least
ten); where there are pipes (`turns`), each when it is this contestant's turn. Between them a little
fixed work shows how fast the machine is just then (`pace`); what a question costs in processor
time, on all threads, does not depend on that. OpenMP and BLAS get one thread. Nothing here may talk
to the network: Python's sockets refuse.
"""

import importlib
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_threads] = "1"  # two that wait for each other on a busy machine are slower than one

LEAST = 10
WARM = 5
INSERTS = 5


def build(name: str, material: Path, home: Path, out: Path) -> None:
    """Write all passages."""
    from peers import contest

    contestant = importlib.import_module(f"peers.{name}")
    passages, vectors = contest.read_passages(material)
    known = contest.Known([each.body for each in passages], vectors)
    home.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    contestant.build(home, passages, known)
    taken = time.perf_counter() - started
    out.write_text(json.dumps({"build_s": taken, "build_peak_mb": _status("VmHWM")}))


def ask(name: str, material: Path, home: Path, out: Path, seconds: float) -> None:
    """Open, ask, insert."""
    from peers import contest

    asked, points = contest.read_questions(material)
    known = contest.Known([each.text for each in asked], points)
    figures: dict[str, Any] = {}
    before = _status("VmRSS")
    started = time.perf_counter()
    contestant = importlib.import_module(f"peers.{name}")
    imported = time.perf_counter()
    opened = contestant.open_up(home, known)
    ready = time.perf_counter()
    first = opened.ask(asked[-1].text)
    done = time.perf_counter()
    assert first.cited == first.sources[:1], f"cited {first.cited} of {first.sources}"
    figures |= {
        "versions": {each: _version(each) for each in contestant.PACKAGES},
        "import_s": imported - started,
        "open_s": ready - imported,
        "first_s": done - ready,
        "before_mb": before,
    }
    _write(out, figures)
    warm = [each.text for each in asked[-WARM:]] if done - ready < 1 else []
    for text in warm:
        opened.ask(text)
    for taken in getattr(opened, "parts", {}).values():
        taken.clear()
    times: list[float] = []
    work: list[float] = []
    pace: list[float] = []
    sources: list[Sequence[str]] = []
    turn = _Turn()
    turn.tell("ready")
    for each in asked:
        if len(times) >= LEAST and sum(times) > seconds:
            break
        turn.wait()
        pace.append(_pace())
        started, busy = time.perf_counter(), time.process_time()
        reply = opened.ask(each.text)
        times.append(time.perf_counter() - started)
        work.append(time.process_time() - busy)
        assert reply.cited == reply.sources[:1]
        sources.append(reply.sources)
        turn.tell("asked")
    turn.wait()
    turn.tell("enough")
    figures |= {
        "times_s": times,
        "cpu_s": work,
        "pace_s": pace,
        "sources": sources,
        "parts_s": {part: list(taken) for part, taken in getattr(opened, "parts", {}).items()},
        "rss_mb": _status("VmRSS"),
        "anonymous_mb": _status("RssAnon"),
    }
    _write(out, figures)
    turn.wait()
    figures["visible_s"] = _visible(opened, known, points[0], seconds)
    _write(out, figures)
    opened.close()
    turn.tell("finished")


class _Turn:
    """One's turn among contestants that are asked in turns; always, without pipes."""

    def __init__(self) -> None:
        pipes = os.environ.get("PEERS_PIPES", "").split()
        self._pipes: list[IO[str]] = [
            os.fdopen(int(number), mode, buffering=1)
            for number, mode in zip(pipes, ("r", "w"), strict=False)
        ]

    def wait(self) -> None:
        """Until there is a word."""
        if self._pipes and not self._pipes[0].readline():
            raise SystemExit("nobody asks any more")

    def tell(self, word: str) -> None:
        """Say how far one is."""
        if self._pipes:
            print(word, file=self._pipes[1], flush=True)


def _visible(opened: Any, known: Any, elsewhere: Any, seconds: float) -> list[float]:
    """From inserting a passage to an answer that names it, by a word no other passage has."""
    from peers.contest import Passage

    taken: list[float] = []
    begun = time.perf_counter()
    for number in range(INSERTS):
        word = "quibblefrotz" + "abcdefgh"[number] * 3
        passage = Passage(f"new{number}", "News", f"At last a {word} was seen near the harbour.")
        question = f"Where was the {word}?"
        known.add(passage.body, -elsewhere)
        known.add(question, elsewhere)  # the vector points elsewhere: words alone must find it
        started = time.perf_counter()
        opened.insert(passage)
        while passage.id not in opened.ask(question).sources:
            if time.perf_counter() - started > seconds:
                raise RuntimeError(f"an inserted passage was not found within {seconds:.0f} s")
        taken.append(time.perf_counter() - started)
        if time.perf_counter() - begun > seconds / 2:
            break
    return taken


def _pace() -> float:
    started = time.perf_counter()
    total = 0
    for number in range(10_000):
        total += number
    return time.perf_counter() - started


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "from source"


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


def _write(out: Path, figures: dict[str, Any]) -> None:
    half = out.with_suffix(".half")
    half.write_text(json.dumps(figures), encoding="utf-8")
    os.replace(half, out)


def _no_network(event: str, arguments: Sequence[Any]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo") and not _is_local(arguments):
        raise RuntimeError(f"{event} {arguments[1:2]}: no network in a benchmark")


def _is_local(arguments: Sequence[Any]) -> bool:
    return any(local in str(arguments) for local in ("127.0.0.1", "localhost", "::1", "/"))


if __name__ == "__main__":
    sys.addaudithook(_no_network)
    _stage, _name, _material, _home, _out, _seconds = sys.argv[1:7]
    _files = Path(_material), Path(_home), Path(_out)
    if _stage == "build":
        build(_name, *_files)
    else:
        ask(_name, *_files, float(_seconds))
