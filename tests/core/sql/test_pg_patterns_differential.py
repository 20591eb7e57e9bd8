"""Translated patterns in DuckDB against a real PostgreSQL 15, over random patterns and texts."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import duckdb
import pytest
from postgres_oracle import Oracle, is_installed, running

from redask.core.errors import SqlError
from redask.core.sql.runtime.patterns.pattern_calls import (
    like_text,
    match_text,
    quoted,
    regexp_text,
    similar_text,
    substring_text,
)

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL 15 is not installed")
PATTERNS = 400
ATOMS = r"a b c a b . [ab] [^a] \d \w \s ^ $ \y \m \M \Y A 1 - [a-c] [[:alpha:]] ä \. [^[:space:]]"
SIGNS = "* + ? *? +? ?? {2} {1,2} {0,1} {1,} {1,2}? {2}? * +".split()
WHOLE, NUMBERED = r"<\&\\\x\>", r"<\1|\2|\3>"  # replacements
LETTERS = "aabbcA1 -ä\n.\v_"


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with running() as ask:
        yield ask


def atom(random: Random, depth: int) -> str:
    if depth < 3 and random.random() < 0.25:
        return random.choice(["(", "(?:"]) + pattern(random, depth + 1) + ")"
    return random.choice([*ATOMS.split(), " "])


def quantified(random: Random, depth: int) -> str:
    one = atom(random, depth)
    if random.random() < 0.4 and one not in ("^", "$", r"\y", r"\m", r"\M", r"\Y"):
        return one + random.choice(SIGNS)
    return one


def pattern(random: Random, depth: int = 0) -> str:
    branches = random.choice([1, 1, 1, 1, 2])
    return "|".join(
        "".join(quantified(random, depth) for _ in range(random.randint(0 if depth else 1, 4)))
        for _ in range(branches)
    )


class Comparison:
    """The same expression in both, over the same texts."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.duck = duckdb.connect()
        self.seen: Counter[str] = Counter()

    def same(self, name: str, theirs: str, ours: str, texts: list[str]) -> None:
        expected = self.oracle.values(theirs, ("text",), [[each] for each in texts])
        found = self.duck.execute(
            f"SELECT {ours} FROM (SELECT unnest(?::VARCHAR[]) AS c0, "
            f"unnest(range({len(texts)})) AS place) ORDER BY place",
            [texts],
        ).fetchall()
        answers: list[Any] = [("value", row[0]) for row in found]
        for text, wanted, answer in zip(texts, expected, answers, strict=True):
            assert answer == wanted, (theirs, ours, text)
        self.seen[name] += 1

    def call(self, name: str, constants: list[str], texts: list[str]) -> None:
        """One of the regexp functions, with these constants."""
        try:
            ours = regexp_text(name, "c0", constants)
        except SqlError:
            return
        # regexp_count and regexp_substr take their flags after other arguments
        between = {"regexp_count": ["1"], "regexp_substr": ["1", "1"]}.get(name, [])
        sent = [quoted(each.replace("%", "%%")) for each in constants]
        if len(sent) > 1:
            sent = [sent[0], *between, *sent[1:]]
        theirs = f"{name}(c0, {', '.join(sent)})"
        if name == "regexp_matches":
            theirs = f"(SELECT to_json(array_agg(m)) FROM regexp_matches(c0, {', '.join(sent)}) m)"
            ours = f"CASE WHEN len({ours}) > 0 THEN {ours} END"
        self.same(" ".join([name, *constants[1:]]), theirs, ours, texts)

    def all_calls(self, written: str, texts: list[str], ignore_case: bool) -> None:
        flags = "i" if ignore_case else ""
        for name in ("regexp_substr", "regexp_split_to_array", "regexp_count", "regexp_match"):
            self.call(name, [written, flags], texts)
        for new in (WHOLE, NUMBERED):
            self.call("regexp_replace", [written, new, flags], texts)
            self.call("regexp_replace", [written, new, "g" + flags], texts)
        self.call("regexp_matches", [written, flags], texts)
        self.call("regexp_matches", [written, "g" + flags], texts)
        with suppress(SqlError):
            ours = substring_text("c0", written)
            theirs = f"substring(c0 from {quoted(written.replace('%', '%%'))})"
            self.same("substring", theirs, ours, texts)


def drawn_texts(random: Random) -> list[str]:
    return ["".join(random.choices(LETTERS, k=random.randint(0, 8))) for _ in range(25)]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_translated_pattern_gives_what_postgresql_gives(oracle: Oracle, seed: int) -> None:
    random = Random(seed)
    compare = Comparison(oracle)
    for _ in range(PATTERNS):
        written, texts = pattern(random), drawn_texts(random)
        ignore_case = random.random() < 0.3
        operator = "~*" if ignore_case else "~"
        theirs = f"c0 {operator} {quoted(written.replace('%', '%%'))}"
        try:
            ours = match_text("c0", written, ignore_case)
        except SqlError as error:
            if error.sqlstate == "2201B":
                assert oracle.values(theirs, ("text",), [[""]]) == [("error", "2201B")]
            continue
        compare.same("match", theirs, ours, texts)
        compare.all_calls(written, texts, ignore_case)
    assert len(compare.seen) > 12, compare.seen
    assert min(compare.seen["match"], compare.seen["substring"]) > 100, compare.seen


def sequence(random: Random) -> str:
    """Parts of both kinds of greediness around one group."""

    def parts(low: int, high: int) -> str:
        atoms = ["a", "b", "c", "[ab]", ".", "-", "(?:ab)", "(?:a|b)"]
        return "".join(
            random.choice(atoms) + random.choice(["", "", *SIGNS])
            for _ in range(random.randint(low, high))
        )

    group = random.choice(["(.*)", "(a+)", "(b*)", "(.+?)", "(c?)", "(a*?b)"])
    return parts(1, 4) + group + parts(0, 2) + random.choice(["", "$"])


def test_a_group_in_a_sequence_holds_what_postgresql_gives(oracle: Oracle) -> None:
    random = Random(8)
    compare = Comparison(oracle)
    for _ in range(800):
        texts = ["".join(random.choices("aabbc-", k=random.randint(0, 8))) for _ in range(20)]
        compare.call("regexp_match", [sequence(random)], texts)
    assert compare.seen["regexp_match"] > 200, compare.seen


def test_like_and_similar_to_give_what_postgresql_gives(oracle: Oracle) -> None:
    random = Random(7)
    compare = Comparison(oracle)
    for _ in range(300):
        written = "".join(random.choices("ab%_\\#äA.", k=random.randint(0, 5)))
        escape = random.choice([None, None, "", "#", "a"])
        texts = ["".join(random.choices("abA%_\\#ä.\n", k=random.randint(0, 5))) for _ in range(30)]
        tail = "" if escape is None else f" ESCAPE {quoted(escape)}"
        sql = quoted(written.replace("%", "%%"))
        with suppress(SqlError):
            compare.same("like", f"c0 LIKE {sql}{tail}", like_text("c0", written, escape), texts)
            ours = like_text("c0", written, escape, ignore_case=True)
            compare.same("ilike", f"c0 ILIKE {sql}{tail}", ours, texts)
        with suppress(SqlError):
            ours = similar_text("c0", written, escape)
            compare.same("similar", f"c0 SIMILAR TO {sql}{tail}", ours, texts)
    assert min(compare.seen["like"], compare.seen["similar"]) > 50
