"""`make test-siege`: a real server under each attack in turn, beside a calm control.

    python tests/siege/besiege.py --seconds 20 [--only TEXT …] [--list] [--control 10]

For each attack: the honest client's p50 and p95 beside the calm ones, the worst probe, the peak
memory of the server and of the largest other process, and whether the server still answers. At
the end SIGTERM with attacks running. Targets are `siege.judging.Bounds`, and that it ends within
the grace period. With `--control` each attack is compared with so many calm seconds just before it:
on a machine that others use, one control at the start says little. The last line is
`N passed, N failed`; it ends with 1 if something failed.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from siege.attack import Address, Attack
from siege.attacks import ATTACKS, BY_NAME
from siege.judging import MEGABYTE, Bounds, SiegeFigures, at_share, failures, ratio
from siege.siege_run import AttackReport, Ended, SiegeRun
from siege.siege_server import HOSTILE, QUESTIONS, SiegeServer, SiegeTokens, fill

from redask.server.serving import _CANCEL_SECONDS, GRACE_SECONDS

CALM_SECONDS = 30.0
GRACE = GRACE_SECONDS + _CANCEL_SECONDS + 2.0  # and what closing files takes
LAST = ("16 endless statements by one user", "1,100 idle connections, HTTP")


def filled(directory: Path) -> SiegeTokens:
    """The tokens of a database that is there, or is made now."""
    known = directory.parent / "tokens.json"
    if not known.exists():
        known.parent.mkdir(exist_ok=True)
        known.write_text(json.dumps(asdict(fill(directory, small=False))))
    return SiegeTokens(**json.loads(known.read_text()))


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.0f}"


def row(name: str, figures: SiegeFigures, calm: SiegeFigures, verdict: str) -> str:
    cells = (
        *(
            name,
            milliseconds(at_share(figures.asks, 0.5)),
            milliseconds(at_share(figures.asks, 0.95)),
        ),
        f"{ratio(figures, calm):.1f}",
        milliseconds(max(figures.probes, default=float("inf"))),
        f"{figures.server_bytes // MEGABYTE:,}",
        f"{figures.process_bytes // MEGABYTE:,}",
        verdict,
    )
    return f"| {' | '.join(cells)} |"


def told(report: AttackReport) -> str:
    """What came of the attack itself, on one line."""
    came = ", ".join(f"{count} {name}" for name, count in sorted(report.outcomes.items()))
    said = f"; honest: {'; '.join(report.said)[:300]}" if report.said else ""
    recovered = "" if report.recovered is None else f"; calm after {report.recovered:.0f} s"
    return f"    ({came}{said}{recovered})"


def ending(ended: Ended) -> list[str]:
    """What does not hold of how the server left."""
    wrong = []
    if ended.code is None:
        wrong.append(f"it was still there after {GRACE:.0f} s")
    elif ended.code != 0:
        wrong.append(f"it left with {ended.code}")
    if ended.left_behind:
        wrong.append(f"{ended.left_behind} processes were left behind")
    if b"Traceback" in ended.said:
        wrong.append(f"it said: {ended.said[-3000:].decode(errors='replace')}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Attack a server, and measure.")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("SECONDS", "20")))
    parser.add_argument("--only", action="append", help="attacks whose name holds this")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--control", type=float, default=0, help="calm seconds before each attack")
    parser.add_argument("--keep", type=Path, help="a folder for the database, to be used again")
    options = parser.parse_args()
    wanted = options.only or [""]
    chosen = [each for each in ATTACKS if any(text in each.name for text in wanted)]
    if options.list:
        print("\n".join(each.name for each in chosen))
        return 0
    with tempfile.TemporaryDirectory(prefix="redask-siege-") as folder:
        kept = options.keep or Path(folder)
        passed, failed = besiege(kept, Path(folder), chosen, options)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def besiege(
    kept: Path, scratch: Path, chosen: list[Attack], options: argparse.Namespace
) -> tuple[int, int]:
    """→ how many attacks were withstood, and how many not"""
    directory = kept / "db"
    tokens = filled(directory)
    bounds, passed, failed = Bounds(), 0, 0
    with SiegeServer(directory, small=False) as server:
        address = Address(
            *(server.port, server.grpc_port, server.pg_port, HOSTILE),
            *(tokens.reader, tokens.owner, str(directory), str(scratch)),
        )
        run = SiegeRun(server, address, tokens.honest, QUESTIONS)
        calm = run.calm(CALM_SECONDS)
        print(
            f"targets: p95 {bounds.ratio:g} times the calm one, "
            f"probe {milliseconds(bounds.probe_seconds)} ms, "
            f"server {bounds.server_bytes // MEGABYTE} MB, "
            f"others {bounds.process_bytes // MEGABYTE} MB each; "
            f"load {os.getloadavg()[0]:.1f}"
        )
        print("| attack | p50, ms | p95, ms | × calm | probe, ms | server, MB | other, MB | |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        print(row("none", calm, calm, ""), flush=True)
        for attack in chosen:
            if options.control:
                calm = run.calm(options.control)
                print(row("none", calm, calm, ""))
            try:
                report = run.attacked(attack, options.seconds)
            except RuntimeError as error:
                print(f"| {attack.name} | | | | | | | failed: {error} |", flush=True)
                failed += 1
                continue
            wrong = failures(report.figures, calm, bounds.under(attack.ratio))
            passed, failed = passed + (not wrong), failed + bool(wrong)
            verdict = f"failed: {'; '.join(wrong)}" if wrong else "passed"
            print(row(attack.name, report.figures, calm, verdict))
            print(told(report), flush=True)
            if not server.alive():
                print(f"the server is gone: {server.stderr()[-2000:].decode(errors='replace')}")
                return passed, failed + 1
        print(row("none, again", run.calm(CALM_SECONDS), calm, ""))
        ended = run.ended([BY_NAME[name] for name in LAST], GRACE)
        wrong = ending(ended)
        verdict = f"failed: {'; '.join(wrong)}" if wrong else "passed"
        print(f"SIGTERM with attacks running: {ended.seconds:.1f} s of {GRACE:.0f}: {verdict}")
    return passed + (not wrong), failed + bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
