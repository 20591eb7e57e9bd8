"""Contract 19, the ASK statement: every clause, every error, and no other exception on any text."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.clauses import parse
from redask.core.errors import BadAsk, BadStatement
from redask.core.model import Ask, PlanChoice, Strictness

MIB = 1 << 20
KIB = 1 << 10
U64_MAX = (1 << 64) - 1
CONTROLS = [chr(code) for code in (*range(0x20), 0x7F)]
ANY_CLAUSE = (
    "a clause (USING, MODEL, COLLECTION, LIMIT, MIN_SCORE, DEPTH, STRICT, STREAM, TEMPERATURE, "
    "SEED, CACHE, NOCACHE, EVIDENCE, PLAN, STEPS) or the end"
)
THE_END = "the end of the statement"
THE_QUESTION = "the question, as 'text', $1 or ?"
A_COLLECTION = 'a name or a "quoted name" after COLLECTION'
A_NAME = "a name of 1 to 256 printable characters"


def outcome_of(statement: str, params: Any = ()) -> Ask | BadStatement:
    try:
        return parse(statement, params)
    except BadStatement as error:
        return error


def refused(statement: str, params: Any = ()) -> BadStatement:
    outcome = outcome_of(statement, params)
    assert isinstance(outcome, BadStatement), outcome
    return outcome


# --- valid statements ----------------------------------------------------------


def test_a_question_alone_leaves_every_clause_at_its_default() -> None:
    assert parse("ASK 'why?'") == Ask("why?")
    assert parse("EXPLAIN ASK 'why?'") == Ask("why?", explain=True)


def test_all_clauses_together() -> None:
    assert parse(
        """ASK 'why?' USING 'a,b,c' MODEL 'gpt' COLLECTION one, "two words" LIMIT 5
        MIN_SCORE 0.5 DEPTH 3 STRICT OFF STREAM TEMPERATURE 0.7 SEED 42 CACHE TTL '5m';"""
    ) == Ask(
        "why?",
        using=("a", "b", "c"),
        model="gpt",
        collections=("one", "two words"),
        limit=5,
        min_score=0.5,
        depth=3,
        strict=Strictness.OFF,
        stream=True,
        temperature=0.7,
        seed=42,
        cache_ttl=300,
    )


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("USING openai", Ask("q", using=("openai",))),
        ("USING OpenAI", Ask("q", using=("openai",))),
        ("USING ' b, A ,,b'", Ask("q", using=("b", "a"))),
        ("USING ''", Ask("q")),
        ("USING ' , '", Ask("q")),
        ("MODEL 'it''s'", Ask("q", model="it's")),
        ("COLLECTION _a1", Ask("q", collections=("_a1",))),
        ('COLLECTION "a""b"', Ask("q", collections=('a"b',))),
        ('COLLECTION "a, b",C', Ask("q", collections=("a, b", "C"))),
        ("COLLECTION limit LIMIT 7", Ask("q", collections=("limit",), limit=7)),
        ("COLLECTION a, b, a", Ask("q", collections=("a", "b"))),
        ("STRICT ON", Ask("q", strict=Strictness.ON)),
        ("STRICT OFF", Ask("q", strict=Strictness.OFF)),
        ("strict Supported", Ask("q", strict=Strictness.SUPPORTED)),
        ("EVIDENCE", Ask("q", evidence=True)),
        ("STREAM", Ask("q", stream=True)),
        ("CACHE TTL '2h'", Ask("q", cache_ttl=7200)),
        ("NOCACHE", Ask("q", nocache=True)),
        ("PLAN only STEPS 2", Ask("q", plan=PlanChoice.ONLY, steps=2)),
        (";", Ask("q")),
        (" -- the end", Ask("q")),
    ],
)
def test_a_clause_sets_fields_of_the_ask(clauses: str, expected: Ask) -> None:
    assert parse(f"ASK 'q' {clauses}") == expected


@pytest.mark.parametrize(
    ("clause", "inside", "outside"),
    [
        ("LIMIT", ["1", "200", "20.0", "2e2"], ["0", "201", "1.5", "1e400", "0.5"]),
        ("MIN_SCORE", ["0", "1", "1.0"], ["1.0000001", "2"]),
        ("DEPTH", ["0", "10"], ["11", "0.1"]),
        ("TEMPERATURE", ["0", "2"], ["2.0000001", "1e400"]),
        ("SEED", ["0", str(U64_MAX), f"00{U64_MAX}"], [str(U64_MAX + 1), "9" * 5000]),
    ],
)
def test_ranges_hold_at_their_bounds(clause: str, inside: list[str], outside: list[str]) -> None:
    for number in inside:
        expected = int(number) if number.isdigit() else float(number)
        assert getattr(parse(f"ASK 'q' {clause} {number}"), clause.lower()) == expected
    for number in outside:
        error = refused(f"ASK 'q' {clause} {number}")
        assert (error.line, error.column) == (1, 10 + len(clause))
        assert re.fullmatch(rf"a (whole )?number from \d+ to \d+ after {clause}", error.expected)


@pytest.mark.parametrize("mark", ["?", "$1"])
def test_a_parameter_stands_for_the_question(mark: str) -> None:
    for question in ("it's", "tab\tlf\ncr\r", " kept untrimmed ", "\u2028 ñ 😀"):
        assert parse(f"ASK {mark} LIMIT 5", [question]) == Ask(question, limit=5)
    assert parse(f"ASK {mark}", ("q",)) == Ask("q")


def test_a_question_is_kept_byte_for_byte() -> None:
    assert parse("ASK ' it''s\t\r\n “x” e\u0301 '").question == " it's\t\r\n “x” e\u0301 "


# --- what it may not: line, column, found, expected ------------------------------------


@pytest.mark.parametrize(
    ("statement", "line", "column", "found", "expected"),
    [
        ("", 1, 1, THE_END, "ASK or EXPLAIN ASK"),
        ("SELECT 1", 1, 1, "SELECT", "ASK or EXPLAIN ASK"),
        ("'ASK'", 1, 1, "'ASK'", "ASK or EXPLAIN ASK"),
        ("\n  EXPLAIN 'q'", 2, 11, "'q'", "ASK"),
        ("EXPLAIN EXPLAIN ASK 'q'", 1, 9, "EXPLAIN", "ASK"),
        ("ASK", 1, 4, THE_END, THE_QUESTION),
        ("ASK\n", 2, 1, THE_END, THE_QUESTION),
        ("ASK why", 1, 5, "why", THE_QUESTION),
        ('ASK "q"', 1, 5, "'q'", THE_QUESTION),
        ("ASK 'q", 1, 5, "an unterminated string", THE_QUESTION),
        ("ASK 'q''", 1, 5, "an unterminated string", THE_QUESTION),
        ("ASK /* /* */ 'q'", 1, 5, "an unterminated comment", THE_QUESTION),
        ("ASK ''", 1, 5, "one that is blank", "a question"),
        ("ASK ' \t\r\n\u2003'", 1, 5, "one that is blank", "a question"),
        ("ASK 'q' 'r'", 1, 9, "'r'", ANY_CLAUSE),
        ("ASK 'q' ';'", 1, 9, "';'", ANY_CLAUSE),
        ("ASK 'q' \";\"", 1, 9, "';'", ANY_CLAUSE),
        ("ASK 'ñ😀' LIMITS 5", 1, 10, "LIMITS", ANY_CLAUSE),
        ("ASK 'a\nb' LIMITS 5", 2, 4, "LIMITS", ANY_CLAUSE),
        ("ASK 'a\rb' LIMITS 5", 1, 11, "LIMITS", ANY_CLAUSE),
        ("ASK 'q' é", 1, 9, "the character U+00E9", ANY_CLAUSE),
        ("ASK 'q' ,", 1, 9, ",", ANY_CLAUSE),
        ("ASK 'q' 5", 1, 9, "5", ANY_CLAUSE),
        ("ASK 'q' LIMIT 5, 6", 1, 16, ",", ANY_CLAUSE),
        ("ASK 'q' /* LIMIT 5", 1, 9, "an unterminated comment", ANY_CLAUSE),
        ("ASK 'q' ; x", 1, 11, "x", "the end of the statement after ;"),
        ("ASK 'q';;", 1, 9, ";", "the end of the statement after ;"),
        ("ASK 'q'; ASK 'r'", 1, 10, "ASK", "the end of the statement after ;"),
        ("ASK 'q' LIMIT", 1, 14, THE_END, "a number after LIMIT"),
        ("ASK 'q' LIMIT -5", 1, 15, "-", "a number after LIMIT"),
        ("ASK 'q' LIMIT '5'", 1, 15, "'5'", "a number after LIMIT"),
        ("ASK 'q' LIMIT ?", 1, 15, "?", "a number after LIMIT"),
        ("ASK 'q' LIMIT 201", 1, 15, "201", "a whole number from 1 to 200 after LIMIT"),
        ("ASK 'q' LIMIT 1.5", 1, 15, "1.5", "a whole number from 1 to 200 after LIMIT"),
        ("ASK 'q' MIN_SCORE 1.5", 1, 19, "1.5", "a number from 0 to 1 after MIN_SCORE"),
        ("ASK 'q' LIMIT 5 limit 6", 1, 17, "LIMIT again", "LIMIT at most once"),
        ("ASK 'q' STREAM STREAM", 1, 16, "STREAM again", "STREAM at most once"),
        ("ASK 'q' NOCACHE NOCACHE", 1, 17, "NOCACHE again", "NOCACHE at most once"),
        ("ASK 'q' CACHE TTL '5m' NOCACHE", 1, 24, "both", "either CACHE or NOCACHE"),
        ("ASK 'q' NOCACHE CACHE TTL '5m'", 1, 17, "both", "either CACHE or NOCACHE"),
        ("EXPLAIN ASK 'q' stream", 1, 17, "stream", "no STREAM: EXPLAIN has nothing to stream"),
        ("ASK 'q' STRICT", 1, 15, THE_END, "ON, OFF or SUPPORTED after STRICT"),
        ("ASK 'q' STRICT LIMIT 5", 1, 16, "LIMIT", "ON, OFF or SUPPORTED after STRICT"),
        ("ASK 'q' STRICT 'ON'", 1, 16, "'ON'", "ON, OFF or SUPPORTED after STRICT"),
        ("ASK 'q' STRICT true", 1, 16, "true", "ON, OFF or SUPPORTED after STRICT"),
        ("ASK 'q' MODEL gpt", 1, 15, "gpt", "a 'text' after MODEL"),
        ("ASK 'q' MODEL \"gpt\"", 1, 15, "'gpt'", "a 'text' after MODEL"),
        ("ASK 'q' MODEL ''", 1, 15, "one that is empty", f"{A_NAME} after MODEL"),
        ("ASK 'q' USING 5", 1, 15, "5", "a provider or a 'list,of,them' after USING"),
        ("ASK 'q' USING a,b", 1, 16, ",", ANY_CLAUSE),
        ("ASK 'q' COLLECTION 'a'", 1, 20, "'a'", A_COLLECTION),
        ("ASK 'q' COLLECTION a,", 1, 22, THE_END, A_COLLECTION),
        ("ASK 'q' COLLECTION ,a", 1, 20, ",", A_COLLECTION),
        ("ASK 'q' COLLECTION a b", 1, 22, "b", ANY_CLAUSE),
        ("ASK 'q' COLLECTION a, \"\"", 1, 23, "one that is empty", f"{A_NAME} after COLLECTION"),
        ("ASK 'q' COLLECTION \"a", 1, 20, "an unterminated quoted name", A_COLLECTION),
        ("ASK 'q' CACHE", 1, 14, THE_END, "TTL after CACHE"),
        ("ASK 'q' CACHE '5m'", 1, 15, "'5m'", "TTL after CACHE"),
        ("ASK 'q' CACHE TTL 5", 1, 19, "5", "a time such as '5m' after TTL"),
    ],
)
def test_an_error_says_where_and_what(
    statement: str, line: int, column: int, found: str, expected: str
) -> None:
    error = refused(statement)
    assert (error.line, error.column) == (line, column)
    assert (error.found, error.expected) == (found, expected)
    assert error.message == f"line {line}, column {column}: expected {expected}, found {found}"
    assert isinstance(error, BadAsk)


@pytest.mark.parametrize(
    ("ttl", "fault"),
    [
        ("", "empty"),
        ("m", "missing number"),
        (" 5m", "missing number"),
        ("30", "missing unit"),
        ("0s", "zero"),
        ("5M", "unknown unit"),
        (f"{U64_MAX + 1}s", "overflow"),
    ],
)
def test_a_bad_ttl_names_its_fault(ttl: str, fault: str) -> None:
    error = refused(f"ASK 'q' LIMIT 5\n CACHE TTL '{ttl}'")
    assert (error.line, error.column) == (2, 12)
    assert error.found.startswith(f"{fault}: ")


@pytest.mark.parametrize(
    ("mark", "params", "found", "expected"),
    [
        ("?", [], "0 of them", "exactly one bound parameter, in a list"),
        ("$1", ["a", "b"], "2 of them", "exactly one bound parameter, in a list"),
        ("?", "q", "a text", "exactly one bound parameter, in a list"),
        ("$2", ["a"], "$2", "$1 or ?: the question is the only parameter"),
        ("$01", ["a"], "$01", "$1 or ?: the question is the only parameter"),
        ("'q'", ["a"], "a literal question", "$1 or ? for the bound question"),
        ("?", [None], "null", "a bound question, as text"),
        ("?", [5], "5", "a bound question, as text"),
        ("?", [b"q"], "bytes", "a bound question, as text"),
        ("?", [" "], "one that is blank", "a question"),
        ("?", ["a\x1fb"], "one that holds the character U+001F at position 2", "a question"),
        ("?", ["\udfff"], "one that holds the character U+DFFF at position 1", "a question"),
    ],
)
def test_a_bound_value_passes_the_same_checks(
    mark: str, params: Sequence[object], found: str, expected: str
) -> None:
    error = refused(f"ASK\n  {mark}", params)
    assert (error.line, error.column, error.found, error.expected) == (2, 3, found, expected)


@pytest.mark.parametrize("params", [None, 5, 1.5, True, {"a": 1}, {0: "q"}, {"q"}, object()])
def test_parameters_that_are_no_list_are_refused_like_any_bad_input(params: object) -> None:
    assert refused("ASK ?", params).column == 5


# --- bounds ----------------------------------------------------------------------------


@pytest.mark.parametrize("filler", ["x", "é", "😀"])
def test_a_statement_has_at_most_one_mebibyte_in_utf8(filler: str) -> None:
    width = len(filler.encode())
    head = "ASK 'q' --" + "x" * ((MIB - 10) % width)
    full = head + filler * ((MIB - len(head)) // width)
    assert len(full.encode()) == MIB
    assert parse(full) == Ask("q")
    error = refused(full + "x")
    assert (error.line, error.column, error.found) == (1, 1, "1048577 bytes")
    assert error.expected == "a statement of at most 1048576 bytes"


@pytest.mark.parametrize("filler", ["x", "é", "'"])
def test_a_question_has_at_most_32_kibibytes_in_utf8(filler: str) -> None:
    full = filler * (32 * KIB // len(filler.encode()))
    for question, fits in ((full, True), (full + "x", False)):
        literal = "ASK '" + question.replace("'", "''") + "'"
        for statement, params in ((literal, []), ("ASK ?", [question])):
            if fits:
                assert parse(statement, params).question == question
            else:
                error = refused(statement, params)
                assert error.found == "one that is 32769 bytes long, more than 32768"


@pytest.mark.parametrize(
    ("clause", "letter"),
    [("USING {}", "a"), ("COLLECTION {}", "a"), ("MODEL '{}'", "é"), ('COLLECTION b,"{}"', "é")],
)
def test_a_name_has_at_most_256_characters(clause: str, letter: str) -> None:
    assert parse(f"ASK 'q' {clause.format(letter * 256)}")
    assert refused(f"ASK 'q' {clause.format(letter * 257)}").found == (
        "one that is longer than 256 characters"
    )


def test_a_statement_names_at_most_1000_collections() -> None:
    names = [f"c{number}" for number in range(1001)]
    assert parse(f"ASK 'q' COLLECTION {','.join(names[:1000])}").collections == tuple(names[:1000])
    assert refused(f"ASK 'q' COLLECTION {','.join(names)}").line == 1


# --- properties ------------------------------------------------------------------------

_NAME = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=CONTROLS), min_size=1, max_size=30
)
_QUESTION = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=set(CONTROLS) - set("\t\r\n"))
).filter(lambda text: text.strip() != "")
_PROVIDER = st.from_regex(r"[a-z0-9é_.-]([a-z0-9é_. -]{0,9}[a-z0-9])?", fullmatch=True)
_FRAGMENTS = st.sampled_from(
    """EXPLAIN ASK USING MODEL COLLECTION LIMIT MIN_SCORE DEPTH STRICT ON OFF STREAM TEMPERATURE
    SUPPORTED EVIDENCE
    SEED CACHE TTL NOCACHE 'q' '' ' " "c" , ; ? $1 $2 0 5 .5 1e-1 1e400 5m '5m' -- /* */ x
    é - ( \x00 \ud800""".split()
)


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    explain = draw(st.booleans())
    nocache = draw(st.booleans())
    return Ask(
        draw(_QUESTION),
        explain=explain,
        using=tuple(draw(st.lists(_PROVIDER, max_size=3, unique=True))),
        model=draw(st.none() | _NAME),
        collections=tuple(draw(st.lists(_NAME | st.just("bare_1"), max_size=3, unique=True))),
        limit=draw(st.integers(1, 200)),
        min_score=draw(st.none() | st.floats(0.0, 1.0)),
        depth=draw(st.integers(0, 10)),
        strict=draw(st.none() | st.sampled_from(Strictness)),
        stream=False if explain else draw(st.booleans()),
        temperature=draw(st.none() | st.floats(0.0, 2.0)),
        seed=draw(st.none() | st.integers(0, U64_MAX)),
        cache_ttl=None if nocache else draw(st.none() | st.integers(1, U64_MAX)),
        nocache=nocache,
        evidence=draw(st.booleans()),
        plan=draw(st.sampled_from(PlanChoice)),
        steps=draw(st.integers(1, 2)),
    )


def _quoted(text: str, mark: str = "'") -> str:
    return mark + text.replace(mark, mark * 2) + mark


def _clauses(ask: Ask) -> list[str]:
    """Every clause of an Ask, as a reader of the grammar would write it."""
    names = ", ".join(
        name if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) else _quoted(name, '"')
        for name in ask.collections
    )
    written = {
        f"Using {_quoted(','.join(ask.using))}": ask.using,
        f"MODEL {_quoted(ask.model or '')}": ask.model,
        f"collection {names}": ask.collections,
        f"LIMIT {ask.limit}": ask.limit != 20,
        f"MIN_SCORE {ask.min_score!r}": ask.min_score is not None,
        f"DEPTH {ask.depth}": ask.depth != 2,
        f"STRICT {ask.strict}": ask.strict,
        "STREAM": ask.stream,
        f"TEMPERATURE {str(ask.temperature).removeprefix('0')}": ask.temperature is not None,
        f"SEED {ask.seed}": ask.seed is not None,
        f"CACHE TTL '{ask.cache_ttl}s'": ask.cache_ttl is not None,
        "NOCACHE": ask.nocache,
        "evidence": ask.evidence,
        f"PLAN {ask.plan}": ask.plan is not PlanChoice.AUTO,
        f"STEPS {ask.steps}": ask.steps != 1,
    }
    return [clause for clause, present in written.items() if present]


@given(asks(), st.booleans(), st.data())
def test_a_statement_printed_from_an_ask_parses_back_to_it(
    ask: Ask, bound: bool, data: st.DataObject
) -> None:
    clauses = data.draw(st.permutations(_clauses(ask)))
    gap = data.draw(st.sampled_from([" ", "\n\t", "/* 'a */", " -- it's\n"]))
    head = [*["explain"][: ask.explain], "Ask", "?" if bound else _quoted(ask.question)]
    end = data.draw(st.sampled_from(["", ";"]))
    assert parse(gap.join([*head, *clauses, end]), [ask.question] if bound else []) == ask


@given(
    st.text() | st.lists(_FRAGMENTS | st.text(max_size=3)).map(" ".join),
    st.lists(st.text() | st.none() | st.integers(), max_size=2),
    st.sampled_from(["", "ASK ", "ASK 'q' ", "EXPLAIN ASK $1 "]),
)
def test_any_text_is_an_ask_or_a_bad_statement(text: str, params: list[object], head: str) -> None:
    lines = (head + text).split("\n")
    outcome = outcome_of(head + text, params)
    if isinstance(outcome, BadStatement):
        assert 1 <= outcome.line <= len(lines)
        assert 1 <= outcome.column <= len(lines[outcome.line - 1]) + 1
        assert outcome.found
        assert outcome.expected
        assert outcome.message.isprintable()
    else:
        assert outcome.question.strip()
        assert not (outcome.explain and outcome.stream)
        assert not (outcome.cache_ttl is not None and outcome.nocache)


def test_a_statement_names_at_most_a_thousand_collections() -> None:
    names = ",".join(f"n{number}" for number in range(1000))
    assert len(parse(f"ASK 'q' COLLECTION {names}").collections) == 1000
    assert refused(f"ASK 'q' COLLECTION {names},x").expected == "at most 1000 names"
