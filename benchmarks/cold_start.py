"""`make bench-cold`: the processor time of one command, from its start to its end.

    python benchmarks/cold_start.py [ROUNDS] [OTHER]        10 rounds when not given

In turns, each in a process of its own, so that a busy machine harms all alike; user and system
time, the median and the least:

    python             an interpreter that does nothing
    floor              `import onnxruntime, numpy`: without them there is no MiniLM
    documents          `redask ask` over the Markdown files of `../shared/data/newcomer/httpx`
    tables             `redask ask` over the sample of `redask demo`, which has tables, too
    … of OTHER         the same by another environment's `redask`, as of the version before

The bytecode is made before the first turn. Target: documents at most 0.6 s.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("REDASK_DATA", ROOT.parent / "shared" / "data"))
ASKED = {
    "documents": "How do I set a timeout?",
    "tables": "When does a gold customer get money back for a late delivery?",
}
TARGET = 0.6


def processor_seconds(command: list[str], env: dict[str, str]) -> float:
    """The user and system time of a command and all its threads."""
    process = subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_utime + usage.ru_stime


def commands(place: Path, others: list[str]) -> dict[str, list[str]]:
    """What is measured, by name; each `redask` has databases of its own."""
    found = {
        "python": [sys.executable, "-c", "pass"],
        "floor": [sys.executable, "-c", "import onnxruntime, numpy"],
    }
    programs = [("", str(Path(sys.executable).parent / "redask"))]
    programs += [(f" of {each}", each) for each in others]
    for number, (name, program) in enumerate(programs):
        files, sample = place / f"files{number}", place / f"sample{number}"
        for made in (
            [program, "--db", str(files), "ingest", str(DATA / "newcomer" / "httpx")],
            [program, "demo", "--db", str(sample)],
        ):
            subprocess.run(made, check=True, capture_output=True)
        for what, at in (("documents", files), ("tables", sample)):
            found[what + name] = [program, "--db", str(at), "ask", ASKED[what]]
    return found


def main(rounds: int, others: list[str]) -> None:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory(prefix="redask-bench-") as place:
        measured = commands(Path(place), others)
        for command in measured.values():
            processor_seconds(command, env)
        seconds: dict[str, list[float]] = {name: [] for name in measured}
        for _ in range(rounds):
            for name, command in measured.items():
                seconds[name].append(processor_seconds(command, env))
    floor = statistics.median(seconds["floor"])
    print(f"processor seconds of a command, {rounds} rounds in turns")
    for name, spent in seconds.items():
        middle = statistics.median(spent)
        print(f"  {name:12} {middle:.3f}   least {min(spent):.3f}   {middle / floor:5.1f} × floor")
    print(f"target: documents at most {TARGET} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10, sys.argv[2:])
