"""Packs that need computing: how they are read, compared, asked and counted."""

import json
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli.commands import compute_table
from redask.cli.commands.eval_command import command
from redask.core.errors import BadAsk
from redask.core.planning.plan import Certain, NotComputed, Planned
from redask.core.planning.plan_schema import PlanSchema, ValueIndex
from redask.evaluation import compute_packs, compute_running
from redask.evaluation.compute_running import ComputeTally
from redask.evaluation.result_comparison import is_right

QUESTIONS = [
    ("How many?", "count", 1, [[3]], {}),
    ("Which names?", "filter/lookup", 1, [["Rex"], ["Tom"]], {"dups": True}),
    ("Which is last?", "top", 2, [["Rex"]], {"ordered": True}),
    ("Unknown?", "top", 3, [["Rex"]], {}),
    ("Broken?", "count", 2, [[1]], {}),
    ("Any of two?", "top", 1, [["Rex"]], {"tie": True}),
]
PLANS = {
    "How many?": "SELECT count(*) FROM pet",
    "Which names?": "SELECT name FROM pet",
    "Which is last?": "SELECT min(name) || '!' AS n FROM pet",
    "Broken?": "SELECT nosuch FROM pet",
    "Nearly?": "SELECT 1",
}


def write_pack(folder: Path) -> Path:
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(folder / "database.sqlite")) as connection:
        connection.execute("CREATE TABLE pet (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute("INSERT INTO pet VALUES (1, 'Rex'), (2, 'Tom'), (3, 'Rex')")
        connection.commit()
    lines = [
        {
            "id": str(number),
            "question": text,
            "sql": "gold",
            "answer": answer,
            "ordered": False,
            "kind": kind,
            "tables": tables,
            **more,
        }
        for number, (text, kind, tables, answer, more) in enumerate(QUESTIONS)
    ]
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "near.jsonl").write_text('{"question": "Nearly?"}\n{"question": "No?"}\n')
    return folder


def planned(question: str, schema: PlanSchema, values: ValueIndex) -> str | None:
    assert schema.tables[0].rows == 3
    assert values.find(["rex"])
    return PLANS.get(question)


def test_a_pack_is_read_without_its_ties(tmp_path: Path) -> None:
    pack = compute_packs.read(write_pack(tmp_path / "pets"))
    assert (pack.name, len(pack.questions), pack.near, pack.unanswerable) == (
        "pets",
        5,
        ("Nearly?", "No?"),
        (),
    )
    assert (pack.questions[2].ordered, pack.questions[2].joins) == (True, 1)
    with pytest.raises(BadAsk, match="it has no database"):
        compute_packs.read(tmp_path)


def test_a_half_is_every_second_by_name(tmp_path: Path) -> None:
    for name in ("c", "a", "b"):
        write_pack(tmp_path / name)
    (tmp_path / "README.md").touch()
    assert compute_packs.is_collection(tmp_path)
    assert not compute_packs.is_collection(tmp_path / "a")
    assert [pack.name for pack in compute_packs.read_all(tmp_path)] == ["a", "b", "c"]
    assert [pack.name for pack in compute_packs.read_all(tmp_path, "even")] == ["a", "c"]
    assert [pack.name for pack in compute_packs.read_all(tmp_path, "odd")] == ["b"]


def test_questions_are_asked_and_counted_by_kind_and_joins(tmp_path: Path) -> None:
    write_pack(tmp_path / "packs" / "pets")
    report, seconds = compute_table.run(tmp_path / "packs", planned, keep=tmp_path / "kept")
    assert report.kinds == {
        "count": ComputeTally(2, 1, 1, 1),
        "filter/lookup": ComputeTally(1, 1, 1),
        "top": ComputeTally(2, 1, 0),
    }
    assert report.joins == {
        "0 joins": ComputeTally(2, 2, 2),
        "1 join": ComputeTally(2, 1, 0, 1),
        "2 joins": ComputeTally(1),
    }
    assert report.refusals == {"near": ComputeTally(2, 1)}
    assert report.total().figures() == {
        "asked": 5,
        "answered": 3,
        "right": 2,
        "wrong": 1,
        "failed": 1,
        "coverage": 0.6,
        "precision": 2 / 3,
    }
    assert [each.question for each in report.mistakes] == ["Which is last?", "Broken?", "Nearly?"]
    text = compute_table.printed(report, seconds, as_json=False)
    assert "count                  2          1          1          0          1" in text
    assert "all                    5          3          2          1          1      60.0%" in text
    made = json.loads(compute_table.printed(report, seconds, as_json=True))
    assert made["kinds"]["top"]["wrong"] == 1
    assert "Broken?\n  SELECT nosuch FROM pet\n  gold\n" in compute_table.listed(report.mistakes)


def test_a_kept_database_is_not_ingested_again(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pets")
    compute_table.run(pack, planned, keep=tmp_path / "kept", questions=1)
    with redask.open(tmp_path / "kept" / "pets") as db:
        assert db.ingest(pack / "database.sqlite", wait=False).tallies[0].unchanged == 1
    report, _ = compute_table.run(pack, planned, keep=tmp_path / "kept", questions=1)
    assert report.total() == ComputeTally(1, 1, 1)


@pytest.mark.parametrize(
    ("rows", "gold", "ordered", "right"),
    [
        ([(1,)], [[1]], False, True),
        ([(2,)], [[1]], False, False),
        ([], [], False, True),
        ([], [[None]], False, False),
        ([(None,)], [[None]], False, True),
        ([("a",), ("b",)], [["b"], ["a"]], False, True),
        ([("a",), ("b",)], [["b"], ["a"]], True, False),
        ([("a",), ("b",), ("a",)], [["a"], ["b"]], True, True),
        ([("a", 1)], [[1, "a"]], False, True),
        ([("a", 1), ("b", 2)], [[1, "b"], [2, "a"]], False, False),
        ([("a", 1, 2)], [["a", 1]], False, False),
        ([(Decimal("3.3333333333333333"),)], [[3.33333333]], False, True),
        ([(3.3334,)], [[3.3333]], False, False),
        ([(1234567,)], [[1234568]], False, False),
        ([("12",)], [[12]], False, True),
        ([("12a",)], [[12]], False, False),
        ([("nan",)], [["NaN"]], False, False),
        ([("x ",)], [["x"]], False, True),
        ([(date(2018, 3, 1),)], [["2018-03-01 00:00:00"]], False, True),
        ([(datetime(2018, 3, 1, tzinfo=UTC).replace(tzinfo=None),)], [["2018-03-01"]], False, True),
        ([(True,)], [[1]], False, True),
        ([(1, 2, 3, 4, 5, 6, 8)], [[1, 2, 3, 4, 5, 6, 8]], False, True),
        ([(2, 1, 3, 4, 5, 6, 8)], [[1, 2, 3, 4, 5, 6, 8]], False, True),
        ([(2, 1, 3, 4, 5, 6, 9)], [[1, 2, 3, 4, 5, 6, 8]], False, False),
    ],
)
def test_results_are_compared(
    rows: list[tuple[object, ...]], gold: list[list[object]], ordered: bool, right: bool
) -> None:
    assert is_right(rows, gold, ordered=ordered) is right


def test_the_command_asks_redasks_own_planner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plan(question: str, schema: PlanSchema, values: ValueIndex) -> Planned:
        sql = planned(question, schema, values)
        return NotComputed() if sql is None else Certain(sql, "count", 1.0, ())

    monkeypatch.setattr(compute_running, "plan_directly", plan)
    write_pack(tmp_path / "packs" / "pets")
    runner = CliRunner()
    told = runner.invoke(command, [str(tmp_path / "packs" / "pets"), "--wrong", "--questions", "3"])
    assert told.exit_code == 0, told.output
    assert "pets top: Which is last?" in told.output
    assert "all                    3          3          2          1" in told.output
    odd = runner.invoke(command, [str(tmp_path / "packs"), "--half", "odd", "--json"])
    assert json.loads(odd.output)["total"]["asked"] == 0
