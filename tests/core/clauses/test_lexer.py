"""Contract 19, the words of a statement: white space, comments, numbers, faults, time."""

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from redask.core.clauses import parse
from redask.core.clauses.lexer import Cursor, Form
from redask.core.errors import BadStatement
from redask.core.model import Ask

U64_MAX = (1 << 64) - 1
CONTROLS = [chr(code) for code in (*range(0x20), 0x7F)]


def refused(statement: Any, params: Sequence[object] = ()) -> BadStatement:
    with pytest.raises(BadStatement) as caught:
        parse(statement, params)
    return caught.value


@pytest.mark.parametrize("change", [str.upper, str.lower, str.title, str.swapcase])
def test_keywords_come_in_any_ascii_case(change: Callable[[str], str]) -> None:
    text = "explain ask ? using x strict off cache ttl '5m' min_score 1 collection y limit 3"
    expected = parse(text, ["q"])
    assert parse(re.sub(r"\b\w{3,}\b", lambda word: change(word[0]), text), ["q"]) == expected


@pytest.mark.parametrize("keyword", ["L\u0130MIT 5", "\u017fTREAM", "ＳTREAM"])
def test_keywords_of_other_alphabets_are_none(keyword: str) -> None:
    assert refused(f"ASK 'q' {keyword}").column in (9, 10)


@pytest.mark.parametrize(
    "gap", [" ", "\t", "\n", "\r\n", "\f", "\v", "-- it's; \"\n", "/* ' */", "/* /* */ * / */"]
)
def test_white_space_and_comments_separate_anywhere(gap: str) -> None:
    text = "EXPLAIN ASK 'a''b' COLLECTION a , b LIMIT 5 ;"
    assert parse(gap + text.replace(" ", gap) + gap) == parse(text)


def test_tokens_that_cannot_run_together_need_no_space() -> None:
    assert parse("ASK'q'LIMIT/**/5;") == Ask("q", limit=5)


@pytest.mark.parametrize("question", ["/* no */", "-- no", "? $1; LIMIT 5", 'a "b"'])
def test_a_comment_or_clause_inside_a_literal_is_text(question: str) -> None:
    assert parse(f"ASK '{question}'").question == question


@pytest.mark.parametrize("space", ["\u00a0", "\u2003", "\u3000", "\ufeff", "\x00", "\x1c", "\x85"])
def test_nothing_else_is_white_space(space: str) -> None:
    assert refused(f"ASK{space}'q'").found == f"the character U+{ord(space):04X}"


@pytest.mark.parametrize(
    ("number", "value"),
    [("1", 1.0), ("0.5", 0.5), (".5", 0.5), ("1e-1", 0.1), ("1E0", 1.0), ("1e+0", 1.0), ("00", 0)],
)
def test_numbers_stand_as_written_in_the_contract(number: str, value: float) -> None:
    ask = parse(f"ASK 'q' TEMPERATURE {number} MIN_SCORE {number}")
    assert (ask.temperature, ask.min_score) == (value, value)
    assert (type(ask.temperature), type(ask.min_score)) == (float, float)


@pytest.mark.parametrize("spelling", ["{}", "00{}", "{}.0", "{}e0", "{}.000e+00"])
@pytest.mark.parametrize("seed", [7, U64_MAX, 2**53 + 1, 12181976676831968970])
def test_a_seed_never_passes_through_a_float(spelling: str, seed: int) -> None:
    assert parse(f"ASK 'q' SEED {spelling.format(seed)}").seed == seed


@pytest.mark.parametrize("number", ["1e-400", "1e-99999999999999999999", "0." + "0" * 5000 + "1"])
def test_a_number_too_small_for_a_double_is_zero(number: str) -> None:
    assert parse(f"ASK 'q' TEMPERATURE {number}").temperature == 0.0


@pytest.mark.parametrize("clause", ["SEED 9007199254740992.5", "LIMIT 20.0000000000000000001"])
def test_a_fraction_is_no_whole_number_however_small(clause: str) -> None:
    assert "a whole number" in refused(f"ASK 'q' {clause}").expected


@pytest.mark.parametrize("number", ["1e400", "9" * 50, "9" * 5000, "1e99999999999999999999"])
def test_a_number_too_large_for_anything_is_reported_as_written(number: str) -> None:
    for clause in ("LIMIT", "SEED", "TEMPERATURE"):
        error = refused(f"ASK 'q' {clause} {number}")
        written = number if len(number) <= 32 else number[:31] + "…"
        assert (error.column, error.found) == (10 + len(clause), written)


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("-5", "-"),
        ("+5", "+"),
        ("5abc", "5abc"),
        ("5.", "5."),
        (".", "."),
        ("1e", "1e"),
        ("1e5x", "1e5x"),
        ("1.2.3", "1.2.3"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("５", "the character U+FF15"),
        ("'5", "an unterminated string"),
        ('"5', "an unterminated quoted name"),
        ("/* 5", "an unterminated comment"),
        ("/*/", "an unterminated comment"),
        ("/* /* */", "an unterminated comment"),
        ("\x00", "the character U+0000"),
        ("\x7f", "the character U+007F"),
        ("~", "~"),
        ("$", "$"),
        ("/", "/"),
        ("\\", "\\"),
        ("x" * 32, "x" * 32),
        ("x" * 33, "x" * 31 + "…"),
        (f"'{'é' * 32}'", "'" + r"\xe9" * 32 + "'"),
        (f"'{'é' * 33}'", "'" + r"\xe9" * 31 + "'…"),
    ],
)
def test_what_is_no_number_is_named_and_printable(rest: str, found: str) -> None:
    error = refused(f"ASK 'q' LIMIT {rest}")
    assert (error.line, error.column, error.found) == (1, 15, found)
    assert error.expected == "a number after LIMIT"


@pytest.mark.parametrize("control", CONTROLS)
def test_control_characters_are_refused_where_they_stand(control: str) -> None:
    literal = f"ASK\n 'a''''{control}'"
    if control in "\t\n\r":
        assert control in parse(literal).question
        assert control in parse("ASK ?", [f"a{control}b"]).question
    else:
        error = refused(literal)
        assert (error.line, error.column) == (2, 8)
        assert error.found == f"the character U+{ord(control):04X}"
        assert error.expected == "a question without control characters"
        assert refused("ASK ?", [f"a{control}b"])
    for clause in ("MODEL 'a{}b'", "USING 'x,a{}b'", 'COLLECTION c, "a{}b"'):
        error = refused(f"ASK 'q' {clause.format(control)}")
        assert error.found == f"one that holds the character U+{ord(control):04X}"


def test_a_lone_surrogate_is_refused_where_it_stands() -> None:
    error = refused("\nASK 'q'\n -- \ud800")
    assert (error.line, error.column) == (3, 5)
    first = refused("\n\udfff")
    assert (first.line, first.column) == (2, 1)
    assert error.found == "the lone surrogate U+D800"
    assert error.expected == "text that has a UTF-8 form"


@pytest.mark.parametrize("statement", [None, 5, b"ASK 'q'", ["ASK 'q'"]])
def test_a_statement_is_text(statement: Any) -> None:
    error = refused(statement)
    assert (error.line, error.column, error.expected) == (1, 1, "a statement, as text")


def test_a_cursor_stays_where_it_is_when_a_word_is_another() -> None:
    cursor = Cursor("alpha 'ALPHA'")
    assert cursor.take_word("BETA") is None
    assert cursor.take_word("BETA", "ALPHA") == "ALPHA"
    assert cursor.take_word("ALPHA") is None
    assert cursor.expect("a text", Form.STRING).value == "ALPHA"
    assert cursor.token.form is Form.END


_PARTS = [
    "/*",
    "'",
    '"',
    "--\n",
    "1",
    "1.",
    "1e",
    ".",
    "e",
    "\\",
    "`",
    "[^",
    "/* */",
    ";",
    "0",
    "-",
]


@pytest.mark.parametrize("head", ["", "ASK '", "ASK 'q' LIMIT ", "ASK 'q' COLLECTION "])
@pytest.mark.parametrize("part", _PARTS, ids=ascii)
def test_time_is_linear_in_a_hostile_statement(head: str, part: str) -> None:
    started = time.process_time()
    refused((head + part * (1 << 18))[: 1 << 18])
    assert time.process_time() - started < 5  # linear takes 0.1 s at most, quadratic minutes
