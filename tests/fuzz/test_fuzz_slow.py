"""A little of `make fuzz-slow`: every statement is answered or refused, and the pool lives on."""

import random
from argparse import Namespace
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from slow_statements.growing import MAX_BYTES, Node, crossed, drawn, mutated, written
from slow_statements.searching import SlowSearch
from slow_statements.trying import Tried


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return run_path(str(Path(__file__).parent / "fuzz_slow.py"))


def test_two_hundred_statements_are_answered_or_refused(
    script: dict[str, Any], tmp_path: Path
) -> None:
    script["fill"](tmp_path / "db")
    report = script["run"]((str(tmp_path / "db"), 7, 200))
    assert report.outcomes.total() == 200
    assert set(report.outcomes) <= set(script["ANSWERED"])
    assert report.outcomes["rows"] > 20
    assert not [each for each in report.violations if "pool" in each]


def test_what_is_neither_answered_nor_in_time_is_a_violation(script: dict[str, Any]) -> None:
    report = script["SlowReport"]()
    report.add("SELECT 1", Tried("rows", script["LIMIT_SECONDS"], 0.1))
    assert report.violations == []
    report.add("SELECT 2", Tried("late", script["LIMIT_SECONDS"] + 0.1, 0.1))
    report.add("SELECT 3", Tried("StoreFailed", 0.1, 0.1, "it crashed"))
    assert [each.splitlines()[-1] for each in report.violations] == ["SELECT 2", "SELECT 3"]
    assert report.violations[1].startswith("StoreFailed: it crashed")


def test_a_chunk_that_was_kept_is_counted_and_not_run_again(
    script: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = script["SlowReport"](seed=1_000_003)
    report.add("SELECT 1", Tried("rows", 0.5, 0.1))
    report.add("SELECT 2", Tried("StoreFailed", 1.5, 0.1, "it crashed"))
    report.loop_late = 0.125
    assert script["SlowReport"].of(report.line()) == report
    kept = tmp_path / "kept.jsonl"
    kept.write_text(f"{report.line()}\n")
    options = Namespace(keep=kept, jobs=1, statements=script["CHUNK"], seed=1, minutes=0)
    assert script["hunt"](tmp_path / "none", options) == 1  # it is not even opened
    said = capsys.readouterr().out
    assert "2 were done before" in said
    assert "the loop was late by 125 ms at most\n1 passed, 1 failed" in said


def test_equal_seeds_grow_equal_statements_of_bounded_length() -> None:
    def grown(seed: int) -> list[str]:
        rng = random.Random(seed)
        trees = [drawn(rng) for _ in range(40)]
        for _ in range(400):
            at = rng.randrange(40)
            trees[at] = mutated(rng, trees[at])
            trees[at] = crossed(rng, trees[at], rng.choice(trees))
        return [written(each) for each in trees]

    assert grown(1) == grown(1) != grown(2)
    assert max(map(len, grown(1))) <= MAX_BYTES


def test_a_text_has_its_holes_filled() -> None:
    text = Node("text", "'a'")
    number = Node("number", "{nest:abs(|number|)}", (Node("number", "x.i"),), (3,))
    assert written(Node("query", "SELECT {number}", (number,))) == "SELECT abs(abs(abs(5)))"
    chain = Node("text", "{chain: \\|\\| |text}", (text,), (2,))
    source = Node("source", "t y{unique} CROSS JOIN t y{unique}")
    made = Node("query", "SELECT {text}, x.i FROM {source} LIMIT {count}", (chain, source), (9,))
    assert written(made) == "SELECT 'a' || 'a', x.i FROM t y1 CROSS JOIN t y2 LIMIT 9"
    regex = Node("regex", "({regex}){{{small}}}", (Node("regex", "a"),), (900,))
    assert written(regex) == "(a){250}"


def test_the_search_keeps_what_takes_longest_for_its_length() -> None:
    search = SlowSearch(random.Random(1))
    quick, slow, other = (Node("query", each) for each in ("SELECT 1", "SELECT 1", "SELECT 2"))
    search.learn(quick, 8, 0.1)
    search.learn(slow, 8, 0.2)
    search.learn(quick, 8, 0.1)
    search.learn(other, 8, 0.1)
    assert {id(each.tree) for each in search._kept.values()} == {id(slow), id(other)}
