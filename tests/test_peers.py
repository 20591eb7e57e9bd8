"""`make bench-peers`: its arithmetic, its table, and what it keeps."""

import json
import math
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from peers import __main__ as bench
from peers import contest, environments, figures, material, turns
from peers.figures import Row

FIGURES = {
    "build_s": 2.0,
    "versions": {"some": "1.2"},
    "import_s": 1.0,
    "open_s": 0.25,
    "first_s": 0.25,
    "times_s": [0.001, 0.002, 0.003, 0.010],
    "pace_s": [0.001],
    "sources": [["a", "b"], ["b", "a"], ["c"], []],
    "parts_s": {"search": [0.001, 0.003]},
    "rss_mb": 120.0,
    "anonymous_mb": 40.0,
    "visible_s": [0.5],
}
GOLD = [["a"], ["a"], ["a"], ["a"]]


def test_a_percentile_is_one_of_the_values() -> None:
    values = [4.0, 1.0, 3.0, 2.0]
    assert figures.percentile(values, 0.5) == 2.0
    assert figures.percentile(values, 0.95) == 4.0
    assert figures.percentile(list(map(float, range(1, 101))), 0.95) == 95.0
    assert figures.percentile([7.0], 0.5) == 7.0
    assert math.isnan(figures.percentile([], 0.5))


def test_what_a_worker_wrote_is_judged_by_the_gold_passages() -> None:
    row = figures.judged("some", 100, FIGURES, GOLD)
    assert (row.rate, row.p50, row.p95, row.questions) == (50.0, 0.002, 0.010, 4)
    assert row.hit == 0.5
    assert row.gains == pytest.approx((1, 1 / math.log2(3), 0, 0))
    assert (row.cold, row.imports, row.visible) == (1.5, 1.0, 0.5)
    assert row.parts == (("search", 0.001),)


def test_the_table_has_ratios_to_ours_and_to_the_floor() -> None:
    rows = [
        Row("raw", 100, p50=0.001, questions=3, pace=0.001, gains=(1, 0, 0)),
        Row("redask", 100, p50=0.004, questions=3, pace=0.002),
        Row("other", 100, p50=0.1, questions=2, pace=0.001, gains=(1, 1)),
        Row("other", 7, p50=9.0, questions=3),
    ]
    lines = figures.table(rows, 100).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    by_name = {row[0]: dict(zip(cells[0], row, strict=True)) for row in cells[2:]}
    assert len(by_name) == 3
    assert by_name["raw"]["× raw"] == "1"
    assert (by_name["**redask**"]["× raw"], by_name["**redask**"]["pace"]) == ("4", "2")
    assert (by_name["other"]["× redask"], by_name["other"]["× raw"]) == ("25", "100")
    assert by_name["other"]["answer p50"] == "100 ms"
    assert by_name["other"]["nDCG@10 (raw, same questions)"] == "1.000 (0.500)"
    assert by_name["other"]["insert to visible"] == "–"


def test_who_failed_stands_in_the_table_with_the_reason() -> None:
    early = figures.judged("early", 100, {"reason": "cannot be installed: no such package"}, GOLD)
    late = figures.judged("late", 100, {**FIGURES, "reason": "ask: signal 11"}, GOLD)
    table = figures.table([early, late], 100)
    assert "| early | failed: cannot be installed: no such package |" in table
    assert "| late (then failed: ask: signal 11) | 50 | 2 ms | 10 ms | 4 |" in table


def test_the_target_is_half_as_much_again_as_the_engines_and_one_commit() -> None:
    assert figures.verdict(0.0040, 0.0020, 0.0010).endswith("= 4 ms: met")
    assert figures.verdict(0.0041, 0.0020, 0.0010).endswith("= 4 ms: missed")


def test_figures_are_kept_until_something_changes_or_failed(tmp_path: Path) -> None:
    file = tmp_path / "results" / "some-100.json"
    assert bench.read_kept(file, "stamp") is None
    bench.keep(file, "stamp", {"build_s": 1.0})
    assert bench.read_kept(file, "stamp") == {"build_s": 1.0}
    assert bench.read_kept(file, "another stamp") is None
    bench.keep(file, "stamp", {"build_s": 1.0, "reason": "ask: signal 9"})
    assert bench.read_kept(file, "stamp") is None
    told = bench.read_kept(file, "stamp", failed=True)
    assert told == {"build_s": 1.0, "reason": "ask: signal 9"}


def test_a_run_goes_on_where_it_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def stage(_: bench.Bench, name: str, stage: str, *paths: Path) -> dict[str, object]:
        ran.append(f"{name} {stage}")
        paths[-1].mkdir(parents=True, exist_ok=True)
        return {f"{stage}_s": 1.0}

    def ask_in_turns(starts: dict[str, object], _: object) -> dict[str, object]:
        ran.append(f"{', '.join(starts)} in turns")
        if len(ran) == 3:
            raise KeyboardInterrupt
        return {}

    monkeypatch.setattr(bench.Bench, "_stage", stage)
    monkeypatch.setattr(turns, "ask_in_turns", ask_in_turns)
    runner = bench.Bench(tmp_path, 1, 1)
    names = ["raw", "redask", "redask_flat"]
    with pytest.raises(KeyboardInterrupt):
        runner.measure(names, 100, tmp_path / "material")
    for _ in range(2):
        found = runner.measure(names, 100, tmp_path / "material")
        assert found == {name: {"build_s": 1.0} for name in names}
    together = "raw, redask, redask_flat in turns"
    assert ran == ["raw build", "redask build", together, together]


TURNS = """
import sys, os
from peers.worker import _Turn
turn, name = _Turn(), sys.argv[1]
turn.tell("ready")
for number in range(int(sys.argv[2])):
    turn.wait()
    with open(sys.argv[3], "a") as file:
        file.write(name)
    if name == "c":
        sys.exit("no more")
    turn.tell("asked")
for word in ("enough", "finished"):
    turn.wait()
    turn.tell(word)
"""


def test_contestants_are_asked_in_turns_and_one_that_ends_stops_nobody(tmp_path: Path) -> None:
    order = tmp_path / "order"
    given = {"PYTHONPATH": str(Path(bench.__file__).parents[1])}

    def start(name: str, questions: int) -> turns.ContestantProcess:
        command = [sys.executable, "-c", TURNS, name, str(questions), str(order)]
        return turns.ContestantProcess(command, given, 60)

    asked = {"a": 3, "b": 2, "c": 3}
    starts = {name: partial(start, name, questions) for name, questions in asked.items()}
    told: list[str] = []
    every = turns.ask_in_turns(starts, told.append)
    ended = {name: process.ended() for name, process in every.items()}
    assert order.read_text() == "bca" + "ab" + "a"
    assert [code for code, _ in ended.values()] == [0, 0, 1]
    assert ended["c"][1] == "no more\n"
    assert told[:3] == ["a: ready", "b: ready", "c: ready"]


def test_a_contestant_that_says_nothing_is_ended() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    every = turns.ask_in_turns(
        {"silent": lambda: turns.ContestantProcess(command, {}, 0.2)}, lambda _: None
    )
    code, _ = every["silent"].ended()
    assert (code, every["silent"].late) == (-9, True)


def test_a_contestant_that_cannot_be_installed_does_not_stop_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ready(home: Path, name: str) -> Path:
        raise environments.Uninstallable("ERROR: no such package")

    monkeypatch.setattr(environments, "ready", ready)
    found = bench.Bench(tmp_path, 1, 1).measure(["txtai"], 100, tmp_path)
    assert found == {"txtai": {"reason": "cannot be installed: ERROR: no such package"}}
    reader = bench.Bench(tmp_path, 1, 1, reads=True)
    assert reader.measure(["txtai"], 100, tmp_path) == found
    assert reader.measure(["raw"], 100, tmp_path) == {"raw": {"reason": "not measured in this run"}}


def test_the_reason_of_a_crash_is_one_line_that_fits_a_table() -> None:
    assert bench.why("ask", -11, "") == "ask: signal 11"
    assert bench.why("ask", 1, "Traceback\n  …\nKeyError: a | b\n\n") == "ask: KeyError: a / b"
    assert bench.why("build", 3, "") == "build: exit code 3"


def test_only_what_stands_between_the_markers_is_replaced() -> None:
    page = f"before {bench.BEGIN}\n\nold\n\n{bench.END} after"
    assert bench.written(page, "new") == f"before {bench.BEGIN}\n\nnew\n\n{bench.END} after"
    with pytest.raises(SystemExit, match="lacks the markers"):
        bench.written("no markers", "new")
    assert bench.written(bench.PAGE.read_text(encoding="utf-8"), "new")


def test_made_passages_leave_the_gold_ones_alone_and_are_the_same_every_time() -> None:
    real = [contest.Passage(f"p{n}", f"T{n}", f"One {n}. Two {n}. Three {n}.") for n in range(6)]
    vectors = np.eye(6, contest.DIMENSIONS, dtype=np.float32)
    made, matrix = material.enlarged(real, vectors, 20, spared=2)
    assert made[:6] == real
    assert len({passage.id for passage in made}) == len(matrix) == 20
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    assert not any(f"{word} {n}." in p.text for p in made[6:] for word in ("One",) for n in (0, 1))
    again, same = material.enlarged(real, vectors, 20, spared=2)
    assert again == made
    assert (same == matrix).all()


def test_every_contestant_has_a_file_and_the_page_its_markers() -> None:
    folder = Path(bench.__file__).parent
    assert all((folder / f"{name}.py").is_file() for name in bench.NAMES)
    for file in folder.glob("requirements-*.txt"):
        lines = file.read_text(encoding="utf-8").splitlines()
        assert all("==" in line and "://" not in line for line in lines), file


def test_ranks_are_fused_and_markers_resolved() -> None:
    assert contest.fused([["a", "b"], ["b", "c"]]) == ["b", "a", "c"]
    reply = contest.reply_of(contest.answer_of("a prompt"), ["x", "y"])
    assert (reply.cited, reply.sources) == (("x",), ("x", "y"))
    assert json.dumps(reply.answer)
