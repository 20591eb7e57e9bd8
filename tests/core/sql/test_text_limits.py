"""What may not be parsed is refused by its text alone."""

import re

import pytest

from redask.core.errors import SqlError
from redask.core.sql import text_limits
from redask.core.sql.text_limits import MAX_BYTES, MAX_DEPTH, check_text

DEEP = "(" * MAX_DEPTH
OVER = "(" * (MAX_DEPTH + 1)


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "SELECT 1",
        f"SELECT {DEEP}1{')' * MAX_DEPTH}",
        "SELECT " + "(1)," * 10_000 + "1",
        "SELECT " + "[" * 100 + "(" * 100,
        ")" * 500 + DEEP,
        "x" * MAX_BYTES,
        "ü" * (MAX_BYTES // 2),
        f"SELECT '{OVER}'",
        f"SELECT '{OVER}",
        f"SELECT 'it''s {OVER}'",
        f"SELECT E'it\\'s {OVER}'",
        f'SELECT "{OVER}"',
        f'SELECT "a""{OVER}"',
        f"SELECT $${OVER}$$",
        f"SELECT $a$ $$ {OVER} $a$",
        f"SELECT 1 -- {OVER}\n",
        f"SELECT 1 /* /* */ {OVER} */",
        f"SELECT 1 /* {OVER}",
    ],
    ids=lambda sql: sql[:30],
)
def test_a_text_within_the_bounds_is_let_through(sql: str) -> None:
    check_text(sql)


@pytest.mark.parametrize(
    ("sql", "state", "position"),
    [
        ("x" * (MAX_BYTES + 1), "54000", 0),
        ("ü" * (MAX_BYTES // 2) + "x", "54000", 0),
        ("SELECT '\0'", "22021", 9),
        ("SELECT '\ud800'", "22021", 9),
        (OVER, "54001", MAX_DEPTH + 1),
        ("[" * 100 + "(" * 101, "54001", 201),
        (f"SELECT 'x' || {OVER}", "54001", 14 + MAX_DEPTH + 1),
        # none of these hides what follows
        (f"SELECT price'x\\' || {OVER}", "54001", None),
        (f"SELECT a$b$c || {OVER} $b$", "54001", None),
        (f"SELECT 'a\\' || {OVER}", "54001", None),
        (f"SELECT 1 -- x\n || {OVER}", "54001", None),
        (f"SELECT 1 /* /* */ */ || {OVER}", "54001", None),
        (f"SELECT $1 || $2 || {OVER}", "54001", None),
        (f"SELECT 4 / 2 - 1 || {OVER}", "54001", None),
        (f"SELECT $a$ $b$ $a$ || {OVER}", "54001", None),
        (f'SELECT "a""b" || {OVER}', "54001", None),
    ],
    ids=lambda given: repr(given)[:30],
)
def test_a_text_beyond_them_is_refused(sql: str, state: str, position: int | None) -> None:
    with pytest.raises(SqlError) as caught:
        check_text(sql)
    assert caught.value.sqlstate == state
    if position is not None:
        assert caught.value.position == position


@pytest.mark.parametrize(
    "unit", ["(", "'", '"', "E'", "E'\\", "$a$", "$a", "/*", "*/", "--", "a", "a$", "-", "/", "()"]
)
def test_each_character_is_looked_at_a_bounded_number_of_times(
    monkeypatch: pytest.MonkeyPatch, unit: str
) -> None:
    steps = 0

    class Counted:
        def match(self, sql: str, place: int) -> re.Match[str] | None:
            nonlocal steps
            steps += 1
            return piece.match(sql, place)

    piece = text_limits._PIECE
    monkeypatch.setattr(text_limits, "_PIECE", Counted())
    monkeypatch.setattr(text_limits, "MAX_DEPTH", MAX_BYTES)
    sql = unit * (MAX_BYTES // len(unit))
    text_limits._check_depth(sql)
    assert steps <= len(sql)
